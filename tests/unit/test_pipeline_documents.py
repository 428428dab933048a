"""The ledger of stages, the folder of results, and the check of a map."""

from __future__ import annotations

import pytest

from skrules.errors import UsageError
from skrules.pipeline import sync
from skrules.pipeline.documents import begin_documents, lint
from skrules.pipeline.ledger import Ledger
from skrules.pipeline.output import OutputPlace


def fill(root, text="made", **key):
    """Fill a folder, and tell whether anything was done."""
    ledger = Ledger(root, "code")
    ledger.fill("stage/outputs", ["in.txt"], key, lambda place: (place / "out.txt").write_text(text))
    return ledger.made


@pytest.fixture
def root(tmp_path):
    (tmp_path / "in.txt").write_text("in")
    return tmp_path


def test_a_step_is_done_once(root):
    assert fill(root) == ["stage/outputs"]
    assert fill(root) == []


@pytest.mark.parametrize(
    "name, text", [("in.txt", "other"), ("stage/outputs/out.txt", "by hand"), ("stage/outputs/more.txt", "")]
)
def test_what_changed_makes_it_again(root, name, text):
    fill(root)
    (root / name).write_text(text)
    assert fill(root) == ["stage/outputs"]
    assert sorted(path.name for path in (root / "stage/outputs").iterdir()) == ["out.txt"]


def test_another_key_or_other_code_makes_it_again(root):
    fill(root)
    assert fill(root, options="x")
    ledger = Ledger(root, "other code")
    ledger.fill("stage/outputs", ["in.txt"], {"options": "x"}, lambda _place: None)
    assert ledger.made


def test_one_that_did_not_end_is_not_current(root):
    fill(root)

    def stop(_place):
        raise KeyboardInterrupt

    (root / "in.txt").write_text("other")
    with pytest.raises(KeyboardInterrupt):
        Ledger(root, "code").fill("stage/outputs", ["in.txt"], {}, stop)
    (root / "in.txt").write_text("in")
    assert fill(root)


def test_a_folder_is_what_it_should_be_and_nothing_else(tmp_path):
    folder = tmp_path / "folder"
    sync.fill(folder, {"a/b.txt": b"1", "c.txt": b"2"})
    before = (folder / "c.txt").stat().st_ctime_ns
    sync.fill(folder, {"c.txt": b"2"})
    assert list(sync.tree_of(folder)) == ["c.txt"]
    assert (folder / "c.txt").stat().st_ctime_ns == before
    assert not (folder / "a").exists()
    sync.fill(folder, {})
    assert not folder.exists()


def test_only_folders_of_a_run_are_taken(tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "precious.txt").write_text("")
    for clean in (False, True):
        with pytest.raises(UsageError, match="not empty"), OutputPlace(other, clean=clean, resume_from=None):
            pass
    assert (other / "precious.txt").exists()


def test_a_run_is_gone_on_with_or_begun_anew(tmp_path):
    out = tmp_path / "out"
    with OutputPlace(out, clean=False, resume_from=None):
        (out / "artifact-map.json").write_text("{}")
        (out / "work/more").mkdir()
    with OutputPlace(out, clean=False, resume_from=out / "artifact-map.json"):
        assert (out / "work/more").exists()
    with pytest.raises(UsageError, match="is no file in"), OutputPlace(out, clean=False, resume_from=tmp_path / "x"):
        pass
    with OutputPlace(out, clean=True, resume_from=None):
        assert [path.name for path in out.rglob("*")] == ["work", "lock"]


def test_two_runs_exclude_one_another(tmp_path):
    with (
        OutputPlace(tmp_path / "out", clean=False, resume_from=None),
        pytest.raises(UsageError, match="another run"),
        OutputPlace(tmp_path / "out", clean=False, resume_from=None),
    ):
        pass


def test_a_map_is_good_elsewhere():
    document = {
        "assets": [{"label": "//ops/a", "source": "external:ops/a", "notes": ["/anywhere"]}],
        "deliverables": {"wheels": ["deliverables/wheels/a/x.whl", "deliverables/wheels/b/x.whl"]},
        "place": "/absolute",
    }
    assert [(issue["severity"], issue["path"]) for issue in lint(document)] == [
        ("warning", "assets[0].source"),
        ("error", "place"),
        ("error", "deliverables.wheels"),
    ]


def test_what_an_earlier_run_said_is_gone_when_the_next_one_begins(tmp_path):
    (tmp_path / "artifact-map.json").write_text('{"run": {"status": "verified"}}')
    begin_documents(tmp_path, "running")
    assert sync.tree_of(tmp_path).keys() == {"run-manifest.json"}
    assert '"status": "running"' in (tmp_path / "run-manifest.json").read_text()
