"""The keys of a contract file. This table is what the reader, the messages and the documentation go by."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from skrules.contract.dtypes import DTYPE_SYNONYMS, DTYPES
from skrules.contract.kerneltype import KERNEL_TYPES
from skrules.contract.model import ParameterKind
from skrules.contract.schema import Boolean, Integer, Key, ListOf, MapOf, OneOf, Table, Text
from skrules.source.evaluation import DEFINED, UNDEFINED

# Bits of the second argument of SK_BIND (CANN asc-devkit, "SK_BIND").
CAPABILITIES: Mapping[str, int] = MappingProxyType(
    {"early_start_wait": 1, "early_start_set": 2, "disable_dcci": 4, "disable_batchmode_check": 8}
)

# What sources call the values of sk.kernel_type. In braces, YAML ends a word without quotes at the comma.
_KERNEL_TYPE_SYNONYMS: Mapping[str, str] = MappingProxyType(
    {"mix(1": '"mix(1, 2)"', "mix": "mix(1, 2)", "__vector__": "vector", "__cube__": "cube", "aiv": "vector", "aic": "cube"}
    | {"KERNEL_TYPE_AIV_ONLY": "vector", "KERNEL_TYPE_AIC_ONLY": "cube", "KERNEL_TYPE_MIX_AIC_1_1": "mix(1, 1)"}
    | {"KERNEL_TYPE_MIX_AIC_1_2": "mix(1, 2)", "__mix__(1, 1)": "mix(1, 1)", "__mix__(1, 2)": "mix(1, 2)"}
)

_IDENTIFIER = r"[A-Za-z_][A-Za-z0-9_]*"
NAME = Text(what="a C identifier", pattern=_IDENTIFIER)
_QUALIFIED = Text(
    what="the name of a kernel, such as add_custom or ns::add_custom", pattern=rf"(?:::)?{_IDENTIFIER}(?:::{_IDENTIFIER})*"
)
_TARGET = Text(
    what="a kernel with its template arguments, such as scale_custom<half>",
    pattern=rf"\s*(?:::)?\s*{_IDENTIFIER}(?:\s*::\s*{_IDENTIFIER})*\s*(?:<[^\x00-\x1f]*>)?\s*",
)
_FILE = Text(
    what="a path inside the operator's folder, relative and without '..'",
    pattern=r"(?!/|[A-Za-z]:)(?!(?:.*/)?\.\.(?:/|\Z))[^\x00-\x1f\x7f\\]+",
)
_DEFINE = Text(
    what="a macro, such as USE_FAST or TILE=128", pattern=rf"(?:-D)?{_IDENTIFIER}(?:\([^)\x00-\x1f]*\))?(?:=[^\x00-\x1f]*)?"
)
_OPTION = Text(what="one compiler option")

_MACRO = Text(what="the name of a macro", pattern=rf"(?!defined\Z){_IDENTIFIER}")
_MACRO_VALUE = Integer(minimum=-(2**63 - 1), maximum=2**63 - 1)  # the integers of the preprocessor
_MACRO_STATE = Text(allowed=(DEFINED, UNDEFINED), synonyms={"undef": UNDEFINED, "none": UNDEFINED, "set": DEFINED})

DTYPE = Text(allowed=tuple(DTYPES), synonyms=DTYPE_SYNONYMS)
_TENSORS = ListOf(item=NAME, unique=True, nullable=True)
_KIND = Text(allowed=tuple(kind.value for kind in ParameterKind))

PARAMETER = Table(
    keys=(
        Key(name="kind", type=_KIND, doc="what the parameter is for the caller; left out: as the source says"),
        Key(name="nullable", type=Boolean(), doc="the caller may pass None for this tensor"),
        Key(name="dtype", type=DTYPE, doc="element type that is checked at the call"),
        Key(name="rank", type=Integer(minimum=0, maximum=64), doc="number of dimensions that is checked at the call"),
    )
)

LAUNCH = Table(
    keys=(
        Key(
            name="block_dim",
            type=Integer(minimum=1, maximum=65535),
            doc="number of blocks of the launch; left out: all cores of the device that fit the kernel",
        ),
    )
)

COMPILE = Table(
    keys=(
        Key(name="defines", type=ListOf(item=_DEFINE), doc="macros for the compiler, with or without -D"),
        Key(name="options", type=ListOf(item=_OPTION), doc="options for the compiler, one word each"),
    )
)

RUNTIME_WRAPPER = Table(
    keys=(
        Key(name="source", type=_FILE, doc="the wrapper's source file in the operator's folder", required=True),
        Key(name="entry", type=NAME, doc="the wrapper's function in namespace ascendc_ops", required=True),
        Key(
            name="tensor_list_descriptor_strategy",
            type=Text(allowed=("prepared_workspace_tail", "")),
            doc="where the descriptors of tensor lists come from under graph capture",
        ),
        Key(name="prepare_entry", type=NAME, doc="the function that prepares the descriptors before capture"),
        Key(name="descriptor_bytes", type=Integer(minimum=1, maximum=1 << 31), doc="size of the descriptors in bytes"),
        Key(name="descriptor_order", type=ListOf(item=NAME, unique=True), doc="the tensor lists in the descriptors' order"),
    )
)

SK = Table(
    keys=(
        Key(name="mask", type=Integer(minimum=0, maximum=7), doc="capability bits of SK_BIND: 1, 2 and 4 of `capabilities`"),
        Key(
            name="capabilities",
            type=ListOf(item=Text(allowed=tuple(CAPABILITIES)), unique=True, nullable=True),
            doc="capabilities of SK_BIND by name",
        ),
        Key(name="num_splits", type=Integer(minimum=1, maximum=4), doc="number of SK functions that SK_BIND gets"),
        Key(
            name="with_sys_args",
            type=Text(allowed=("auto", "always", "never")),
            doc="whether the SK function takes sk::SkSystemArgs; auto: when it asks for the block number",
        ),
        Key(
            name="kernel_type",
            type=Text(
                allowed=("map", "keep", *KERNEL_TYPES),
                spellings={name.replace(" ", ""): name for name in KERNEL_TYPES if " " in name},
                synonyms=_KERNEL_TYPE_SYNONYMS,
            ),
            doc="map: __mix__(1, 0) becomes __cube__ and __mix__(0, 1) __vector__; keep: as written; a type: what the kernel "
            "runs as, when the source does not settle it",
        ),
        Key(
            name="helper_block_num",
            type=Text(allowed=("accept",)),
            doc="accept: helpers may ask for the block number: no kernel of the same super kernel is launched with more blocks",
        ),
    )
)

ENTRY = Table(
    keys=(
        Key(name="inputs", type=_TENSORS, doc="tensors that the kernel reads", aliases=("input_tensors",)),
        Key(name="outputs", type=_TENSORS, doc="tensors that the kernel writes", aliases=("output_tensors",)),
        Key(name="workspaces", type=_TENSORS, doc="tensors that are scratch memory", aliases=("workspace_tensors",)),
        Key(
            name="pybind_return_tensor",
            type=NAME,
            doc="the output that run_<entry> returns; needed when there are several",
            aliases=("return_tensor",),
        ),
        Key(
            name="parameters",
            type=MapOf(key=NAME, value=OneOf(forms=(_KIND, PARAMETER)), noun="a parameter"),
            doc="decisions on single parameters: a kind, or kind, nullable, dtype and rank",
            aliases=("params",),
        ),
        Key(name="launch", type=LAUNCH, doc="how the kernel is launched"),
        Key(name="compile", type=COMPILE, doc="how the kernel is compiled"),
        Key(name="compile_defines", type=COMPILE.keys[0].type, doc="older spelling of compile.defines"),
        Key(name="compile_options", type=COMPILE.keys[1].type, doc="older spelling of compile.options"),
        Key(
            name="public_entry_name",
            type=NAME,
            doc="the name that callers use; left out: the entry's key",
            aliases=("entry_name",),
        ),
        Key(
            name="source_entry_name",
            type=_QUALIFIED,
            doc="the kernel in the source; left out: of bind_target, or the entry's key",
        ),
        Key(name="bind_target", type=_TARGET, doc="the C++ expression that is bound and launched; a template kernel needs one"),
        Key(name="runtime_wrapper", type=RUNTIME_WRAPPER, doc="a hand-written launch that replaces the generated one"),
        Key(name="sk", type=SK, doc="decisions for the super kernel"),
    )
)

CONTRACT = Table(
    keys=(
        Key(name="schema_version", type=Integer(minimum=1, maximum=1), doc="version of this format: 1"),
        Key(
            name="entries",
            type=MapOf(
                key=NAME,
                value=OneOf(forms=(Text(what="the name of the returned tensor", pattern=_IDENTIFIER), ENTRY)),
                noun="an entry",
            ),
            doc="entries by public name: what each kernel does with its parameters",
            required=True,
        ),
        Key(
            name="macros",
            type=MapOf(key=_MACRO, value=OneOf(forms=(_MACRO_VALUE, _MACRO_STATE)), noun="a macro"),
            doc="macros that the operator is built with, where an #if asks for them: an integer, defined or undefined. Nothing "
            "is set by it (see compile.defines): sources are read by it, and the generated code makes the compiler verify it",
        ),
    )
)
