"""What the digest of an Action depends on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from skrules.engine.action import Action

ACTION = Action(
    mnemonic="ASC",
    label="//ops/add",
    arch="dav-2201",
    inputs=("a.asc",),
    outputs=("a.o",),
    key={"compiler": "1"},
    command=(("bisheng", "-c", "a.asc"),),
    environment={"LANG": "C"},
)


@pytest.mark.parametrize(
    "change",
    [
        {"mnemonic": "LINK"},
        {"outputs": ("b.o",)},
        {"key": {"compiler": "2"}},
        {"key": {"compiler": "1", "flag": ""}},
        {"command": (("bisheng", "-c", "-g", "a.asc"),)},
        {"command": (("bisheng", "-c"), ("a.asc",))},
        {"environment": {"LANG": "C", "SKRULES_HOST_RACE": "1"}},
    ],
)
def test_everything_that_decides_the_result_is_in(change):
    assert replace(ACTION, **change).digest() != ACTION.digest()


@pytest.mark.parametrize(
    "change",
    [
        {"label": "//ops/mul"},
        {"what": "text"},
        {"environment": {"LANG": "C", "HOME": "/home/other", "TMPDIR": "/x", "SKRULES_CACHE": "/y", "XDG_CACHE_HOME": "/z"}},
    ],
)
def test_what_does_not_decide_it_is_out(change):
    assert replace(ACTION, **change).digest() == ACTION.digest()


def test_the_order_of_a_mapping_does_not_matter():
    first, second = {"a": "1", "b": "2"}, {"b": "2", "a": "1"}
    assert replace(ACTION, key=first).digest() == replace(ACTION, key=second).digest()
