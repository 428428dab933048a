"""Uses of macros that define kernels: `DEFINE_ADD(half)`, found at namespace scope and expanded exactly."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from skrules.source.code import Code, code_of
from skrules.source.macros import Budget, Macro, ambiguity, expansion_text
from skrules.source.tokens import tokenize

_MAX_TEXT = 1 << 20  # bytes that one use may grow to
_OUTSIDE = "write the kernel, or what it calls, outside of the macro"
_FOLDER = "say where the header with the macro lies: -I of the build's options or of `skrules adapt`, or --support-dir"


class Unexpandable(Exception):
    """A use that cannot be expanded exactly; the text says why, `hint` what helps. `macros` are the definitions of one name
    that differ."""

    def __init__(self, reason: str, macros: Sequence[Macro] = (), hint: str = _OUTSIDE) -> None:
        super().__init__(reason)
        self.macros = tuple(macros)
        self.hint = hint


@dataclass(frozen=True, slots=True)
class KernelMacros:
    """`names` are the macros of a file and its headers from which a kernel definition comes, `direct` those that hold one
    themselves."""

    direct: frozenset[str]
    names: frozenset[str]

    def is_use(self, code: Code, index: int) -> bool:
        """Tell whether the identifier at `index` uses one of them, itself or by handing it to another macro."""
        if code.texts[index] in self.names:
            return True
        if not self.names or code.text(index + 1) != "(" or not code.is_identifier(index):
            return False
        closing = code.pairs.get(index + 1, index)
        return any(code.texts[place] in self.names for place in range(index + 2, closing))


def kernel_macros(macros: Mapping[str, tuple[Macro, ...]], aliases: Collection[str]) -> KernelMacros:
    """Find the macros that hold a `__global__` (one of `aliases`, not an alias themselves), and those that use them."""
    direct = {
        name
        for name, definitions in macros.items()
        if name not in aliases and any(alias in macro.code.texts for macro in definitions for alias in aliases)
    }
    users: dict[str, set[str]] = {}
    for name, definitions in macros.items() if direct else ():
        for macro in definitions:
            for text in macro.code.texts:
                if text in macros:
                    users.setdefault(text, set()).add(name)
    names, waiting = set(direct), list(direct)
    while waiting:
        new = users.get(waiting.pop(), set()) - names - set(aliases)
        names |= new
        waiting += new
    return KernelMacros(direct=frozenset(direct), names=frozenset(names))


@dataclass(slots=True)
class Expander:
    """Expands uses of kernel macros in one file, whose text is `layout`. `macros` are those of the file and of its headers,
    `used` the direct ones that were expanded."""

    layout: str
    macros: Mapping[str, tuple[Macro, ...]]
    known: KernelMacros
    used: set[str] = field(default_factory=set)

    def expand(self, code: Code, index: int) -> str:
        """Return what the use at `index` stands for. Raises Unexpandable."""
        return self._expand(code, index, (), Budget(256))

    def _expand(self, code: Code, index: int, within: tuple[str, ...], budget: Budget) -> str:
        name = renamed(code.texts[index], self.macros)
        definitions = self.macros.get(name, ())
        if not definitions:
            raise Unexpandable(f"the macro '{name}' comes from another file, which is not found", hint=_FOLDER)
        if len(definitions) > 1:
            raise Unexpandable(f"the macro '{name}' {ambiguity(definitions)}", definitions)
        if name in within or not budget.spend():
            raise Unexpandable(f"the macro '{name}' takes too many other macros to understand")
        if within:
            self._check_arguments(code, index)
        origin = definitions[0].origin
        text = expansion_text(definitions[0], code, index, self.layout if origin is None else origin.text)
        if text is None:
            raise Unexpandable(f"the use of the macro '{name}' does not fit its definition")
        if name in self.known.direct:
            self.used.add(name)
        return self._expand_within(text, (*within, name), budget)

    def _check_arguments(self, code: Code, index: int) -> None:
        """A macro in the arguments is replaced before they are pasted, when they come through another macro."""
        for place in range(index + 2, code.pairs.get(index + 1, index)):
            text = code.texts[place]
            if code.is_identifier(place) and text in self.macros and text not in self.known.names:
                raise Unexpandable(f"'{text}', handed from macro to macro, is a macro itself")

    def _expand_within(self, text: str, within: tuple[str, ...], budget: Budget) -> str:
        if len(text) > _MAX_TEXT:
            raise Unexpandable(f"the macro '{within[-1]}' grows too large")
        code = code_of(tokenize(text))
        pieces: list[str] = []
        at = index = 0
        while index < len(code):
            if code.is_identifier(index) and self.known.is_use(code, index):
                pieces += [text[at : code.tokens[index].start], self._expand(code, index, within, budget)]
                index = last_of_use(code, index, self.macros)
                at = code.tokens[index].end
            index += 1
        return "".join([*pieces, text[at:]])


def renamed(name: str, macros: Mapping[str, tuple[Macro, ...]]) -> str:
    """Return the macro that a use of `name` uses: another one when `name` stands for nothing but that name."""
    passed = {name}
    while len(definitions := macros.get(name, ())) == 1 and definitions[0].parameters is None:
        other = definitions[0].code.text(0)
        if len(definitions[0].code) != 1 or other not in macros or other in passed:
            break
        name = other
        passed.add(name)
    return name


def last_of_use(code: Code, index: int, macros: Mapping[str, tuple[Macro, ...]]) -> int:
    """Return the last token of the use at `index`: its name, or the `)` of a function-like macro."""
    definitions = macros.get(renamed(code.texts[index], macros), ())
    takes_arguments = not definitions or any(macro.parameters is not None for macro in definitions)
    return code.pairs.get(index + 1, index) if takes_arguments and code.text(index + 1) == "(" else index
