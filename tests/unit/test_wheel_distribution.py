"""Names, versions, tags and metadata of a wheel."""

from __future__ import annotations

import sysconfig
from dataclasses import replace

import pytest
from packaging.metadata import Metadata
from packaging.tags import sys_tags
from packaging.utils import parse_wheel_filename

from skrules.errors import ToolchainError, UsageError
from skrules.wheel.distribution import (
    Distribution,
    is_emulated,
    read_license,
    read_name,
    read_python,
    read_requirements,
    read_version,
    render_metadata,
    render_wheel,
    tag_of,
)

MINIMAL = Distribution(name="op_extension", version="0.1.0", tag="cp311-cp311-linux_x86_64")


def test_the_name_of_the_file():
    assert MINIMAL.file_name == "op_extension-0.1.0-cp311-cp311-linux_x86_64.whl"
    assert MINIMAL.dist_info == "op_extension-0.1.0.dist-info"


@pytest.mark.parametrize("name", ["My-Ops", "my.ops", "my__ops"])
def test_a_name_is_normalised_in_the_file_and_kept_in_the_metadata(name):
    distribution = replace(MINIMAL, name=name)
    assert distribution.file_name.startswith("my_ops-0.1.0-")
    assert f"Name: {name}\n" in render_metadata(distribution)


@pytest.mark.parametrize("name", ["", "-ops", "ops_", "my ops", "op/s", "öps", "ops\n"])
def test_what_is_no_name(name):
    with pytest.raises(UsageError, match="is no name for a wheel"):
        read_name(name)


@pytest.mark.parametrize(
    ("text", "emulated", "version"),
    [
        ("1.2", False, "1.2"),
        ("v1.2.0-RC1", False, "1.2.0rc1"),
        ("1.0+cann8.2", False, "1.0+cann8.2"),
        ("1.2", True, "1.2+host"),
        ("1.0+cann8.2", True, "1.0+cann8.2.host"),
        ("1!2.0.dev3", True, "1!2.0.dev3+host"),
    ],
)
def test_versions(text, emulated, version):
    assert read_version(text, emulated=emulated) == version
    assert is_emulated(version) == emulated
    name = replace(MINIMAL, version=version).file_name
    assert str(parse_wheel_filename(name)[1]) == version


@pytest.mark.parametrize("text", ["", "one", "1.0-", "1.0+", "1 0"])
def test_what_is_no_version(text):
    with pytest.raises(UsageError, match="is no version"):
        read_version(text, emulated=False)


@pytest.mark.parametrize("emulated", [True, False])
def test_nobody_writes_the_mark_of_the_host_toolchain_by_hand(emulated):
    with pytest.raises(UsageError, match="marks wheels of the host toolchain"):
        read_version("1.0+host", emulated=emulated)


@pytest.mark.parametrize(
    ("soabi", "tag"),
    [
        ("cpython-311-x86_64-linux-gnu", "cp311-cp311-linux_x86_64"),
        ("cpython-310-aarch64-linux-gnu", "cp310-cp310-linux_aarch64"),
        ("cpython-313t-x86_64-linux-gnu", "cp313-cp313t-linux_x86_64"),
    ],
)
def test_tags(soabi, tag):
    assert tag_of(soabi) == tag


def test_the_tag_of_this_python_is_one_that_it_installs():
    assert tag_of(sysconfig.get_config_var("SOABI")) in set(map(str, sys_tags()))


@pytest.mark.parametrize("soabi", ["", "cpython-311-darwin", "pypy310-pp73-x86_64-linux-gnu", "cp311-win_amd64"])
def test_a_python_that_wheels_are_not_made_for(soabi):
    with pytest.raises(ToolchainError, match="CPython on Linux"):
        tag_of(soabi)


def test_requirements_are_joined_and_normalised():
    assert read_requirements(("numpy >= 1.26",), ("torch==2.13.0",)) == ("numpy>=1.26", "torch==2.13.0")


def test_a_given_requirement_takes_the_place_of_the_needed_one():
    assert read_requirements(("Torch>=2.13,<2.14",), ("torch==2.13.0",)) == ("Torch<2.14,>=2.13",)


def test_markers_tell_requirements_of_one_name_apart():
    given = ('torch==2.13.0; python_version < "3.12"', 'torch==2.14.0; python_version >= "3.12"')
    assert len(read_requirements(given, ("torch==2.13.0",))) == 2


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (lambda text: read_requirements((text,), ()), "numpy => 1"),
        (read_python, "3.11 or newer"),
        (read_license, "free for all"),
    ],
)
def test_what_pip_could_not_read(read, text):
    with pytest.raises(UsageError, match=text):
        read(text)


def test_metadata_are_as_packaging_reads_them():
    full = replace(
        MINIMAL,
        summary="Operators",
        description="# Ops\n\nWhat they do.\n",
        keywords=("dav-2201", "dav-3510"),
        license="Apache-2.0",
        license_files=("LICENSE",),
        requires=("torch==2.13.0",),
        requires_python=">=3.11",
    )
    metadata = Metadata.from_email(render_metadata(full))
    assert (metadata.name, str(metadata.version), metadata.summary) == ("op_extension", "0.1.0", "Operators")
    assert metadata.description == full.description
    assert metadata.keywords == ["dav-2201", "dav-3510"]
    assert (metadata.license_expression, metadata.license_files) == ("Apache-2.0", ["LICENSE"])
    assert [*map(str, metadata.requires_dist or ())] == ["torch==2.13.0"]
    assert str(metadata.requires_python) == ">=3.11"


def test_metadata_of_nothing_but_a_name():
    assert render_metadata(MINIMAL) == "Metadata-Version: 2.4\nName: op_extension\nVersion: 0.1.0\n"
    Metadata.from_email(render_metadata(MINIMAL))


def test_wheel_text():
    assert render_wheel(MINIMAL, "skrules 1.0").splitlines() == [
        *("Wheel-Version: 1.0", "Generator: skrules 1.0", "Root-Is-Purelib: false", "Tag: cp311-cp311-linux_x86_64")
    ]
