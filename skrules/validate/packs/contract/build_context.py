from __future__ import annotations

from skrules.contract.tree import Node
from skrules.findings import Severity
from skrules.validate.packs.contract._documents import Reader, checked
from skrules.validate.rule import Rule

_KINDS = ("sk-native-wheel", "sk-standalone", "cmake-project", "python-wheel", "external-command")


def look(reader: Reader, root: Node) -> None:
    reader.root_folder(root)
    for flow in reader.items(root, "build_flows", "a build flow"):
        name = reader.text(flow, "name", "a build flow")
        what = f"the build flow '{name}'"
        kind = reader.choice(flow, "kind", what, _KINDS)
        _check_list(reader, flow, "expected_outputs", what)
        if kind == "external-command":
            _check_list(reader, flow, "command", what)


def _check_list(reader: Reader, flow: Node, key: str, what: str) -> None:
    found = reader.field(flow, key)
    if found is None or not isinstance(found.value, tuple) or not found.value:
        reader.tell(found or flow, f"{what} has no {key}: a list with one item at least")


RULE: Rule = Rule(
    id="contract.build-context",
    severity=Severity.BLOCKER,
    category="contract",
    title="the build context has flows that can be carried out",
    explanation="operator-build-context.json says how an asset is built. Each flow has a name, a kind and what comes out; one "
    "that runs a command of its own has that command.",
    source="the published operator-build-context.json of graph-autofusion: https://gitcode.com/cann/graph-autofusion",
    bad="""{
  "schema_version": 1,
  "status": "ready",
  "asset_root": ".",
  "build_flows": [{"name": "own", "kind": "external-command", "expected_outputs": ["dist/*.whl"]}]
}
""",
    good="""{
  "schema_version": 1,
  "status": "ready",
  "asset_root": ".",
  "build_flows": [{"name": "wheel", "kind": "sk-native-wheel", "expected_outputs": ["dist/*.whl"]}]
}
""",
    check=checked(lambda: RULE, "build-context", look),
)
