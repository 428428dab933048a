"""The kernels that the launches of a file can name, and the cores each of them runs on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from skrules.source.calls import identifiers_in, reachable, uses
from skrules.source.kernels import Prototype, read_prototypes
from skrules.source.model import CoreType, Kernel, KernelType, SourceUnit, Span, TemplateParameter
from skrules.toolchain.bound_types import bound_types

# What tells the kinds of a bare `__aicore__` kernel apart: instructions of the cube core, and everything that only makes
# sense where cube and vector cores work together. Source: CANN AscendC API reference, chapters Cube and Matmul.
_CUBE_APIS = frozenset({"Mmad", "Fixpipe", "LoadData", "LoadDataWithTranspose", "LoadData2dTransposeParams", "MmadParams"})
_MIX_APIS = frozenset(
    {"ASCEND_IS_AIC", "ASCEND_IS_AIV", "REGIST_MATMUL_OBJ", "CrossCoreSetFlag", "CrossCoreWaitFlag", "g_coreType"}
)
_VECTOR_APIS = frozenset(
    {"Abs", "Add", "AddRelu", "Adds", "And", "Axpy", "Brcb", "Cast", "Compare", "CompareScalar", "Copy", "Div", "Duplicate"}
    | {"Exp", "FusedMulAdd", "Gather", "LeakyRelu", "Ln", "Max", "Maxs", "Min", "Mins", "Mul", "MulAddDst", "Muls", "Not", "Or"}
    | {"PairReduceSum", "Reciprocal", "ReduceMax", "ReduceMin", "ReduceSum", "Relu", "Rsqrt", "Select", "ShiftLeft"}
    | {"ShiftRight", "Sqrt", "Sub", "SubRelu", "Transpose", "WholeReduceMax", "WholeReduceMin", "WholeReduceSum"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchTarget:
    """What a launch can name. `type` is bare only for a mere declaration.

    `parameters` counts the kernel's parameters, -1: not known; `required` the template parameters without a default, -1:
    no template. `scope` tells overloads, which share it, from twins under `#if`.
    """

    name: str
    type: KernelType
    parameters: int
    required: int
    scope: tuple[object, ...]


class KnownKernels:
    """The kernels of a source and its headers. What was found once is kept: telling a bare kernel's type is a walk."""

    def __init__(self, unit: SourceUnit, headers: tuple[SourceUnit, ...]) -> None:
        self.units = (unit, *headers)
        self.uses: dict[str, frozenset[str]] | None = None
        self.bodies: dict[str, dict[Span, frozenset[str]]] = {}
        self.bound: dict[str, Mapping[str, KernelType]] = {}
        self.all: tuple[LaunchTarget, ...] | None = None
        self.found: dict[str, tuple[LaunchTarget, ...]] = {}
        of_headers = (prototype for header in headers for prototype in read_prototypes(header))
        self.prototypes = (*read_prototypes(unit, headers), *of_headers)

    def find(self, name: str) -> tuple[LaunchTarget, ...]:
        """Return the kernels called `name`; definitions before declarations before what macros make."""
        if name not in self.found:
            self.found[name] = self._find(name)
        return self.found[name]

    def _find(self, name: str) -> tuple[LaunchTarget, ...]:
        kernels = [(unit, kernel) for unit in self.units for kernel in unit.kernels if kernel.name == name]
        if kernels:
            return tuple(self._of_kernel(unit, kernel) for unit, kernel in kernels)
        exact = [prototype for prototype in self.prototypes if prototype.name == name]
        return tuple(map(self._of_prototype, exact or [each for each in self.prototypes if fnmatchcase(name, each.name)]))

    def matching(self, pattern: str) -> tuple[LaunchTarget, ...]:
        """Return the kernels whose name a macro can make: `pattern` has a `*` for what is not known of it."""
        if "*" not in pattern:
            return self.find(pattern)
        return tuple(target for target in self.everything() if target.name == pattern or fnmatchcase(target.name, pattern))

    def everything(self) -> tuple[LaunchTarget, ...]:
        """Return all kernels, for a launch whose kernel only the compiler knows."""
        if self.all is None:
            kernels = (self._of_kernel(unit, kernel) for unit in self.units for kernel in unit.kernels)
            self.all = (*kernels, *map(self._of_prototype, self.prototypes))
        return self.all

    def _of_kernel(self, unit: SourceUnit, kernel: Kernel) -> LaunchTarget:
        return LaunchTarget(
            name=kernel.name,
            type=self._type_of(unit, kernel) if kernel.type.core is CoreType.BARE else kernel.type,
            parameters=-1 if kernel.signature_has_conditions else len(kernel.parameters),
            required=_required(kernel.template_parameters),
            scope=(unit.path, kernel.namespaces, kernel.conditions),
        )

    def _of_prototype(self, prototype: Prototype) -> LaunchTarget:
        is_open = prototype.type.core is CoreType.BARE and prototype.used is not None
        return LaunchTarget(
            name=prototype.name,
            type=self._inferred(prototype.used or frozenset()) if is_open else prototype.type,
            parameters=-1 if prototype.parameters is None else len(prototype.parameters),
            required=_required(prototype.template_parameters),
            scope=(prototype.parameters,),
        )

    def _type_of(self, unit: SourceUnit, kernel: Kernel) -> KernelType:
        """Return what a bare kernel runs as. Its SK function says what the contract decides, where a contract decides it."""
        if unit.path not in self.bound:
            self.bound[unit.path] = bound_types(unit)
        return self.bound[unit.path].get(kernel.name) or self._inferred(self._used_by(unit, kernel))

    def _used_by(self, unit: SourceUnit, kernel: Kernel) -> frozenset[str]:
        if unit.path not in self.bodies:
            spans = [each.body for each in unit.kernels]
            self.bodies[unit.path] = dict(zip(spans, identifiers_in(unit, *spans), strict=True))
        return self.bodies[unit.path][kernel.body]

    def _inferred(self, used: frozenset[str]) -> KernelType:
        """Tell the type of a bare `__aicore__` kernel from what its body can reach, as the device compiler does."""
        if self.uses is None:
            self.uses = uses(self.units)
        names = reachable(self.uses, used)
        if names & _MIX_APIS or (names & _CUBE_APIS and names & _VECTOR_APIS):
            return KernelType(core=CoreType.MIX, aic="1", aiv="2")
        return KernelType(core=CoreType.CUBE if names & _CUBE_APIS else CoreType.VECTOR)


def _required(parameters: tuple[TemplateParameter, ...] | None) -> int:
    if parameters is None:
        return -1
    return sum(parameter.default is None and not parameter.is_pack for parameter in parameters)
