"""Archs of the command line and of the environment."""

from __future__ import annotations

import pytest

from skrules.arch_file import load_archs
from skrules.errors import ToolchainError, UsageError
from skrules.rules.archs import with_archs
from skrules.rules.request import read_request

TABLE = load_archs()
NOTHING = read_request([], {})


@pytest.mark.parametrize(
    ("environ", "archs", "named_by"),
    [
        ({}, (), ""),
        ({"SK_NPU_ARCHS": "dav-3510; DAV_2201,dav-3510"}, ("dav-3510", "dav-2201"), "SK_NPU_ARCHS"),
        ({"SK_TARGET_CHIPS": "Ascend910B1,ascend-950;Ascend_910-B2"}, ("dav-2201", "dav-3510"), "SK_TARGET_CHIPS"),
        ({"SK_TARGET_CHIPS": "220"}, ("dav-2201",), "SK_TARGET_CHIPS"),
        ({"SK_NPU_ARCHS": "dav-2201", "SK_TARGET_CHIPS": "Ascend950"}, ("dav-3510",), "SK_TARGET_CHIPS"),
        ({"SK_NPU_ARCHS": "no arch at all", "SK_TARGET_CHIPS": "260"}, ("dav-3510",), "SK_TARGET_CHIPS"),
    ],
)
def test_archs_of_the_environment(environ, archs, named_by):
    request = with_archs(NOTHING, environ, TABLE)
    assert (request.archs, request.archs_named_by) == (archs, named_by)


def test_the_command_line_goes_first():
    asked = read_request([], {"ARCH": "DAV_3510,dav-3510"})
    request = with_archs(asked, {"SK_TARGET_CHIPS": "nothing known", "SK_NPU_ARCHS": ""}, TABLE)
    assert (request.archs, request.archs_named_by) == (("dav-3510",), "")


@pytest.mark.parametrize(
    ("environ", "kind", "said"),
    [
        ({"SK_NPU_ARCHS": " ; "}, UsageError, "SK_NPU_ARCHS is set, and empty"),
        ({"SK_TARGET_CHIPS": "", "SK_NPU_ARCHS": "dav-2201"}, UsageError, "SK_TARGET_CHIPS is set, and empty"),
        ({"SK_NPU_ARCHS": "dav-9999"}, ToolchainError, "SK_NPU_ARCHS: unknown arch 'dav-9999'\n  allowed: dav-2201"),
        ({"SK_NPU_ARCHS": "Ascend910B1"}, ToolchainError, "Ascend910B1 is a chip of dav-2201"),
        ({"SK_TARGET_CHIPS": "Ascend1"}, ToolchainError, "SK_TARGET_CHIPS: unknown chip 'Ascend1'\n  dav-2201: .*Ascend910B1, "),
        ({"SK_TARGET_CHIPS": "Ascend910B"}, ToolchainError, "for dav-2201 give the whole name, one of: Ascend910B1"),
        ({"SK_TARGET_CHIPS": "9"}, ToolchainError, "unknown SoC version 9"),
    ],
)
def test_archs_of_the_environment_that_are_wrong(environ, kind, said):
    with pytest.raises(kind, match=said):
        with_archs(NOTHING, environ, TABLE)


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("ascend910b1", "ascend910b1 is a chip of dav-2201"),
        ("910B", "Ascend910B1 and other chips whose names begin so are of dav-2201"),
        ("dav2201", "did you mean 'dav-2201'?"),
        ("ascend310p3", ""),
        ("a2", ""),
    ],
)
def test_a_chip_for_an_arch_gets_a_hint(word, hint):
    with pytest.raises(ToolchainError) as caught:
        with_archs(read_request([], {"ARCH": word}), {}, TABLE)
    assert caught.value.hint == hint
