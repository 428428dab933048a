"""How the number gets into a class, and which classes cannot have it."""

from __future__ import annotations

import pytest

from skrules.adapt.askers import Helpers, NoTwin, read_helpers
from skrules.adapt.edits import apply
from skrules.adapt.names import words_of
from skrules.adapt.scopes import read_scopes
from skrules.adapt.twin_classes import asking_members, member_bodies, number_of_class
from skrules.source.kernels import read

BASE = "template <int N> class Base { public: int Ask() { return GetBlockNum(); } };\n"


def helpers_of(text: str) -> Helpers:
    unit = read(text.encode(), "k.asc")
    return read_helpers(read_scopes(unit), unit, frozenset({"AscendC"}), frozenset[str]().union(*words_of(unit)))


def told(text: str) -> str:
    """Return what the setter of the last class does."""
    helpers = helpers_of(text)
    made = apply(text, number_of_class(helpers, helpers.found[-1]))
    return made.rpartition("SkrulesSetNumBlocks(int64_t number) {")[2].partition(" }")[0].strip()


@pytest.mark.parametrize(
    ("text", "does"),
    [
        (BASE, "skrulesNumBlocks = number;"),
        (
            "template <typename K> struct Own { int f() { return static_cast<K *>(this)->g(); } };\n"
            "struct D : Own<D> { int g() { return GetBlockNum(); } };\n",
            "skrulesNumBlocks = number;",
        ),
        (BASE + "struct D : Base<1> {};\n", "skrulesNumBlocks = number; Base_sk<1>::SkrulesSetNumBlocks(number);"),
        (
            BASE + "struct D { int n; Base<1> a; Base<2> b; Base<3> *c; Base<4> &d(); };\n",
            "skrulesNumBlocks = number; a.SkrulesSetNumBlocks(number); b.SkrulesSetNumBlocks(number);",
        ),
    ],
)
def test_bases_and_members_are_told(text: str, does: str) -> None:
    assert told(text) == does


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (BASE + "struct D { Base<1> a[2]; };\n", "no plain object|not a plain object"),
        (BASE + "struct D { Base<1> a, b; };\n", "not a plain object"),
        (
            BASE + "template <typename T> struct H { T t; int Ask2() { return GetBlockNum(); } };\nstruct D : H<Base<1>> {};\n",
            "argument",
        ),
    ],
)
def test_members_that_cannot_be_told(text: str, reason: str) -> None:
    with pytest.raises(NoTwin, match=reason):
        told(text)


CLASS = (
    "struct C { int A() { return GetBlockNum(); } int B() { return A(); } int D(); int E() { return 1; } };\n"
    "int C::D() { return B(); }\n"
)


def test_members_that_ask() -> None:
    helpers = helpers_of(CLASS)
    assert asking_members(helpers, "C") == {"A", "B", "D"}
    assert [len(member_bodies(helpers, helper)) for helper in helpers.found] == [3, 1]


@pytest.mark.parametrize(
    ("member", "reason"),
    [
        ("C() { n = A(); }", "while it is constructed"),
        ("bool operator()() { return A() > 1; }", "an operator of 'C'"),
        ("operator int() const { return GetBlockNum(); }", "an operator of 'C'"),
        ("static int F() { return GetBlockNum(); }", "the static member 'F'"),
        ("friend int F(C &c) { return GetBlockNum(); }", "the friend 'F' of 'C'"),
        ("struct In { int F() { return GetBlockNum(); } };", "a class inside of 'C'"),
        ("static int F() { Other o; return o.Ask(); }", "the static member 'F'"),
        ("Other o; C() { n = o.Ask(); }", "while it is constructed"),
        ("C() { Other o; n = o.Ask(); }", "while it is constructed"),
    ],
)
def test_members_that_may_not_ask(member: str, reason: str) -> None:
    other = "struct Other { int Ask() { return GetBlockNum(); } };\n"
    helpers = helpers_of(other + CLASS.replace("int D();", f"int D(); {member}"))
    with pytest.raises(NoTwin, match=reason):
        member_bodies(helpers, next(helper for helper in helpers.found if helper.name == "C"))


def test_a_static_member_is_known_outside_of_its_class() -> None:
    helpers = helpers_of("struct C { static int F(); };\nint C::F() { return GetBlockNum(); }\n")
    with pytest.raises(NoTwin, match="the static member 'F'"):
        member_bodies(helpers, helpers.found[-1])
