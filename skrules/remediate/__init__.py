"""Edits that settle findings: what they do to a text, and how files of a tree get them, whole or not at all."""

from __future__ import annotations

from skrules.remediate.remediation import Change, Outcome, Request, Result, Status, apply, remediate

__all__ = ["Change", "Outcome", "Request", "Result", "Status", "apply", "remediate"]
