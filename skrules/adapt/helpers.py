"""What a kernel reaches through the functions, classes and macros of its file and headers.

The walk goes by name and errs on the side of too much: overloads of one name are not told apart, but a member function counts
only where its class is reached too.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from skrules.adapt.blocknum import API, C_API, RAW_WORDS, api_names, is_api, is_declared, is_raw
from skrules.adapt.flow import DESTROYERS
from skrules.adapt.pipes import is_pipe_declaration
from skrules.source.calls import Function, functions
from skrules.source.code import Code
from skrules.source.model import SourceUnit
from skrules.source.tokens import directive_name

BLOCK_NUM = "block number"
RAW = "raw block variable"
PIPE = "TPipe"
DESTROY = "Destroy"
PASTE = "pasted name"
DESTRUCTOR = "destructor"
FUNCTION, MACRO, STATEMENT, KERNEL = "function", "macro", "statement", "kernel"
_WORD = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """One token of helper code that matters to a super kernel; `what` is one of the constants above."""

    what: str
    word: str
    unit: SourceUnit
    offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """Code that is reached when all its `names` are: a function, a member function with its class, a class, a macro, an alias.

    `kind` is FUNCTION (classes too), MACRO, STATEMENT or KERNEL.
    """

    names: tuple[str, ...]
    words: frozenset[str]
    uses: tuple[Use, ...]
    unit: SourceUnit
    kind: str

    @property
    def title(self) -> str:
        return "::".join(self.names)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunks:
    """Chunks by name: `by_name` has the places in `all` of those with a name, `nameless` of those without. `single` are the names
    of those that have one: functions, classes, macros and variables of the file itself."""

    all: tuple[Chunk, ...]
    by_name: Mapping[str, Sequence[int]]
    nameless: frozenset[int]
    single: frozenset[str]

    def reached(self, words: Iterable[str]) -> tuple[Chunk, ...]:
        """Return the chunks that code with the identifiers `words` reaches, nearest first, and those without a name."""
        known = set(words)
        waiting = self.nameless | self._named(known)
        found: dict[int, Chunk] = {}
        while now := {each: self.all[each] for each in sorted(waiting) if known.issuperset(self.all[each].names)}:
            found |= now
            new = frozenset[str]().union(*(chunk.words for chunk in now.values())) - known
            known |= new
            waiting = self._named(new) - found.keys()
        return tuple(found.values())

    def _named(self, names: Set[str]) -> frozenset[int]:
        return frozenset(place for name in names & self.by_name.keys() for place in self.by_name[name])


def read_chunks(units: Iterable[SourceUnit]) -> tuple[Chunk, ...]:
    """Return the chunks of a file and its headers. Kernels are some too: the compiler lets one call another like a function."""
    return tuple(chunk for unit in units for chunk in _chunks(unit))


def index_chunks(chunks: Iterable[Chunk]) -> Chunks:
    """Return chunks by name, so that the walk from each kernel looks at those that it reaches alone."""
    listed = tuple(chunks)
    by_name: dict[str, list[int]] = {}
    for place, chunk in enumerate(listed):
        for name in chunk.names:
            by_name.setdefault(name, []).append(place)
    return Chunks(
        all=listed,
        by_name=by_name,
        nameless=frozenset(place for place, chunk in enumerate(listed) if not chunk.names),
        single=frozenset(chunk.names[0] for chunk in listed if len(chunk.names) == 1),
    )


def kernels_called(code: Code, names: Set[str]) -> frozenset[str]:
    """Return those of `names`, which are kernels', that a body calls: a member or a variable may be called the same."""
    return frozenset(text for index, text in enumerate(code.texts) if text in names and is_called(code, index))


def is_called(code: Code, index: int) -> bool:
    """Tell whether the name at `index` may be that of a function which is called there."""
    is_free = code.text(index - 1) not in (".", "->") and not is_declared(code, index, code.text(index))
    return is_free and code.text(index + 1) in ("(", "<")


def _chunks(unit: SourceUnit) -> Iterator[Chunk]:
    code = unit.code
    reader = _Reader(
        unit=unit,
        code=code,
        api=api_names(code),
        declared=frozenset(word for at, word in enumerate(code.texts) if word in RAW_WORDS and is_declared(code, at, word)),
        kernels=frozenset(kernel.name for kernel in unit.kernels),
    )
    kernels = sorted({kernel.span for kernel in unit.kernels})
    starts = [span.start for span in kernels]

    def is_in_kernel(offset: int) -> bool:
        place = bisect_right(starts, offset) - 1
        return place >= 0 and offset < kernels[place].end

    waiting = sorted(functions(unit), key=lambda owner: owner.span, reverse=True)
    own: list[tuple[Function, str, list[int]]] = []
    outside: list[int] = []
    around: list[tuple[Function, str, list[int]]] = []  # functions and classes that are open at the token, innermost last
    for index, token in enumerate(code.tokens):
        while around and token.start >= around[-1][0].span.end:
            around.pop()
        while waiting and waiting[-1].span.start <= token.start:
            owner = waiting.pop()
            holder = around[-1][0].name if around and around[-1][0].is_class else ""
            around.append((owner, holder or _qualifier(code, owner, index), []))
            own.append(around[-1])
        if code.is_directive(index):
            if directive_name(token.text) == "define":
                yield reader.macro(index)
        elif not is_in_kernel(token.start):
            (around[-1][2] if around else outside).append(index)
    for owner, holder, indices in own:
        names = _names(owner, holder)
        if names and not is_in_kernel(owner.body.start):
            yield reader.chunk(names, indices)
    yield from reader.statements(outside)
    for kernel in unit.kernels:
        if kernel.expansion is None:
            body = range(code.index(kernel.body.start), code.index(kernel.body.end))
            yield reader.chunk((kernel.name,), body, KERNEL)


def _names(owner: Function, holder: str) -> tuple[str, ...]:
    """Return the names that must be reached. Constructors, destructors and operators run wherever their class is used."""
    if owner.is_class or not holder:
        return (owner.name,) if owner.name != "operator" else ()
    return (holder,) if owner.name in ("operator", holder) else (holder, owner.name)


def _qualifier(code: Code, owner: Function, index: int) -> str:
    """Return `K` for `void K<T>::f() {`, whose first token is `index`."""
    if owner.is_class:
        return ""
    while code.tokens[index].start < owner.body.start:
        if code.text(index) == owner.name and code.text(index + 1) == "(":
            at = index - 2 if code.text(index - 1) == "::" else -1
            depth = 0
            while at >= 0 and (depth or code.text(at) == ">"):
                depth += (code.text(at) == ">") - (code.text(at) == "<")
                at -= 1
            return code.text(at) if code.is_identifier(at) else ""
        index += 1
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reader:
    """Makes chunks of one file. `declared` are the raw names that the file gives a meaning of its own, `kernels` the names of
    its kernels."""

    unit: SourceUnit
    code: Code
    api: frozenset[str]
    declared: frozenset[str]
    kernels: frozenset[str]

    def chunk(self, names: tuple[str, ...], indices: Sequence[int], kind: str = FUNCTION) -> Chunk:
        code = self.code
        uses = tuple(self.use(what, index) for index in indices if (what := self.meaning(index)))
        words = frozenset(code.text(index) for index in indices if code.is_identifier(index) and not self.is_other_name(index))
        return Chunk(names=names, words=words, uses=uses, unit=self.unit, kind=kind)

    def is_other_name(self, index: int) -> bool:
        """Tell whether the token is called like a kernel and is none that is called: a member, a variable."""
        return self.code.text(index) in self.kernels and not is_called(self.code, index)

    def use(self, what: str, index: int, word: str = "") -> Use:
        return Use(what=what, word=word or self.code.text(index), unit=self.unit, offset=self.code.tokens[index].start)

    def meaning(self, index: int) -> str:
        code, word = self.code, self.code.text(index)
        if is_api(code, index, self.api):
            return BLOCK_NUM
        if word in RAW_WORDS and word not in self.declared and is_raw(code, index):
            return RAW
        if is_pipe_declaration(code, index):
            return PIPE
        if word == "~" and _defines_destructor(code, index):
            return DESTRUCTOR
        is_destroyed = word in DESTROYERS and code.text(index + 1) == "(" and code.text(index - 1) in (".", "->")
        return DESTROY if is_destroyed else ""

    def macro(self, index: int) -> Chunk:
        """A macro is read as a bag of words: where it ends up decides what they mean."""
        name, *words = _WORD.findall(self.code.text(index))[1:] or [""]
        kinds = (
            {API: BLOCK_NUM, C_API: BLOCK_NUM, "TPipe": PIPE} | dict.fromkeys(RAW_WORDS, RAW) | dict.fromkeys(DESTROYERS, DESTROY)
        )
        uses = [self.use(kinds[word], index, word) for word in dict.fromkeys(words) if word in kinds]
        if "##" in self.code.text(index):
            uses.append(self.use(PASTE, index, name))
        return Chunk(names=(name,), words=frozenset(words), uses=tuple(uses), unit=self.unit, kind=MACRO)

    def statements(self, outside: Sequence[int]) -> Iterator[Chunk]:
        """Aliases and variables at namespace scope bring in what they are made of."""
        code = self.code
        statement: list[int] = []
        for index in outside:
            if code.text(index) not in (";", "{", "}"):
                statement.append(index)
                continue
            name = _declared_name(code, statement)
            if name:
                yield self.chunk((name,), statement, STATEMENT)
            statement = []


def _defines_destructor(code: Code, index: int) -> bool:
    """Tell whether the `~` at `index` begins a destructor that does something."""
    closing = code.partner(index + 2) if code.text(index + 2) == "(" else -1
    brace = closing + 1 + (code.text(closing + 1) in ("override", "noexcept", "final"))
    return closing >= 0 and code.text(brace) == "{" and code.partner(brace) != brace + 1


def declared_through_pointer(words: Sequence[str]) -> str:
    """Return `p` for `int (*const p[])() `, "" for what declares no pointer or reference in brackets."""
    for at in range(len(words) - 2):
        if words[at] == "(" and words[at + 1] in ("*", "&", "&&"):
            end = at + 1
            while end < len(words) and words[end] in ("*", "&", "&&", "const"):
                end += 1
            return words[end] if end < len(words) and words[end].isidentifier() else ""
        if words[at] == "=":
            break
    return ""


def _declared_name(code: Code, statement: Sequence[int]) -> str:
    """Return the name that a statement declares, "" for none; `using N::name;` declares nothing new."""
    words = [code.text(index) for index in statement]
    if words[:1] == ["using"] and "=" not in words:
        return ""
    if name := declared_through_pointer(words):
        return name
    angle = 0
    for index, following in zip(statement, [*words[1:], ";"], strict=False):
        angle += (code.text(index) == "<") - (code.text(index) == ">")
        if not angle and code.is_identifier(index) and following in ("=", ";", "[", "{", "("):
            return code.text(index)
    return ""
