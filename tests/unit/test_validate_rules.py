"""Every rule by its own examples: the bad one has it, the good one has not, and comments and strings never have it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from skrules.arch_file import load_archs
from skrules.findings import Severity
from skrules.source.kernels import read
from skrules.validate.compat import Compat
from skrules.validate.compat_file import load_compat
from skrules.validate.document import KINDS, Document
from skrules.validate.examination import examine
from skrules.validate.registry import load_rules, rule_named
from skrules.validate.rule import Rule
from skrules.validate.subject import Subject, SubjectFile

RULES = load_rules()
ARCHS = load_archs()
COMPAT: Compat = load_compat(ARCHS)
# What the examples of these rules are meant for; the others do not depend on it.
TARGETS = {
    "compat.arch-alias-mismatch": "dav-2201",
    "compat.forbidden-acl-api": "ascend-910b",
    "compat.mix-aic-aiv-unsupported": "ascend-310p",
    "compat.sk-bind-unsupported": "dav-3510",
    "sk.sync-all-partial-cores": "dav-2201",
}
CODE = [rule for rule in RULES if rule.category != "contract"]
NINE = {
    "includes.kernel-operator-h": Severity.WARNING,
    "sk.args-struct-alignas": Severity.BLOCKER,
    "sk.args-struct-required": Severity.BLOCKER,
    "sk.bind-mask-known": Severity.WARNING,
    "sk.bind-max-splits": Severity.BLOCKER,
    "sk.global-preserved": Severity.BLOCKER,
    "sk.kernel-type-match": Severity.WARNING,
    "sk.sys-args-api-current": Severity.BLOCKER,
    "sk.tpipe-destroy-without-pipe-all": Severity.BLOCKER,
}


def subject(rule: Rule, text: str, folder=None) -> Subject:
    if rule.category == "contract":
        kind = next(each for each in KINDS if rule.id.endswith(each) or rule.id.endswith(f"asset-{each}"))
        return Subject(documents=(Document(kind=kind, path=f"{kind}.json", data=text.encode(), folder=folder),))
    target = COMPAT.target_of_chip(TARGETS[rule.id], ARCHS) if rule.id in TARGETS else None
    unit = read(text.encode(), "example.asc")
    files = (SubjectFile(unit=unit, is_header=False),)
    return Subject(files=files, targets=(target,) if target else (), compat=COMPAT)


def found(rule: Rule, text: str, folder=None) -> list[str]:
    return [finding.rule for finding in examine(subject(rule, text, folder), RULES).findings]


def test_the_nine_published_rules_have_their_ids_and_severities():
    assert {rule.id: rule.severity for rule in RULES if rule.category == "spec"} == NINE


@pytest.fixture
def asset(tmp_path):
    """What the documents of the examples speak of."""
    (tmp_path / "scale.asc").write_text("__global__ __vector__ void scale(GM_ADDR x) { Scale(x); }\n")
    return tmp_path


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_the_bad_example_has_it_and_nothing_else(rule, asset):
    others = {"allow.without-reason": {"sk.bind-mask-known"}}.get(rule.id, set())
    assert set(found(rule, rule.bad, asset)) == {rule.id} | others


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_the_good_example_is_all_right(rule, asset):
    assert found(rule, rule.good, asset) == []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_finding_has_its_place_and_severity(rule, asset):
    for finding in examine(subject(rule, rule.bad, asset), RULES).findings:
        if finding.rule == rule.id:
            assert finding.severity is rule.severity
            assert finding.at.line > 0
            assert finding.at.column > 0
            assert finding.message
            assert not finding.message.endswith(".")


def in_line_comments(text: str) -> str:
    return "".join(f"// {line}\n" for line in text.splitlines())


def in_block_comment(text: str) -> str:
    return f"/* {text.replace('*/', '* /')} */\n"


def in_string(text: str) -> str:
    lines = (line.replace("\\", "\\\\").replace('"', '\\"') for line in text.splitlines())
    return "const char *text =\n" + "\n".join(f'    "{line}\\n"' for line in lines) + ";\n"


def in_raw_string(text: str) -> str:
    return f'const char *text = R"bad({text})bad";\n'


def in_dead_branch(text: str) -> str:
    return f"#if 0\n{text}\n#endif\n"


def may_be_hidden_by(rule: Rule, hide: Callable[[str], str]) -> bool:
    """Tell whether `hide` takes a rule's own subject away: comments are that of some."""
    about_comments = rule.id.startswith("allow.") or rule.id == "compat.arch-alias-mismatch"
    return not (about_comments and "comment" in hide.__name__)


HIDING = (in_line_comments, in_block_comment, in_string, in_raw_string, in_dead_branch)
HIDDEN = [(rule, hide) for rule in CODE for hide in HIDING if may_be_hidden_by(rule, hide)]


@pytest.mark.parametrize(("rule", "hide"), HIDDEN, ids=[f"{rule.id}-{hide.__name__}" for rule, hide in HIDDEN])
def test_what_is_no_code_has_nothing(rule, hide):
    around = '#include "kernel_operator.h"\n__global__ __vector__ void other(GM_ADDR x) { Other(x); }\n'
    assert [name for name in found(rule, around + hide(rule.bad)) if not name.startswith("allow.")] == []


@pytest.mark.parametrize("rule", [rule for rule in CODE if not rule.id.startswith("allow.")], ids=lambda rule: rule.id)
def test_layout_makes_no_difference(rule):
    """The same tokens, with as much between them as the language allows."""
    unit = read(rule.bad.encode(), "example.asc")
    spread = "".join(
        token.text
        if token.kind in ("blank", "comment", "directive") or token.text in ("<", ">", "::")
        else token.text + " /* . */ "
        for token in unit.tokens
    )
    assert rule.id in found(rule, spread)


def test_rules_are_found_by_their_ids():
    assert [rule.id for rule in RULES] == sorted({rule.id for rule in RULES})
    assert rule_named("sk.bind-mask-known", RULES).severity is Severity.WARNING


@pytest.mark.parametrize(
    ("text", "is_use"),
    [
        ("int f() { return aclrtSetGroup(1); }", True),
        ("auto *f = &aclrtSetGroup;", True),
        ("#define GROUP(n) aclrtSetGroup(n)", True),
        ("void f() { if (aclrtSetGroup(1) != 0) {} }", True),
        ('extern "C" aclError aclrtSetGroup(int32_t group);', False),
        ("void f() { mine.aclrtSetGroup(1); }", False),
        ("int aclrtSetGroups();", False),
    ],
)
def test_uses_of_functions_that_a_product_has_not(text, is_use):
    rule = rule_named("compat.forbidden-acl-api", RULES)
    assert found(rule, text) == ([rule.id] if is_use else [])
