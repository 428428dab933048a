"""The options of `run-sk-pipeline`: what they mean together, and which are refused."""

from __future__ import annotations

import argparse

import pytest

from skrules.errors import ToolchainError, UsageError
from skrules.pipeline.request import REFUSED, declare, environment_of, read


def asked(*words, environ=None, asset=("--asset", "x")):
    parser = argparse.ArgumentParser(allow_abbrev=False)
    declare(parser)
    return read(parser.parse_args([*asset, *words]), environ or {})


def test_release_compares_both_ways_and_makes_a_wheel():
    request = asked()
    assert (request.backend, request.wheel, request.compares) == ("both", True, True)
    assert request.selected == ("00", "01", "02", "03", "05", "06")


def test_fast_makes_no_wheel():
    request = asked("--profile", "fast")
    assert (request.backend, request.wheel, request.selected) == ("standalone", False, ("00", "01", "02", "03", "06"))


def test_without_a_wheel_both_is_standalone():
    assert asked("--wheel-mode", "never").backend == "standalone"


def test_no_verify_compares_nothing():
    request = asked("--no-verify")
    assert (request.backend, request.compares, request.wheel) == ("none", False, True)


@pytest.mark.parametrize("option", sorted(REFUSED))
def test_options_that_would_do_nothing_are_refused_with_what_to_do(option):
    with pytest.raises(UsageError) as error:
        asked(option, "3")
    assert error.value.message == f"{option} is not taken: {REFUSED[option]}"
    assert error.value.exit_code == 2


@pytest.mark.parametrize(
    "words",
    [
        ("--wheel-mode", "always"),
        ("--profile", "fast", "--verify-backend", "wheel"),
        ("--no-verify", "--verify-backend", "both"),
        ("--no-package", "--wheel-mode", "cache"),
        ("--clean-output", "--resume-from", "x"),
        ("--jobs", "0"),
        ("--duplicate-entry-policy", "namespace"),
        ("--target-cann", "9.0.0"),
        ("--stages", "08"),
        ("--npu-arch", "dav-2201", "--target-chip", "Ascend950"),
    ],
)
def test_what_cannot_be_is_refused(words):
    with pytest.raises(UsageError):
        asked(*words)


def test_nothing_to_work_on_is_refused():
    with pytest.raises(UsageError, match="nothing to work on"):
        asked(asset=())


def test_archs_come_from_options_before_the_environment():
    environ = {"SK_NPU_ARCHS": "dav-3510"}
    assert asked("--npu-arch", "dav_2201,dav-3510", environ=environ).archs == ("dav-2201", "dav-3510")
    assert asked("--target-chip", "Ascend910B1;ascend910b2", environ=environ).archs == ("dav-2201",)
    assert asked(environ=environ).archs == ("dav-3510",)
    assert asked().archs == ()


def test_an_unknown_chip_is_no_guess():
    with pytest.raises(ToolchainError):
        asked("--target-chip", "Ascend777")


def test_the_environment_of_the_build_says_archs_once(tmp_path):
    request = asked("--target-cann", str(tmp_path), "--build-cache-dir", str(tmp_path / "c"))
    environ = environment_of(request, {"SK_NPU_ARCHS": "dav-2201", "PATH": "/bin"}, {"CXX": "g++"})
    assert environ == {
        "PATH": "/bin",
        "CXX": "g++",
        "ASCEND_HOME_PATH": str(tmp_path),
        "SKRULES_CACHE": str(tmp_path / "c"),
    }
