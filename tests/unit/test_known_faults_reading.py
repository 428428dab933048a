"""Faults that a reader by regular expressions has: kernels it misses, kernels it invents, parameters it misreads."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from skrules.adapt.adaptation import AdaptedSource, adapt
from skrules.cli import main
from skrules.contract.check import resolve
from skrules.contract.load import load
from skrules.source.kernels import read

HEAD = '#include "kernel_operator.h"\n'
KERNEL = "__global__ __vector__ void k(GM_ADDR x) { run(x); }\n"
BLOCK = re.compile(r"\n// skrules: SuperKernel binding of (\w+),.*?// skrules: end of \1\n", re.DOTALL)


def adapted(text: str, contract: str = "") -> AdaptedSource:
    unit = read(f"{HEAD}{text}".encode("latin-1"), "ops/k.asc")
    return adapt(unit, resolve(unit, load(contract.encode(), "c.yaml") if contract else None))


def bound(text: str, contract: str = "") -> dict[str, str]:
    """Adapt a file that leaves nothing open; return the generated block of each kernel. All else of the file has stayed."""
    source = adapted(text, contract)
    assert (source.status, source.findings) == ("completed", ())
    made = source.text().decode("latin-1")
    assert BLOCK.sub("", made) == HEAD + text
    return {match[1]: match[0] for match in BLOCK.finditer(made)}


def places(source: AdaptedSource) -> list[tuple[str, str]]:
    assert source.status == "needs-human"
    return [(finding.rule, str(finding.at)) for finding in source.findings]


@pytest.mark.parametrize(
    ("head", "twin"),
    [
        ("__global__ __launch_bounds__(64 * 4) __vector__ void", "__sk__ __vector__ void"),
        ("__attribute__((aligned(512))) __global__ __cube__ void", "__sk__ __cube__ void"),
        ("__global__ __mix__(1, 2) __attribute__((noinline)) void", "__sk__ __mix__(1, 2) void"),
        ("__global__[aicore] void", "__sk__ __aicore__ void"),
        ("[[maybe_unused]] __global__ [aicore] void", "__sk__ __aicore__ void"),
    ],
)
def test_attributes_of_a_kernel(head: str, twin: str) -> None:
    assert f"\n{twin} k_sk(const KArgs *args)\n" in bound(f"{head} k(GM_ADDR x) {{ run(x); }}\n")["k"]


@pytest.mark.parametrize("head", ["__launch_bounds__(256) __vector__", "__attribute__((aligned(512))) __cube__", "[aicore]"])
@pytest.mark.parametrize("asset", ["a", "a/k.asc"])
def test_attributes_of_a_kernel_on_the_command_line(
    head: str, asset: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a").mkdir()
    (tmp_path / "a/k.asc").write_text(f"{HEAD}__global__ {head} void k(GM_ADDR x) {{ run(x); }}\n")
    assert main(["detect-sk-form", asset, "--output-dir", "form"]) == 0
    assert '"overall_form": "none"' in (tmp_path / "form/operator-sk-form-analysis.json").read_text()
    assert main(["adapt-sk-from-global", asset, "--output-dir", "out"]) == 0
    assert "SK_BIND(k, 4, k_sk<0>" in (tmp_path / "out/operator-sk-adapted/csrc/k.asc").read_text()


def test_names_that_a_macro_pastes() -> None:
    define = "#define COPY(T) __global__ __vector__ void copy_##T(GM_ADDR x, T n) { run<T>(x, n); }\n"
    blocks = bound(f"{define}COPY(half)\nCOPY(int)\n")
    assert list(blocks) == ["copy_half", "copy_int"]
    assert "run<half>(x, n);" in blocks["copy_half"] and "run<int>(x, n);" in blocks["copy_int"]


def test_array_parameters() -> None:
    contract = "entries: {k: {inputs: [dims], outputs: [x]}}"
    block = bound("__global__ __vector__ void k(GM_ADDR x, const int dims[4]) { run(x, dims); }\n", contract)["k"]
    assert "\n    const int *dims;\n" in block and "\n    const int *dims = args->dims;\n" in block


def test_a_signature_that_a_condition_splits() -> None:
    source = adapted(
        "#if WIDE\n__global__ __vector__ void k(GM_ADDR x, int n)\n#else\n__global__ __vector__ void k(GM_ADDR x)\n#endif\n{}\n"
    )
    assert ("source.conditional-signature", "ops/k.asc:3:28") in places(source)


def test_a_kernel_without_a_type() -> None:
    assert places(adapted("\n__global__ void k(GM_ADDR x) { run(x); }\n")) == [("codegen.kernel-type-missing", "ops/k.asc:3:17")]


@pytest.mark.parametrize(
    "text",
    [
        "__global__ __vector__ int k(GM_ADDR x) { return 0; }\n",
        "struct S { static __global__ __vector__ void k(GM_ADDR x) {} };\n",
        "#define NAME(a) k_##a\n__global__ __vector__ void NAME(b)(GM_ADDR x) {}\n",
    ],
)
def test_no_kernel_is_passed_over_in_silence(text: str) -> None:
    ((rule, place),) = places(adapted(text))
    line = next(number for number, each in enumerate(text.splitlines(), start=2) if "__global__" in each)
    assert rule == "source.kernel-not-read" and place.startswith(f"ops/k.asc:{line}:")


@pytest.mark.parametrize(
    "hidden",
    [
        f"/*\n{KERNEL}*/\n",
        f"// {KERNEL}",
        'const char *kHelp = "__global__ __vector__ void k(GM_ADDR x) {}";\n',
        f'const char *kHelp = R"(\n{KERNEL})";\n',
        f"#if 0\n{KERNEL}#endif\n",
        "#define __global__\n",
    ],
)
def test_what_only_looks_like_a_kernel(hidden: str) -> None:
    assert places(adapted(hidden)) == [("codegen.no-kernel", "ops/k.asc")]
    assert list(bound(hidden + KERNEL.replace(" k(", " real("))) == ["real"]


def test_nothing_is_written_for_a_kernel_in_a_comment(tmp_path: Path) -> None:
    source = tmp_path / "k.asc"
    source.write_text(f"{HEAD}/*\n{KERNEL}*/\n")
    assert main(["adapt-sk-from-global", str(source), "--output-dir", str(tmp_path / "out")]) == 5
    assert not (tmp_path / "out/operator-sk-adapted").exists()


@pytest.mark.parametrize(
    "parameters",
    [
        "GM_ADDR x, GM_ADDR z // result\n",
        "GM_ADDR x, /* in, fp16 */ GM_ADDR z",
        "GM_ADDR /* (in */ x, // (unused, so far)\n GM_ADDR z",
    ],
)
def test_comments_between_parameters(parameters: str) -> None:
    contract = "entries: {k: {inputs: [x], outputs: [z]}}"
    block = bound(f"__global__ __vector__ void k({parameters}) {{ run(x, z); }}\n", contract)["k"]
    assert "struct KArgs {\n    GM_ADDR x;\n    GM_ADDR z;\n};\n" in block
    assert "    GM_ADDR x = args->x;\n    GM_ADDR z = args->z;\n    run(x, z);\n" in block


def test_braces_in_literals() -> None:
    literals = 'R"x(a " } b)x" "}" \'}\''
    block = bound(f"__global__ __vector__ void k(GM_ADDR x) {{ log({literals}); run(x); }}\nint after;\n")["k"]
    assert f"    log({literals}); run(x);\n}}\n" in block


def test_a_block_of_extern_c() -> None:
    lines = bound(f'extern "C" {{\n{KERNEL}void other();\n}}\n')["k"].strip().splitlines()
    assert lines[1] == '}  // extern "C"' and lines[-2] == 'extern "C" {'
    assert lines.index("template <uint32_t splitidx>") > 1
