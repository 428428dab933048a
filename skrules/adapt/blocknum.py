"""The block number in a kernel body: what must come from `sysArgs` in a super kernel.

In a super kernel `GetBlockNum()` tells the blocks of the whole launch, not those of the kernel's own. Sources: asc-devkit,
SuperKernel guide rule 4, kernel_operator_sys_var_intf.h and c_api/sys_var/sys_var.h (both are `int64_t`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from skrules.adapt.edits import Edit
from skrules.adapt.places import finding
from skrules.findings import Finding, Severity
from skrules.source.code import Code
from skrules.source.model import CoreType, Kernel, SourceUnit

API = "GetBlockNum"
C_API = "asc_get_block_num"  # the same in the C API, at global scope
_SIMT = "Simt"  # namespace of the same for SIMT functions, which no body can call
_RAW_CALLS = frozenset({"get_block_num"})
RAW_WORDS = _RAW_CALLS | {"block_num", "block_idx"}
_BEFORE_VALUES = frozenset({"return", "else", "case", "do", "goto"})
_CLASS_KEYS = frozenset({"class", "struct", "union"})
_HEAD_ENDS = frozenset({";", "{", "}", "(", "[", "=", ",", "?"})
ACCEPT_HINT = (
    "pass AscendC::GetBlockNum() from the kernel as an argument, or set sk.helper_block_num: accept for a kernel that is always "
    "launched with the block number of its super kernel"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockNumUse:
    """`calls` are the token ranges (inclusive) of the calls that the body makes itself, `indices` those of raw block indices."""

    calls: tuple[tuple[int, int], ...]
    indices: tuple[tuple[int, int], ...]
    findings: tuple[Finding, ...]

    def edits(self, code: Code, number: str) -> tuple[Edit, ...]:
        """Return the calls, with the expression `number` in their place."""
        return tuple(Edit(start=code.tokens[first].start, end=code.tokens[last].end, text=number) for first, last in self.calls)

    def index_edits(self, code: Code) -> tuple[Edit, ...]:
        """Return the raw block indices as calls of the API, which SK code may use."""
        return tuple(
            Edit(start=code.tokens[first].start, end=code.tokens[last].end, text="AscendC::GetBlockIdx()")
            for first, last in self.indices
        )


def api_names(code: Code) -> frozenset[str]:
    """Return the names that mean namespace AscendC in a file: itself and its aliases."""
    names = {"AscendC"}
    for index, text in enumerate(code.texts):
        if text == "namespace" and code.is_identifier(index + 1) and code.text(index + 2) == "=":
            target = index + 3 + (code.text(index + 3) == "::")
            if code.text(target) in names and code.text(target + 1) == ";":
                names.add(code.text(index + 1))
    return frozenset(names)


def block_num_use(
    unit: SourceUnit,
    kernel: Kernel,
    code: Code,
    api: Collection[str],
    *,
    own_function: bool,
    declared: Collection[str],
    accepted: bool,
    strange: Collection[str] = (),
) -> BlockNumUse:
    """Find every use of the block number in a body.

    `own_function`: the file declares a function of its own with the API's name, so an unqualified call is not known to be
    the API's. `declared` are variables at namespace scope. `accepted`: the contract says that the launch's block number is
    the kernel's. `strange` are macros whose arguments must stay as they are.
    """
    own = {parameter.name for parameter in kernel.parameters}
    calls: list[tuple[int, int]] = []
    indices: list[tuple[int, int]] = []
    findings: list[Finding] = []

    def report(index: int, message: str) -> None:
        if not accepted:
            findings.append(
                finding(
                    unit, code.tokens[index].start, "codegen.block-num-in-helper", f"{kernel.name}: {message}", hint=ACCEPT_HINT
                )
            )

    for index in range(len(code.tokens)):
        word = code.text(index)
        if word in (API, C_API) and code.text(index - 1) not in (".", "->"):
            first, known = qualification(code, index, api)
            if not known or (first == index and own_function and word == API):
                report(index, f"'{word}' is not known to be AscendC::{API}, which must come from sysArgs in a super kernel")
            elif code.text(index + 1) != "(" or code.text(index + 2) != ")":
                report(index, f"{word} is used other than as a plain call")
            elif (holder := closed_scope(code, index, strange=strange)) is not None:
                report(index, f"{word} is called in a {holder} of the body, which cannot reach sysArgs")
            else:
                calls.append((first, index + 2))
        elif word in RAW_WORDS and word not in own and word not in declared and is_raw(code, index):
            if any(is_declared(code, at, word) for at in range(index + 1)):
                continue
            # On cores of one kind, one to a block, the raw names mean what the API's do.
            if kernel.type.core in (CoreType.VECTOR, CoreType.CUBE) and closed_scope(code, index) is None:
                (indices if word == "block_idx" else calls).append((index, index + 2 if word in _RAW_CALLS else index))
                continue
            findings.append(raw_finding(unit, code.tokens[index].start, kernel.name, word, accepted=accepted))
    return BlockNumUse(calls=tuple(calls), indices=tuple(indices), findings=tuple(findings))


def pasted_name(words: Collection[str], names: Sequence[str] = (API, C_API, *sorted(RAW_WORDS))) -> str:
    """Return one of `names`, those of the block number, that `##` can make of two or more of `words`, or ""."""
    for name in names:
        ends = {0}
        for at in range(len(name)):
            if at in ends:
                ends |= {at + len(word) for word in words if word != name and name.startswith(word, at)}
        if len(name) in ends:
            return name
    return ""


def raw_finding(unit: SourceUnit, offset: int, kernel: str, word: str, *, accepted: bool) -> Finding:
    """Return the finding on a built-in block variable. `accepted`: the launch's blocks are the kernel's."""
    return finding(
        severity=Severity.WARNING if accepted else Severity.BLOCKER,
        unit=unit,
        offset=offset,
        rule="codegen.raw-block-variable",
        message=f"{kernel}: '{word}' is a block variable of the launch, which SK code must not use",
        hint="use AscendC::GetBlockNum() in the kernel body and AscendC::GetBlockIdx()",
    )


def is_api(code: Code, index: int, api: Collection[str]) -> bool:
    """Tell whether the name at `index` may mean the API: no member, no declaration, no class of the author in front."""
    word = code.text(index)
    if word not in (API, C_API) or code.text(index - 1) in (".", "->") or is_declared(code, index, word):
        return False
    return qualification(code, index, api)[1] or code.text(index - 2) == _SIMT


def qualification(code: Code, index: int, api: Collection[str]) -> tuple[int, bool]:
    """Return where the qualified name begins and whether its qualifier is namespace AscendC (or nothing)."""
    first, qualifiers = index, []
    while code.text(first - 1) == "::":
        first -= 1
        if not code.is_identifier(first - 1) or code.text(first - 1) in _BEFORE_VALUES:
            break
        first -= 1
        qualifiers.append(code.text(first))
    return first, first == index or (len(qualifiers) == 1 and qualifiers[0] in api)


def is_raw(code: Code, index: int) -> bool:
    """Tell whether the name at `index` is not a member: then it may be the built-in variable or function."""
    call = code.text(index + 1) == "("
    return code.text(index - 1) not in (".", "->", "::") and (code.text(index) not in _RAW_CALLS or call)


def is_declared(code: Code, at: int, word: str) -> bool:
    """Tell whether token `at` is `word` behind a type, as in a declaration."""
    before = code.text(at - 1)
    if code.text(at) != word or not code.is_identifier(at):
        return False
    if before in ("*", "&"):
        return (
            code.is_identifier(at - 2) and code.text(at - 3) in ("", "{", "}", ";", "const") and code.text(at + 1) in ("=", ";")
        )
    return code.is_identifier(at - 1) and before not in _BEFORE_VALUES


def closed_scope(code: Code, index: int, outermost: int = 0, strange: Collection[str] = ()) -> str | None:
    """Return what encloses token `index` and does not see the parameters of the function whose body begins at `outermost`, or
    is no place for other code: the argument of one of the macros `strange`."""
    opening = index
    while (opening := opening - 1) > outermost:
        text = code.text(opening)
        if text in ("}", ")", "]"):
            other = code.partner(opening)
            opening = other if 0 <= other < opening else opening  # what stands between does not enclose the token
            continue
        if text not in ("{", "(") or code.partner(opening) < index:
            continue
        if text == "{" and (holder := _closed(code, opening)):
            return holder
        if text == "(" and code.text(opening - 1) == "]" and introduces_lambda(code, code.partner(opening - 1)):
            return "default argument of a lambda"
        if text == "(" and code.text(opening - 1) in strange:
            return f"use of the macro '{code.text(opening - 1)}'"
    return None


def _closed(code: Code, brace: int) -> str | None:
    """Return the class, or the lambda without a capture default, whose body begins at `brace`; None for any other block."""
    at = brace - 1
    while at > 0:
        text = code.text(at)
        if text in _CLASS_KEYS:
            return "class"
        if text == "]":
            opening = code.partner(at)
            if opening >= 0 and introduces_lambda(code, opening):
                is_open = code.text(opening + 1) in ("&", "=") and not code.is_identifier(opening + 2)
                return None if is_open else "lambda without a capture default"
        if text in (")", "]", ">"):
            # What stands in brackets between belongs to the head: parameters, an attribute, `noexcept(...)`, a result type.
            at = code.pairs.get(at, at)
        elif text in _HEAD_ENDS:
            return None
        at -= 1
    return None


def introduces_lambda(code: Code, opening: int) -> bool:
    """Tell whether the `[` at `opening` begins a lambda: no subscript, no attribute."""
    before = code.text(opening - 1)
    is_value = code.is_identifier(opening - 1) and before not in _BEFORE_VALUES
    return opening >= 0 and not is_value and before not in (")", "]", "[", ">") and code.text(opening + 1) != "["
