"""The published stages, and which of them a run goes through."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from skrules.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """`folder` is the published name; `needs` are ids of the stages whose results it works on."""

    id: str
    folder: str
    title: str
    needs: tuple[str, ...] = ()


UNDERSTAND = "00"
DETECT = "01"
ADAPT = "02"
SPEC = "03"
COMPAT = "04"
BINDING = "05"
BUILD = "06"

STAGES = (
    Stage(id=UNDERSTAND, folder="00-understand-asset", title="what the assets are"),
    Stage(id=DETECT, folder="01-detect-form", title="which SuperKernel form the sources have", needs=(UNDERSTAND,)),
    Stage(id=ADAPT, folder="02-adapt-sk-from-global", title="sources adapted to SuperKernel", needs=(DETECT,)),
    Stage(id=SPEC, folder="03-validate-spec", title="rules on what was adapted", needs=(ADAPT,)),
    Stage(id=COMPAT, folder="04-validate-compat", title="what products support", needs=(ADAPT,)),
    Stage(id=BINDING, folder="05-generate-pybind-binding", title="one package of all operators", needs=(ADAPT,)),
    Stage(id=BUILD, folder="06-build-and-verify", title="built, run and compared", needs=(ADAPT,)),
)
_BY_ID = {stage.id: stage for stage in STAGES}
_WITHOUT_PACKAGE = (DETECT, ADAPT, SPEC)
_FAST = (*_WITHOUT_PACKAGE, BUILD)
_RELEASE = (*_WITHOUT_PACKAGE, BINDING, BUILD)


def stage_of(identifier: str) -> Stage:
    return _BY_ID[identifier]


def default_stages(*, profile: str, package: bool) -> tuple[str, ...]:
    """Return the stages of a profile, "release" or "fast"; without a package nothing is bound or built."""
    if not package:
        return _WITHOUT_PACKAGE
    return _FAST if profile == "fast" else _RELEASE


def select(wanted: Iterable[str], *, wheel: bool) -> tuple[str, ...]:
    """Return `wanted` with all that they need, in order; with `wheel` a build needs the package too.

    The public tool refuses a stage whose predecessor is not selected. Here what is current costs nothing, so it is looked at.
    """
    chosen = {UNDERSTAND}
    pending = list(wanted)
    while pending:
        identifier = pending.pop()
        if identifier not in chosen:
            chosen.add(identifier)
            pending += stage_of(identifier).needs
            if identifier == BUILD and wheel:
                pending.append(BINDING)
    return tuple(stage.id for stage in STAGES if stage.id in chosen)


def read_stages(text: str) -> tuple[str, ...]:
    """Read `--stages`: ids or folder names, separated by commas. Raises UsageError for one that does not exist."""
    words = [word.strip() for word in text.split(",") if word.strip()]
    if not words:
        raise UsageError("--stages is empty", allowed=[stage.folder for stage in STAGES])
    for word in words:
        identifier, dash, _ = word.partition("-")
        if identifier not in _BY_ID or (dash and word != _BY_ID[identifier].folder):
            raise UsageError(f"--stages: there is no stage '{word}'", allowed=[stage.folder for stage in STAGES])
    return tuple(dict.fromkeys(word.partition("-")[0] for word in words))
