"""Reads AscendC source text into records: every byte a token, every kernel a record, everything else a finding."""

from __future__ import annotations

from skrules.source.kernels import read

__all__ = ["read"]
