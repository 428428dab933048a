"""Findings for people and for programs: text with the source, the published JSON, SARIF, annotations of GitHub."""
