"""Which text of a file is compiled, as far as the contract states the macros that its `#if` groups ask for.

Branches that are decided dead, and the directives that need no decision any more, become tokens of kind INACTIVE: trivia for
every reader, while the text stays as it is, byte for byte. The compiler verifies the statement: generated code makes it an error
to compile what is decided dead (`Decision`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from skrules.source.evaluation import DEFINED, UNDEFINED, Macros, condition_of, evaluate, literal_value
from skrules.source.macros import read_macro
from skrules.source.model import Decision, Token, TokenKind
from skrules.source.tokens import BRANCH_DIRECTIVES, IF_DIRECTIVES, directive_name, spelling

MACRO_REDEFINED = "source.stated-macro-redefined"
_TRIVIA = frozenset({TokenKind.BLANK, TokenKind.COMMENT, TokenKind.INACTIVE})
_COMPARED = frozenset({"==", "!=", "<", ">", "<=", ">="})
_NO_MACROS = frozenset({"defined", "true", "false", "and", "or", "not"})


@dataclass(frozen=True, slots=True)
class Selection:
    """`tokens` still give the text. `decisions` are the groups that stated macros decided, in whole or in part; `conflicts` are
    the active directives that give a stated macro another meaning than the statement, each with the macro's name."""

    tokens: tuple[Token, ...]
    decisions: tuple[Decision, ...]
    conflicts: tuple[tuple[Token, str], ...]


def select(tokens: tuple[Token, ...], macros: Macros) -> Selection:
    """Decide the `#if` groups of a file by the stated `macros`. Linear in the text; never raises."""
    if not macros:
        return Selection(tokens, (), ())
    dead = bytearray(len(tokens))
    decisions: list[Decision] = []
    for marks in _groups(tokens):
        if dead[marks[0]] or _is_default(tokens, marks, macros):
            continue
        decided = _decide(tokens, marks, macros)
        if decided is None:
            continue
        decision, ranges = decided
        decisions.append(decision)
        for start, end in ranges:
            dead[start:end] = b"\1" * (end - start)
    kept = _hide(tokens, dead) if decisions else tokens
    return Selection(kept, tuple(decisions), tuple(_conflicts(kept, macros)))


def _groups(tokens: tuple[Token, ...]) -> list[tuple[int, ...]]:
    """Return the places of the directives of each group that is closed, `#endif` last; outer groups before inner ones."""
    open_groups: list[list[int]] = []
    found: list[tuple[int, ...]] = []
    for place, token in enumerate(tokens):
        if token.kind is not TokenKind.DIRECTIVE:
            continue
        name = directive_name(token.text)
        if name in IF_DIRECTIVES:
            open_groups.append([place])
        elif name in BRANCH_DIRECTIVES and open_groups:
            open_groups[-1].append(place)
        elif name == "endif" and open_groups:
            found.append((*open_groups.pop(), place))
    return sorted(found)


def _decide(tokens: tuple[Token, ...], marks: Sequence[int], macros: Macros) -> tuple[Decision, list[tuple[int, int]]] | None:
    """Return the decision on a group and the ranges of tokens that it loses; None where the statements say nothing."""
    directives = [tokens[mark] for mark in marks[:-1]]
    if not any(name in spelling(token) for token in directives for name in macros):
        return None
    if any(directive_name(token.text) == "else" for token in directives[:-1]):
        return None  # no C++
    used: dict[str, None] = {}
    gone: list[int] = []  # branches
    taken: bool | None = False  # whether an earlier branch is compiled
    undecided = False
    for branch, token in enumerate(directives):
        if taken is True:
            gone.append(branch)
            continue
        is_else = directive_name(token.text) == "else"
        holds = True if is_else else evaluate(token, macros)
        used |= dict.fromkeys(() if is_else else _names(token, macros))
        if holds is False:
            gone.append(branch)
            continue
        undecided |= holds is None or taken is None
        taken = True if holds else None
    if not used or (undecided and not gone):
        return None
    bodies = list(pairwise(marks))
    has_else = directive_name(directives[-1].text) == "else"
    decision = Decision(
        start=directives[0].start,
        macros=tuple((name, macros[name]) for name in used),
        dead=tuple(directives[branch].end for branch in gone),
        unless=tuple(token.text for token in directives) if taken is True and not undecided and not has_else else (),
    )
    if not undecided:
        return decision, [*(bodies[branch] for branch in gone), *((mark, mark + 1) for mark in marks)]
    # Without its dead branches the rest of the group means the same; only the `#if` must stay to open it.
    return decision, [(bodies[branch][0] + (branch == 0), bodies[branch][1]) for branch in gone]


def _names(directive: Token, macros: Macros) -> Iterator[str]:
    return (name for token in condition_of(directive) if (name := spelling(token)) in macros)


def _is_default(tokens: tuple[Token, ...], marks: Sequence[int], macros: Macros) -> bool:
    """Tell whether a group only gives a macro a value that nobody else has given: `#ifndef X`, `#define X 1`, `#endif`.

    The build says by the statement what the macro is behind the group, not in front of it.
    """
    if len(marks) != 2:
        return False
    inside = [token for token in tokens[marks[0] + 1 : marks[1]] if token.kind not in _TRIVIA]
    macro = read_macro(inside[0]) if len(inside) == 1 and inside[0].kind is TokenKind.DIRECTIVE else None
    if macro is None or macros.get(macro.name, UNDEFINED) == UNDEFINED:
        return False
    opening = tokens[marks[0]]
    condition = "".join(spelling(token) for token in condition_of(opening))
    if directive_name(opening.text) == "ifndef":
        return condition == macro.name
    return directive_name(opening.text) == "if" and condition in (f"!defined({macro.name})", f"!defined{macro.name}")


def _hide(tokens: tuple[Token, ...], dead: bytearray) -> tuple[Token, ...]:
    """Make one token of each run of dead ones."""
    kept: list[Token] = []
    run: list[Token] = []
    for token, is_dead in zip(tokens, dead, strict=True):
        if is_dead:
            run.append(token)
            continue
        if run:
            kept.append(_inactive(run))
            run = []
        kept.append(token)
    return tuple([*kept, _inactive(run)] if run else kept)


def _inactive(run: Sequence[Token]) -> Token:
    return Token(TokenKind.INACTIVE, "".join(token.text for token in run), run[0].start)


def _conflicts(tokens: tuple[Token, ...], macros: Macros) -> Iterator[tuple[Token, str]]:
    defaults = {marks[0] for marks in _groups(tokens) if _is_default(tokens, marks, macros)}
    within_default = False
    for place, token in enumerate(tokens):
        if token.kind is not TokenKind.DIRECTIVE:
            continue
        name = directive_name(token.text)
        if name == "define" and not within_default:
            macro = read_macro(token)
            if macro is None or macro.name not in macros:
                continue
            stated = macros[macro.name]
            # A definition that says what the statement says agrees with it from there on.
            value = literal_value(macro.code.tokens) if macro.parameters is None else None
            if stated != DEFINED and (stated == UNDEFINED or value != stated):
                yield token, macro.name
        elif name == "undef":
            text = next((spelling(each) for each in condition_of(token) if each.kind is TokenKind.IDENTIFIER), "")
            if macros.get(text, UNDEFINED) != UNDEFINED:
                yield token, text
        within_default = place in defaults


def settling(directives: Iterable[str]) -> dict[str, tuple[int | str, ...]]:
    """Return the macros that conditions ask for, each with the values that would settle them, likely ones first.

    `directives` are texts such as "#if SCENARIO == 1 / #else". A macro that is compared has the numbers it is compared with.
    """
    found: dict[str, dict[int | str, None]] = {}
    for text in directives:
        for part in text.split(" / "):
            if directive_name(part) in IF_DIRECTIVES | BRANCH_DIRECTIVES:
                _collect(part, found)
    return {name: tuple(values) for name, values in found.items()}


def _collect(directive: str, found: dict[str, dict[int | str, None]]) -> None:
    tokens = _without_calls(condition_of(Token(TokenKind.DIRECTIVE, directive, 0)))
    is_whole = directive_name(directive).endswith("def")
    for place, token in enumerate(tokens):
        name = spelling(token)
        after = tokens[place + 1 : place + 3]
        if token.kind is not TokenKind.IDENTIFIER or name in _NO_MACROS:
            continue
        values = found.setdefault(name, {})
        for pair in (tokens[max(0, place - 2) : place][::-1], after):
            if len(pair) == 2 and pair[0].text in _COMPARED and pair[1].kind is TokenKind.NUMBER:
                number = literal_value((pair[1],))
                values |= {} if number is None else {number: None}
        is_tested = is_whole or "defined" in [each.text for each in tokens[max(0, place - 2) : place]]
        if not values:
            values |= dict.fromkeys((UNDEFINED, DEFINED) if is_tested else (UNDEFINED, 1))


def _without_calls(tokens: Sequence[Token]) -> list[Token]:
    """Leave out uses of macros with arguments, and of `__has_include`: no value of a name in them would settle it."""
    kept: list[Token] = []
    depth = 0
    for token in tokens:
        if depth or (token.text == "(" and kept and kept[-1].kind is TokenKind.IDENTIFIER and kept[-1].text not in _NO_MACROS):
            if not depth:
                kept.pop()
            depth += (token.text == "(") - (token.text == ")")
        else:
            kept.append(token)
    return kept


def statement_hint(instead: str, directives: Iterable[str]) -> str:
    """Return a hint for what depends on conditions: `instead`, or the contract lines that would decide them, if there are any."""
    lines = [
        f"  {name}: {values[0]}" + (f"  # or {', '.join(map(str, values[1:]))}" if values[1:] else "")
        for name, values in settling(directives).items()
    ]
    return (
        "\n".join([f"{instead}; or state in the contract what the operator is built with:", "macros:", *lines])
        if lines
        else instead
    )
