"""Rewrites kernel launches, which are no C++, for the host compiler.

    add<half><<<blocks, nullptr, stream>>>(x, y)
    ::skhost::launch({blocks, nullptr, stream}, {"add", 0, 1, 2201}, &add<half>, x, y)

What cores a kernel runs on is no part of its C++ type, so it is looked up in the kernel's definition or declaration: in
the file itself or in the headers handed over. Everything else of the text stays, and every line keeps its number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from skrules.errors import BuildError, ToolchainError
from skrules.source.code import Code, Lines, lines_of
from skrules.source.conditions import conditions_of
from skrules.source.kernels import read
from skrules.source.macros import Macro, arguments_at, macros_of, read_macro
from skrules.source.model import CoreType
from skrules.source.parameters import split
from skrules.toolchain.launch_targets import KnownKernels, LaunchTarget

_MAX_CONFIGURATION = 3  # blocks, reserved, stream; a fourth value makes it the launch of a SIMT kernel


@dataclass(frozen=True, slots=True)
class _Edit:
    start: int
    end: int
    text: str


def rewrite_launches(data: bytes, path: str, arch: int, *, headers: Mapping[str, bytes] | None = None) -> bytes:
    """Return C++ text for the AscendC source `data`; it begins with a `#line` that names `path`.

    `arch` is the number of `__NPU_ARCH__`, e.g. 2201. `headers` are the texts of included files (`local_headers`), nested
    ones too: their kernels can be launched. Raises BuildError for a launch that cannot be read or whose kernel is not
    known, ToolchainError for one that is not emulated.
    """
    data = data.removeprefix(b"\xef\xbb\xbf")
    head = '#line 1 "{}"\n'.format(path.replace("\\", "\\\\").replace('"', '\\"')).encode("utf-8", "surrogateescape")
    if b"<<<" not in data:
        return head + data
    included = tuple(read(text, name) for name, text in (headers or {}).items())
    unit = read(data, path, headers=included)
    known = KnownKernels(unit, included)
    code = unit.code
    macros = macros_of(unit.tokens)
    uses: dict[str, list[int]] = {name: [] for name in macros}
    for index, text in enumerate(code.texts):
        if text in macros:
            uses[text].append(index)
    rewriter = _Rewriter(text=unit.text, code=code, lines=lines_of(unit.text, path), arch=arch, known=known, uses=uses)
    return head + rewriter.rewritten().encode("latin-1")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Launch:
    """Token indices of one launch: callee from `first` to `name` and its template arguments, brackets, parentheses."""

    first: int
    name: int
    angle: int  # the `<` of the template arguments, or -1
    opening: int
    closing: int  # first `>` of `>>>`
    arguments: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rewriter:
    text: str
    code: Code
    lines: Lines
    arch: int
    known: KnownKernels
    uses: Mapping[str, Sequence[int]]  # of the file's macros, by name

    def rewritten(self) -> str:
        pieces: list[str] = []
        position = 0
        for edit in self.edits(self.code):
            pieces += [self.text[position : edit.start], edit.text]
            position = edit.end
        return "".join([*pieces, self.text[position:]])

    def edits(self, code: Code, macro: Macro | None = None) -> Iterator[_Edit]:
        """Yield the launches in `code`, those in the replacement lists of its macros included, in order."""
        conditions = conditions_of(code)
        done = 0
        for index, text in enumerate(code.texts):
            if text == "<<<" and code.text(index - 1) != "operator" and not conditions.is_dead(index):
                launch = self.read_launch(code, index)
                if launch.first < done:
                    raise self.error(code, index, "a launch stands inside of another one")
                yield self.edit(code, launch, macro)
                done = launch.end + 1
            elif "<<<" in text and code.is_directive(index) and not conditions.is_dead(index):
                inner = read_macro(code.tokens[index])
                if inner is not None:
                    yield from self.edits(inner.code, inner)

    def error(self, code: Code, index: int, message: str, hint: str = "") -> BuildError:
        return BuildError(message, at=self.lines.at(code.tokens[index].start), hint=hint)

    def read_launch(self, code: Code, opening: int) -> _Launch:
        closing = code.pairs.get(opening, -1)
        if closing < 0 or code.tokens[closing].end + 1 != code.tokens[closing + 2].start:
            raise self.error(code, opening, "the '<<<' has no '>>>'")
        arguments = closing + 3
        if code.text(arguments) != "(" or arguments not in code.pairs:
            raise self.error(code, opening, "no '(...)' with the kernel's arguments follows the '>>>'")
        name, angle = opening - 1, -1
        if code.text(name) == ">" and name in code.pairs:
            angle = code.pairs[name]
            name = angle - 1
        if not code.is_identifier(name):
            raise self.error(code, opening, "no kernel's name stands before the '<<<'", "launch the kernel by its name")
        first = _first_of_callee(code, name)
        if code.text(first - 1) in (".", "->"):
            raise self.error(code, opening, "a kernel is no member", "launch the kernel by its name")
        return _Launch(
            first=first, name=name, angle=angle, opening=opening, closing=closing, arguments=arguments, end=code.pairs[arguments]
        )

    def edit(self, code: Code, launch: _Launch, macro: Macro | None) -> _Edit:
        """Return the replacement of a launch. Its pieces keep their line ends, so lines keep their numbers."""
        names = code.texts[launch.first : launch.name + 1]
        parameters = macro.parameters or () if macro else ()
        is_made = "##" in names or names[-1] in parameters
        named = self.made_targets(macro, names) if macro and is_made else self.known.find(names[-1])
        targets = named or self.known.everything()
        aic, aiv = self.cores(code, launch, targets, names[-1])
        callee_end = launch.opening - 1
        callee = self.raw(code, launch.first, callee_end)
        configuration = self.between(code, launch.opening, launch.closing)
        arguments = self.between(code, launch.arguments, launch.end)
        gap = self.text[code.tokens[callee_end].end : code.tokens[launch.opening].start]
        gap += self.text[code.tokens[launch.closing + 2].end : code.tokens[launch.arguments].start]
        values = split(code, launch.arguments + 1, launch.end)
        if not named and not is_made:
            function, action = callee, "launch"  # a pointer to a kernel, say
        elif self.has_address(code, launch, targets, len(values)):
            function, action = f"&{callee}", "launch"
        else:
            # Only a call finds the function: a template whose arguments are deduced, an overload, a default argument.
            function, action = f"[](auto... skhost_p) {{ {callee}(skhost_p...); }}", "launchDeduced"
        name = _name_literal(names, parameters)
        text = f"::skhost::{action}({{{configuration}}}, {{{name}, {aic}, {aiv}, {self.arch}}}, {function}{gap}"
        text += f", {arguments})" if values else f"{arguments})"
        return _Edit(code.tokens[launch.first].start, code.tokens[launch.end].end, text)

    def made_targets(self, macro: Macro, names: tuple[str, ...]) -> tuple[LaunchTarget, ...]:
        """Return the kernels that a launch inside of a macro names, as its uses in this file tell, or all that it could."""
        parts, parameters = _name_parts(names), macro.parameters or ()
        made: set[str] = set()
        for index in self.uses.get(macro.name, ()):
            ranges = arguments_at(self.code, index)
            if ranges is not None and len(ranges) == len(parameters):
                values = dict(zip(parameters, (_plain_name(self.code, *each) for each in ranges), strict=True))
                made.add("".join(values.get(part, part) for part in parts))
        if not made:
            made.add("".join("*" if part in parameters else part for part in parts))
        return tuple(target for name in sorted(made) for target in self.known.matching(name))

    def raw(self, code: Code, first: int, last: int) -> str:
        return self.text[code.tokens[first].start : code.tokens[last].end]

    def between(self, code: Code, opening: int, closing: int) -> str:
        return self.text[code.tokens[opening].end : code.tokens[closing].start]

    def cores(self, code: Code, launch: _Launch, targets: tuple[LaunchTarget, ...], name: str) -> tuple[str, str]:
        """Return how many AIC and AIV cores a block of the launched kernel has, as C++ expressions."""
        values = len(split(code, launch.opening + 1, launch.closing))
        types = {(target.type.core, target.type.aic, target.type.aiv) for target in targets}
        if values > _MAX_CONFIGURATION or any(core is CoreType.NONE for core, _, _ in types):
            raise ToolchainError(
                f"'{name}' is launched as a SIMT kernel, which the host toolchain does not emulate",
                at=self.lines.at(code.tokens[launch.opening].start),
                hint="build this source with TOOLCHAIN=bisheng",
            )
        if not values:
            raise self.error(code, launch.opening, "the launch does not say how many blocks to run")
        if not types:
            raise self.error(code, launch.opening, f"'{name}' is no kernel that this file or its headers declare")
        if len(types) > 1:
            raise self.error(
                code,
                launch.opening,
                f"which cores '{name}' runs on cannot be known: the kernels it can mean differ",
                "launch a kernel by its own name, and give kernels of different types different names",
            )
        core, aic, aiv = types.pop()
        if core is CoreType.BARE:
            raise self.error(
                code,
                launch.opening,
                f"which cores '{name}' runs on cannot be known: it is only declared here, with __aicore__ alone",
                "write __vector__, __cube__ or __mix__(c, v) in its declaration",
            )
        return {CoreType.VECTOR: ("0", "1"), CoreType.CUBE: ("1", "0")}.get(core, (aic, aiv))

    def has_address(self, code: Code, launch: _Launch, targets: tuple[LaunchTarget, ...], values: int) -> bool:
        """Tell whether `&callee` names one function, with as many parameters as the launch has arguments."""
        given = -1 if launch.angle < 0 else len(split(code, launch.angle + 1, launch.opening - 1))
        scopes = [target.scope for target in targets]
        return len(set(scopes)) == len(scopes) and all(
            target.parameters in (-1, values) and (target.required == -1 or given >= target.required) for target in targets
        )


def _first_of_callee(code: Code, name: int) -> int:
    """Return where the qualified or pasted name that ends at `name` begins."""
    first = name
    while True:
        before = code.text(first - 1)
        if before == "template":
            first -= 1
        elif before == "##" and code.is_identifier(first - 2):
            first -= 2
        elif before == "::":
            outer = first - 2
            if code.text(outer) == ">" and outer in code.pairs:
                outer = code.pairs[outer] - 1
            if not code.is_identifier(outer) or code.texts[outer] == "return":
                return first - 1
            first = outer
        else:
            return first


def _name_parts(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the parts that are pasted to the plain name of a qualified name."""
    plain = names[len(names) - names[::-1].index("::") :] if "::" in names else names
    return tuple(part for part in plain if part not in ("##", "template"))


def _plain_name(code: Code, start: int, end: int) -> str:
    """Return the plain name in a macro argument: `scale` of `ops::scale<half>`; "*" when it has none."""
    end = next((index for index in range(start, end) if code.texts[index] == "<"), end)
    return code.texts[end - 1] if end > start and code.is_identifier(end - 1) else "*"


def _name_literal(names: tuple[str, ...], parameters: tuple[str, ...]) -> str:
    """Return the kernel's name as a string literal; what a macro's parameter gives is stringified."""
    return " ".join(f"#{part}" if part in parameters else f'"{part}"' for part in _name_parts(names))
