"""Which stages a run goes through, and how it ends."""

from __future__ import annotations

import pytest

from skrules.errors import UsageError
from skrules.pipeline import stages, statuses
from skrules.pipeline.slugs import distinct, slug
from skrules.pipeline.statuses import Ending, exit_status, worst


def test_defaults_are_the_published_ones():
    assert stages.default_stages(profile="release", package=True) == ("01", "02", "03", "05", "06")
    assert stages.default_stages(profile="fast", package=True) == ("01", "02", "03", "06")
    assert stages.default_stages(profile="release", package=False) == ("01", "02", "03")


def test_what_a_stage_needs_is_gone_through_too():
    assert stages.select(["03"], wheel=False) == ("00", "01", "02", "03")
    assert stages.select(["06"], wheel=False) == ("00", "01", "02", "06")
    assert stages.select(["06"], wheel=True) == ("00", "01", "02", "05", "06")


def test_stages_are_named_by_number_or_folder():
    assert stages.read_stages("02, 01-detect-form,02") == ("02", "01")


@pytest.mark.parametrize("text", ["07", "02-adapt", "", "1", "all"])
def test_other_words_are_refused(text):
    with pytest.raises(UsageError):
        stages.read_stages(text)


def test_a_whole_is_as_good_as_its_worst_part():
    verified, device = Ending(status=statuses.VERIFIED), Ending(status=statuses.NEEDS_DEVICE, reason="skipped-no-npu")
    assert worst([verified, verified]) == verified
    assert worst([verified, device]) == device
    assert worst([device, Ending(status=statuses.NEEDS_HUMAN)]).status == statuses.NEEDS_HUMAN
    assert worst([verified, Ending(status=statuses.PACKAGED)]).status == statuses.PACKAGED


def test_nothing_at_all_is_not_good():
    assert not worst([]).is_good


@pytest.mark.parametrize("verdict", ["failed", "skipped-no-npu", "skipped-insufficient-runtime-spec"])
def test_only_passed_is_verified(verdict):
    status = statuses.OF_VERDICT[verdict]
    assert status.startswith("needs-")
    assert exit_status(status) == 1
    assert statuses.OF_VERDICT["passed"] == statuses.VERIFIED


def test_exit_statuses_are_the_published_ones():
    good = {status for status in statuses._ORDER if exit_status(status) == 0}
    assert good == {"verified", "packaged", "completed"}


def test_folders_have_published_names():
    assert slug("Dir A!") == "dir_a"
    assert slug("._-") == "asset"
    assert distinct(["x", "X", "y", "x"]) == ["x", "x_2", "y", "x_3"]
