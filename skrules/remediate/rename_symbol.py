"""`rename-symbol`: an identifier gets another name, everywhere in a file where it is one."""

from __future__ import annotations

import re

from skrules.findings import Fix
from skrules.remediate.kind import Refused, required
from skrules.source.model import Token, TokenKind
from skrules.source.tokens import directive_name, spelling, tokenize, tokenize_replacement

_IDENTIFIER = re.compile(r"[A-Za-z_$\x80-\xff][0-9A-Za-z_$\x80-\xff]*\Z")
# Behind other directives stand names of files, and sentences.
_WITH_CODE = frozenset({"define", "undef", "if", "ifdef", "ifndef", "elif", "elifdef", "elifndef", "pragma"})


class RenameSymbol:
    """Renames whole identifiers in code and in macros: no comment, no string, no file name, no part of another name."""

    name = "rename-symbol"

    def apply(self, text: str, fix: Fix) -> str:
        old = _identifier(fix.old_value, "missing_old_value")
        new = _identifier(fix.new_value, "missing_new_value")
        if old not in text and "\\" not in text:  # which may part a name
            return text
        return "".join(_renamed(text, token, old, new) for token in tokenize(text))


def _identifier(value: str, missing: str) -> str:
    text = required(value, missing)
    if not _IDENTIFIER.match(text):
        raise Refused(f"invalid_symbol:{value}")
    return text


def _renamed(text: str, token: Token, old: str, new: str) -> str:
    if token.kind is TokenKind.IDENTIFIER:
        return new if spelling(token) == old else token.text
    if token.kind is not TokenKind.DIRECTIVE or directive_name(token.text) not in _WITH_CODE:
        return token.text
    parts = tokenize_replacement(text, token.start, token.end)
    name = next(index for index, part in enumerate(parts) if part.kind is TokenKind.IDENTIFIER)
    behind = (_renamed(text, part, old, new) for part in parts[name + 1 :])
    return "".join([*(part.text for part in parts[: name + 1]), *behind])
