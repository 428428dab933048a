"""Reads AscendC source text into records: every byte a token, every kernel a record, everything else a finding."""
