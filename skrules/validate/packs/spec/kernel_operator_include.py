from __future__ import annotations

from collections.abc import Iterator

from skrules.findings import Finding, Fix, Severity
from skrules.source.model import CoreType
from skrules.validate.rule import Rule
from skrules.validate.subject import Subject, SubjectFile

_HEADER = "kernel_operator.h"
# Parts of the same library, which include what they need of it.
_BRINGING = ("kernel_basic_intf.h", "lib/", "adv_api/", "basic_api/", "simt_api/", "c_api/")
_SOURCES = frozenset({".asc", ".cpp", ".cc", ".cxx"})


def check(subject: Subject) -> Iterator[Finding]:
    for file in subject.files:
        if file.suffix not in _SOURCES or file.is_header:
            continue
        # A quoted header that was not found could include it.
        if file.missing or any(_includes(each) for each in subject.reached(file)):
            continue
        first = next(file.uses("__sk__" if _is_simt(file) else "__global__", "__sk__"), None)
        if first is None:
            continue
        code, index = first
        yield RULE.finding(
            file.at(code.tokens[index].start),
            f"the file has device code, and neither it nor a header of it includes {_HEADER}",
            f'#include "{_HEADER}"',
            Fix(kind="add-include", file=file.path, new_value=f'#include "{_HEADER}"', digest=file.digest),
        )


def _includes(file: SubjectFile) -> bool:
    return any(each.name.rpartition("/")[2] == _HEADER or each.name.startswith(_BRINGING) for each in file.includes)


def _is_simt(file: SubjectFile) -> bool:
    """Whether all kernels are written for single threads, with the language alone."""
    kernels = file.unit.kernels
    return bool(kernels) and all(kernel.type.core is CoreType.NONE for kernel in kernels)


RULE = Rule(
    id="includes.kernel-operator-h",
    severity=Severity.WARNING,
    category="spec",
    title="a file with device code includes kernel_operator.h",
    explanation="The kernel language and SK_BIND are declared in kernel_operator.h. Quotes or angle brackets do not matter, nor "
    "whether the file includes it or a header of it does.",
    source="asc-devkit, SK_BIND, header file: "
    "https://gitcode.com/cann/asc-devkit/blob/82b89a15f26329511fc7fbc807d5132a1f9b4ba7/docs/zh/api/Utils-API/SuperKernel/SK_BIND.md",
    bad="""#include <cstdint>
__global__ __vector__ void scale(GM_ADDR x, uint32_t n) { Scale(x, n); }
""",
    good="""#include <kernel_operator.h>
__global__ __vector__ void scale(GM_ADDR x, uint32_t n) { Scale(x, n); }
""",
    check=check,
)
