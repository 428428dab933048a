"""`skrules query` on a small workspace: declarations, includes, and what a build has seen."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from small_workspace import write_workspace

from skrules.cli import COMMANDS, main
from skrules.engine.journal import Journal, Step, read_found
from skrules.errors import UsageError
from skrules.rules.place import declared_packages, find_place


@pytest.fixture(autouse=True)
def root(tmp_path, monkeypatch):
    monkeypatch.chdir(write_workspace(tmp_path / "w"))
    return tmp_path / "w"


@pytest.fixture
def ask(capsys):
    def asked(*words):
        status = main(["query", *words])
        captured = capsys.readouterr()
        assert status == 0, captured.err
        return captured.out

    return asked


@pytest.fixture
def refused(capsys):
    def asked(*words):
        assert main(["query", *words]) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        return captured.err

    return asked


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("//ops/...", "//ops/add //ops/common //ops/scale"),
        ("//...", "//ops/add //ops/common //ops/scale"),
        ("ops/add", "//ops/add"),
        ("//ops/add:add", "//ops/add"),
        ("//ops/add:all", "//ops/add"),
        ("ops/common/tiling.h", "ops/common/tiling.h"),
        ("//ops/common/tiling.h", "ops/common/tiling.h"),
        ("//ops/common:tiling.h", "ops/common/tiling.h"),
        ("./ops/common/../common/tiling.h", "ops/common/tiling.h"),
        ("ops/extra/unused.h", "ops/extra/unused.h"),
        (
            "deps(//ops/add)",
            "//ops/add //ops/common ops/add/add.asc ops/add/cases.yaml ops/add/contract.yaml ops/add/reference.py"
            " ops/common/math.h ops/common/tiling.h",
        ),
        ("deps(//ops/scale)", "//ops/scale ops/common/math.h ops/extra/far.h ops/scale/own.h ops/scale/scale.asc"),
        ("kind(operator, rdeps(//ops/..., ops/common/tiling.h))", "//ops/add"),
        ("kind(operator, rdeps(//ops/..., ops/common/math.h))", "//ops/add //ops/scale"),
        ("kind(operator, rdeps(//ops/..., ops/extra/far.h))", "//ops/scale"),
        ("rdeps(//ops/..., ops/extra/unused.h)", ""),
        ("rdeps(//ops/..., //ops/common, 1)", "//ops/add //ops/common"),
        ("rdeps(//ops/..., ops/add/reference.py, 1)", "//ops/add ops/add/reference.py"),
        ("somepath(ops/scale, ops/common/math.h)", "//ops/scale ops/scale/scale.asc ops/scale/own.h ops/common/math.h"),
        ("tests(//ops/...)", "//ops/add"),
        ("attr(archs, dav-3510, //ops/...)", "//ops/add"),
        ("attr(contract, '^$', //ops/...)", "//ops/scale"),
        ("attr(deps, //ops/common, //ops/...)", "//ops/add"),
        ("kind('headers rule', //ops/...)", "//ops/common"),
    ],
)
def test_what_is_selected(ask, query, expected):
    assert ask(query).split() == expected.split()


def test_words_are_those_of_the_current_folder(ask, root, monkeypatch):
    monkeypatch.chdir(root / "ops/common")
    assert ask("tiling.h") == "ops/common/tiling.h\n"
    assert ask(":common + ../add - //ops/common") == "//ops/add\n"
    assert ask("...") == "//ops/common\n"
    assert ask(str(root / "ops/add/add.asc")) == "ops/add/add.asc\n"
    assert ask("ops/add", "--root", str(root)) == "//ops/add\n"


def test_the_last_build_knows_more_ways_to_a_header(ask, root):
    query = "kind(operator, rdeps(//ops/..., ops/extra/unused.h))"
    assert ask(query) == ""
    journal = Journal(root / "build/host/.skrules/journal")
    found = {"ops/extra/unused.h": "1", "ops/gone.h": "2", "ops/common/math.h": "3"}
    journal.end("//ops/scale", "scale.o", Step(key={}, inputs={}, outputs={}, found=found))
    assert ask(query) == "//ops/scale\n"
    # What is included as the files are now is no second way.
    assert ask("somepath(//ops/scale, ops/common/math.h)").split()[1] == "ops/scale/scale.asc"
    assert ask("deps(//ops/scale, 1)").split() == ["//ops/scale", "ops/extra/far.h", "ops/extra/unused.h", "ops/scale/scale.asc"]
    (root / "build").rename(root / "out")
    assert ask(query) == ""
    assert ask(query, "--build", "out") == "//ops/scale\n"


def test_a_journal_is_read_as_it_is(ask, root):
    folder = root / "build/host/.skrules/journal"
    folder.mkdir(parents=True)
    text = b'{"begin":"x"}\n{"end":"x","ke'
    (folder / "ops%2Fscale.jsonl").write_bytes(text)
    assert "//ops/scale" in ask("deps(//ops/scale)")
    assert (folder / "ops%2Fscale.jsonl").read_bytes() == text


def test_outputs(ask):
    assert ask("deps(ops/common, 1)", "--output", "label_kind") == (
        "headers rule //ops/common\nsource file ops/common/math.h\nsource file ops/common/tiling.h\n"
    )
    (common, add) = json.loads(ask("set(ops/common/tiling.h ops/add)", "--output", "json"))[::-1]
    assert common == {
        "name": "ops/common/tiling.h",
        "kind": "source file",
        "at": "",
        "attributes": {},
        "needs": ["ops/common/math.h"],
    }
    assert add["kind"] == "operator rule"
    assert add["at"] == "ops/add/SConscript:1"
    assert add["attributes"]["archs"] == ["dav-2201", "dav-3510"]
    assert add["attributes"]["options"] == []
    assert add["attributes"]["reference"] == ""
    assert add["needs"][:2] == ["//ops/common", "ops/add/add.asc"]
    dot = ask("deps(ops/common)", "--output", "graph")
    assert '"//ops/common" -> "ops/common/tiling.h";' in dot
    assert '"ops/common/tiling.h" -> "ops/common/math.h";' in dot


def test_nothing_is_said_to_be_nothing(capsys):
    assert main(["query", "tests(//ops/common)"]) == 0
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "note: nothing is selected\n")


@pytest.mark.parametrize(
    ("query", "parts"),
    [
        ("//ops/ad", ["query:1:1: '//ops/ad' is no target", "did you mean '//ops/add'?"]),
        ("deps(ops/common/tilin.h)", ["query:1:6:", "did you mean 'ops/common/tiling.h'?"]),
        ("//other/...", ["query:1:1:", "no target"]),
        ("../elsewhere.h", ["query:1:1:", "no target and no file"]),
        ("/etc/passwd", ["query:1:1:", "no target and no file"]),
        ("ops", ["query:1:1:", "no target and no file"]),
        ("''", ["query:1:2:", "no target and no file"]),
        ("'a\0b'", ["query:1:2:", "no target and no file"]),
        ("attr(arch, x, //...)", ["query:1:6:", "did you mean 'archs'?"]),
    ],
)
def test_what_is_wrong(refused, query, parts):
    said = refused(query)
    for part in parts:
        assert part in said


def test_wrong_declarations_are_errors_of_a_query_too(refused, root):
    (root / "ops/add/SConscript").write_text("operator(nam='add')\n")
    assert "error: ops/add/SConscript:1: operator() has no attribute 'nam'" in refused("//ops/common")


@pytest.mark.parametrize(
    ("text", "packages"),
    [
        ("Workspace()", ("ops",)),
        ("skrules.Workspace(['a', 'b'])", ("a", "b")),
        ("Environment(tools=['skrules']).SkWorkspace(packages=('a',))", ("a",)),
    ],
)
def test_the_sconstruct_is_read(tmp_path, text, packages):
    (tmp_path / "SConstruct").write_text(f"{text}\nraise SystemExit  # never run\n")
    assert declared_packages(tmp_path) == packages


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("Workspace(packages=FOLDERS)", "SConstruct:1:1: the folders of operators are computed"),
        ("Workspace(**options)", "SConstruct:1:1: the folders of operators are computed"),
        ("Workspace('ops')", "packages must be a list of folders, not 'ops'"),
        ("Workspace([3])", "packages must be a list of folders"),
        ("", "makes no Workspace"),
        ("Workspace()\nWorkspace()", "makes 2 Workspaces"),
        ("\nWorkspace(", "SConstruct:2: "),
        ("\0", "SConstruct"),
    ],
)
def test_a_sconstruct_that_does_not_tell(tmp_path, text, part):
    (tmp_path / "SConstruct").write_text(text)
    with pytest.raises(UsageError) as caught:
        declared_packages(tmp_path)
    assert part in str(caught.value)
    assert find_place(tmp_path, packages=("mine",)).packages == ("mine",)


def test_no_workspace(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["query", "//..."]) == 2
    assert "there is no SConstruct in" in capsys.readouterr().err
    assert main(["query", "ops/add", "--root", "w"]) == 0
    assert main(["query", "ops/add", "--root", "none"]) == 2
    assert "there is no folder 'none'" in capsys.readouterr().err
    assert main(["query", "ops/add", "--root", "w", "--packages", "opps"]) == 2
    assert "the workspace has no folder 'opps'" in capsys.readouterr().err


def test_a_query_does_not_wait_for_what_it_does_not_use():
    """Each of these costs more than a query of a thousand operators may."""
    code = (
        "import sys\nfrom skrules.cli import main\nassert main(['query', 'rdeps(//..., ops/common/math.h)']) == 0\n"
        "print(sorted({name.partition('.')[0] for name in sys.modules} & {'SCons', 'jinja2', 'numpy', 'torch', 'yaml'}))\n"
        "print([name for name in sys.modules if name.startswith(('skrules.adapt', 'skrules.binding', 'skrules.compare'))])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-2:] == ["[]", "[]"]


def test_a_query_of_a_few_reads_few_files(root, monkeypatch):
    from skrules.rules.targets_graph import TargetsGraph
    from skrules.rules.workspace import load_workspace

    read = []
    includes = TargetsGraph._includes
    monkeypatch.setattr(TargetsGraph, "_includes", lambda self, path: read.append(path) or includes(self, path))
    from skrules.engine.query import run_query

    graph = TargetsGraph(load_workspace(root, ["ops"]))
    run_query("kind(rule, //ops/...)", graph)
    assert read == []
    run_query("deps(//ops/scale) + rdeps(//ops/scale, ops/scale/own.h)", graph)
    assert sorted(read) == ["ops/common/math.h", "ops/extra/far.h", "ops/scale/own.h", "ops/scale/scale.asc"]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command, capsys):
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0
    assert COMMANDS[command].partition(",")[0] in " ".join(capsys.readouterr().out.split())


def test_an_unknown_command_names_all(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["queery"])
    assert ended.value.code == 2
    assert all(command in capsys.readouterr().err for command in ["query"])


def test_the_version(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("skrules 0.")


def test_found_files_are_those_of_the_last_good_steps(tmp_path):
    def step(*found):
        # A file may be called anything, also what looks like the field itself.
        return Step(key={'"found":{"no":1}': '"found":{'}, inputs={"{": "}"}, outputs={}, found=dict.fromkeys(found, "1"))

    journal = Journal(tmp_path)
    journal.end("//a", "a.o", step("old.h", "both.h"))
    journal.end("//a", 'odd"name', step('od"d{}.h', "große.h"))
    journal.end("//a", "a.o", step("both.h", "new.h"))
    journal.begin("//a", "a.o")
    with (tmp_path / "a.jsonl").open("ab") as file:
        file.write(b'nonsense\n{"end":"x","found":{"y"\n{"end":"z","found":{"z.h":"1"}')  # the last without its line end
    assert read_found(tmp_path, "//a") == {"both.h", "new.h", 'od"d{}.h', "große.h"}
    assert read_found(tmp_path, "//b") == set()
