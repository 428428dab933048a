"""How operators, assets and runs end. Only what really passed is verified; what was not run, for whatever reason, never is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

#: A package for each asset, and each of them verified or packaged.
COMPLETED = "completed"
VERIFIED = "verified"
PACKAGED = "packaged"
NEEDS_HUMAN = "needs-human"
NEEDS_TOOLCHAIN = "needs-toolchain"
NEEDS_TARGET_ARCH = "needs-target-arch"
NEEDS_DEVICE = "needs-device"
NEEDS_FIXTURE = "needs-runtime-fixture"
SKIPPED_BY_USER = "skipped-by-user"
PYBIND_GENERATED = "pybind-generated"
CLEAN = "clean"
ADAPTED = "adapted"
ANALYZED = "analyzed"

# From worst to best: a whole is as good as its worst part.
_ORDER = (
    *(NEEDS_HUMAN, NEEDS_TOOLCHAIN, NEEDS_TARGET_ARCH, NEEDS_DEVICE, NEEDS_FIXTURE, SKIPPED_BY_USER),
    *(ANALYZED, ADAPTED, CLEAN, PYBIND_GENERATED, PACKAGED, VERIFIED, COMPLETED),
)
_GOOD = (VERIFIED, PACKAGED, COMPLETED)

# What a comparison says of a run, in the words of a pipeline. The published reason stays beside it.
OF_VERDICT = {
    "passed": VERIFIED,
    "failed": NEEDS_HUMAN,
    "skipped-no-npu": NEEDS_DEVICE,
    "skipped-insufficient-runtime-spec": NEEDS_FIXTURE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """A status, the published word for why ("" when the status says it all), and lines for people."""

    status: str
    reason: str = ""
    notes: tuple[str, ...] = ()

    @property
    def is_stopping(self) -> bool:
        """Whether something is wrong or missing: more than a stage that nobody asked for."""
        return self.status.startswith("needs-")

    @property
    def is_good(self) -> bool:
        return self.status in _GOOD


def worst(endings: Iterable[Ending]) -> Ending:
    """Return the worst of several endings, the first of equals. Nothing at all is needs-human: nothing was shown."""
    found = list(endings)
    if not found:
        return Ending(status=NEEDS_HUMAN, reason="no-operator")
    return min(found, key=lambda ending: _ORDER.index(ending.status))


def exit_status(status: str) -> int:
    """Return the published exit status: 0 for verified, packaged and completed, 1 for every other end of a run."""
    return 0 if status in _GOOD else 1
