"""What is wrong with a wheel: a good one passes, and every kind of damage is told in words."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skrules.binding.detect import TorchInfo
from skrules.cli import main
from skrules.wheel.archive import Part, pack, render_record
from skrules.wheel.built_with import Operator, read_built_with, render_built_with
from skrules.wheel.distribution import Distribution, render_metadata, render_wheel
from skrules.wheel.verify import verify
from tests.data.tiny_library import tiny_library, tiny_module

TAG = "cp311-cp311-linux_x86_64"
TORCH = TorchInfo(
    python=Path("python"),
    python_version="3.11",
    python_abi="cpython-311-x86_64-linux-gnu",
    python_include=Path("include"),
    version="2.13.0+cpu",
    root=Path("torch"),
    standard="c++20",
    cxx11_abi=True,
)
HOST = Distribution(name="my-ops", version="1.0+host", tag=TAG, license_files=("LICENSE",), requires=("torch==2.13.0",))
INFO = HOST.dist_info
ADD, MUL = "ops/add_dav_2201.so", "ops/mul_dav_3510.so"
OPERATORS = (
    Operator(name="add", archs=("dav-2201", "dav-3510"), entries=("add",)),
    Operator(name="mul", archs=("dav-3510",), entries=("mul", "mul_scalar")),
)


def content(*, emulated: bool = True, distribution: Distribution = HOST) -> dict[str, bytes]:
    """Return the files of a good wheel."""
    folder = distribution.dist_info
    key = {"toolchain": "host", "compiler": "gcc"} if emulated else {"toolkit": "8.2.RC1", "compiler": "0123"}
    name = "host" if emulated else "bisheng"
    files = {
        "ops/__init__.py": b"",
        "ops/built_with.json": render_built_with(OPERATORS, toolchain=name, key=key, torch=TORCH, generator="skrules 1").encode(),
        f"{folder}/METADATA": render_metadata(distribution).encode(),
        f"{folder}/WHEEL": render_wheel(distribution, "skrules 1").encode(),
        f"{folder}/licenses/LICENSE": b"Do as you like.\n",
        **({"ops/lib/libskrules_host.so": tiny_library(soname="libskrules_host.so")} if emulated else {}),
    }
    for operator in OPERATORS:
        files |= {f"ops/{module}.so": tiny_module(module, emulated=emulated) for module in operator.modules}
    return files


def packed(files: Mapping[str, bytes], folder: str = INFO) -> bytes:
    return pack([Part(path=path, data=data, origin=path) for path, data in files.items()], dist_info=folder, epoch=315532800)


def unrecorded(files: Mapping[str, bytes]) -> bytes:
    """Return an archive of just these files, with whatever RECORD is among them."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for path, data in files.items():
            archive.writestr(path, data)
    return out.getvalue()


def unpacked(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def recorded(files: Mapping[str, bytes]) -> dict[str, bytes]:
    record = render_record([Part(path=path, data=data, origin="") for path, data in files.items()], f"{INFO}/RECORD")
    return {**files, f"{INFO}/RECORD": record}


def test_a_good_wheel():
    assert verify(packed(content()), HOST.file_name) == ()


def test_a_good_wheel_for_devices():
    distribution = replace(HOST, version="1.0")
    data = packed(content(emulated=False, distribution=distribution), distribution.dist_info)
    assert verify(data, distribution.file_name) == ()


def changed(path: str, data: bytes | None) -> dict[str, bytes]:
    files = {**content(), path: data or b""}
    if data is None:
        del files[path]
    return files


CONTENTS = {
    "a module is gone": (changed(ADD, None), f"there is no {ADD}: the operator add for dav-2201"),
    "a module is another's": (changed(ADD, tiny_module("mul_dav_2201")), f"{ADD} is no module of its name: it does not export"),
    "a module is no library": (changed(ADD, b"text"), f"{ADD}: it is no ELF file"),
    "a module is cut off": (changed(ADD, tiny_module("add_dav_2201")[:-20]), f"{ADD}: it is cut off"),
    "a module is for another machine": (
        changed(ADD, tiny_module("add_dav_2201", machine=183)),
        f"{ADD} is for aarch64, and the wheel's tag says linux_x86_64",
    ),
    "a module is for an unknown machine": (changed(ADD, tiny_module("add_dav_2201", machine=40)), f"{ADD} is for machine 40"),
    "a module of nobody": (changed("ops/sub_dav_2201.so", tiny_module("sub_dav_2201")), "is a module that built_with.json"),
    "a device module in an emulated wheel": (
        changed(ADD, tiny_module("add_dav_2201", emulated=False)),
        f"{ADD} is not emulated, and the wheel's version says otherwise",
    ),
    "a path of the builder in rpath": (
        changed(ADD, tiny_module("add_dav_2201", runpath="$ORIGIN/lib:/home/me/lib")),
        f"{ADD} looks for libraries in '/home/me/lib'",
    ),
    "the emulation is not found": (
        changed(ADD, tiny_module("add_dav_2201", runpath="$ORIGIN/../lib")),
        f"{ADD} needs libskrules_host.so, and does not find it in the wheel",
    ),
    "the emulation is gone": (changed("ops/lib/libskrules_host.so", None), f"{ADD} needs libskrules_host.so"),
    "the emulation is no library": (changed("ops/lib/libskrules_host.so", b"x"), "ops/lib/libskrules_host.so: it is no ELF"),
    "no __init__": (changed("ops/__init__.py", None), "there is no ops/__init__.py"),
    "no built_with": (changed("ops/built_with.json", None), "it has 0 built_with.json"),
    "two built_with": (changed("more/built_with.json", b"{}"), "it has 2 built_with.json"),
    "built_with is no JSON": (changed("ops/built_with.json", b"{"), "ops/built_with.json: it is no record of skrules"),
    "built_with is something else": (changed("ops/built_with.json", b"[1]"), "ops/built_with.json: it is no record of skrules"),
    "built_with is of the future": (changed("ops/built_with.json", b'{"format": 2}'), "its format is 2, not 1"),
    "no METADATA": (changed(f"{INFO}/METADATA", None), f"there is no {INFO}/METADATA"),
    "METADATA of another": (
        changed(f"{INFO}/METADATA", render_metadata(replace(HOST, name="other")).encode()),
        "METADATA names it other, its file my-ops",
    ),
    "METADATA of another version": (
        changed(f"{INFO}/METADATA", render_metadata(replace(HOST, version="2+host")).encode()),
        "METADATA gives the version 2+host, its file 1.0+host",
    ),
    "METADATA with a bad requirement": (
        changed(f"{INFO}/METADATA", render_metadata(replace(HOST, requires=("torch =>",))).encode()),
        "METADATA: ",
    ),
    "METADATA is not text": (changed(f"{INFO}/METADATA", b"\xff\xfe"), "METADATA: "),
    "no licence": (changed(f"{INFO}/licenses/LICENSE", None), "METADATA names the licence LICENSE, which is not there"),
    "no WHEEL": (changed(f"{INFO}/WHEEL", None), f"there is no {INFO}/WHEEL"),
    "WHEEL of the future": (
        changed(f"{INFO}/WHEEL", f"Wheel-Version: 2.0\nRoot-Is-Purelib: false\nTag: {TAG}\n".encode()),
        "Wheel-Version is 2.0, not 1.0",
    ),
    "WHEEL of pure Python": (
        changed(f"{INFO}/WHEEL", f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {TAG}\n".encode()),
        "Root-Is-Purelib is not false",
    ),
    "another tag": (
        changed(f"{INFO}/WHEEL", b"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: py3-none-any\n"),
        f"WHEEL has the tags py3-none-any, its file {TAG}",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CONTENTS)
def test_contents_that_are_wrong(case):
    files, said = CONTENTS[case]
    problems = verify(packed(files), HOST.file_name)
    assert any(said in problem for problem in problems), problems


def test_an_emulated_wheel_cannot_be_called_as_one_for_devices():
    distribution = replace(HOST, version="1.0")
    problems = verify(packed(content(distribution=distribution), distribution.dist_info), distribution.file_name)
    assert "its version must have the local part 'host' if, and only if, its modules only run emulated" in problems
    assert f"{ADD} only runs emulated, and the wheel's version says otherwise" in problems


GOOD = recorded(content())


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({**GOOD, ADD: GOOD[ADD] + b"\0"}, f"{ADD} is not what RECORD says: its hash differs"),
        ({**GOOD, "ops/more.py": b""}, "RECORD does not list ops/more.py"),
        ({path: data for path, data in GOOD.items() if path != ADD}, f"RECORD lists {ADD}, which is not there"),
        ({**GOOD, f"{INFO}/RECORD": GOOD[f"{INFO}/RECORD"] * 2}, f"RECORD lists {ADD} twice"),
        ({**GOOD, f"{INFO}/RECORD": b"\xff"}, "RECORD cannot be read"),
        ({**GOOD, f"{INFO}/RECORD": GOOD[f"{INFO}/RECORD"].replace(b",0\n", b",7\n")}, "its size differs"),
        ({path: data for path, data in GOOD.items() if not path.endswith("RECORD")}, f"there is no {INFO}/RECORD"),
    ],
)  # fmt: skip
def test_what_record_tells(files, said):
    problems = verify(unrecorded(files), HOST.file_name)
    assert any(said in problem for problem in problems), problems


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_archives_that_are_wrong():
    out = io.BytesIO(packed(content()))
    with zipfile.ZipFile(out, "a") as archive:
        archive.writestr(ADD, b"other")
    assert verify(out.getvalue(), HOST.file_name) == (f"{HOST.file_name}: it holds '{ADD}' twice",)
    assert "no place in a wheel" in verify(unrecorded({"../up.py": b""}), HOST.file_name)[0]
    assert "it is damaged" in verify(b"PK", HOST.file_name)[0]
    assert "it is damaged" in verify(packed(content())[:-100], HOST.file_name)[0]


@pytest.mark.parametrize("name", ["ops.whl", "my_ops-1.0.whl", "my_ops-one-cp311-cp311-linux_x86_64.whl", "my_ops-1.0.zip", ""])
def test_names_of_files_that_are_wrong(name):
    assert len(verify(packed(content()), name)) == 1


def test_a_renamed_wheel():
    assert verify(packed(content()), HOST.file_name.replace("my_ops", "our_ops")) == tuple(
        f"there is no our_ops-1.0+host.dist-info/{name}" for name in ("METADATA", "WHEEL", "RECORD")
    )


def test_paths_of_the_builder():
    files = changed(ADD, tiny_module("add_dav_2201", note=b"/somewhere/work/add.asc\0"))
    assert verify(packed(files), HOST.file_name) == ()
    assert verify(packed(files), HOST.file_name, private=("/somewhere/work/",)) == (
        f"{ADD} holds the path '/somewhere/work/': another machine would make another file",
    )


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 255))
def test_a_flipped_byte_is_told_unless_it_changes_nothing_that_is_installed(at, flip):
    good = packed(content())
    data = bytearray(good)
    data[at % len(data)] ^= flip
    if not verify(bytes(data), HOST.file_name):  # a time, a mode, a comment
        assert unpacked(bytes(data)) == unpacked(good)


def test_the_record_of_a_build_comes_back():
    assert read_built_with(content()["ops/built_with.json"]) == (True, OPERATORS)
    assert read_built_with(content(emulated=False)["ops/built_with.json"]) == (False, OPERATORS)


def test_the_command(tmp_path, capsys):
    wheel = tmp_path / HOST.file_name
    wheel.write_bytes(packed(content()))
    assert main(["verify-wheel", str(wheel)]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"wheel: {wheel}\n  ") and ", sha256 " in shown and ADD in shown
    wheel.write_bytes(packed(changed(ADD, None)))
    assert main(["verify-wheel", str(wheel)]) == 1
    assert f"there is no {ADD}: the operator add for dav-2201" in capsys.readouterr().err
    assert main(["verify-wheel", str(tmp_path / "none.whl")]) == 2
    assert main(["verify-wheel", "/dev/zero"]) == 2  # which has no end
