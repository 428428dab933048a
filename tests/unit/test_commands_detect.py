"""`skrules detect-sk-form`: what is a source, its form, and the document."""

from __future__ import annotations

import json

import pytest

from skrules.cli import main

PLAIN = '#include "kernel_operator.h"\nextern "C" __global__ __vector__ void twice(GM_ADDR x, uint32_t n) { (void)n; }\n'
BOUND = PLAIN + (
    "struct TwiceArgs { GM_ADDR x; uint32_t n; };\n"
    "template <uint32_t splitidx> __sk__ __vector__ void twice_sk(const TwiceArgs *args) {}\n"
    "SK_BIND(twice, 4, twice_sk<0>);\n"
)


def detect(tmp_path, **files):
    asset = tmp_path / "asset"
    for name, text in files.items():
        path = asset / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    status = main(["detect-sk-form", str(asset), "--output-dir", str(tmp_path / "out")])
    path = tmp_path / "out" / "operator-sk-form-analysis.json"
    return status, json.loads(path.read_bytes()) if path.exists() else None


def test_the_document_has_the_published_fields(tmp_path):
    status, document = detect(tmp_path, k_dot_asc=PLAIN)
    assert status == 0
    assert document["status"] == "analyzed"
    assert document["asset_path"] == str(tmp_path / "asset")
    assert document["overall_form"] == "none"
    (file,) = document["per_file"]
    flags = ("has_global", "has_sk_keyword", "has_sk_bind", "has_unsupported_sk_signal")
    assert (file["file"], file["form"], *(file[flag] for flag in flags)) == ("k.asc", "none", True, False, False, False)
    assert document["ignored_support_files"] == []


def test_files_that_differ_are_mixed_and_markers_have_places(tmp_path):
    _, document = detect(tmp_path, a_dot_asc=PLAIN, b_dot_cpp=BOUND)
    assert document["overall_form"] == "mixed"
    assert [file["form"] for file in document["per_file"]] == ["none", "current-sk-bind"]
    marker = document["per_file"][1]["markers"][0]
    assert (marker["name"], marker["line"], marker["file"]) == ("__sk__", 4, "b.cpp")


def test_what_comments_and_strings_say_is_no_signal(tmp_path):
    text = PLAIN + '// TODO: __sk__ and SK_BIND(twice, 4, x)\nconst char *kNote = ".ascend.meta";\n'
    _, document = detect(tmp_path, k_dot_asc=text)
    assert document["overall_form"] == "none"


def test_ignored_files_have_their_reasons(tmp_path):
    _, document = detect(
        tmp_path,
        k_dot_asc=PLAIN,
        tests__t_dot_asc=PLAIN,
        host_dot_cpp="int main() { return 0; } // __global__\n",
        declared_dot_cpp='extern "C" __global__ __vector__ void twice(GM_ADDR x, uint32_t n);\n',
    )
    reasons = {each["file"]: each["reason"] for each in document["ignored_support_files"]}
    assert reasons == {
        "tests/t.asc": "test_support_file",
        "host.cpp": "no_kernel_signal",
        "declared.cpp": "no_kernel_definition",
    }


def test_a_kernel_that_cannot_be_read_is_reported_and_not_ignored(tmp_path):
    _, document = detect(tmp_path, k_dot_asc="__global__ __vector__ int broken(GM_ADDR x { }\n")
    (file,) = document["per_file"]
    assert file["form"] == "unknown"
    assert file["findings"][0]["line"] == 1


def test_results_inside_of_the_asset_are_no_sources(tmp_path):
    (tmp_path / "k.asc").write_text(PLAIN)
    for _ in range(2):
        assert main(["detect-sk-form", str(tmp_path), "--output-dir", str(tmp_path / "out")]) == 0
        (tmp_path / "out" / "copy.asc").write_text(BOUND)
    document = json.loads((tmp_path / "out" / "operator-sk-form-analysis.json").read_bytes())
    assert document["overall_form"] == "none"


@pytest.mark.parametrize("words", [[], ["detect-sk-form"], ["detect-sk-form", "x", "--output", "y"], ["no-such-command"]])
def test_wrong_command_lines_exit_2(words):
    with pytest.raises(SystemExit) as caught:
        main(words)
    assert caught.value.code == 2


def test_nothing_to_read_exits_2_and_writes_nothing(tmp_path, capsys):
    (tmp_path / "asset").mkdir()
    status, document = detect(tmp_path, note_dot_cpp="int x;\n")
    assert (status, document) == (2, None)
    assert "note.cpp: no_kernel_signal" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    assert main(["detect-sk-form", str(tmp_path / "nowhere"), "--output-dir", str(tmp_path / "out")]) == 2


def test_a_file_asset_is_taken_whatever_its_name(tmp_path):
    path = tmp_path / "kernel.h"
    path.write_text(PLAIN)
    assert main(["detect-sk-form", str(path), "--output-dir", str(tmp_path / "out")]) == 0
    document = json.loads((tmp_path / "out" / "operator-sk-form-analysis.json").read_bytes())
    assert document["per_file"][0]["file"] == "kernel.h"
