"""What the package knows of an entry: all that its Python side and its build need. The manifest carries it from adapting to
aggregating."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from skrules.binding.schema import argument_names, scalar_type
from skrules.contract.ctype import scalar_dtype
from skrules.contract.entry import EntryParameter
from skrules.contract.model import ParameterKind, Role


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageParameter:
    """`dtype` is what a tensor must be, or the encoding of a scalar; `rank` None: any."""

    name: str
    c_type: str
    kind: ParameterKind
    roles: tuple[Role, ...] = ()
    nullable: bool = False
    dtype: str = ""
    rank: int | None = None

    @property
    def is_tensor(self) -> bool:
        return self.kind is ParameterKind.TENSOR

    @property
    def is_list(self) -> bool:
        return self.kind is ParameterKind.TENSOR_LIST

    @property
    def is_written(self) -> bool:
        return bool(set(self.roles) & {Role.OUTPUT, Role.WORKSPACE})

    @property
    def schema_type(self) -> str:
        """The type for callers: "Tensor", "Tensor?", "Tensor[]", "float", "bool", "int", "int[]" for the bytes of a struct."""
        if self.is_tensor:
            return "Tensor?" if self.nullable else "Tensor"
        if self.is_list:
            return "Tensor[]"
        if self.kind is ParameterKind.HOST_STRUCT:
            return "int[]"
        return scalar_type(self.dtype)

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "c_type": self.c_type,
            "kind": str(self.kind),
            "roles": [str(role) for role in self.roles],
            "nullable": self.nullable,
            "dtype": self.dtype,
            "rank": self.rank,
        }

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> PackageParameter:
        return PackageParameter(
            name=str(data["name"]),
            c_type=str(data["c_type"]),
            kind=ParameterKind(data["kind"]),
            roles=tuple(Role(role) for role in data["roles"]),
            nullable=bool(data["nullable"]),
            dtype=str(data["dtype"]),
            rank=None if data["rank"] is None else int(data["rank"]),
        )


def package_parameter(parameter: EntryParameter) -> PackageParameter:
    """Return a resolved parameter for the package. A scalar of unknown encoding has dtype ""."""
    dtype = parameter.dtype
    if parameter.kind is ParameterKind.SCALAR:
        dtype = scalar_dtype(parameter.c_type) or parameter.dtype
    return PackageParameter(
        name=parameter.name,
        c_type=parameter.c_type,
        kind=parameter.kind,
        roles=parameter.roles,
        nullable=parameter.nullable,
        dtype=dtype,
        rank=parameter.rank,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageEntry:
    """One callable of the package.

    `csrc_file` and `quote_dirs` are relative to the tree, e.g. "csrc/add.asc"; `returned` is the tensor that a call gives
    back, "" for none; `wrapped`: a runtime wrapper launches it; `prepares`: it has descriptors, which `prepare_<name>` makes;
    `target` has what is known of the chips the operator is for.
    """

    name: str
    csrc_file: str
    parameters: tuple[PackageParameter, ...]
    returned: str
    wrapped: bool = False
    prepares: bool = False
    quote_dirs: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    target: Mapping[str, Any] = field(default_factory=dict)

    @property
    def pybind_file(self) -> str:
        return f"csrc/pybind11_{self.name}.asc"

    @property
    def schema(self) -> str:
        """What callers see. It returns one of its arguments and says nothing of what it writes: see `launch_schema`."""
        arguments = ", ".join(f"{each.schema_type} {name}" for each, name in self._named())
        return f"{self.name}({arguments}) -> {'Tensor' if self.returned else '()'}"

    @property
    def launch_schema(self) -> str:
        """The same call as an overload that says which tensors it writes, and returns nothing."""
        words = []
        written = 0
        for each, name in self._named():
            kind = each.schema_type
            if (each.is_tensor or each.is_list) and each.is_written:
                kind = kind.replace("Tensor", f"Tensor(a{written}!)")
                written += 1
            words.append(f"{kind} {name}")
        return f"{self.name}.launch({', '.join(words)}) -> ()"

    def _named(self) -> Iterator[tuple[PackageParameter, str]]:
        return zip(self.parameters, argument_names([each.name for each in self.parameters]), strict=True)

    @property
    def return_index(self) -> int | None:
        names = [each.name for each in self.parameters]
        return names.index(self.returned) if self.returned else None

    @property
    def has_device(self) -> bool:
        """Whether every call has a tensor, by whose device torch finds the implementation."""
        return any(each.is_tensor and not each.nullable for each in self.parameters)
