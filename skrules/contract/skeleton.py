"""Contract lines that would settle a finding, ready to paste: everything that is known, and room for what is not."""

from __future__ import annotations

from collections.abc import Mapping

from skrules.contract.ctype import Meaning
from skrules.contract.model import ParameterKind
from skrules.source.model import Kernel, Parameter

_ROLES = (("inputs", "tensors it reads"), ("outputs", "tensors it writes"), ("workspaces", "scratch memory"))


def skeleton(kernel: Kernel, meanings: Mapping[str, Meaning], contract_path: str) -> str:
    """Return a hint with the YAML of an entry for `kernel`. Roles are left to the author; `contract_path` "" means that
    there is no contract file yet."""
    if contract_path:
        return "\n".join([f"add to the entries of {contract_path} and fill in:", *_entry(kernel, meanings)])
    return "\n".join(["a contract.yaml to fill in:", "schema_version: 1", "entries:", *_entry(kernel, meanings)])


def _entry(kernel: Kernel, meanings: Mapping[str, Meaning]) -> list[str]:
    lines = [f"  {kernel.name}:"]
    if kernel.template_parameters:
        names = ", ".join(parameter.name or "?" for parameter in kernel.template_parameters)
        lines.append(f"    bind_target: {kernel.qualified_name}<{names}>  # with arguments for {names}")
    elif kernel.qualified_name != kernel.name:
        lines.append(f"    source_entry_name: {kernel.qualified_name}")
    tensors = [name for name, meaning in meanings.items() if meaning.kind is ParameterKind.TENSOR]
    if tensors:
        lines.append(f"    # to place: {', '.join(tensors)}; in inputs and outputs: changed in place")
        lines += [f"    {role}: []  # {doc}" for role, doc in _ROLES]
    if meanings:
        lines.append("    parameters:")
        lines += [_parameter(parameter, meanings[parameter.name]) for parameter in kernel.parameters if parameter.name]
    return lines


def _parameter(parameter: Parameter, meaning: Meaning) -> str:
    if meaning.kind is None:
        return f"      {parameter.name}: host_struct  # {parameter.type}; or scalar"
    return f"      {parameter.name}: {meaning.kind}"
