from __future__ import annotations

import json

import pytest

from skrules.contract.keys import CONTRACT
from skrules.contract.load import load
from skrules.contract.model import ParameterDecision, ParameterKind, SuperKernelDecision
from skrules.contract.reading import DocumentErrors
from skrules.contract.schema import json_schema
from skrules.errors import UsageError


def _entry(text: str):  # type: ignore[no-untyped-def]
    return load(f"entries:\n  k: {{{text}}}\n".encode(), "c.yaml").entries[0]


def _errors(text: str) -> str:
    with pytest.raises(UsageError) as caught:
        load(text.encode(), "c.yaml")
    return str(caught.value)


def _entry_error(text: str) -> str:
    return _errors(f"entries:\n  k: {{{text}}}\n")


def test_a_full_contract() -> None:
    text = """
schema_version: 1
entries:
  scale_half:
    inputs: [x]
    outputs: [x, y]
    workspaces: [w]
    pybind_return_tensor: y
    parameters:
      n: scalar
      x: {kind: tensor, nullable: true, dtype: bfloat16, rank: 2}
      t: {kind: host_struct}
    launch: {block_dim: 8}
    compile: {defines: [FAST, -DTILE=128, "F(x)=x"], options: [-O3]}
    source_entry_name: ns::scale
    bind_target: "ns::scale<half>"
    sk: {capabilities: [early_start_set, disable_batchmode_check], num_splits: 2, with_sys_args: never,
         kernel_type: keep, helper_block_num: accept}
"""
    contract = load(text.encode(), "ops/c.yaml")
    (entry,) = contract.entries
    assert contract.path == "ops/c.yaml"
    assert (entry.inputs, entry.outputs, entry.workspaces, entry.pybind_return_tensor) == (("x",), ("x", "y"), ("w",), "y")
    assert entry.parameters["n"] == ParameterDecision(kind=ParameterKind.SCALAR)
    assert entry.parameters["x"] == ParameterDecision(kind=ParameterKind.TENSOR, nullable=True, dtype="bfloat16", rank=2)
    assert (entry.block_dim, entry.defines, entry.options) == (8, ("-DFAST", "-DTILE=128", "-DF(x)=x"), ("-O3",))
    assert (entry.source_entry_name, entry.bind_target, entry.kernel_name) == ("ns::scale", "ns::scale<half>", "scale")
    assert entry.sk == SuperKernelDecision(
        mask=10, num_splits=2, with_sys_args="never", kernel_type="keep", helper_block_num="accept"
    )
    assert str(entry.at) == "ops/c.yaml:4:3"
    assert str(entry.positions["outputs[1]"]) == "ops/c.yaml:6:18"
    assert str(entry.positions["parameters.x"]) == "ops/c.yaml:11:7"
    assert str(entry.positions["parameters.x.rank"]) == "ops/c.yaml:11:64"
    assert str(entry.positions["launch.block_dim"]) == "ops/c.yaml:13:25"


def test_json_is_the_same_model() -> None:
    data = {"schema_version": 1, "entries": {"k": {"inputs": ["x"], "outputs": ["y"], "launch": {"block_dim": 4}}}}
    as_json = load(json.dumps(data, indent="\t").encode(), "c.json").entries[0]
    as_yaml = _entry("inputs: [x], outputs: [y], launch: {block_dim: 4}")
    assert (as_json.inputs, as_json.outputs, as_json.block_dim) == (as_yaml.inputs, as_yaml.outputs, as_yaml.block_dim)
    assert as_json.pybind_return_tensor == "y"
    assert str(as_json.positions["launch.block_dim"]) == "c.json:12:18"


def test_the_short_form_names_the_returned_tensor() -> None:
    (entry,) = load(b"entries:\n  k: out\n", "c.yaml").entries
    assert (entry.outputs, entry.pybind_return_tensor, entry.inputs) == (("out",), "out", ())
    assert str(entry.where("outputs[0]")) == "c.yaml:2:6"


def test_aliases() -> None:
    entry = _entry("input_tensors: [a], output_tensors: [b, c], workspace_tensors: [w], return_tensor: c, params: {n: scalar}")
    assert (entry.inputs, entry.outputs, entry.workspaces, entry.pybind_return_tensor) == (("a",), ("b", "c"), ("w",), "c")
    assert str(entry.where("inputs[0]")) == "c.yaml:2:23" and "n" in entry.parameters
    entry = _entry("outputs: [b], compile_defines: [A=1], compile_options: [-g], entry_name: pub")
    assert (entry.defines, entry.options, entry.public_name) == (("-DA=1",), ("-g",), "pub")


@pytest.mark.parametrize(
    "text",
    [
        "inputs: [a], input_tensors: [a], outputs: [b]",
        "outputs: [b], return_tensor: b, pybind_return_tensor: b",
        "outputs: [b], parameters: {}, params: {}",
        "outputs: [b], compile: {defines: [A]}, compile_defines: [A]",
        "outputs: [b], public_entry_name: p, entry_name: p",
    ],
)
def test_an_alias_beside_its_key(text: str) -> None:
    assert "are the same key" in _entry_error(text)


def test_returned_tensor() -> None:
    assert _entry("inputs: [a], return_tensor: b").outputs == ("b",)
    assert "2 outputs and no pybind_return_tensor" in _entry_error("outputs: [a, b]")
    assert "'c' is returned but not an output" in _entry_error("outputs: [a, b], return_tensor: c")
    assert "has tensors but no output" in _entry_error("inputs: [a]")
    misspelt = _entry_error("inputs: [a], ouptuts: [b]")
    assert "did you mean 'outputs'?" in misspelt
    assert "no output" not in misspelt  # which it may be for the misspelt key
    assert "no pybind_return_tensor" not in _entry_error("outputs: [a, b], pybind_return_tensr: a")
    assert "cannot be nullable" in _entry_error("outputs: [a], parameters: {a: {nullable: true}}")
    assert _entry("launch: {block_dim: 2}").pybind_return_tensor == ""


def test_roles() -> None:
    assert _entry("inputs: [a], outputs: [a]").inputs == ("a",)
    assert "'a' of entry 'k' is in workspaces and in inputs" in _entry_error("inputs: [a], outputs: [b], workspaces: [a]")
    assert "'b' of entry 'k' is in workspaces and in outputs" in _entry_error("outputs: [b], workspaces: [b]")
    assert "'a' is twice in entries.k.inputs" in _entry_error("inputs: [a, b, a], outputs: [b]")
    assert _entry("inputs: , outputs: [b]").inputs == ()


@pytest.mark.parametrize("value", ["true", "8.9", '"8"', "0", "-1", "null", "[8]", "70000", "010", "1e1"])
def test_block_dim_is_a_whole_number(value: str) -> None:
    message = _entry_error(f"outputs: [b], launch: {{block_dim: {value}}}")
    assert "entries.k.launch.block_dim must be a whole number from 1 to 65535" in message and "c.yaml:2:" in message


@pytest.mark.parametrize("value", ["true", '"1"', "1.0", "2", "null"])
def test_schema_version_is_exactly_one(value: str) -> None:
    assert "schema_version must be the number 1" in _errors(f"schema_version: {value}\nentries: {{k: x}}\n")


@pytest.mark.parametrize(
    ("text", "word", "meant"),
    [
        ("schema_versoin: 1\nentries: {k: x}\n", "schema_versoin", "schema_version"),
        ("entries: {k: {luanch: {}}}\n", "luanch", "launch"),
        ("entries: {k: {launch: {block_dims: 1}}}\n", "block_dims", "block_dim"),
        ("entries: {k: {compile: {define: []}}}\n", "define", "defines"),
        ("entries: {k: {parameters: {x: {kinds: scalar}}}}\n", "kinds", "kind"),
        ("entries: {k: {sk: {capabilites: []}}}\n", "capabilites", "capabilities"),
        ("entries: {k: {runtime_wrapper: {source: a.cpp, entri: f}}}\n", "entri", "entry"),
    ],
)
def test_unknown_keys_at_every_level(text: str, word: str, meant: str) -> None:
    message = _errors(text)
    assert f"unknown key '{word}'" in message and f"did you mean '{meant}'?" in message and "allowed: " in message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mask: 8", "from 0 to 7"),
        ("mask: true", "from 0 to 7"),
        ("mask: 4, capabilities: [disable_dcci]", "say the same thing"),
        ("capabilities: [disable_dccy]", "did you mean 'disable_dcci'?"),
        ("num_splits: 0", "from 1 to 4"),
        ("num_splits: 5", "from 1 to 4"),
        ("with_sys_args: sometimes", "allowed: auto, always, never"),
        ("kernel_type: keeps", "did you mean 'keep'?"),
        ("kernel_type: __vector__", "did you mean 'vector'?"),
        ("kernel_type: mix(1, 2)", "did you mean '\"mix(1, 2)\"'?"),
        ("helper_block_num: 3", "one of accept"),
    ],
)
def test_super_kernel_decisions(text: str, message: str) -> None:
    assert message in _entry_error(f"outputs: [b], sk: {{{text}}}")


@pytest.mark.parametrize("text", ["mix(1,2)", "mix(1, 2)"])
def test_kernel_types_have_one_spelling_inside(text: str) -> None:
    assert _entry(f'outputs: [b], sk: {{kernel_type: "{text}"}}').sk.kernel_type == "mix(1, 2)"
    whole = f"entries:\n  k:\n    outputs: [b]\n    sk:\n      kernel_type: {text}\n"
    assert load(whole.encode(), "c.yaml").entries[0].sk.kernel_type == "mix(1, 2)"


def test_super_kernel_defaults_and_empty_capabilities() -> None:
    assert _entry("outputs: [b]").sk == SuperKernelDecision()
    assert _entry("outputs: [b], sk: {capabilities: []}").sk.mask == 0
    assert _entry("outputs: [b], sk: {mask: 0}").sk.mask == 0


@pytest.mark.parametrize(
    ("source", "is_right"),
    [
        ("wrap.cpp", True),
        ("host/wrap.asc", True),
        ("a..b/wrap.cpp", True),
        ("/abs/wrap.cpp", False),
        ("../wrap.cpp", False),
        ("host/../wrap.cpp", False),
        ("host/..", False),
        ("C:/wrap.cpp", False),
        ("host\\\\wrap.cpp", False),
        ("", False),
    ],
)
def test_wrapper_sources_stay_inside_the_operator(source: str, is_right: bool) -> None:
    text = f'outputs: [b], runtime_wrapper: {{source: "{source}", entry: f}}'
    if is_right:
        assert _entry(text).runtime_wrapper.source == source
    else:
        assert "a path inside the operator's folder" in _entry_error(text)


def test_wrapper_rules() -> None:
    assert "'entry'" in _entry_error("outputs: [b], runtime_wrapper: {source: a.cpp}")
    assert "a C identifier" in _entry_error("outputs: [b], runtime_wrapper: {source: a.cpp, entry: a-b}")
    prepared = "source: a.cpp, entry: f, tensor_list_descriptor_strategy: prepared_workspace_tail"
    message = _entry_error(f"outputs: [b], runtime_wrapper: {{{prepared}}}")
    assert all(f"has no '{key}'" in message for key in ("prepare_entry", "descriptor_bytes", "descriptor_order"))
    full = f"{prepared}, prepare_entry: p, descriptor_bytes: 64, descriptor_order: [l]"
    assert _entry(f"outputs: [b], runtime_wrapper: {{{full}}}").runtime_wrapper.descriptor_order == ("l",)
    assert "no meaning without a strategy" in _entry_error(
        "outputs: [b], runtime_wrapper: {source: a, entry: f, prepare_entry: p}"
    )
    assert "is unknown" in _entry_error(
        "outputs: [b], runtime_wrapper: {source: a, entry: f, tensor_list_descriptor_strategy: x}"
    )


def test_parameters() -> None:
    assert "did you mean 'tensor'?" in _entry_error("outputs: [b], parameters: {a: tensr}")
    assert "did you mean 'float16'?" in _entry_error("outputs: [b], parameters: {a: {dtype: half}}")
    assert "from 0 to 64" in _entry_error("outputs: [b], parameters: {a: {rank: -1}}")
    assert "true or false" in _entry_error("outputs: [b], parameters: {a: {nullable: 1}}")
    assert _entry("outputs: [b], parameters: {a: {rank: 0}}").parameters["a"].rank == 0


def test_names_are_identifiers() -> None:
    assert "'a-b' cannot name an entry" in _errors("entries: {a-b: x}\n")
    assert "a C identifier" in _errors("entries: {k: {inputs: ['a b'], outputs: [c]}}\n")
    assert "the name of the returned tensor" in _errors("entries: {k: ''}\n")


def test_two_entries_with_one_public_name() -> None:
    message = _errors("entries:\n  a: x\n  b: {outputs: [x], public_entry_name: a}\n")
    assert "c.yaml:3:40: two entries have the public name 'a'" in message


def test_all_errors_come_at_once_in_file_order() -> None:
    with pytest.raises(DocumentErrors) as caught:
        load(b"entriez: 1\nentries:\n  k: {inputs: [1], outputs: [b], launch: {block_dim: 0}}\n  j: {outputs: 3}\n", "c.yaml")
    lines = [error.at.line for error in caught.value.errors if error.at]
    assert lines == [1, 3, 3, 4]
    assert str(caught.value.at) == "c.yaml:1:1" and caught.value.exit_code == 2
    assert str(caught.value).count("error: c.yaml:") == 4


def test_a_wrong_value_is_not_also_missing() -> None:
    assert _entry_error("inputs: [a], outputs: 3").count("error:") == 1


def test_json_schema_knows_every_key() -> None:
    schema = json_schema(CONTRACT)
    text = json.dumps(schema)
    assert schema["required"] == ["entries"]
    assert all(f'"{key}"' in text for key in ("block_dim", "helper_block_num", "input_tensors", "descriptor_order", "bfloat16"))


def test_macros_are_integers_or_whether_they_are_defined() -> None:
    text = "entries: {k: y}\nmacros: {A: 1, B: -16, C: defined, D: undefined, __E__: 0}\n"
    expected = {"A": 1, "B": -16, "C": "defined", "D": "undefined", "__E__": 0}
    assert load(text.encode(), "c.yaml").macros == expected
    document = json.dumps({"entries": {"k": "y"}, "macros": expected})
    assert load(document.encode(), "c.json").macros == expected
    assert load(b"entries: {k: y}\n", "c.yaml").macros == {}


@pytest.mark.parametrize(
    ("macros", "expected"),
    [
        ("{A: undef}", ("c.yaml:2:13", "macros.A 'undef' is unknown", "did you mean 'undefined'?")),
        ("{A: true}", ("c.yaml:2:13", "macros.A must be", "not true")),
        ("{A: 1.5}", ("c.yaml:2:13", "macros.A must be")),
        ("{A: [1]}", ("c.yaml:2:13", "macros.A must be")),
        ("{A: }", ("macros.A must be",)),
        ("{A: 9223372036854775808}", ("c.yaml:2:13", "a whole number from")),
        ("{A-B: 1}", ("c.yaml:2:10", "'A-B' cannot name a macro")),
        ("{defined: 1}", ("c.yaml:2:10", "'defined' cannot name a macro")),
        ("[A]", ("c.yaml:2:9", "macros must be a mapping")),
    ],
)
def test_wrong_macros(macros: str, expected: tuple[str, ...]) -> None:
    message = _errors(f"entries: {{k: y}}\nmacros: {macros}\n")
    assert all(part in message for part in expected), message
