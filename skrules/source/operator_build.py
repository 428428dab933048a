"""Kernels that are written for the operator build of CANN: its build generates macros and structs that they use.

A kernel that is launched directly has none of these. Source of what is generated: the AscendC operator development guide,
chapters on operator projects: `DTYPE_X`, `ORIG_DTYPE_X` and `FORMAT_X` for each input and output X, and the struct that
`GET_TILING_DATA(name, address)` reads, unless `REGISTER_TILING_DEFAULT(Struct)` names it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from skrules.findings import Finding, Severity
from skrules.source.code import Code
from skrules.source.conditions import conditions_of
from skrules.source.macros import macros_of
from skrules.source.model import SourceUnit, TokenKind
from skrules.source.tokens import BRANCH_DIRECTIVES, IF_DIRECTIVES, directive_name, tokenize_replacement

RULE = "source.not-direct-launch"
_PREFIXES = ("DTYPE_", "ORIG_DTYPE_", "FORMAT_")
_TILING = "GET_TILING_DATA"
_REGISTER = "REGISTER_TILING_DEFAULT"
_INCLUDE = re.compile(r'#\s*include\s*"([^"]+)"')
# The toolkit's own headers, which define none of this.
_TOOLKIT = ("kernel_", "lib/", "acl/", "tiling/", "adv_api/", "basic_api/", "utils/", "register/", "super_kernel/")
_DECLARING = frozenset({"using", "class", "struct", "union", "enum", "typename", "typedef"})


def operator_build_findings(
    unit: SourceUnit, headers: Sequence[SourceUnit] = (), defined: Collection[str] = ()
) -> tuple[Finding, ...]:
    """Return one blocker when the file, or a header of it, uses what only the operator build of CANN generates; else none.

    `defined` are the macros that the build itself defines for the file. A name counts as generated when it is made of the
    name of a kernel's parameter and nobody defines or declares it; an included file that is not among `headers` could.
    """
    units = (unit, *headers)
    if not any(word in each.text for each in units for word in (*_PREFIXES, _TILING)) or not _is_complete(units):
        return ()
    names = {parameter.name.upper() for kernel in unit.kernels for parameter in kernel.parameters if parameter.name}
    generated = {prefix + name for name in names for prefix in _PREFIXES}
    codes = [each.code for each in units]
    macros = {name for each in units for name in macros_of(each.tokens)}
    known = macros | set(defined)
    known |= {name for code in codes for name in (*_declared(code), *_asked_for(code))}
    missing: dict[str, tuple[SourceUnit, int]] = {}
    registered = any(_REGISTER in code.texts for code in codes)
    for each, code in zip(units, codes, strict=True):
        for name, offset in _used(code):
            is_tiling = name == _TILING and not registered
            if (is_tiling or name in generated) and name not in known:
                missing.setdefault(name, (each, offset))
    if not missing:
        return ()
    place, offset = next(iter(missing.values()))
    macros_missing = sorted(name for name in missing if name != _TILING)
    parts = [", ".join(macros_missing)] if macros_missing else []
    hints = (
        [f"define each macro in the contract, e.g. compile: {{defines: [{macros_missing[0]}=half]}}"] if macros_missing else []
    )
    if _TILING in missing:
        parts.append(f"the struct of {_TILING}")
        hints.append(f"declare the struct and say {_REGISTER}(Struct) before the kernel, or make it a kernel parameter")
    return (
        Finding(
            rule=RULE,
            severity=Severity.BLOCKER,
            at=place.lines.at(offset),
            message=f"the kernel is not written for a direct launch: only CANN's operator build generates {' and '.join(parts)}",
            hint="\n".join(hints),
        ),
    )


def _is_complete(units: Sequence[SourceUnit]) -> bool:
    """Whether every file that is included by name was read, or is the toolkit's."""
    read = {each.path.rpartition("/")[2] for each in units}
    included = (_INCLUDE.match(token.text) for each in units for token in each.tokens if token.kind is TokenKind.DIRECTIVE)
    names = {match[1] for match in included if match}
    return all(name.rpartition("/")[2] in read or name.startswith(_TOOLKIT) for name in names)


def _used(code: Code) -> Iterator[tuple[str, int]]:
    """Yield the names that stand in code which is compiled, and those of the macros there."""
    conditions = conditions_of(code)
    for index, text in enumerate(code.texts):
        if code.is_identifier(index) and not conditions.is_dead(index):
            yield text, code.tokens[index].start


def _declared(code: Code) -> Iterator[str]:
    """Yield the names that the file gives a meaning: types, aliases, template parameters, constants."""
    for index, text in enumerate(code.texts):
        if text in _DECLARING and text != "typedef" and code.is_identifier(index + 1):
            yield code.texts[index + 1]
        elif code.is_identifier(index - 1) and (
            (text == "=" and code.is_identifier(index - 2)) or (text == ";" and _begins_typedef(code, index))
        ):
            yield code.texts[index - 1]


def _begins_typedef(code: Code, end: int) -> bool:
    return "typedef" in code.texts[max(0, end - 16) : end]


def _asked_for(code: Code) -> Iterator[str]:
    """Yield the names in conditions: a file that asks whether a macro is defined does without it."""
    for index in range(len(code)):
        if code.is_directive(index) and directive_name(code.texts[index]) in (*IF_DIRECTIVES, *BRANCH_DIRECTIVES):
            text = code.texts[index]
            tokens = tokenize_replacement(text, text.index("#") + 1, len(text))
            yield from (token.text for token in tokens if token.kind is TokenKind.IDENTIFIER)
