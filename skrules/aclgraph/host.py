"""The host part of `csrc/<op>.asc`: one `run_<entry>` for each entry, which checks its arguments and launches the kernel.

An entry with a runtime wrapper is launched by that; it gets a `prepare_<entry>` too, to be called before a graph is captured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skrules.aclgraph.entry import PackageEntry, PackageParameter, package_parameter
from skrules.aclgraph.templates import render
from skrules.adapt.names import free_name
from skrules.binding.launcher import host_type
from skrules.binding.presence import absence_of, marker_of
from skrules.binding.templates import c_string
from skrules.binding.wrapper import descriptor_bytes_of, parameters_of, workspace_of
from skrules.contract.ctype import scalar_dtype
from skrules.contract.entry import Entry
from skrules.contract.model import ParameterKind
from skrules.findings import Finding, Severity
from skrules.source.model import CoreType, KernelType

HEADER = "ascendc_ops.h"
# The first line of host.asc.j2: all that stands before is the adapted source.
_HOST_PART = "// What Python calls, made by skrules from the contract."
_WIDTH = 120
_SIGNATURES: Mapping[str, str] = {
    "Tensor": "const at::Tensor &",
    "Tensor?": "const std::optional<at::Tensor> &",
    "Tensor[]": "const std::vector<at::Tensor> &",
    "float": "double ",
    "bool": "bool ",
    "int": "int64_t ",
    "int[]": "const std::vector<int64_t> &",
}
_TORCH_DTYPES: Mapping[str, str] = {
    "bool": "Bool",
    "int8": "Char",
    "uint8": "Byte",
    "int16": "Short",
    "uint16": "UInt16",
    "int32": "Int",
    "uint32": "UInt32",
    "int64": "Long",
    "uint64": "UInt64",
    "float16": "Half",
    "bfloat16": "BFloat16",
    "float32": "Float",
    "float64": "Double",
    "float8_e4m3fn": "Float8_e4m3fn",
    "float8_e5m2": "Float8_e5m2",
    "complex64": "ComplexFloat",
    "complex128": "ComplexDouble",
}
# How a number from Python becomes a kernel scalar, by encoding; all others are `integer`.
_NUMBERS: Mapping[str, str] = {
    "float16": "float16",
    "bfloat16": "bfloat16",
    "float32": "real",
    "float64": "real",
    "bool": "boolean",
}


def check_host(entry: Entry) -> list[Finding]:
    """Return what keeps an entry out of the package."""
    findings = []
    if entry.name == "pybind11" or entry.name.startswith("pybind11_"):
        findings.append(
            _blocker(entry, "pybind-entry-name-reserved", "", f"files of the package are called csrc/{entry.name}.asc already")
        )
    for parameter in parameters_of(entry):
        known = package_parameter(parameter)
        if known.kind is ParameterKind.SCALAR and not known.dtype:
            message = f"whether the scalar '{known.name}' of type {known.c_type} is a float or an integer is not known"
            hint = f"parameters:\n  {known.name}: {{kind: scalar, dtype: int32}}"
            findings.append(_blocker(entry, "scalar-type-unresolved", f"parameters.{known.name}", message, hint))
    core = entry.type
    if entry.contract.block_dim is None and core.core is CoreType.MIX and not (core.aic.isdigit() and core.aiv.isdigit()):
        message = f"how many cores a block of __mix__({core.aic}, {core.aiv}) has is not known, nor how many blocks to launch"
        findings.append(_blocker(entry, "launch-block-dim-required", "launch", message, "launch: {block_dim: 8}"))
    return findings


def _blocker(entry: Entry, rule: str, path: str, message: str, hint: str = "") -> Finding:
    at = entry.contract.where(path)
    return Finding(rule=f"codegen.{rule}", severity=Severity.BLOCKER, at=at, message=f"{entry.name}: {message}", hint=hint)


def with_host_part(text: bytes, entries: Sequence[Entry], newline: str) -> bytes:
    """Return adapted source text with the include it needs at its top and the functions of `entries` at its end.

    All bytes of `text` stay as they are, a byte order mark stays the first thing in the file.
    """
    mark = b"\xef\xbb\xbf" if text.startswith(b"\xef\xbb\xbf") else b""
    end = b"" if text.endswith((b"\n", b"\r")) else newline.encode()
    values = {
        "entries": [_values(entry) for entry in entries],
        "has_wrapper": any(entry.contract.runtime_wrapper for entry in entries),
    }
    host = render("host.asc.j2", values)
    top = f'#include "{HEADER}"\n'
    made = [part.replace("\n", newline).encode("latin-1") for part in (top, host)]
    return mark + made[0] + text.removeprefix(mark) + end + made[1]


def without_host_part(text: bytes) -> bytes:
    """Return the adapted source that `with_host_part` was given, with a line end at its end.

    Raises ValueError for text that it did not return.
    """
    mark = b"\xef\xbb\xbf" if text.startswith(b"\xef\xbb\xbf") else b""
    head = f'#include "{HEADER}"'.encode()
    rest = text.removeprefix(mark).removeprefix(head)
    line = next((each for each in (b"\r\n", b"\n", b"\r") if rest.startswith(each)), b"")
    kernels, found, _ = rest.removeprefix(line).rpartition(line + _HOST_PART.encode() + line)
    if not found or not line or not text.removeprefix(mark).startswith(head):
        raise ValueError("it does not end in what Python calls")
    return mark + kernels


def declarations(entry: PackageEntry) -> list[str]:
    """Return the C++ heads of what the native module of an entry offers: `run_<entry>`, and `prepare_<entry>` if it has one."""
    heads = [_head("run", entry.name, entry.parameters, entry.returned)]
    return [*heads, _head("prepare", entry.name, entry.parameters, "")] if entry.prepares else heads


def _head(verb: str, name: str, parameters: Sequence[PackageParameter], returned: str) -> str:
    words = [f"{_SIGNATURES[each.schema_type]}{each.name}" for each in parameters]
    result = "at::Tensor" if returned else "void"
    line = f"{result} {verb}_{name}({', '.join(words)})"
    return line if len(line) < _WIDTH else f"{result} {verb}_{name}(\n    " + ",\n    ".join(words) + ")"


def _values(entry: Entry) -> Mapping[str, Any]:
    parameters = [package_parameter(parameter) for parameter in parameters_of(entry)]
    taken = {parameter.name for parameter in parameters}
    spaces = [space for space in entry.kernel.namespaces if space]
    # The type as the kernel's namespace understands it.
    aliases = {each.name: f"run_{entry.name}_{each.name}" for each in parameters if spaces and _needs_alias(each, entry)}
    types = {each.name: "::".join(["", *spaces, aliases[each.name]]) for each in parameters if each.name in aliases}
    target = entry.bind_target
    # A parameter may have the name of the kernel, and would hide it.
    hidden = target.partition("<")[0].partition("::")[0].strip() in taken
    required = [each.name for each in parameters if each.is_tensor and not each.nullable]

    def name(wanted: str) -> str:
        taken.add(result := free_name(wanted, taken))
        return result

    heads = [{"head": _head("run", entry.name, parameters, entry.return_parameter), "prepares": False}]
    wrapper = entry.contract.runtime_wrapper
    if wrapper and wrapper.prepare_entry:
        heads.append({"head": _head("prepare", entry.name, parameters, ""), "prepares": True})
    views = name("views")
    arguments = [_argument(entry.name, each, types.get(each.name, _type(each))) for each in parameters]
    made = [_view(entry, each, views, argument) for each, argument in zip(parameters, arguments, strict=True)] if wrapper else []
    locals_ = [(name(f"{each.name}_view"), value) for each, value in zip(parameters, made, strict=False) if value]
    names = iter([local for local, _ in locals_])
    return {
        "name": entry.name,
        "functions": heads,
        "namespaces": spaces,
        "aliases": [(aliases[each.name], _type(each)) for each in parameters if each.name in aliases],
        "marker": marker_of(entry),
        "absent": c_string(f"{entry.name}: {absence_of(entry)}") if marker_of(entry) else "",
        "target": f"::{target}" if hidden else target,
        "blocks": entry.contract.block_dim or _all_cores(entry.type),
        "device": required[0] if required else "",
        "guard": name("guard"),
        "arguments": arguments,
        "returned": entry.return_parameter,
        "wrapper": f"ascendc_ops::{wrapper.entry}" if wrapper else "",
        "prepare": f"ascendc_ops::{wrapper.prepare_entry}" if wrapper else "",
        "descriptor_bytes": descriptor_bytes_of(entry),
        "views": views,
        "context": name("context"),
        "locals": locals_,
        "passed": [next(names) if value else argument for value, argument in zip(made, arguments, strict=False)],
    }


def _view(entry: Entry, parameter: PackageParameter, views: str, argument: str) -> str:
    """Return how a tensor or list becomes what the wrapper takes; "" for a value, which it takes as it is."""
    if not (parameter.is_tensor or parameter.is_list):
        return ""
    how = "output" if parameter.is_written else "input"
    if parameter.is_list:
        how += "s"
    elif parameter.name == workspace_of(entry):
        how = "workspace"
    return f"{views}.{how}({argument.partition('(')[2]}"


def _needs_alias(parameter: PackageParameter, entry: Entry) -> bool:
    if entry.contract.runtime_wrapper and (parameter.is_tensor or parameter.is_list):
        return False
    return not _is_builtin(parameter)


def _type(parameter: PackageParameter) -> str:
    text = host_type(parameter.c_type)
    return text.removesuffix("&").rstrip()


def _is_builtin(parameter: PackageParameter) -> bool:
    return bool(scalar_dtype(parameter.c_type)) or parameter.c_type.strip() == "GM_ADDR"


def _argument(entry: str, parameter: PackageParameter, c_type: str) -> str:
    title = c_string(f"{entry}: {parameter.name}")
    if parameter.is_tensor or parameter.is_list:
        how = "output" if parameter.is_written else "input"
        checks = ""
        if parameter.rank is not None:
            checks = f", {parameter.rank}"
        if parameter.dtype or checks:
            dtype = f"at::ScalarType::{_TORCH_DTYPES[parameter.dtype]}" if parameter.dtype else "std::nullopt"
            checks = f", {dtype}{checks}"
        return f"host::{how}<{c_type}>({title}, {parameter.name}{checks})"
    if parameter.kind is ParameterKind.HOST_STRUCT:
        return f"host::structure<{c_type}>({title}, {parameter.name})"
    return f"host::{_NUMBERS.get(parameter.dtype, 'integer')}<{c_type}>({title}, {parameter.name})"


def _all_cores(core: KernelType) -> str:
    """Return the expression for as many blocks as the cores of the device are enough for.

    A vector kernel counts vector cores. A block with cube cores takes its vector cores from the same AI cores.
    """
    aic, aiv = (int(text) if text.strip().isdigit() else 0 for text in (core.aic, core.aiv))
    if core.core is CoreType.VECTOR:
        return "host::vectorBlocks(1)"
    if core.core is CoreType.MIX and not aic and aiv:
        return f"host::vectorBlocks({aiv})"
    return f"host::cubeBlocks({max(aic, 1)})"
