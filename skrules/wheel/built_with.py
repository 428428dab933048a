"""What a wheel was built with, recorded inside of it: `<package>/built_with.json`.

Whoever imports the modules can compare it with what is there; who reports a fault can quote it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from skrules.binding.detect import TorchInfo
from skrules.binding.package import module_name

FILE_NAME = "built_with.json"
_FORMAT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """One operator of a wheel: the archs that it is there for, and the entries of `torch.ops.ascendc_ops` that it has."""

    name: str
    archs: tuple[str, ...]
    entries: tuple[str, ...]

    @property
    def modules(self) -> tuple[str, ...]:
        return tuple(module_name(self.name, arch) for arch in self.archs)


def render_built_with(
    operators: Sequence[Operator],
    *,
    toolchain: str,
    key: Mapping[str, str],
    torch: TorchInfo,
    generator: str,
    digests: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Return the JSON text. `key` is the toolchain's own, which holds no paths; its part "toolkit" is the version of CANN.

    `digests` has the SHA-256 of modules by file name: a package that is installed knows by them what was damaged since.
    """
    record = {
        "format": _FORMAT,
        "generator": generator,
        "toolchain": toolchain,
        "emulated": toolchain == "host",
        "archs": sorted({arch for operator in operators for arch in operator.archs}),
        "operators": {
            operator.name: {"archs": list(operator.archs), "entries": list(operator.entries)}
            for operator in sorted(operators, key=lambda operator: operator.name)
        },
        "modules": dict(sorted(digests.items())),
        "compiler": key.get("compiler", ""),
        "cann": key.get("toolkit"),
        "torch": {"version": torch.version, "cxx11_abi": torch.cxx11_abi},
        "torch_npu": torch.npu.version if torch.npu and toolchain != "host" else None,
        "python": {"version": torch.python_version, "abi": torch.python_abi},
        "key": dict(sorted(key.items())),
    }
    return json.dumps(record, indent=2) + "\n"


def read_built_with(data: bytes) -> tuple[bool, tuple[Operator, ...]]:
    """Return whether the modules only run emulated, and the operators. Raises ValueError for anything but such a record."""
    try:
        record = json.loads(data)
        if record["format"] != _FORMAT:
            raise ValueError(f"its format is {record['format']}, not {_FORMAT}")
        operators = tuple(
            Operator(name=str(name), archs=tuple(map(str, each["archs"])), entries=tuple(map(str, each["entries"])))
            for name, each in record["operators"].items()
        )
        return bool(record["emulated"]), operators
    except (KeyError, TypeError, AttributeError, UnicodeDecodeError, RecursionError, json.JSONDecodeError) as error:
        raise ValueError("it is no record of skrules") from error
