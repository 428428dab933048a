"""Edits that settle findings: what they do to a text, and how files of a tree get them, whole or not at all."""
