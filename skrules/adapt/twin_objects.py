"""What must not happen to objects whose class has a twin: whoever makes another object of the class has to tell it the number.

A template that deduces the class can make one (`template <class K> void f(K &one) { K other; }`), and a size that is asked for
is that of the twin, which holds the number too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from skrules.adapt.askers import Helpers, NoTwin
from skrules.adapt.definitions import HelperFile, after_arguments
from skrules.source.calls import Function
from skrules.source.code import Code

_ASKED = frozenset({"sizeof", "alignof", "decltype", "noexcept", "typeid"})
_MEMBER = (".", "->")
_KEPT = frozenset({"*", "&", "&&", "::"})


def check_objects(helpers: Helpers, code: Code, indices: range) -> None:
    """Raise NoTwin where an object of a class with a twin is asked for its size or type, or is handed to a template that may
    make another one. `indices` are the tokens of a kernel body or of a helper."""
    objects = set(_objects(code, indices, helpers.classes))
    if not objects:
        return
    makers = _makers(helpers.files)
    for index in indices:
        word = code.text(index)
        if word in _ASKED and (name := _named_in(code, index + 1, objects)):
            raise NoTwin(f"{word} is asked of '{name}', and its class is another one in a super kernel", code.tokens[index].start)
        if word in makers and code.is_identifier(index):
            at = after_arguments(code, index)
            name = _named_in(code, at + code.is_identifier(at), objects)  # `W w(one);` deduces the arguments of a class
            if name:
                raise NoTwin(f"'{word}' may make objects of the class of '{name}'", code.tokens[index].start)


def _objects(code: Code, indices: range, classes: Collection[str]) -> Iterator[str]:
    """Yield the names of objects, references and pointers that are declared with one of `classes`."""
    for index in indices:
        if code.text(index) in classes and code.is_identifier(index):
            at = after_arguments(code, index)
            while code.text(at) in ("*", "&", "&&", "const"):
                at += 1
            if code.is_identifier(at):
                yield code.text(at)


def _named_in(code: Code, opening: int, names: Collection[str]) -> str:
    """Return the first of `names` in the brackets that begin at `opening`, or the one that stands there without brackets."""
    closing = code.partner(opening) if code.text(opening) == "(" else opening
    inside = range(opening, closing + 1) if closing >= opening else ()
    whole = (at for at in inside if code.text(at - 1) not in _MEMBER and code.text(at + 1) not in _MEMBER)
    return next((code.text(at) for at in whole if code.text(at) in names), "")


def _makers(files: Iterable[HelperFile]) -> frozenset[str]:
    """Return the function and class templates that may make an object of a type that they deduce, themselves or through another
    one."""
    words: dict[str, frozenset[str]] = {}
    found: set[str] = set()
    for file in files:
        for function in file.inner:
            parameters = _type_parameters(file, function)
            if not parameters:
                continue
            body = range(file.index(function.body.start), file.index(function.body.end))
            words[function.name] = words.get(function.name, frozenset()) | {file.code.text(at) for at in body}
            if any(_makes(file.code, at, parameters) for at in body):
                found.add(function.name)
    while more := {name for name, used in words.items() if used & found} - found:
        found |= more
    return frozenset(found)


def _type_parameters(file: HelperFile, function: Function) -> tuple[str, ...]:
    code, at = file.code, file.index(function.span.start)
    if code.text(at) != "template" or code.text(at + 1) != "<":
        return ()
    head = range(at + 2, max(code.pairs.get(at + 1, 0), at + 2))
    return tuple(
        code.text(each + 1) for each in head if code.text(each) in ("class", "typename") and code.is_identifier(each + 1)
    )


def _makes(code: Code, at: int, parameters: Collection[str]) -> bool:
    word = code.text(at)
    return word in ("decltype", "auto") or (word in parameters and code.text(at + 1) not in _KEPT)
