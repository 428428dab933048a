"""Objects of classes with twins that no declaration shows: made of braces or of another value, taken apart, called otherwise.

Who makes an object of such a class has to tell it the number. A declaration is told behind it; what is made in an expression, or
by a conversion that nobody writes, is not. A twin has a member more, besides, which whoever counts members would see.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from skrules.adapt.askers import Helpers, NoTwin
from skrules.adapt.blocknum import is_declared
from skrules.adapt.copies import unlike_in_copy
from skrules.adapt.definitions import Helper, HelperFile, after_arguments, parameter_list
from skrules.adapt.twin_edits import aliases, qualified_start
from skrules.source.code import Code
from skrules.source.parameters import split

Text = tuple[Code, range]

_BEFORE_BRACES = frozenset({"return", "(", ",", "=", "?", ":", "{"})
_REFERENCES = frozenset({"&", "&&"})
_CLASS_KEYS = frozenset({"class", "struct", "union"})


def check_forms(helpers: Helpers, helper: Helper) -> None:
    """Raise NoTwin for a helper whose copy would be another thing, whoever uses it."""
    code = helper.file.code

    def refuse(reason: str, index: int = helper.first) -> NoTwin:
        return NoTwin(f"'{helper.name}' {reason}", code.tokens[index].start)

    if code.text(helper.last + 1) == "catch":
        raise refuse("has handlers behind its body")
    for index, reason in unlike_in_copy(code, range(helper.first, helper.last + 1)):
        raise refuse(f"cannot be copied: {reason}", index)
    if helper.is_class and "union" in code.texts[helper.first : helper.body]:
        raise refuse("is a union, whose members share their place")
    for index in helpers.places(helper.file, helper.name):
        if helper.first <= index <= helper.last:
            continue
        if helper.is_class and _is_deduction_guide(code, index):
            raise refuse("has a deduction guide", index)
        if _has_defaults_elsewhere(code, index):
            raise refuse("has default template arguments in another declaration", index)


def check_prototypes(helpers: Helpers, names: Collection[str], place: tuple[int, int, int]) -> None:
    """Raise NoTwin where a function is only declared in front of those who use a helper of its name: a call may mean it, and it
    has no twin there. `place` is that of the kernel."""
    for name in sorted(set(names) - helpers.classes):
        if name not in helpers.prototypes:
            helpers.prototypes[name] = tuple(_prototypes(helpers, name))
        if not helpers.prototypes[name]:
            continue
        users = [each.order for each in helpers.found if each.name in names and each.name != name and name in each.words]
        first = min([place, *users])
        defined = {
            _parameters(each.file.code, parameter_list(each))
            for each in helpers.found
            if each.name == name and each.order < first and not each.is_class and not each.is_member
        }
        for offset, parameters in helpers.prototypes[name]:
            if parameters not in defined:
                raise NoTwin(f"another '{name}' is declared, and not defined in front of its users", offset)


def _prototypes(helpers: Helpers, name: str) -> Iterator[tuple[int, tuple[tuple[str, ...], ...]]]:
    """Yield the offset and the parameters of each declaration of a function called `name` that is no definition."""
    for file in helpers.files:
        code = file.code
        for index in helpers.places(file, name):
            offset, closing = code.tokens[index].start, code.partner(index + 1) if code.text(index + 1) == "(" else -1
            if closing < 0 or not is_declared(code, index, name) or not file.scopes.is_outside(index):
                continue
            if any(each.span.start <= offset < each.body.end for each in file.inner) or _is_in_kernel(file, offset):
                continue
            yield offset, _parameters(code, index + 1)


def _is_in_kernel(file: HelperFile, offset: int) -> bool:
    return any(kernel.span.start <= offset < kernel.span.end for kernel in file.unit.kernels)


def _parameters(code: Code, opening: int) -> tuple[tuple[str, ...], ...]:
    """Return the types of a parameter list, as far as they can be told from the names."""
    types = []
    for first, after in split(code, opening + 1, code.partner(opening)) if opening >= 0 else ():
        end = next((index for index in range(first, after) if code.text(index) == "="), after)
        named = end - first > 1 and code.is_identifier(end - 1) and code.text(end - 2) != "::"
        types.append(code.texts[first : end - 1 if named else end])
    return tuple(types)


def check_values(helpers: Helpers, names: Collection[str], texts: Sequence[Text]) -> None:
    """Raise NoTwin where `texts`, those of a kernel body and of the helpers `names` that it uses, may make objects of classes
    with twins without a declaration, or see the members of one."""
    classes = helpers.classes & set(names)
    if not classes:
        return
    declared = [each for code, indices in texts for each in _declared(code, indices, classes)]
    objects = {name for name, is_pointer in declared if not is_pointer}
    pointers = {name for name, is_pointer in declared if is_pointer}
    others = frozenset[str]().union(*(aliases(helpers, code, indices) for code, indices in texts))
    by_value = any(_is_by_value(code, index, classes) for code, indices in texts for index in indices)
    converts = any(_converts(helper) for helper in helpers.found if helper.is_class and helper.name in classes)
    holders = {helper.name for helper in helpers.found if helper.is_class and helper.name in classes and _holds(helper, classes)}
    if by_value and converts:
        raise NoTwin("an object of a class with a twin is handed on whole, and may be made of another value", 0)
    for code, indices in texts:
        typed = _of_deduced_types(code, indices)
        known = objects | pointers | typed
        calls = [_call_around(code, at) for at in indices if code.text(at) in known and code.text(at + 1) in (",", ")")]
        for index in indices:
            text, offset = code.text(index), code.tokens[index].start
            before = code.text(index - 1)
            if text == "{" and before in _BEFORE_BRACES and (by_value or _makes_object(code, index, known, calls)):
                raise NoTwin("braces without a type may make an object of a class with a twin", offset)
            if text in classes and _is_cast(code, index):
                raise NoTwin(f"other memory is read as an object of '{text}', which has a member more in a super kernel", offset)
            is_set = before in objects or (before in pointers and code.text(index - 2) == "*")
            if text == "=" and is_set and converts and code.text(index + 1) != "=":
                raise NoTwin(f"'{before}' may be given a value that is made of another one", offset)
            if text == "auto" and code.text(index + 1 + (code.text(index + 1) in _REFERENCES)) == "[":
                raise NoTwin("an object may be taken apart, and a twin has a member more", offset)
            if text == "decltype" and code.text(index + 1) == "(":
                inside = set(code.texts[index + 2 : max(code.partner(index + 1), index + 2)])
                if asked := inside & (objects | typed | (helpers.names.keys() - classes)):
                    raise NoTwin(f"decltype is asked of '{min(asked)}', which may be a class with a twin", offset)
            if text in holders and _has_braces(code, after_arguments(code, index)):
                raise NoTwin(f"braces count out the members of '{text}', and a twin inside of it has one more", offset)
            if text in others and before not in (".", "->", "using") and code.text(index + 1) not in ("=", ";"):
                _check_alias(code, index, text)


def _check_alias(code: Code, index: int, text: str) -> None:
    """An alias of a class with a twin may name it; objects of it are told only where it is declared in the same body."""
    after = after_arguments(code, index)
    is_member = code.text(index - 1) == "::"
    declares = code.is_identifier(after) and code.text(after + 1) in (";", "{", "(", "=", ",", "[")
    is_told = not is_member and _alias_in_body(code, index, text)
    if declares and not is_told:
        raise NoTwin(f"an object is made by the name '{text}' of a class with a twin", code.tokens[index].start)


def _alias_in_body(code: Code, index: int, text: str) -> bool:
    """Tell whether `using text = ...;` stands in the statements before `index`, in a block that is open there."""
    depth = 0
    for at in range(index - 1, -1, -1):
        depth += (code.text(at) == "}") - (code.text(at) == "{")
        if depth <= 0 and code.text(at) == text and code.text(at - 1) == "using" and code.text(at + 1) == "=":
            return not _is_class_brace(code, _opening(code, at))
    return False


def _opening(code: Code, index: int) -> int:
    depth = 0
    for at in range(index - 1, -1, -1):
        depth += (code.text(at) == "}") - (code.text(at) == "{")
        if depth < 0:
            return at
    return -1


def _is_class_brace(code: Code, brace: int) -> bool:
    at = brace - 1
    while at >= 0 and code.text(at) not in (";", "{", "}", ")"):
        if code.text(at) in _CLASS_KEYS:
            return True
        at -= 1
    return brace < 0


def _declared(code: Code, indices: range, classes: Collection[str]) -> Iterator[tuple[str, bool]]:
    """Yield the names of objects, members, references and pointers that are declared with one of `classes`, and which are
    pointers."""
    for index in indices:
        if code.text(index) in classes:
            at = after_arguments(code, index)
            is_pointer = False
            while code.text(at) in ("*", "&", "&&", "const"):
                is_pointer |= code.text(at) == "*"
                at += 1
            if code.is_identifier(at):
                yield code.text(at), is_pointer


def _makes_object(code: Code, brace: int, names: Collection[str], calls: Sequence[range]) -> bool:
    """Tell whether the braces at `brace` are assigned to one of `names`, or stand in one of `calls`."""
    if code.text(brace - 1) == "=":
        return code.text(brace - 2) == ")" or code.text(brace - 2) in names
    return code.text(brace - 1) in ("(", ",") and any(brace in call for call in calls)


def _call_around(code: Code, index: int) -> range:
    """Return the brackets `(...)` around token `index`."""
    at = index
    while (at := at - 1) >= 0 and code.text(at) not in ("(", "{", ";"):
        other = code.partner(at) if code.text(at) in (")", "}", "]") else -1
        at = other if 0 <= other < at else at
    return range(at, code.partner(at)) if at >= 0 and code.text(at) == "(" else range(0)


def _is_cast(code: Code, index: int) -> bool:
    """Tell whether the class at `index` is what a pointer or reference is cast to: `(K *)p`, `reinterpret_cast<const K &>(x)`."""
    at, first = after_arguments(code, index), qualified_start(code, index)
    while code.text(at) == "const":
        at += 1
    if code.text(at) not in ("*", "&", "&&"):
        return False
    while code.text(at) in ("*", "&", "&&", "const"):
        at += 1
    while code.is_identifier(first - 1) and not code.text(first - 1).endswith("_cast"):
        first -= 1  # `const`, an address space
    if code.text(first - 1) == "<" and code.text(at) == ">":
        is_upcast = code.texts[at + 1 : at + 4] == ("(", "this", ")")
        return code.text(first - 2).endswith("_cast") and not is_upcast
    if code.text(first - 1) != "(" or code.text(at) != ")":
        return False
    return not code.is_identifier(first - 2) or code.text(first - 2) in ("return", "case", "else")


def _of_deduced_types(code: Code, indices: range) -> frozenset[str]:
    """Return the names that are declared with `auto`: variables and parameters of lambdas."""
    found = set()
    for index in indices:
        if code.text(index) == "auto":
            at = index + 1
            while code.text(at) in ("*", "&", "&&", "const", "..."):
                at += 1
            if code.is_identifier(at):
                found.add(code.text(at))
    return frozenset(found)


def _is_by_value(code: Code, index: int, classes: Collection[str]) -> bool:
    """Tell whether the class at `index` is the type of a parameter or result that can be made of another value."""
    if code.text(index) not in classes:
        return False
    after = after_arguments(code, index)
    first = qualified_start(code, index)
    if code.text(first - 1) == "->":
        return True
    is_const = "const" in (code.text(first - 1), code.text(after))
    at = after + (code.text(after) == "const")
    if code.text(at) in _REFERENCES:
        return code.text(at) == "&&" or is_const
    if not code.is_identifier(at):
        return code.text(at) in (",", ")") and code.text(first - 1) in ("(", ",", "const")
    if code.text(at + 1) in (",", ")", "="):
        return True
    while code.is_identifier(at) and code.text(after_arguments(code, at)) == "::":
        at = after_arguments(code, at) + 1  # of a member function outside of its class
    closing = code.partner(at + 1) if code.text(at + 1) == "(" else -1
    return closing > 0 and code.text(closing + 1) in ("{", "const", "noexcept", "override", "->")


def _converts(helper: Helper) -> bool:
    """Tell whether a class has a constructor with parameters that is neither explicit nor a copy."""
    code = helper.file.code
    for index in range(helper.body + 1, helper.last):
        if code.text(index) != helper.name or code.text(index + 1) != "(" or code.text(index - 1) in ("~", "explicit", "::"):
            continue
        opening = index + 1
        inside = code.texts[opening + 1 : max(code.partner(opening), opening + 1)]
        if inside and inside != ("void",) and helper.name not in inside:
            return True
    return False


def _holds(helper: Helper, classes: Collection[str]) -> bool:
    """Tell whether an object of a class has another one with a twin in it: a base or a member."""
    code = helper.file.code
    return any(
        code.text(index) in classes
        and code.text(index) != helper.name
        and code.text(after_arguments(code, index)) not in ("*", "&", "&&", "::")
        for index in range(helper.first, helper.last)
    )


def _has_braces(code: Code, at: int) -> bool:
    return code.is_identifier(at) and code.text(at + 1) == "{" and code.text(at + 2) != "}"


def _is_deduction_guide(code: Code, index: int) -> bool:
    closing = code.partner(index + 1) if code.text(index + 1) == "(" else -1
    return closing > 0 and code.text(closing + 1) == "->" and code.text(closing + 2) == code.text(index)


def _has_defaults_elsewhere(code: Code, index: int) -> bool:
    """Tell whether the name at `index` is that of a template's declaration that gives default arguments."""
    begin = index
    while begin > 0 and code.text(begin - 1) not in (";", "{", "}") and not code.is_directive(begin - 1):
        begin -= 1
    if code.text(begin) != "template" or code.text(begin + 1) != "<":
        return False
    end = after_arguments(code, begin)
    return end <= index and "=" in code.texts[begin + 1 : end]
