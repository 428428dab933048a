"""Twins of classes: the number is a member, which the object is told before it is used."""

from __future__ import annotations

from collections.abc import Iterator

from skrules.adapt.askers import Helpers, NoTwin
from skrules.adapt.blocknum import is_api
from skrules.adapt.definitions import Helper, after_arguments
from skrules.adapt.edits import Edit
from skrules.adapt.twin_edits import NUMBER, SETTER, is_argument
from skrules.source.model import Span


def member_bodies(helpers: Helpers, helper: Helper) -> tuple[range, ...]:
    """Return the bodies of the member functions in a helper, having checked who may ask for the number there."""
    file, code = helper.file, helper.file.code
    span = Span(start=helper.start, end=code.tokens[helper.last].end)
    found = []
    asking = asking_members(helpers, helper.name)
    untold = asking.union(*(asking_members(helpers, name) for name in helpers.classes))  # of members that no one told yet
    static = _static_members(helpers, helper.name)
    nested = [each.body for each in file.inner if each.is_class and span.start < each.span.start and each.body.end < span.end]
    for function in file.inner:
        if not span.start <= function.body.start < span.end or function.is_class:
            continue
        first, body = file.index(function.span.start), file.index(function.body.start)
        bodies = range(body, code.partner(body) + 1)
        words = {code.text(index) for index in range(first, bodies.stop)}
        makes = helpers.classes - {helper.name}
        asks = bool(words & asking) or any(is_api(code, index, file.api) or code.text(index) in makes for index in bodies)
        if asks and any(each.start < function.body.start < each.end for each in nested):
            raise NoTwin(f"a class inside of '{helper.name}' asks for the block number", function.body.start)
        if function.name == helper.name and words & (untold - {function.name}):
            raise NoTwin(f"'{helper.name}' asks for the block number while it is constructed", function.body.start)
        if asks and function.name == "operator":
            raise NoTwin(f"an operator of '{helper.name}' asks for the block number", function.body.start)
        if asks and function.name == helper.name:
            raise NoTwin(f"'{helper.name}' asks for the block number while it is constructed", function.body.start)
        head = {code.text(index) for index in range(first, body)}
        if asks and ("static" in head or function.name in static):
            raise NoTwin(f"the static member '{function.name}' asks for the block number", function.body.start)
        if asks and "friend" in head:
            raise NoTwin(f"the friend '{function.name}' of '{helper.name}' asks for the block number", function.body.start)
        found.append(bodies)
    return tuple(found)


def _static_members(helpers: Helpers, name: str) -> set[str]:
    """Return the static member functions of a class: only their declarations in the class say so."""
    found = set()
    for helper in (each for each in helpers.found if each.name == name and each.is_class):
        code = helper.file.code
        for index in range(helper.body, helper.last):
            if code.text(index) == "static":
                opening = next((at for at in range(index, helper.last) if code.text(at) in ("(", ";", "=", "{")), index)
                found.add(code.text(opening - 1))
    return found


def asking_members(helpers: Helpers, name: str) -> set[str]:
    """Return the member functions of a class that ask for the number, themselves or through others, and all twin functions."""
    words: dict[str, set[str]] = {}
    asking = set(helpers.names) - helpers.classes
    for helper in (each for each in helpers.found if each.name == name):
        file, code = helper.file, helper.file.code
        end = code.tokens[helper.last].end
        for function in file.inner:
            if function.is_class or not helper.start <= function.body.start < end:
                continue
            body = file.index(function.body.start)
            indices = range(body, code.partner(body) + 1)
            words.setdefault(function.name, set()).update(code.text(index) for index in indices)
            if any(is_api(code, index, file.api) for index in indices):
                asking.add(function.name)
    while more := {each for each, used in words.items() if used & asking} - asking:
        asking |= more
    return asking - {name}


def number_of_class(helpers: Helpers, helper: Helper) -> Iterator[Edit]:
    """Add the number to a class, and the function that tells it to the object, its bases and its members."""
    code, original = helper.file.code, helper.file.unit.text
    closing = code.partner(helper.body)
    told = [f"{NUMBER} = number;"]
    colon = next((i for i in range(helper.first, helper.body) if code.text(i) == ":"), helper.body)
    for index in range(colon, helper.body):
        if code.text(index) in helpers.classes and not is_argument(code, index, index + 1):
            after = after_arguments(code, index)
            arguments = original[code.tokens[index].end : code.tokens[after - 1].end]
            if any(code.text(each) in helpers.names for each in range(index + 1, after)):
                raise NoTwin(f"a base of '{helper.name}' has a helper as an argument", code.tokens[index].start)
            told.append(f"{helpers.names[code.text(index)]}{arguments}::{SETTER}(number);")
    told += [f"{member}.{SETTER}(number);" for member in _members(helpers, helper)]
    at = code.tokens[closing].start
    newline = helper.file.unit.newline
    lines = [
        "",
        "public:",
        f"    int64_t {NUMBER};",
        f"    __aicore__ inline void {SETTER}(int64_t number) {{ {' '.join(told)} }}",
        "",
    ]
    yield Edit(start=at, end=at, text=newline.join(lines))


def _members(helpers: Helpers, helper: Helper) -> Iterator[str]:
    """Yield the data members that are objects of classes with twins."""
    code = helper.file.code
    index = helper.body + 1
    closing = code.partner(helper.body)
    while index < closing:
        if code.text(index) == "{":
            index = code.partner(index)
        elif (
            code.text(index) in helpers.classes
            and code.text(index - 1) in (";", "{", "}", ":")
            and code.text(index) != helper.name
        ):
            after = after_arguments(code, index)
            if code.is_identifier(after) and code.text(after + 1) == ";":
                yield code.text(after)
            elif code.text(after) not in ("*", "&") and not (code.is_identifier(after) and code.text(after + 1) == "("):
                raise NoTwin(f"a member of '{helper.name}' is not a plain object", code.tokens[index].start)
        index += 1
