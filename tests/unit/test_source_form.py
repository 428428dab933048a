from __future__ import annotations

import pytest

from skrules.source.form import Confidence, Form, SkForm, classify, overall
from skrules.source.kernels import read

KERNEL = "__global__ __vector__ void k(GM_ADDR x) { run(x); }\n"
TWIN = "template <uint32_t splitidx>\n__sk__ __vector__ void k_sk(const KArgs *args) { run(args->x); }\n"


def form_of(text: str) -> Form:
    return classify(read(text.encode("latin-1"), "k.asc"))


@pytest.mark.parametrize(
    "bind",
    [
        "SK_BIND(k, 4, k_sk<0>, k_sk<1>);",
        "SK_BIND(::k, 4, k_sk<0>);",
        "SK_BIND(&k, 4, k_sk<0>);",
        "SK_BIND(static_cast<void (*)(GM_ADDR)>(k), 4, k_sk<0>);",
        "SK_BIND (\n k /* the kernel */ , 4, k_sk<0>);",
    ],
)
def test_bound_kernel(bind: str) -> None:
    form = form_of(KERNEL + TWIN + bind)
    assert (form.form, form.notes, form.bound, form.unbound) == (SkForm.CURRENT_SK_BIND, (), ("k",), ())
    assert [(m.name, m.line, m.confidence) for m in form.markers[:1]] == [("__sk__", 3, Confidence.HIGH)]


def test_binding_from_inside_and_outside_of_a_namespace() -> None:
    inside = "namespace ops { " + KERNEL + TWIN + "SK_BIND(k<half>, 4, k_sk<0>); }"
    outside = "namespace ops { " + KERNEL + TWIN + "} SK_BIND(ops::k, 4, ops::k_sk<0>);"
    other = "namespace ops { " + KERNEL + TWIN + "} SK_BIND(other::k, 4, ops::k_sk<0>);"
    assert form_of(inside).form is SkForm.CURRENT_SK_BIND
    assert form_of(outside).bound == ("ops::k",)
    assert form_of(other).unbound == ("ops::k",)


@pytest.mark.parametrize(
    "text",
    [
        "// TODO: __sk__ and SK_BIND(k, 4, k_sk<0>)\n",
        'const char *help = "SK_BIND(k, 4) __sk__ .ascend.meta";\n',
        "#if 0\nSK_BIND(k, 4, k_sk<0>);\n#endif\n",
    ],
)
def test_only_code_counts(text: str) -> None:
    assert form_of(text + KERNEL) == Form(form=SkForm.NONE, markers=(), notes=(), unbound=("k",))


@pytest.mark.parametrize(
    ("text", "note"),
    [
        (KERNEL + TWIN, "no SK_BIND"),
        (KERNEL + "SK_BIND(k, 4, other<0>);", "no SK function"),
        (KERNEL + "__global__ __vector__ void other() {}\n" + TWIN + "SK_BIND(k, 4, k_sk<0>);", "not bound: other"),
        (KERNEL + TWIN + "SK_BIND(elsewhere, 4, k_sk<0>);", "no SK_BIND names a kernel"),
        (KERNEL + TWIN + "SK_BIND(k, 4, k_sk<0>);\nstatic __spk__ int x;", "legacy markers: __spk__"),
        (KERNEL + 'int m __attribute__((section(".ascend.meta.k")));', "legacy markers: .ascend.meta"),
        ("__global__ __vector__ void k(__gm__ uint64_t *param) {}", "legacy markers: __gm__ uint64_t *param"),
        (KERNEL + TWIN + "SK_BIND(k, 4, k_sk<0>);\n__global__ __vector__ int bad() {}", "not understood"),
    ],
)
def test_partial(text: str, note: str) -> None:
    form = form_of(text)
    assert form.form is SkForm.PARTIAL
    assert any(note in each for each in form.notes), form.notes


def test_unknown_and_overall() -> None:
    assert form_of("int x;").form is SkForm.UNKNOWN
    plain, bound = form_of(KERNEL), form_of(KERNEL + TWIN + "SK_BIND(k, 4, k_sk<0>);")
    assert overall((plain, plain)) is SkForm.NONE
    assert overall((plain, bound)) is SkForm.MIXED
    assert overall(()) is SkForm.UNKNOWN


def test_markers_in_macros_count() -> None:
    form = form_of(KERNEL + TWIN + "#define BIND(f) SK_BIND(f, 4, f##_sk<0>)\nBIND(k);")
    assert {marker.name for marker in form.markers} == {"__sk__", "SK_BIND"}
    assert form.form is SkForm.PARTIAL
