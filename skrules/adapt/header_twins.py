"""Twins of helpers that stand in headers: repeated in the adapted file, after the include, where that is known to mean the same.

Between a helper and its twin stand the rest of its header and of those that include it. What is declared or defined there
must not be what the helper's names and macros could mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from skrules.adapt.askers import Helpers, NoTwin
from skrules.adapt.copies import COUNTER, PLACES
from skrules.adapt.declarations import macro_name
from skrules.adapt.definitions import Helper, HelperFile
from skrules.source.code import Code
from skrules.source.matching import Branch
from skrules.source.tokens import directive_name

_WORD = re.compile(r"[A-Za-z_]\w*")
_CONSTANT = frozenset({"const", "constexpr"})


def static_data(helper: Helper) -> int:
    """Return the token of a `static` that keeps data which may change, -1 for none: a copy would have its own."""
    code = helper.file.code
    for index in range(helper.first, helper.last + 1):
        if code.text(index) != "static" or {code.text(index - 1), code.text(index + 1)} & _CONSTANT:
            continue
        if index < helper.body:
            continue  # of the function itself
        offset = code.tokens[index].start
        if any(not each.is_class and each.body.start < offset < each.body.end for each in helper.file.inner):
            return index
        end = next((at for at in range(index, helper.last + 1) if code.text(at) in ("(", ";", "=", "{", "[")), index)
        if code.text(end) != "(":
            return index
    return -1


def check_repeated(helpers: Helpers, helper: Helper) -> None:
    """Raise NoTwin unless the code of a header's helper means the same at the place of its twin."""
    inclusion = helper.file.inclusion
    if inclusion is None:
        return
    code, path = helper.file.code, inclusion.unit.path

    def refuse(reason: str, index: int = helper.first) -> NoTwin:
        return NoTwin(f"'{helper.name}' stands in {path}, and {reason}", code.tokens[index].start)

    if inclusion.problem:
        raise refuse(inclusion.problem)
    conditions = _conditions(helper)
    scopes = helper.file.scopes
    for scope in scopes.around(helper.first):
        if "" in scope.names:
            raise refuse("in a namespace without a name")
        if not set(code.branches(scope.brace)) <= set(code.branches(helper.first)):
            raise refuse(f"'{scopes.head(scope)} {{' depends on an #if")
    for index in range(helper.first, helper.last + 1):
        if code.is_directive(index) and directive_name(code.text(index)) not in (
            "if",
            "ifdef",
            "ifndef",
            "elif",
            "else",
            "endif",
        ):
            raise refuse(f"has a #{directive_name(code.text(index))} in it", index)
    words = helper.words | {word for index in range(helper.first, helper.last + 1) for word in _directive_words(code, index)}
    words |= {word for branch in conditions for line in branch.lines for word in _WORD.findall(line)}
    words = _with_macros(helpers, words)
    if kept := words & (PLACES | {COUNTER}):
        raise refuse(f"'{min(kept)}' is another one in a copy")
    first = min((helper.file.index(branch.group) for branch in conditions), default=helper.first)
    for index in range(first, helper.first):
        name = macro_name(code.text(index)) if code.is_directive(index) else ""
        if name and _in_conditions(name, conditions):
            raise refuse(f"the #if around it depends on '{name}', which is defined there", index)
    for file, start in _between(helpers, helper):
        _check_rest(helpers, file, start, words, refuse(f"what follows in {file.unit.path} "))


def repeated(helper: Helper, twin: str) -> list[str]:
    """Return the lines of a twin of a header: in the namespaces and under the conditions of its original."""
    file = helper.file.scopes
    scopes = file.around(helper.first)
    conditions = _conditions(helper)
    return [
        *(line for branch in conditions for line in branch.lines),
        *(f"{file.head(scope)} {{" for scope in scopes),
        twin,
        *("}" for _ in scopes),
        *("#endif" for _ in conditions),
    ]


def _conditions(helper: Helper) -> tuple[Branch, ...]:
    """Return the branches around a helper of a header, without the header's guard."""
    inclusion = helper.file.inclusion
    return tuple(each for each in helper.file.code.branches(helper.first) if inclusion is None or each.group != inclusion.guard)


def _in_conditions(name: str, conditions: Sequence[Branch]) -> bool:
    return any(name in _WORD.findall(line) for branch in conditions for line in branch.lines)


def _between(helpers: Helpers, helper: Helper) -> Iterator[tuple[HelperFile, int]]:
    """Yield what stands between a helper and its twin: files, and the tokens from which on."""
    yield helper.file, helper.last + 1
    inclusion = helper.file.inclusion
    for scopes, start in inclusion.after if inclusion else ():
        yield next(file for file in helpers.files if file.scopes is scopes), start


def _check_rest(helpers: Helpers, file: HelperFile, start: int, words: frozenset[str], problem: NoTwin) -> None:
    for each in helpers.declarations(file):
        if each.index < start or (each.name and each.name not in words):
            continue
        if each.is_macro or each.name not in helpers.names:  # a helper's own name is not left in a twin
            raise NoTwin(f"{problem}{each.what}", problem.offset)


def _directive_words(code: Code, index: int) -> list[str]:
    return _WORD.findall(code.text(index)) if code.is_directive(index) else []


def _with_macros(helpers: Helpers, words: frozenset[str]) -> frozenset[str]:
    """Return `words` with those of all macros among them, as any of the files defines them."""
    found, waiting = set(words), list(words)
    while waiting:
        new = helpers.macros.get(waiting.pop(), frozenset()) - found
        found |= new
        waiting += new
    return frozenset(found)
