"""An entry: one kernel (or one specialisation of a template kernel) together with its author's decisions.

This is what adaptation, binding and compare work on; it is made by `skrules.contract.check.resolve`.
"""

from __future__ import annotations

from dataclasses import dataclass

from skrules.contract.kerneltype import decided
from skrules.contract.model import EntryContract, ParameterKind, Role
from skrules.findings import Finding
from skrules.source.model import Kernel, KernelType


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryParameter:
    """One parameter, ready to use. `c_type` has the template arguments of the entry substituted."""

    name: str
    c_type: str
    kind: ParameterKind
    roles: tuple[Role, ...] = ()
    nullable: bool = False
    dtype: str = ""
    rank: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """`name` is public and unique in its operator; `bind_target` the C++ expression valid at global scope."""

    name: str
    kernel: Kernel
    contract: EntryContract
    parameters: tuple[EntryParameter, ...]
    bind_target: str
    template_arguments: tuple[str, ...] = ()
    return_parameter: str = ""

    @property
    def type(self) -> KernelType:
        """What the kernel runs as: what its source says, and where that leaves it open, what its contract says."""
        return decided(self.kernel.type, self.contract.sk.kernel_type)


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """Entries in source order, and everything that keeps others from being entries. `contract_path` is "" without a contract."""

    entries: tuple[Entry, ...]
    findings: tuple[Finding, ...]
    contract_path: str = ""
