"""What a command line asks for."""

from __future__ import annotations

import pytest

from skrules.errors import UsageError
from skrules.rules.request import assignments, from_folder, read_jobs, read_request, request_key


def test_nothing_asked_is_everything():
    request = read_request([], {})
    assert (request.verbs, request.patterns, request.archs, request.toolchain, request.build) == ((), (), (), "auto", "build")


def test_verbs_labels_and_files_are_told_apart():
    request = read_request(["compare", "ops/add"], {"ARCH": "dav-2201,dav-3510", "VERBOSE": "1"})
    assert request.verbs == ("compare",)
    assert (request.patterns, request.files) == (("ops/add",), ())
    files = read_request(["build/host/lib/x.so", "build/host/lib/y.so"], {})
    assert (files.patterns, files.files) == ((), ("build/host/lib/x.so", "build/host/lib/y.so"))
    assert request.archs == ("dav-2201", "dav-3510")
    assert request.verbose


@pytest.mark.parametrize("other", ["compare", "ops/add"])
def test_files_are_asked_for_by_themselves(other):
    with pytest.raises(UsageError, match=f"'build/x.so' is a file, and '{other}' is none"):
        read_request(["build/x.so", other], {})


@pytest.mark.parametrize("text", ["dav-2201;dav-3510", "dav-2201 dav-3510", "dav-2201,,dav-3510,dav-2201"])
def test_archs_are_separated_freely_and_kept_once(text):
    assert read_request([], {"ARCH": text}).archs == ("dav-2201", "dav-3510")


@pytest.mark.parametrize(
    ("variables", "part"),
    [
        ({"ARHC": "x"}, "did you mean 'ARCH'"),
        ({"arch": "x"}, "did you mean 'ARCH'"),
        ({"ARCH": " , "}, "ARCH is empty"),
        ({"VERBOSE": "yes"}, "VERBOSE is 'yes'"),
        ({"BUILD": ""}, "BUILD is ''"),
        ({"BACKEND": "cuda"}, "BACKEND is 'cuda'\n  allowed: program, torch"),
        ({"BACKEND": "torch"}, "BACKEND is given, and nothing is compared\n  hint: scons compare BACKEND=torch"),
        ({"BUILD": "../out"}, "BUILD is '../out'"),
        ({"BUILD": "a b"}, "BUILD"),
        ({"BUILD": "."}, "BUILD"),
        ({"BUILD": "/tmp/x"}, "BUILD"),
        ({"BUILD": "-x"}, "BUILD"),
    ],
)
def test_wrong_variables(variables, part):
    with pytest.raises(UsageError) as caught:
        read_request([], variables)
    assert part in str(caught.value)


def test_a_variable_has_one_value():
    assert assignments([("ARCH", "dav-2201"), ("ARCH", "dav-2201"), ("VERBOSE", "1")]) == {"ARCH": "dav-2201", "VERBOSE": "1"}
    with pytest.raises(UsageError, match="ARCH=dav-2201,dav-3510"):
        assignments([("ARCH", "dav-2201"), ("ARCH", "dav-3510")])


@pytest.mark.parametrize(
    ("words", "below", "meant"),
    [
        (["add"], "ops", ("ops/add",)),
        (["add:all", "compare"], "ops", ("ops/add:all", "compare")),
        (["//ops/add"], "ops/mul", ("//ops/add",)),
        (["../add"], "ops/mul", ("ops/add",)),
        ([".", "..."], "ops/mul", ("ops/mul", "ops/mul/...")),
        (["../build/host/x.o"], "ops", ("build/host/x.o",)),
        ([], "ops/mul", ("//ops/mul/...",)),
        (["compare"], "ops", ("compare", "//ops/...")),
        (["compare"], ".", ("compare",)),
    ],
)
def test_words_typed_in_a_subfolder(words, below, meant):
    assert from_folder(words, below) == meant


def test_everything_from_a_subfolder():
    assert from_folder(["compare"], "ops", everything=True) == ("compare",)


def test_jobs_of_the_environment(monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 7)
    assert (read_jobs({}), read_jobs({"SK_BISHENG_JOBS": " 3 "}), read_jobs({"SK_BISHENG_JOBS": "12"})) == (7, 3, 12)


@pytest.mark.parametrize("text", ["", "0", "-1", "two", "1.5", "1_0", "٣"])
def test_jobs_that_are_no_number(text):
    with pytest.raises(UsageError, match="SK_BISHENG_JOBS is "):
        read_jobs({"SK_BISHENG_JOBS": text})


@pytest.mark.parametrize("name", ["SK_NPU_ARCHS", "SK_TARGET_CHIPS", "SK_BISHENG_JOBS"])
def test_what_the_environment_asks_for_is_part_of_the_request(name):
    request = read_request([], {})
    assert request_key(request, ["ops"], {}) != request_key(request, ["ops"], {name: ""})
    assert request_key(request, ["ops"], {}) == request_key(request, ["ops"], {"EDITOR": "vi"})
