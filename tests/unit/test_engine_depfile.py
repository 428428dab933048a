"""Dependency files as compilers write them."""

from __future__ import annotations

import pytest

from skrules.engine.depfile import read_depfile, searched, shadows, workspace_headers, write_depfile


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a.o: a.asc b.h\n", ("a.asc", "b.h")),
        ("a.o: a.asc \\\n  b.h \\\r\n c.h\n", ("a.asc", "b.h", "c.h")),
        ("a.o b.o : a.asc\n\nb.h:\nc.h:\n", ("a.asc",)),
        ("a.o: with\\ blank.h num\\#ber.h dol$$lar.h\n", ("with blank.h", "num#ber.h", "dol$lar.h")),
        ("c\\:/x.o: y:z.h\n", ("y:z.h",)),
        ("a.o: b.h b.h\n", ("b.h",)),
        ("a.o: back\\slash.h two\\\\\\ and.h\n", ("back\\slash.h", "two\\ and.h")),
        (
            "a.o: a\u3000b.h nb\u00a0sp.h nel\u0085x.h \u2028.h tab\\\tx.h\n",
            ("a\u3000b.h", "nb\u00a0sp.h", "nel\u0085x.h", "\u2028.h", "tab\tx.h"),
        ),
        ("", ()),
        ("no rule here\n", ()),
    ],
)
def test_prerequisites(text, names):
    assert read_depfile(text) == names


def test_only_existing_files_of_the_workspace_count(tmp_path):
    root = tmp_path / "workspace"
    (root / "ops").mkdir(parents=True)
    (root / "ops/a.h").write_text("")
    (root / "ops/a.asc").write_text("")
    outside = tmp_path / "toolkit.h"
    outside.write_text("")
    depfile = root / "a.d"
    depfile.write_text(f"a.o: ops/a.asc ops/../ops/a.h {root}/ops/a.h {outside} gone.h\n")
    assert workspace_headers(depfile, root, frozenset({"ops/a.asc"})) == ("ops/a.h",)
    assert workspace_headers(root / "missing.d", root, frozenset()) == ()


@pytest.mark.parametrize(
    "names", [[], ["a.h"], ["with blank.h", "num#ber.h", "dol$lar.h", "back\\slash.h", "tab\tx.h", "a\u3000b.h", "b\\ c.h"]]
)
def test_what_is_written_is_read(names):
    assert read_depfile(write_depfile("out file.o", names)) == tuple(names)


def make(root, *names):
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("")


def test_a_linked_header_counts_under_its_own_name(tmp_path):
    root = tmp_path / "workspace"
    make(root, "ops/a/x.h")
    make(tmp_path, "outside.h", "elsewhere/deep/y.h", "elsewhere/z.h")
    (root / "ops/a/link.h").symlink_to(tmp_path / "outside.h")
    (root / "ops/far").symlink_to(tmp_path / "elsewhere/deep")
    depfile = root / "a.d"
    depfile.write_text(f"a.o: ops/a/link.h {root}/ops/a/x.h ops/far/y.h ops/far/../z.h ops/a/b\0.h\n")
    assert workspace_headers(depfile, root, frozenset()) == ("ops/a/link.h", "ops/a/x.h", "ops/far/y.h")


def test_a_workspace_behind_a_link(tmp_path):
    make(tmp_path, "real/ops/x.h")
    (tmp_path / "link").symlink_to("real")
    depfile = tmp_path / "a.d"
    depfile.write_text(f"a.o: {tmp_path}/real/ops/x.h\n")
    assert workspace_headers(depfile, tmp_path / "link", frozenset()) == ("ops/x.h",)


def test_shadows_are_files_of_the_same_name_in_other_search_folders(tmp_path):
    make(tmp_path, "ops/common/sub/x.h", "ops/a/x.h", "ops/b/sub/x.h", "ops/c/x.h", "ops/a/y.h")
    assert shadows(["ops/common/sub/x.h"], tmp_path, ["ops/a", "ops/b"]) == ("ops/a/x.h", "ops/b/sub/x.h")
    assert shadows([], tmp_path, ["ops/a"]) == ()


def test_every_way_to_name_a_search_folder(tmp_path):
    (tmp_path / "words.rsp").write_text("-iquote 'own dir' -I late")
    words = ("-isystem", "sys", "-Ione", "-I", "two", "-iquotejoined", "-isystemsys2", "-idirafter", "last", "-I/usr/include")
    more = ("--include-directory=long", f"-I{tmp_path}/inside", f"-I{tmp_path}", "@words.rsp", "-iquote")
    found = searched([(*words, *more)], tmp_path)
    assert found.quoted == ("joined", "own dir")
    assert found.angled == ("one", "two", "inside", ".", "late", "sys", "sys2", "last", "long")
