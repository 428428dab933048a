from __future__ import annotations

from skrules.contract.tree import Node
from skrules.findings import Severity
from skrules.validate.packs.contract._documents import Reader, checked
from skrules.validate.rule import Rule

_KINDS = ("command", "bind-target-on-wheel", "reference-impls-numpy", "standalone")


def look(reader: Reader, root: Node) -> None:
    reader.root_folder(root)
    for flow in reader.items(root, "verify_flows", "a verify flow"):
        name = reader.text(flow, "name", "a verify flow")
        reader.choice(flow, "kind", f"the verify flow '{name}'", _KINDS)


RULE: Rule = Rule(
    id="contract.verify-context",
    severity=Severity.BLOCKER,
    category="contract",
    title="the verify context has flows of a known kind",
    explanation="operator-verify-context.json says how an asset is verified. Each flow has a name and a kind.",
    source="the published operator-verify-context.json of graph-autofusion: https://gitcode.com/cann/graph-autofusion",
    bad="""{
  "schema_version": 1,
  "status": "ready",
  "asset_root": ".",
  "verify_flows": [{"name": "numbers", "kind": "numpy"}]
}
""",
    good="""{
  "schema_version": 1,
  "status": "not-configured",
  "asset_root": ".",
  "verify_flows": []
}
""",
    check=checked(lambda: RULE, "verify-context", look, missing=Severity.WARNING),
)
