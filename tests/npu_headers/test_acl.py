"""The emulated ACL and SK runtime have the names, types, values and layouts of the real ones."""

from __future__ import annotations

import os
import subprocess

import pytest

from skrules import resources
from skrules.toolchain import cxx
from tests.npu_headers.declarations import asserting, printing, read_declarations

EMULATED = resources.toolchains() / "host" / "include"
HEADERS = {
    "acl/acl_base.h": "acl/acl_base.h",
    "acl/acl_rt.h": "acl/acl_rt.h",
    "acl/acl_prof.h": "acl/acl_prof.h",
    "super_kernel/super_kernel.h": "acl/super_kernel.h",
}


def test_declarations_are_read():
    made = read_declarations(
        "#define ACL_ONE 1\nstatic const int ACL_TWO = 2;  // two\nenum class E : int { A = 1, B };\ntypedef enum { C, D } F;\n"
        "struct S {\n    char *name;\n    int sizes[4];\n    union U {\n        int one;\n    } both;\n};\n"
        "aclError aclDo(void **to,\n               size_t size);\nconst char *aclSay();\n"
        "static inline void aclStop(int how) { (void)how; }\nint skrules_host_own(int);\n"
    )
    assert made.functions == {
        "aclDo": "aclError (*)(void **to, size_t size)",
        "aclSay": "const char * (*)()",
        "aclStop": "void (*)(int how)",
    }
    assert made.values == (
        *("ACL_ONE", "ACL_TWO", "E::A", "E::B", "C", "D"),
        *("sizeof(S)", "offsetof(S, name)", "offsetof(S, sizes)", "offsetof(S, both)"),
    )


@pytest.mark.parametrize("header", HEADERS)
def test_the_emulation_declares_what_the_toolkit_declares(header, real):
    found = read_declarations((EMULATED / header).read_text())
    assert found.functions
    assert found.values
    program, source = real.work / "print", real.work / "print.cpp"
    source.write_text(printing([header], found.values))
    words = ["-std=c++17", "-w", f"-I{EMULATED}", "-o", str(program), str(source)]
    subprocess.run([*cxx.find_compiler(os.environ).command, *words], check=True)
    printed = subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()
    values = dict(zip(found.values, map(int, printed), strict=True))
    checked = real.work / "assert.cpp"
    checked.write_text(asserting([HEADERS[header]], found.functions, values))
    real.accepts(checked, "-Wno-invalid-offsetof", "-Wno-deprecated-declarations")


@pytest.mark.parametrize(
    ("functions", "values"),
    [
        ({"aclskOptimize": "aclError (*)(aclmdlRI, const aclskOptions *)"}, {}),
        ({"aclskOptimise": "aclError (*)(aclmdlRI, aclskOptions *)"}, {}),
        ({}, {"sizeof(aclskOption)": 1}),
    ],
)
def test_a_difference_is_found(functions, values, real):
    checked = real.work / "wrong.cpp"
    checked.write_text(asserting(["acl/super_kernel.h"], functions, values))
    with pytest.raises(AssertionError, match=next(iter({**functions, **values})).split("(")[0]):
        real.accepts(checked)


def test_the_compare_program_uses_the_real_acl(accepts_ascendc):
    templates = resources.templates()
    accepts_ascendc(templates / "compare" / "runtime_compare.asc", includes=(templates / "compare", templates / "binding"))
