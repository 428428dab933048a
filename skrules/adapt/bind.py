"""The twin of one kernel: its type, its head, its `SK_BIND` lines, rendered as one block of text."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import jinja2

from skrules.adapt.args import ArgsStruct
from skrules.contract.entry import Entry
from skrules.contract.kerneltype import decided, one_kind
from skrules.contract.model import SuperKernelDecision
from skrules.source.model import CoreType, Kernel, KernelType

BEGIN = "skrules: SuperKernel binding of "
END = "skrules: end of "
SPLIT_INDEX = "splitidx"
_CORES = {CoreType.VECTOR: "__vector__", CoreType.CUBE: "__cube__", CoreType.BARE: "__aicore__"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Twin:
    """All that one generated block says. `args_name` and `sys_args` are the parameters' names, `sys_args` "" without any."""

    kernel: Kernel
    args: ArgsStruct | None
    function: str
    type: str
    args_name: str
    sys_args: str
    split: str
    body: str
    binds: tuple[str, ...]

    @property
    def template_head(self) -> str:
        """The kernel's template parameters, without defaults, and the split index."""
        own = [parameter.declaration for parameter in self.kernel.template_parameters or ()]
        return ", ".join([*own, f"uint32_t {self.split}"])

    @property
    def parameters(self) -> str:
        args = [f"const {self.args.spelling} *{self.args_name}"] if self.args else []
        return ", ".join([*args, *([f"sk::SkSystemArgs *{self.sys_args}"] if self.sys_args else [])])


def sk_type(kernel_type: KernelType, decision: SuperKernelDecision) -> str | None:
    """Return the type qualifier of the twin, None for a kernel without a type.

    `__mix__` with cores of one kind only becomes that kind, unless the contract keeps it.
    """
    known = decided(kernel_type, decision.kernel_type)
    if decision.kernel_type != "keep":
        known = one_kind(known)
    if known.core is not CoreType.MIX:
        return _CORES.get(known.core)
    return f"__mix__({known.aic}, {known.aiv})" if known.aic or known.aiv else "__mix__"


def bind_line(entry: Entry, function: str, *, overloaded: bool) -> str:
    """Return the `SK_BIND` statement of an entry. `overloaded`: the target's name alone means more than one function."""
    target = entry.bind_target
    if overloaded:
        types = ", ".join(parameter.c_type for parameter in entry.parameters)
        target = f"static_cast<void (*)({types})>({target})"
    decision = entry.contract.sk
    splits = [", ".join([*entry.template_arguments, str(split)]) for split in range(decision.num_splits)]
    symbols = ", ".join(f"{function}<{split}>" for split in splits)
    return f"SK_BIND({target}, {decision.mask}, {symbols});"


def render(
    template: jinja2.Template,
    twin: Twin,
    source: str,
    *,
    newline: str,
    leave: Collection[str],
    enter: Collection[str],
    guard: str = "",
) -> str:
    """Return the block of a twin. `leave` and `enter` are the lines that close and open scopes around it, `guard` those that
    verify what the block relies on."""
    return template.render(
        begin=BEGIN,
        finish=END,
        kernel=twin.kernel.name + twin.kernel.specialisation,
        source=source,
        guard=guard,
        args=twin.args,
        fields=twin.args.fields if twin.args else (),
        template_head=twin.template_head,
        type=f"{newline}{twin.type}{newline}" if "#" in twin.type else f" {twin.type} ",
        function=twin.function,
        parameters=twin.parameters,
        args_name=twin.args_name,
        body=twin.body,
        binds=twin.binds,
        leave=leave,
        enter=enter,
    )
