"""SK twins of helper code: functions and classes that tell the block number get a copy in the file that is given it.

A function's twin takes the number as its first parameter; a class's twin holds it and is told it where an object is declared.
The copies differ from the originals in these points only, token by token. Where the rewritten code is not known to be the
same (a macro between, a constructor that asks for the number, a temporary object, ...), there is no twin and the reason is told.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from skrules.adapt.askers import Helpers, NoTwin, used_names
from skrules.adapt.definitions import Helper, parameter_list
from skrules.adapt.edits import Edit, apply
from skrules.adapt.guards import inactive_edits
from skrules.adapt.header_twins import check_repeated, repeated, static_data
from skrules.adapt.helpers import BLOCK_NUM, FUNCTION, MACRO, STATEMENT, Chunk
from skrules.adapt.splice import Fragment, after_line
from skrules.adapt.twin_classes import member_bodies, number_of_class
from skrules.adapt.twin_edits import NUMBER, body_edits
from skrules.adapt.twin_objects import check_objects
from skrules.adapt.twin_values import check_forms, check_prototypes, check_values
from skrules.contract.model import SuperKernelDecision
from skrules.source.code import Code
from skrules.source.model import Span

TWIN = "skrules: SuperKernel twin of {}, with its own block number"
_HEAD_WORDS = frozenset(
    {"template", "class", "struct", "inline", "static", "void", "constexpr", "const", "__aicore__", "[", "auto"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TwinUse:
    """What a kernel body has to do with twins: `edits` of the body that use those of `names`, or the `problem` that stops it."""

    names: frozenset[str] = frozenset()
    edits: tuple[Edit, ...] = ()
    problem: str = ""


def use_twins(
    helpers: Helpers,
    place: int,
    code: Code,
    reached: Sequence[Chunk],
    number: str,
    signature: frozenset[str],
    decision: SuperKernelDecision,
) -> TwinUse:
    """Return how a kernel body, `code`, uses twins for all that it reaches of the block number. The kernel, or the use of the
    macro that makes it, begins at the offset `place` of the file.

    `reached` are the chunks it reaches, `signature` the identifiers of its head and of the template arguments it is bound with.
    """
    asking = [chunk for chunk in reached if any(use.what == BLOCK_NUM for use in chunk.uses)]
    if not asking or decision.helper_block_num == "accept":
        return TwinUse()
    if decision.with_sys_args == "never":
        return TwinUse(problem="the contract says sk.with_sys_args: never")
    for chunk in reached:
        if not helpers.has(chunk.unit) and (chunk in asking or chunk.words & helpers.names.keys()):
            return TwinUse(problem=f"'{chunk.title}' stands in {chunk.unit.path}, and where that is included is not known")
        if chunk.kind == MACRO and chunk.names[0] in helpers.names:
            return TwinUse(problem=f"'{chunk.names[0]}' is a macro too")
        is_declaration = chunk.kind == STATEMENT and chunk.names[0] in helpers.names and chunk not in asking
        if chunk.kind != FUNCTION and not is_declaration and (chunk in asking or chunk.words & helpers.names.keys()):
            return TwinUse(problem=f"the {chunk.kind} '{chunk.title}' leads to it")
    if signature & helpers.names.keys():
        return TwinUse(problem="the kernel's own head or template arguments name it")
    names = used_names(helpers, {code.text(index) for index in range(len(code.texts)) if code.is_identifier(index)})
    indices = range(len(code.texts))
    texts = [(each.file.code, range(each.first, each.last + 1)) for each in helpers.found if each.name in names]
    try:
        for _ in twin_texts(helpers, names):
            pass  # for what it raises
        _check_order(helpers, names, (place, 0, 0), "the kernel", place)
        check_prototypes(helpers, names, (place, 0, 0))
        check_objects(helpers, code, indices)
        check_values(helpers, names, [(code, indices), *texts])
        return TwinUse(names=names, edits=tuple(body_edits(helpers, code, indices, number, (indices,))))
    except NoTwin as problem:
        return TwinUse(problem=str(problem))


def _check_order(helpers: Helpers, names: Collection[str], order: tuple[int, int, int], user: str, offset: int) -> None:
    for name in sorted(names):
        if helpers.definition(name).order > order:
            raise NoTwin(f"'{name}' is defined after {user}", offset)


def twin_fragments(helpers: Helpers, names: Collection[str]) -> Iterator[Fragment]:
    """Yield the twins of all helpers with `names`: each right after its original, or after the include of its header."""
    newline = helpers.unit.newline
    for helper, twin in twin_texts(helpers, names):
        inclusion = helper.file.inclusion
        if inclusion is None:
            at = after_line(helpers.unit.text, helper.file.code.tokens[helper.last].end)
            original, lines = "the code before it", [twin]
        else:
            at, original = inclusion.place, f"'{helper.name}' of {PurePath(inclusion.unit.path).name}"
            lines = repeated(helper, twin.replace(inclusion.unit.newline, newline))
        text = newline.join(["", f"// {TWIN.format(original)}; do not edit", *lines, ""])
        yield Fragment(span=Span(start=at, end=at), text=text)


def twin_texts(helpers: Helpers, names: Collection[str]) -> Iterator[tuple[Helper, str]]:
    """Yield all helpers with `names` and the texts of their twins. Raises NoTwin."""
    for helper in helpers.found:
        if helper.name in names:
            place = (helper.file.unit.path, helper.first)
            if place not in helpers.made:
                try:
                    helpers.made[place] = _twin(helpers, helper)
                except NoTwin as problem:
                    helpers.made[place] = problem
            made = helpers.made[place]
            if isinstance(made, NoTwin):
                raise made
            yield helper, made


def _twin(helpers: Helpers, helper: Helper) -> str:
    code = helper.file.code
    start, end = helper.start, code.tokens[helper.last].end
    if helper.last <= helper.body:
        raise NoTwin(f"the braces of '{helper.name}' depend on an #if", start)
    if any(scope.kind not in ("namespace", "extern-c++") for scope in helper.file.scopes.at(start)):
        raise NoTwin(f"'{helper.name}' does not stand at namespace scope", start)
    used = helper.words & helpers.names.keys()
    _check_order(helpers, used, helper.order, f"'{helper.name}'", start)
    hidden = _member_functions(helpers) & (helpers.names.keys() - helpers.classes)
    if hidden:
        raise NoTwin(f"'{min(hidden)}' names a function and a member function", start)
    if code.text(helper.first) not in _HEAD_WORDS and code.text(helper.first + 1) == "(":
        raise NoTwin(f"the macro '{code.text(helper.first)}' stands in front of '{helper.name}'", start)
    if helper.name in helpers.imported:
        raise NoTwin(f"a using-declaration brings '{helper.name}' to another namespace", start)
    if helper.is_class and code.text(helper.last) != ";":
        raise NoTwin(f"the class '{helper.name}' is defined together with an object", start)
    if helper.is_member and not helpers.definition(helper.name).is_class:
        raise NoTwin(f"the class of '{helper.name}' is not defined in front of its members", start)
    if (keeper := static_data(helper)) >= 0:
        raise NoTwin(f"'{helper.name}' has static data, which a copy would not share", code.tokens[keeper].start)
    check_repeated(helpers, helper)
    check_forms(helpers, helper)
    check_objects(helpers, code, range(helper.first, helper.last + 1))
    edits = list(_edits(helpers, helper))
    if helper.is_class:
        edits += number_of_class(helpers, helper)
    edits += list(inactive_edits(helper.file.unit, Span(start=start, end=end), edits))
    return apply(helper.file.unit.text, edits, start, end)


def _member_functions(helpers: Helpers) -> set[str]:
    """Return the names of the functions that classes of the file, and of the headers with helpers, define inside."""
    found = set()
    for file in {id(helper.file): helper.file for helper in helpers.found}.values():
        classes = [each.span for each in file.inner if each.is_class]
        found |= {
            each.name
            for each in file.inner
            if not each.is_class and any(span.start < each.span.start < span.end for span in classes)
        }
    return found


def _edits(helpers: Helpers, helper: Helper) -> Iterator[Edit]:
    code = helper.file.code
    if helper.is_class or helper.is_member:
        bodies = member_bodies(helpers, helper)
        yield from body_edits(helpers, code, range(helper.first, helper.last + 1), f"this->{NUMBER}", bodies, helper)
        return
    opening = parameter_list(helper)
    if opening < 0 or (code.text(opening + 1) == "void" and code.text(opening + 2) == ")"):
        raise NoTwin(f"the parameters of '{helper.name}' are not understood", code.tokens[helper.first].start)
    at = code.tokens[opening].end
    yield Edit(start=at, end=at, text=f"int64_t {NUMBER}" + ("" if code.text(opening + 1) == ")" else ", "))
    bodies = (range(helper.body, helper.last + 1),)
    yield from body_edits(helpers, code, range(helper.first, helper.last + 1), NUMBER, bodies, helper)
