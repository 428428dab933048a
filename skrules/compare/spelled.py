"""Values that a case spells out: single ones, tensors of them, and structs as typed fields."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from skrules.compare import numbers
from skrules.contract.dtypes import DTYPES
from skrules.contract.reading import Problems, Read


def spell(value: object) -> str:
    """Write a value as YAML has it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def encode_value(dtype: str, item: Read, problems: Problems) -> bytes:
    """Return one value in the element's bytes; a value that the dtype cannot hold goes to `problems`, and gives b""."""
    try:
        return numbers.encode(dtype, item.value)
    except ValueError as error:
        problems.add(f"{spell(item.value)} does not fit: {error}", item.at)
        return b""


def encode_fields(items: list[Read], problems: Problems) -> bytes:
    """Return a struct: bytes as they are, `{dtype: value}` and `{dtype: [values]}` at their natural alignment.

    The end is padded to the widest field, as C does it.
    """
    data = bytearray()
    widest = 1
    for field in items:
        if isinstance(field.value, int):
            data.append(field.value)
            continue
        if len(field.value) != 1 and field.path not in problems.wrong:
            problems.add("a field is one type with its value", field.at, hint="{uint32: 128}")
        for dtype, value in field.value.items():
            size = DTYPES[dtype]
            widest = max(widest, size)
            data += bytes(-len(data) % size)
            for element in value.value if isinstance(value.value, list) else [value]:
                data += encode_value(dtype, element, problems)
    return bytes(data) + bytes(-len(data) % widest)


def encode_values(name: str, item: Read, shape: tuple[int, ...], dtype: str, problems: Problems) -> bytes:
    """Return the elements of a tensor, given one after the other or in nested lists of its shape."""
    leaves = list(_leaves(item))
    is_flat = not any(isinstance(each.value, list) for each in item.value)
    if is_flat:
        elements = math.prod(shape)
        if len(leaves) != elements:
            problems.add(f"'{name}': has {len(leaves)} values, and its shape {list(shape)} {elements} elements", item.at)
    elif not _check_nesting(name, item, shape, problems):
        return b""
    if dtype == "bool":  # 0 and 1 are booleans here, as they are where one value fills a tensor
        leaves = [replace(leaf, value=bool(leaf.value)) if leaf.value in (0, 1) else leaf for leaf in leaves]
    return b"".join(encode_value(dtype, leaf, problems) for leaf in leaves)


def _leaves(item: Read) -> Iterator[Read]:
    for each in item.value:
        if isinstance(each.value, list):
            yield from _leaves(each)
        else:
            yield each


def _check_nesting(name: str, item: Read, shape: tuple[int, ...], problems: Problems) -> bool:
    """Whether nested lists have the lengths of the dimensions; the first place where they do not is told."""
    if not isinstance(item.value, list):
        if shape:
            problems.add(f"'{name}': here a list of {shape[0]} must stand, not a value", item.at)
        return not shape
    if not shape:
        problems.add(f"'{name}': here a value must stand, not a list", item.at)
        return False
    if len(item.value) != shape[0]:
        problems.add(f"'{name}': has {len(item.value)} here, and the dimension is {shape[0]}", item.at)
        return False
    return all(_check_nesting(name, each, shape[1:], problems) for each in item.value)
