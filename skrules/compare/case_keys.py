"""The keys of a cases file. This table is what the reader, the messages and the documentation go by."""

from __future__ import annotations

from skrules.compare.numbers import COMPARABLE
from skrules.contract.dtypes import DTYPE_SYNONYMS
from skrules.contract.keys import NAME
from skrules.contract.schema import Boolean, Integer, Key, ListOf, MapOf, Nested, Null, Number, OneOf, Table, Text

_SEED = Integer(minimum=0, maximum=(1 << 63) - 1)
_BLOCKS = Integer(minimum=1, maximum=65535)
_DTYPE = Text(allowed=COMPARABLE, synonyms=DTYPE_SYNONYMS)
_ANY_NUMBER = Number(special=True)
_VALUE = OneOf(forms=(Boolean(), _ANY_NUMBER))

FIELD = Table(
    keys=tuple(
        Key(name=name, type=OneOf(forms=(Boolean(), _ANY_NUMBER, ListOf(item=_VALUE))), doc=f"one {name}, or an array of them")
        for name in COMPARABLE
    )
)
_FIELDS = ListOf(item=OneOf(forms=(Integer(minimum=0, maximum=255), FIELD)))

TOLERANCE = Table(
    keys=(
        Key(name="rtol", type=Number(minimum=0), doc="tolerance relative to the reference; left out: 0"),
        Key(name="atol", type=Number(minimum=0), doc="absolute tolerance; left out: 0"),
    )
)

TENSOR = Table(
    keys=(
        Key(name="shape", type=ListOf(item=Integer(minimum=0, maximum=1 << 31)), doc="its dimensions; [] is one element"),
        Key(name="dtype", type=_DTYPE, doc="its element type; left out: the contract's"),
        Key(
            name="values",
            type=OneOf(
                forms=(
                    Text(allowed=("random", "zeros", "ones", "arange")),
                    Boolean(),
                    _ANY_NUMBER,
                    Nested(item=_VALUE),
                )
            ),
            doc="what an input holds; a number fills it, a list has all elements, flat or nested as the shape; left out: random",
        ),
        Key(
            name="fields",
            type=_FIELDS,
            doc="a struct that an input holds, instead of values: bytes, or fields such as {uint32: 128} at their natural "
            "alignment; shape and dtype left out: uint8 of its size",
        ),
        Key(name="low", type=Number(), doc="random values are not below this; left out: -1, for whole numbers -100 or 0"),
        Key(name="high", type=Number(), doc="random values are below this; left out: 1, for whole numbers 100"),
        Key(
            name="initial",
            type=Text(allowed=("sentinel", "zeros", "ones")),
            doc="what an output or workspace holds before; sentinel shows elements that nobody writes",
        ),
        Key(name="bytes", type=Integer(minimum=0, maximum=1 << 31), doc="size of a workspace, instead of shape and dtype"),
    )
)

CASE = Table(
    keys=(
        Key(name="name", type=NAME, doc="its name, unique in the file", required=True),
        Key(name="entry", type=NAME, doc="the entry it runs; may be left out when the operator has one"),
        Key(name="block_dim", type=_BLOCKS, doc="number of blocks; left out: the contract's, else all cores"),
        Key(
            name="super_kernel_blocks",
            type=_BLOCKS,
            doc="number of blocks of the super kernel it is compared in; left out: more than its own where the device has them, "
            "as many with sk.helper_block_num: accept",
        ),
        Key(name="seed", type=_SEED, doc="seed of random inputs; left out: the default's, else 0"),
        Key(name="tolerance", type=TOLERANCE, doc="how far from the reference is still right"),
        Key(name="partial", type=Boolean(), doc="true: the kernel need not write every element of its outputs"),
        Key(
            name="tensors",
            type=MapOf(key=NAME, value=OneOf(forms=(Null(), TENSOR)), noun="a tensor"),
            doc="every tensor of the kernel; null for a nullable one that is not given",
        ),
        Key(
            name="lists",
            type=MapOf(key=NAME, value=ListOf(item=TENSOR), noun="a tensor list"),
            doc="every tensor list of the kernel: its tensors in order",
        ),
        Key(name="scalars", type=MapOf(key=NAME, value=_VALUE, noun="a scalar"), doc="every scalar of the kernel"),
        Key(
            name="structs",
            type=MapOf(key=NAME, value=_FIELDS, noun="a struct"),
            doc="every struct of the kernel: bytes, or fields such as {uint32: 128} at their natural alignment",
        ),
    )
)

CASES = Table(
    keys=(
        Key(name="schema_version", type=Integer(minimum=1, maximum=1), doc="version of this format: 1"),
        Key(
            name="defaults",
            type=Table(keys=tuple(key for key in CASE.keys if key.name in ("seed", "tolerance", "block_dim"))),
            doc="what cases leave out",
        ),
        Key(name="cases", type=ListOf(item=CASE), doc="the cases, in the order they run", required=True),
    )
)
