"""The table of what products support: every fact has its source, and what has no fact is not verified."""

from __future__ import annotations

import pytest

from skrules.arch import SkBind
from skrules.arch_file import load_archs
from skrules.errors import UsageError
from skrules.validate.compat import MIX, SK_BIND, Verdict
from skrules.validate.compat_file import load_compat

ARCHS = load_archs()
COMPAT = load_compat(ARCHS)

TABLE = """sources:
  page: https://www.hiascend.com/document/detail/some-page.html
products:
  ascend-910b: { source: page, name: Atlas A2, arch: dav-2201, chips: Ascend910B }
  ascend-310p: { source: page, name: Inference, arch: dav-2002, chips: Ascend310P }
sk-bind:
  - { source: page, cann: [9.1.0], supported: [ascend-910b], not_supported: [ascend-310p] }
mix: []
acl:
  - { source: page, cann: [9.1.0], not_supported: [ascend-310p], functions: [aclrtThing] }
"""


def load(tmp_path, text):
    path = tmp_path / "compat.yaml"
    path.write_text(text)
    return load_compat(ARCHS, path)


def test_a_table(tmp_path):
    compat = load(tmp_path, TABLE)
    target = compat.target_of_chip("Ascend310P3", ARCHS)
    assert [verdict for _, verdict, _ in compat.answers(SK_BIND, target)] == [Verdict.NOT_SUPPORTED]
    assert [verdict for _, verdict, _ in compat.answers(MIX, target)] == [Verdict.NOT_VERIFIED]
    assert compat.excludes("aclrtThing", target).sources == ("https://www.hiascend.com/document/detail/some-page.html",)
    assert compat.cann_versions("ascend-310p") == ("9.1.0",)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "{ source: page, cann: [9.1.0], supported",
            "{ cann: [9.1.0], supported",
            "'source' is missing: every fact names its source",
        ),
        ("source: page, name: Atlas A2", "source: paper, name: Atlas A2", "unknown source 'paper'"),
        ("source: page, cann: [9.1.0], not_supported", "source: [], cann: [9.1.0], not_supported", "the list names no source"),
        ("https://www.hiascend.com/", "https://blog.example.org/", "is not the address of an official document"),
        ("https://www.hiascend.com/", "http://www.hiascend.com/", "is not the address of an official document"),
        ("https://www.hiascend.com/", "https://gitcode.com/somebody/", "is not the address of an official document"),
        ("https://www.hiascend.com/", "https://www.hiascend.com.example.org/", "is not the address of an official document"),
        ("cann: [9.1.0], supported", "cann: [], supported", "a version of CANN such as 9.1.0 is expected"),
        ("cann: [9.1.0], supported", "cann: [newest], supported", "a version of CANN such as 9.1.0 is expected"),
        ("supported: [ascend-910b]", "supported: [ascend-910c]", "unknown product 'ascend-910c'"),
        ("supported: [ascend-910b]", "supported: [ascend-310p]", "a second fact about sk-bind of ascend-310p"),
        ("functions: [aclrtThing]", "functions: [rtThing]", "'rtThing' is no function of ACL"),
        ("arch: dav-2002, chips: Ascend310P", "arch: dav-9999, chips: Ascend310P", "unknown arch 'dav-9999'"),
        ("chips: Ascend310P", "chips: Ascend999", "no chip of dav-2002 has a name that begins so"),
        ("mix: []", "mixed: []", "unknown key 'mixed'"),
    ],
)
def test_what_cannot_be_entered_is_told_with_its_place(tmp_path, old, new, message):
    assert old in TABLE
    with pytest.raises(UsageError) as caught:
        load(tmp_path, TABLE.replace(old, new))
    assert message in str(caught.value)
    assert caught.value.at.line > 0
    assert caught.value.at.column > 0


def test_the_table_that_ships_speaks_of_every_arch_and_agrees_with_that_of_the_archs():
    assert {product.arch for product in COMPAT.products} == {*ARCHS.names(), *ARCHS.unsupported}
    for arch in ARCHS.archs:
        target = COMPAT.target_of_arch(arch.name)
        verdicts = {verdict for _, verdict, _ in COMPAT.answers(SK_BIND, target)}
        wanted = Verdict.SUPPORTED if arch.sk_bind is SkBind.DOCUMENTED else Verdict.NOT_SUPPORTED
        assert verdicts == {wanted}
        assert {verdict for _, verdict, _ in COMPAT.answers(MIX, target)} == {Verdict.SUPPORTED}
        assert {chip.name for chip in target.cores} == {chip.name for chip in arch.chips}
    assert all(fact.sources and fact.cann for fact in COMPAT.facts.values())


@pytest.mark.parametrize(
    ("name", "product"),
    [
        ("ascend-910b", "ascend-910b"),
        ("Ascend-910B", "ascend-910b"),
        ("Ascend910B2C", "ascend-910b"),
        ("ascend910_9391", "ascend-910_93"),
        ("Ascend910B", "ascend-910"),  # a chip of that exact name
        ("ascend950", "ascend-950"),
        ("ascend-310p", "ascend-310p"),
    ],
)
def test_names_of_chips(name, product):
    assert [each.id for each in COMPAT.target_of_chip(name, ARCHS).products] == [product]


def test_an_arch_is_any_of_its_products_and_excluded_is_what_none_of_them_has():
    target = COMPAT.target_of_chip("dav_2201", ARCHS)
    assert [product.id for product in target.products] == ["ascend-910b", "ascend-910_93"]
    assert COMPAT.excludes("aclrtSetGroup", target)
    only_one = [name for (name, product), _ in COMPAT.facts.items() if product == "ascend-910_93"]
    assert "aclrtMemPoolCreate" in only_one
    assert COMPAT.excludes("aclrtMemPoolCreate", target) is None
    assert COMPAT.target_of_chip("Ascend777", ARCHS) is None


def test_facts_of_another_version_are_not_verified():
    assert COMPAT.excludes("aclrtSetGroup", COMPAT.target_of_chip("Ascend910B1", ARCHS, "9.1.0"))
    assert COMPAT.excludes("aclrtSetGroup", COMPAT.target_of_chip("Ascend910B1", ARCHS, "8.0.0")) is None
