"""The twin of one kernel: its type, its head, its `SK_BIND` lines, rendered as one block of text."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import jinja2

from skrules import resources
from skrules.adapt.args import ArgsStruct
from skrules.contract.entry import Entry
from skrules.contract.model import SuperKernelDecision
from skrules.source.model import CoreType, Kernel, KernelType, Parameter

BEGIN = "skrules: SuperKernel binding of "
END = "skrules: end of "
SPLIT_INDEX = "splitidx"
_WORD = re.compile(r"[A-Za-z_]\w*")
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
        """The kernel's template parameters with the split index; a pack would swallow an index that follows it."""
        own = [parameter.declaration for parameter in self.kernel.template_parameters or ()]
        split = f"uint32_t {self.split}"
        return ", ".join([split, *own] if has_pack(self.kernel) else [*own, split])

    @property
    def parameters(self) -> str:
        args = [f"const {self.args.spelling} *{self.args_name}"] if self.args else []
        return ", ".join([*args, *([f"sk::SkSystemArgs *{self.sys_args}"] if self.sys_args else [])])


def has_pack(kernel: Kernel) -> bool:
    return any(parameter.is_pack for parameter in kernel.template_parameters or ())


def sk_type(kernel_type: KernelType, decision: SuperKernelDecision) -> str | None:
    """Return the type qualifier of the twin, None for a kernel without a type.

    `__mix__` with cores of one kind only becomes that kind, unless the contract keeps it.
    """
    if kernel_type.core is not CoreType.MIX:
        return _CORES.get(kernel_type.core)
    aic, aiv = kernel_type.aic.strip(), kernel_type.aiv.strip()
    if not aic and not aiv:
        return "__mix__"
    if decision.kernel_type != "keep" and aic.isdigit() and aiv.isdigit():
        if int(aic) and not int(aiv):
            return "__cube__"
        if int(aiv) and not int(aic):
            return "__vector__"
    return f"__mix__({aic}, {aiv})"


def template_arguments(entry: Entry) -> tuple[str, ...] | None:
    """Return one argument for every template parameter, defaults filled in; None where one is missing.

    A pack takes all arguments that are left.
    """
    parameters = entry.kernel.template_parameters or ()
    given = list(entry.template_arguments)
    if has_pack(entry.kernel):
        return tuple(given) if len(given) >= len(parameters) - 1 else None
    if len(given) > len(parameters):
        return None
    values = {parameter.name: value for parameter, value in zip(parameters, given, strict=False)}
    for parameter in parameters[len(given) :]:
        if parameter.default is None:
            return None
        value = _WORD.sub(lambda match: values.get(match.group(), match.group()), parameter.default)
        given.append(value)
        values[parameter.name] = value
    return tuple(given)


def bind_line(entry: Entry, function: str, arguments: Sequence[str], *, overloaded: bool) -> str:
    """Return the `SK_BIND` statement of an entry. `overloaded`: the target's name alone means more than one function."""
    target = entry.bind_target
    if overloaded:
        types = ", ".join(
            c_type + _decayed(parameter)
            for c_type, parameter in zip(
                (parameter.c_type for parameter in entry.parameters), entry.kernel.parameters, strict=True
            )
        )
        target = f"static_cast<void (*)({types})>({target})"
    symbols = []
    for split in range(entry.contract.sk.num_splits):
        own = [str(split), *arguments] if has_pack(entry.kernel) else [*arguments, str(split)]
        symbols.append(f"{function}<{', '.join(own)}>")
    return f"SK_BIND({target}, {entry.contract.sk.mask}, {', '.join(symbols)});"


def block_template(newline: str) -> jinja2.Template:
    """Return the template of a block, with the file's own line ends."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(resources.templates() / "adapt"),
        undefined=jinja2.StrictUndefined,
        newline_sequence="\r\n" if newline == "\r\n" else "\r" if newline == "\r" else "\n",
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
    )
    return environment.get_template("binding.j2")


def render(template: jinja2.Template, twin: Twin, source: str, *, leave: Collection[str], enter: Collection[str]) -> str:
    """Return the block of a twin. `leave` and `enter` are the lines that close and open scopes around it."""
    return template.render(
        begin=BEGIN,
        finish=END,
        kernel=twin.kernel.name + twin.kernel.specialisation,
        source=source,
        args=twin.args,
        fields=twin.args.fields if twin.args else (),
        template_head=twin.template_head,
        type=twin.type,
        function=twin.function,
        parameters=twin.parameters,
        args_name=twin.args_name,
        body=twin.body,
        binds=twin.binds,
        leave=leave,
        enter=enter,
    )


def _decayed(parameter: Parameter) -> str:
    if not parameter.array:
        return ""
    rest = parameter.array.partition("]")[2].strip()
    return f" (*){rest}" if rest else " *"
