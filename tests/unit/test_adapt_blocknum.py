"""The block number in a kernel body: which calls are the API's, and what cannot be rewritten."""

from __future__ import annotations

import pytest

from skrules.adapt.adaptation import adapt
from skrules.adapt.blocknum import BlockNumUse, api_names, block_num_use, closed_scope, is_api, pasted_name
from skrules.adapt.edits import apply
from skrules.adapt.places import tokens_in
from skrules.contract.check import resolve
from skrules.contract.load import load
from skrules.findings import Severity
from skrules.source.code import Code, code_of
from skrules.source.kernels import read
from skrules.source.model import SourceUnit


def read_code(text: str) -> Code:
    return read(text.encode(), "k.asc").code


def use_of(
    body: str, *, type_: str = "__vector__", own_function: bool = False, accepted: bool = False
) -> tuple[BlockNumUse, str]:
    unit: SourceUnit = read(f"__global__ {type_} void k(GM_ADDR x, int n) {{ {body} }}\n".encode(), "k.asc")
    code = code_of(tokens_in(unit, unit.kernels[0].body))
    use = block_num_use(
        unit, unit.kernels[0], code, {"AscendC", "ac"}, own_function=own_function, declared={"block_num"}, accepted=accepted
    )
    kernel = unit.kernels[0]
    edits = (*use.edits(code, "N"), *use.index_edits(code))
    return use, apply(unit.text, edits, kernel.body.start + 1, kernel.body.end - 1).strip()


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("a = GetBlockNum() + AscendC::GetBlockNum();", "a = N + N;"),
        ("return ::AscendC::GetBlockNum();", "return N;"),
        ("a = ac :: GetBlockNum ( );", "a = N;"),
        ("a = asc_get_block_num();", "a = N;"),
        ("x.GetBlockNum(); p->GetBlockNum();", "x.GetBlockNum(); p->GetBlockNum();"),
        ('s = "GetBlockNum()"; // GetBlockNum()\n', 's = "GetBlockNum()"; // GetBlockNum()'),
        ("a = get_block_num() + block_idx;", "a = N + AscendC::GetBlockIdx();"),
        ("a = block_num;", "a = block_num;"),
        ("auto f = [&] { return GetBlockNum(); };", "auto f = [&] { return N; };"),
    ],
)
def test_calls(body: str, text: str) -> None:
    use, edited = use_of(body)
    assert (edited, use.findings) == (text, ())


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("a = other::GetBlockNum();", "is not known to be AscendC::GetBlockNum"),
        ("f(GetBlockNum);", "other than as a plain call"),
        ("auto f = [] { return GetBlockNum(); };", "called in a lambda without a capture default"),
        ("struct S { int m() { return GetBlockNum(); } };", "called in a class"),
    ],
)
def test_what_is_reported_unless_it_is_accepted(body: str, said: str) -> None:
    use, _ = use_of(body)
    (found,) = use.findings
    assert (found.rule, found.severity, use.calls) == ("codegen.block-num-in-helper", Severity.BLOCKER, ())
    assert said in found.message
    assert use_of(body, accepted=True)[0].findings == ()


def test_a_function_of_the_file_hides_the_api_where_it_is_not_qualified() -> None:
    assert use_of("GetBlockNum();", own_function=True)[0].findings
    assert not use_of("AscendC::GetBlockNum();", own_function=True)[0].findings


def test_raw_variables_of_mixed_kernels() -> None:
    for accepted, severity in ((False, Severity.BLOCKER), (True, Severity.WARNING)):
        (found,) = use_of("a = block_idx;", type_="__mix__(1, 2)", accepted=accepted)[0].findings
        assert (found.rule, found.severity) == ("codegen.raw-block-variable", severity)


def test_names_of_the_api() -> None:
    text = "namespace a = AscendC; namespace b = ::a; namespace c = other; namespace d = AscendC::e;"
    assert api_names(read_code(text)) == {"AscendC", "a", "b"}


@pytest.mark.parametrize(
    ("text", "means"),
    [
        ("return GetBlockNum();", True),
        ("AscendC::GetBlockNum();", True),
        ("AscendC::Simt::GetBlockNum();", True),
        ("K::GetBlockNum();", False),
        ("int GetBlockNum();", False),
    ],
)
def test_is_api(text: str, means: bool) -> None:
    code = read_code(text)
    assert is_api(code, code.texts.index("GetBlockNum"), {"AscendC"}) == means


def test_scopes_that_are_closed() -> None:
    code = read_code("{ a; auto f = [=] { b; }; auto g = [&a] { c; }; struct S { int d; }; if (x) { e; } }")
    found = {name: closed_scope(code, len(code.texts) - 1 - code.texts[::-1].index(name)) for name in "bcde"}
    assert found == {"b": None, "c": "lambda without a capture default", "d": "class", "e": None}


@pytest.mark.parametrize(
    ("lambda_", "is_closed"),
    [
        ("[] { HERE; }", True),
        ("[n](auto v) mutable { HERE; }", True),
        ("[]() noexcept(true) { HERE; }", True),
        ("[n]() -> decltype(n) { HERE; }", True),
        ("[]() __attribute__((always_inline)) { HERE; }", True),
        ("[](auto v) -> enable_if_t<(sizeof(v) > 2), int> { HERE; }", True),
        ("[]<typename T>(T v) { HERE; }", True),
        ("[] { if (a[0]) { HERE; } }", True),
        ("[&] { [] { HERE; }(); }", True),
        ("[=, n]() noexcept(true) { HERE; }", False),
        ("[&] { int a[] = {HERE}; for (int i : b[1]) { HERE; } }", False),
        ("a[0] = b(c[1]) ? T{HERE} : T{1}", False),
    ],
)
def test_lambdas_of_every_form(lambda_: str, is_closed: bool) -> None:
    code = read_code(f"{{ auto f = {lambda_}; }}")
    found = closed_scope(code, code.texts.index("HERE"))
    assert found == ("lambda without a capture default" if is_closed else None)


def test_default_arguments_of_a_lambda_see_no_parameters() -> None:
    code = read_code("{ auto f = [&](int n = HERE) { return n; }; }")
    assert closed_scope(code, code.texts.index("HERE")) == "default argument of a lambda"


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ({"GetBlock", "Num"}, "GetBlockNum"),
        ({"Get", "Block", "Num", "x"}, "GetBlockNum"),
        ({"block", "_num"}, "block_num"),
        ({"GetBlockNum"}, ""),  # whole: nothing was pasted
        ({"Get", "Num", "GetBlockN"}, ""),
        (set(), ""),
    ],
)
def test_names_that_pasting_can_make(words: set[str], name: str) -> None:
    assert pasted_name(words) == name


@pytest.mark.parametrize(
    ("macros", "code"),
    [
        ("#define CAT(a, b) a##b", "int n = AscendC::CAT(GetBlock, Num)();"),
        ("#define CAT2(a, b) a##b\n#define CAT(a, b) CAT2(a, b)", "int n = AscendC::CAT(GetBlock, Num)();"),
        ("#define GET(what) Get##what##Num()", "int n = AscendC::GET(Block);"),
        ("#define CAT(a, b) a##b\nint f() { return AscendC::CAT(GetBlock, Num)(); }", "int n = f();"),
    ],
)
def test_a_name_that_is_pasted_is_told_and_can_be_accepted(macros: str, code: str) -> None:
    text = f'#include "kernel_operator.h"\n{macros}\n__global__ __vector__ void k(GM_ADDR x) {{ {code} }}\n'
    unit = read(text.encode(), "k.asc")
    for decision, status in ((b"", "needs-human"), (b", sk: {helper_block_num: accept}", "completed")):
        contract = load(b"entries: {k: {outputs: [x]%s}}" % decision, "k.yaml")
        source = adapt(unit, resolve(unit, contract))
        assert source.status == status, [str(finding) for finding in source.findings]
        assert ("can make the name 'GetBlockNum' with ##" in str(source.findings)) == (status == "needs-human")


def test_pasting_of_other_names_is_no_matter() -> None:
    macro = '#include "kernel_operator.h"\n#define CAT(a, b) a##b\n'
    unit = read(f"{macro}__global__ __vector__ void k(GM_ADDR x) {{ int CAT(va, lue) = 1; }}\n".encode(), "k.asc")
    assert adapt(unit, resolve(unit, load(b"entries: {k: {outputs: [x]}}", "k.yaml"))).status == "completed"
