"""What launches the cases of a comparison, and where it cannot."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from skrules.errors import ToolchainError
from skrules.rules.compare import find_backend


def context(toolchain: str, torch: str):
    return SimpleNamespace(
        toolchain=SimpleNamespace(name=toolchain), torch=SimpleNamespace(version=torch, root="torch") if torch else None
    )


def test_the_program_needs_no_torch():
    backend = find_backend("program", context("bisheng", ""))
    assert (backend.through_torch, backend.folder, backend.key) == (False, "compare", {})


def test_calls_through_torch_have_verdicts_of_their_own():
    backend = find_backend("torch", context("host", "2.13.0"))
    assert (backend.through_torch, backend.folder) == (True, "compare-torch")
    assert backend.key["torch"] == "2.13.0" and backend.key["npu"]


@pytest.mark.parametrize(
    ("toolchain", "torch", "message"),
    [
        (
            "bisheng",
            "2.13.0",
            "BACKEND=torch compares on the emulated npu, and bisheng builds for a device\n  hint: TOOLCHAIN=host",
        ),
        (
            "host",
            "",
            "BACKEND=torch calls operators through PyTorch, and there is none in this Python\n  hint: pip install torch",
        ),
    ],
)
def test_where_nothing_can_be_called(toolchain, torch, message):
    with pytest.raises(ToolchainError) as raised:
        find_backend("torch", context(toolchain, torch))
    assert message in str(raised.value)
