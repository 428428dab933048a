"""What a wheel is called and what its metadata say.

Formats: https://packaging.python.org/specifications/ (core metadata 2.4, binary distribution format 1.0).
"""

from __future__ import annotations

import keyword
import re
import sys
from dataclasses import dataclass

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import InvalidName, canonicalize_name
from packaging.version import InvalidVersion, Version

from skrules.errors import ToolchainError, UsageError

DEFAULT_NAME = "op_extension"
DEFAULT_VERSION = "0.1.0"

# The local part of a version: no index accepts such a wheel, and `pip list` shows it.
_EMULATED = "host"
_TAKEN = frozenset({"torch", "torch_npu", "torchgen", "functorch", "skrules", "numpy"})
# SOABI of CPython on Linux: cpython-311-x86_64-linux-gnu, cpython-313t-aarch64-linux-gnu.
_SOABI = re.compile(r"cpython-(?P<digits>3\d+)(?P<flags>[a-z]*)-(?P<machine>\w+)-linux-(?:gnu|musl)\w*\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """`version` is complete, with its local part. `tag` is e.g. "cp311-cp311-linux_x86_64". `license` is an SPDX
    expression or ""; `license_files` are names below the folder of licences; `requires` are requirements as pip reads them."""

    name: str
    version: str
    tag: str
    summary: str = ""
    description: str = ""
    keywords: tuple[str, ...] = ()
    license: str = ""
    license_files: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    requires_python: str = ""

    @property
    def stem(self) -> str:
        """`<name>-<version>` as file names have it: normalised, without any other hyphen."""
        return f"{canonicalize_name(self.name).replace('-', '_')}-{self.version}"

    @property
    def file_name(self) -> str:
        return f"{self.stem}-{self.tag}.whl"

    @property
    def dist_info(self) -> str:
        return f"{self.stem}.dist-info"


def read_name(text: str) -> str:
    """Return a name that a distribution may have. Raises UsageError."""
    try:
        canonicalize_name(text, validate=True)
    except InvalidName:
        raise UsageError(
            f"'{text}' is no name for a wheel", hint="use letters, digits, '.', '-' and '_', with a letter or digit at both ends"
        ) from None
    return text


def read_package(text: str) -> str:
    """Return the name of a package that Python can import, and that takes nobody's place. Raises UsageError."""
    if keyword.iskeyword(text):
        raise UsageError(f"package='{text}' is a word of Python, which cannot be imported", hint="use another name")
    # Installed, its files would lie over those of what it needs.
    if text in sys.stdlib_module_names or text in _TAKEN:
        raise UsageError(f"package='{text}' is the name of what is there already", hint="use another name")
    return text


def read_version(text: str, *, emulated: bool) -> str:
    """Return a version in its normal form; that of what only runs emulated ends with the local part "host".

    Raises UsageError for what is no version (https://packaging.python.org/specifications/version-specifiers/).
    """
    try:
        version = Version(text)
    except InvalidVersion:
        raise UsageError(f"'{text}' is no version", hint="versions look like 1.2.0, 1.2.0rc1 or 1.2.0+cann8.2") from None
    words = (version.local or "").split(".")
    if _EMULATED in words:
        raise UsageError(f"'{text}' has the local part '{_EMULATED}', which marks wheels of the host toolchain")
    if not emulated:
        return str(version)
    return f"{version.public}+{'.'.join(filter(None, [*words, _EMULATED]))}"


def is_emulated(version: str) -> bool:
    """Tell whether a version is that of a wheel whose modules only run emulated."""
    return _EMULATED in (Version(version).local or "").split(".")


def read_requirements(given: tuple[str, ...], needed: tuple[str, ...]) -> tuple[str, ...]:
    """Return all requirements in their normal form; a given one replaces the needed one of the same name.

    Raises UsageError for what pip could not read.
    """
    found: dict[str, str] = {canonicalize_name(Requirement(text).name): text for text in needed}
    own: set[str] = set()
    for text in given:
        try:
            requirement = Requirement(text)
        except InvalidRequirement as error:
            raise UsageError(f"'{text}' is no requirement: {str(error).splitlines()[0]}", hint="write it as for pip") from None
        name = canonicalize_name(requirement.name)
        if name not in own:
            found.pop(name, None)
        own.add(name)
        # Several lines for one name are fine when markers tell them apart.
        found[f"{name};{requirement.marker or ''}"] = str(requirement)
    return tuple(sorted(found.values()))


def read_python(text: str) -> str:
    """Return a specifier of Python versions in its normal form. Raises UsageError."""
    try:
        return str(SpecifierSet(text))
    except InvalidSpecifier:
        raise UsageError(f"'{text}' names no Python versions", hint="write it as in python_requires='>=3.11'") from None


def read_license(text: str) -> str:
    """Return an SPDX licence expression in its normal form. Raises UsageError."""
    try:
        return str(canonicalize_license_expression(text))
    except InvalidLicenseExpression:
        raise UsageError(f"'{text}' is no SPDX licence expression", hint="write it as in license='Apache-2.0'") from None


def tag_of(soabi: str) -> str:
    """Return the tag of modules for the interpreter with `soabi`: "cpython-311-x86_64-linux-gnu" -> "cp311-cp311-linux_x86_64".

    Not a manylinux tag: modules need the libraries of torch and of the toolkit of one machine. Raises ToolchainError for
    an interpreter that is not CPython on Linux.
    """
    match = _SOABI.match(soabi)
    if not match:
        raise ToolchainError(f"wheels are made for CPython on Linux, and this Python is '{soabi}'")
    version = f"cp{match['digits']}"
    return f"{version}-{version}{match['flags']}-linux_{match['machine']}"


def render_metadata(distribution: Distribution) -> str:
    """Return METADATA."""
    fields = [
        ("Metadata-Version", "2.4"),
        ("Name", distribution.name),
        ("Version", distribution.version),
        ("Summary", distribution.summary),
        ("Keywords", ",".join(distribution.keywords)),
        ("License-Expression", distribution.license),
        *(("License-File", name) for name in distribution.license_files),
        ("Requires-Python", distribution.requires_python),
        *(("Requires-Dist", text) for text in distribution.requires),
        ("Description-Content-Type", "text/markdown" if distribution.description else ""),
    ]
    head = "".join(f"{name}: {value}\n" for name, value in fields if value)
    return f"{head}\n{distribution.description}" if distribution.description else head


def render_wheel(distribution: Distribution, generator: str) -> str:
    """Return WHEEL; `generator` is a name and a version."""
    return f"Wheel-Version: 1.0\nGenerator: {generator}\nRoot-Is-Purelib: false\nTag: {distribution.tag}\n"
