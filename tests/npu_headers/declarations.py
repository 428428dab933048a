"""What a header of the emulated ACL says, as C++ that the real one can be asked: function types, values and layouts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
_FUNCTION = re.compile(r"^(?:static inline )?((?:const )?\w+ \*?)(\w+)\(([^;{}]*)\)\s*[;{]", re.M)
_MACRO = re.compile(r"^#define (ACL_\w+) [^\n]+$", re.M)
_CONSTANT = re.compile(r"^static const \w+ (\w+) =", re.M)
_ENUM = re.compile(r"\benum( class)?\s*(\w*)[^{;]*\{([^}]*)\}", re.S)
_STRUCT = re.compile(r"\bstruct (\w+) \{(.*?)^\}", re.S | re.M)
_UNION = re.compile(r"\bunion \w+ \{[^}]*\} (\w+;)")
_FIELD = re.compile(r"\b(\w+)(?:\[\d+\])?;")
# Of the emulation alone, by their names.
_OWN = "skrules_"


@dataclass(frozen=True, slots=True, kw_only=True)
class Declarations:
    """`functions` maps names to pointer types, `values` are constant expressions."""

    functions: dict[str, str]
    values: tuple[str, ...]


def read_declarations(text: str) -> Declarations:
    """Read one header."""
    code = _COMMENT.sub("", text)
    functions = {
        name: f"{result.strip()} (*)({' '.join(arguments.split())})"
        for result, name, arguments in _FUNCTION.findall(code)
        if not name.startswith(_OWN)
    }
    values = [*_MACRO.findall(code), *_CONSTANT.findall(code)]
    for scoped, name, body in _ENUM.findall(code):
        names = [each.partition("=")[0].strip() for each in body.split(",")]
        values += [f"{name}::{each}" if scoped else each for each in names if each]
    for name, body in _STRUCT.findall(code):
        values.append(f"sizeof({name})")
        values += [f"offsetof({name}, {field})" for field in _FIELD.findall(_UNION.sub(r"\1", body))]
    return Declarations(functions=functions, values=tuple(values))


def printing(headers: Sequence[str], values: Sequence[str]) -> str:
    """Return a program that prints the values, one a line."""
    lines = [f'    std::printf("%lld\\n", static_cast<long long>({value}));' for value in values]
    return "\n".join([*_includes(headers), "#include <cstdio>", "int main() {", *lines, "}", ""])


def asserting(headers: Sequence[str], functions: Mapping[str, str], values: Mapping[str, int]) -> str:
    """Return a file that compiles where everything is as it is told."""
    lines = [f'static_assert(std::is_same_v<decltype(&{name}), {kind}>, "{name}");' for name, kind in functions.items()]
    lines += [f'static_assert(static_cast<long long>({value}) == {number}, "{value}");' for value, number in values.items()]
    return "\n".join([*_includes(headers), "#include <type_traits>", *lines, ""])


def _includes(headers: Sequence[str]) -> list[str]:
    return ["#include <cstddef>", *(f'#include "{header}"' for header in headers)]
