"""Comments that allow: where they count, and what is said of those that do not."""

from __future__ import annotations

import time

import pytest

from skrules.errors import Location
from skrules.findings import Finding, Severity
from skrules.source.kernels import read
from skrules.validate.examination import examine
from skrules.validate.registry import load_rules
from skrules.validate.subject import Subject, SubjectFile
from skrules.validate.suppression import read_suppressions

RULES = load_rules()
TEXT = """#include "kernel_operator.h"
__global__ __vector__ void scale(GM_ADDR x) { Scale(x); }
struct ScaleArgs { GM_ADDR x; };
__sk__ __vector__ void scale_sk(const ScaleArgs *args) { Scale(args->x); }
SK_BIND(scale, 32, scale_sk);
"""
BIND = "SK_BIND(scale, 32, scale_sk);"


def told(text, others=()):
    unit = read(text.encode(), "a.asc")
    subject = Subject(files=(SubjectFile(unit=unit, is_header=False),))
    return [(finding.rule, finding.at.line) for finding in examine(subject, RULES, others=others).findings]


def test_nothing_is_allowed_without_a_comment():
    assert told(TEXT) == [("sk.bind-mask-known", 5)]


@pytest.mark.parametrize(
    "allowed",
    [
        f"{BIND}  // skrules: allow(sk.bind-mask-known) of tomorrow",
        f"{BIND}  // skrules: allow(sk.bind-mask-known): of tomorrow",
        f"{BIND}  /* skrules: allow(sk.bind-mask-known) of tomorrow */",
        f"// skrules: allow(sk.bind-mask-known) of tomorrow\n{BIND}",
        f"//skrules:allow( sk.bind-mask-known , sk.bind-max-splits ) of tomorrow\n// and more\n\n{BIND}",
        f"/* skrules: allow(sk.bind-mask-known) of tomorrow,\n   and the day after */\n{BIND}",
    ],
)
def test_what_is_allowed_is_not_told(allowed):
    rules = {rule for rule, _ in told(TEXT.replace(BIND, allowed))}
    assert rules <= {"allow.unused"}
    assert ("allow.unused" in rules) is ("max-splits" in allowed)


@pytest.mark.parametrize(
    ("comment", "said"),
    [
        ("// skrules: allow(sk.bind-mask-known)", {"sk.bind-mask-known", "allow.without-reason"}),
        ("// skrules: allow(sk.bind-mask-known)   ", {"sk.bind-mask-known", "allow.without-reason"}),
        ("// skrules: alow(sk.bind-mask-known) why", {"sk.bind-mask-known", "allow.unknown-rule"}),
        ("// skrules: allow() why", {"sk.bind-mask-known", "allow.unknown-rule"}),
        ("// skrules: allow(sk.bind-mask) why", {"sk.bind-mask-known", "allow.unknown-rule"}),
        ("// skrules: allow(allow.unused) why", {"sk.bind-mask-known", "allow.unknown-rule"}),
        ("// skrules: allow(sk.bind-max-splits) why", {"sk.bind-mask-known", "allow.unused"}),
        ("// say skrules: allow(sk.bind-mask-known) why", {"sk.bind-mask-known"}),
    ],
)
def test_a_comment_that_allows_nothing_is_told(comment, said):
    assert {rule for rule, _ in told(TEXT.replace(BIND, f"{BIND}  {comment}"))} == said


def test_a_comment_is_about_its_own_line_alone():
    text = TEXT.replace(BIND, f"{BIND} // skrules: allow(sk.bind-mask-known) of tomorrow\nSK_BIND(scale, 64, scale_sk);")
    assert told(text) == [("sk.bind-mask-known", 6)]


def test_a_string_is_no_comment():
    text = TEXT.replace(BIND, f'const char *t = "// skrules: allow(sk.bind-mask-known) why";\n{BIND}')
    assert told(text) == [("sk.bind-mask-known", 6)]


def test_a_comment_behind_a_directive():
    unit = read(b'#include "a.h"  // skrules: allow(sk.x) why\nint a;\n', "a.asc")
    assert [(each.line, each.rules) for each in read_suppressions(unit)] == [(1, ("sk.x",))]


def finding(rule, severity, line):
    return Finding(rule=rule, severity=severity, at=Location(file="a.asc", line=line, column=1), message="m")


def test_a_warning_of_adaptation_can_be_allowed_and_a_blocker_of_it_cannot():
    text = TEXT.replace("32", "4") + "int a; // skrules: allow(codegen.local-static) one a core is meant\n"
    assert told(text, [finding("codegen.local-static", Severity.WARNING, 6)]) == []
    assert ("codegen.local-static", 6) in told(text, [finding("codegen.local-static", Severity.BLOCKER, 6)])
    assert told(text) == [("allow.unused", 6)]


def test_what_adaptation_mends_stops_no_build():
    text = TEXT.replace("32", "4") + "void f(sk::SkSystemArgs *s) { s->skBlockNum; }\n"
    unit = read(text.encode(), "a.asc")
    subject = Subject(files=(SubjectFile(unit=unit, is_header=False),))
    assert [each.severity for each in examine(subject, RULES).findings] == [Severity.BLOCKER]
    renamed = [finding("codegen.inline-sys-args-api-current", Severity.NOTE, 6)]
    severities = {each.rule: each.severity for each in examine(subject, RULES, others=renamed).findings}
    assert severities["sk.sys-args-api-current"] is Severity.WARNING


def test_comments_on_rules_that_are_not_asked_are_left_alone():
    text = TEXT.replace(BIND, f"{BIND}  // skrules: allow(sk.bind-mask-known) of tomorrow")
    unit = read(text.encode(), "a.asc")
    subject = Subject(files=(SubjectFile(unit=unit, is_header=False),))
    for categories in (("sk",), ("compat",), ("spec",), ("spec", "sk")):
        assert examine(subject, RULES, categories=categories).findings == ()


@pytest.mark.parametrize(
    "text",
    ["int a; /* skrules: allow(" + " " * 100_000 + "*/\n", "int a;\n// skrules: allow(sk.raw-block-variable) x\n" * 20_000],
    ids=["a long comment", "many comments"],
)
def test_comments_are_read_in_time_that_grows_with_the_file(text):
    started = time.process_time()
    read_suppressions(read(text.encode(), "a.asc"))
    assert time.process_time() - started < 2
