"""Records of an operator's contract: what its author decided and no tool may guess.

A contract is YAML or JSON (one model). Fields are those of the public `operator-io-contract.json`, plus `sk` and the
dtype/rank of tensors. Positions of keys and values are kept for messages.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

from skrules.errors import Location
from skrules.source.evaluation import Macros


class ParameterKind(enum.StrEnum):
    """What a kernel parameter is for the caller."""

    TENSOR = "tensor"
    TENSOR_LIST = "tensor_list"
    SCALAR = "scalar"
    HOST_STRUCT = "host_struct"


class Role(enum.StrEnum):
    """What the kernel does with a tensor. An in-place tensor is in both `inputs` and `outputs`."""

    INPUT = "input"
    OUTPUT = "output"
    WORKSPACE = "workspace"


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterDecision:
    """`kind` None: as detected from the source. `dtype` is a torch/numpy name ("float16", ...) or ""; `rank` None: any."""

    kind: ParameterKind | None = None
    nullable: bool = False
    dtype: str = ""
    rank: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SuperKernelDecision:
    """The `sk:` section. `mask` has the capability bits of SK_BIND (1 early-start wait, 2 early-start set, 4 disable
    DCCI, 8 disable batch-mode check); None in a field means the default of the adaptation."""

    mask: int = 4
    num_splits: int = 4
    with_sys_args: str = "auto"  # auto | always | never
    kernel_type: str = "map"  # map: __mix__(1, 0) becomes __cube__; keep: as written; or one of kerneltype.KERNEL_TYPES
    helper_block_num: str = ""  # "" or "accept"


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeWrapper:
    """A hand-written wrapper in the operator's folder that replaces the generated launch."""

    source: str
    entry: str
    tensor_list_descriptor_strategy: str = ""
    prepare_entry: str = ""
    descriptor_bytes: int = 0
    descriptor_order: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryContract:
    """Decisions for one public entry. `name` is its key in the file and, without a `public_entry_name`, what callers use.

    `source_entry_name` names the kernel in the source (default: `name`); `bind_target` is the C++ expression that is
    bound and launched, e.g. `scale_bias_custom<half>` (default: the kernel's qualified name).
    """

    name: str
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    workspaces: tuple[str, ...] = ()
    pybind_return_tensor: str = ""
    parameters: Mapping[str, ParameterDecision] = field(default_factory=dict)
    block_dim: int | None = None  # None: all cores of the device that fit the kernel's type
    defines: tuple[str, ...] = ()  # "-DNAME=VALUE"
    options: tuple[str, ...] = ()
    source_entry_name: str = ""
    public_entry_name: str = ""
    bind_target: str = ""
    runtime_wrapper: RuntimeWrapper | None = None
    sk: SuperKernelDecision = field(default_factory=SuperKernelDecision)
    at: Location  # of the entry's key
    positions: Mapping[str, Location] = field(default_factory=dict)  # "inputs[0]", "launch.block_dim", ... -> place

    @property
    def kernel_name(self) -> str:
        """The plain name of the kernel this entry speaks of."""
        spelled = self.source_entry_name or self.bind_target.partition("<")[0]
        return spelled.rpartition("::")[2].strip() or self.name

    @property
    def public_name(self) -> str:
        """The name of the entry for its callers."""
        return self.public_entry_name or self.name

    def where(self, path: str) -> Location:
        """Return the place of `path` ("inputs[0]", "parameters.x"), or of the entry when the file does not have it."""
        return self.positions.get(path, self.at)


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """All entries of one contract file, in file order. `macros` are what the operator is built with: integers, "defined" or
    "undefined" by name."""

    path: str
    entries: tuple[EntryContract, ...]
    macros: Macros = field(default_factory=dict)
