"""Records of what an AscendC source file contains.

Text is held as latin-1, so an index into `text` is a byte offset of the file and every byte survives a round trip,
whatever its encoding. Text that is shown to people goes through `printable`.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from skrules.errors import Location
from skrules.findings import Finding

if TYPE_CHECKING:  # the readers of code stand on these records
    from skrules.source.code import Code, Lines


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Span:
    """Half-open range of byte offsets."""

    start: int
    end: int


class TokenKind(enum.StrEnum):
    """What a token is. Every byte of a file belongs to exactly one token."""

    BLANK = "blank"  # spaces, tabs, form feeds, line ends and line continuations
    COMMENT = "comment"
    INACTIVE = "inactive"  # text of an `#if` group that a stated macro decides: trivia, like a comment
    DIRECTIVE = "directive"  # a whole preprocessor line with its continuations, comments inside it included
    IDENTIFIER = "identifier"
    NUMBER = "number"
    STRING = "string"  # with prefix, raw strings included
    CHARACTER = "character"
    PUNCTUATION = "punctuation"
    OTHER = "other"  # bytes that begin no C++ token


class Token(NamedTuple):
    """`text` is the exact bytes; `start` its offset. A tuple and not a dataclass, since a file has hundred thousands."""

    kind: TokenKind
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


class CoreType(enum.StrEnum):
    """Which cores a kernel runs on. `BARE` is `__aicore__` alone (the compiler infers), `NONE` no type at all (SIMT)."""

    VECTOR = "vector"
    CUBE = "cube"
    MIX = "mix"
    BARE = "bare"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelType:
    """`aic`/`aiv` are the texts inside `__mix__(c, v)`, usually digits. `source` is "qualifier", "task-macro",
    "conditional-task-macro" (the type depends on a `#if` of the body), "unsettled-task-macro" (it depends on the tiling key, or
    its name is not known), "core-ratio-attribute" or "" and says where the type was read; "contract": the source leaves it open.
    """

    core: CoreType
    aic: str = ""
    aiv: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One kernel parameter as written, comments and surplus blanks removed.

    `type` is all before the name; `array` is e.g. "[4]" or ""; `default` the text after `=` or None;
    `name` is "" for an unnamed parameter.
    """

    type: str
    name: str
    array: str = ""
    default: str | None = None
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateParameter:
    """`declaration` is the text without the default, e.g. "typename T" or "uint32_t N"; `name` may be "".

    `is_list` marks the macro of another file that stands for one or more parameters: `template <TPL_PARAMS>`.
    """

    declaration: str
    name: str
    default: str | None = None
    is_pack: bool = False
    is_type: bool = False
    is_list: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """One definition of a `__global__` function.

    `span` runs from the first token of the declaration (template head, `extern "C"`, attributes and qualifiers
    included) to the closing brace of the body; `body` from `{` to `}` inclusive; `parameter_span` from `(` to `)`.
    `namespaces` are the enclosing named namespaces, outermost first ("" for an anonymous one).
    `qualifiers` are all specifiers and attributes but `void` and `extern "C"`, in order, arguments included; those of further
    branches of an `#if` in the signature come last.
    `conditions` are the texts of the `#if`-family directives that are open around the definition, outermost first; a
    later branch follows the earlier ones of its group: "#if A / #else".
    `macro` names the macro by whose use the kernel is defined, or "". All spans of such a kernel are that of the use, and
    `expansion` is the text it stands for, read like a file of its own: `definition` is the kernel there.
    `line` and `column` are those of the `__global__`, or of the use.
    """

    name: str
    namespaces: tuple[str, ...]
    qualifiers: tuple[str, ...]
    type: KernelType
    parameters: tuple[Parameter, ...]
    template_parameters: tuple[TemplateParameter, ...] | None  # None: not a template; (): `template <>`
    specialisation: str = ""  # "<half>" for an explicit specialisation, as written after the name
    extern_c: str = ""  # "", "prefix" (`extern "C" __global__ ...`) or "block" (inside `extern "C" { }`)
    macro: str = ""
    conditions: tuple[str, ...] = ()
    signature_has_conditions: bool = False
    span: Span
    name_span: Span
    parameter_span: Span
    body: Span
    line: int
    column: int
    expansion: SourceUnit | None = None
    definition: Kernel | None = None

    @property
    def qualified_name(self) -> str:
        """The name to use from global scope, e.g. `ns::add_custom`."""
        return "::".join([*(space for space in self.namespaces if space), self.name])


@dataclass(frozen=True, slots=True, kw_only=True)
class MacroKernel:
    """A kernel definition in the replacement list of `macro`, as it is written there: `add_##T`. `parameters` is None when
    they cannot be known before the macro is used. It is no kernel yet; each use of the macro makes one."""

    name: str
    macro: str
    parameters: tuple[Parameter, ...] | None
    line: int
    column: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """An `#if` group that stated macros decide, in whole or in part. `start` is the offset of its `#if`.

    `macros` are those that its conditions ask for, as they are stated. `dead` are the ends of the directives whose branches are
    not compiled. `unless` are the directives of a group that has no `#else` and one of whose branches is compiled: one of these
    conditions must hold.
    """

    start: int
    macros: tuple[tuple[str, int | str], ...]
    dead: tuple[int, ...]
    unless: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceUnit:
    """A file that was read. `path` is how messages name it. `findings` has one for every `__global__` that did not
    become a kernel, and further ones for what in a kernel cannot be known. `tokens` concatenated give `text`;
    `text.encode("latin-1")` gives the file. `code` is what of the tokens means something, with its structure, and `lines` are
    the beginnings of lines: both follow from the text, and are kept since everybody asks."""

    path: str
    text: str
    tokens: tuple[Token, ...]
    code: Code = field(repr=False, compare=False)
    lines: Lines = field(repr=False, compare=False)
    kernels: tuple[Kernel, ...]
    findings: tuple[Finding, ...]
    newline: str  # "\n", "\r\n" or "\r": what the file mostly uses
    macro_kernels: tuple[MacroKernel, ...] = ()
    decisions: tuple[Decision, ...] = ()  # by the macros that the contract states, in order
    stands_at: Location | None = None  # of the use, when the text is the expansion of a macro: all of it is told to be there


def printable(text: str) -> str:
    """Return latin-1 held bytes as text for a message: UTF-8 where it is valid, replacement characters where not."""
    return text.encode("latin-1").decode("utf-8", "replace")
