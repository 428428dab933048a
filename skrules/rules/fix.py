"""`scons fix`: the edits that findings about the requested operators carry, made in the workspace's own sources."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from skrules.adapt.names import LEGACY_SYS_ARGS, legacy_edits
from skrules.engine.files import bytes_of
from skrules.errors import UsageError
from skrules.findings import Finding, Fix, Severity
from skrules.remediate import Outcome, Request, remediate
from skrules.remediate.tree import digest
from skrules.report.published import finding_ids
from skrules.rules.codegen import declared_options
from skrules.rules.declaration import Target
from skrules.rules.workspace import Workspace
from skrules.source.code import lines_of
from skrules.source.includes import local_headers
from skrules.source.tokens import tokenize
from skrules.toolchain.command_line import angled_folders, include_folders

_RULE = "codegen.inline-sys-args-api-current"


def fix_sources(workspace: Workspace, *, dry_run: bool = False) -> Outcome:
    """Apply the fixes of all findings about the requested operators; with `dry_run` nothing is written.

    Raises UsageError when no operator is requested, or a source cannot be read.
    """
    targets = workspace.of_rule("operator")
    if not targets:
        raise UsageError("there is no operator to fix", hint="name one, or a pattern such as //ops/...")
    findings = find(workspace.root, targets)
    names = finding_ids(findings, {})
    requests = [Request(finding_id=name, fix=finding.fix) for finding, name in zip(findings, names, strict=True)]
    return remediate(workspace.root, requests, dry_run=dry_run)


def find(root: Path, targets: Iterable[Target]) -> tuple[Finding, ...]:
    """Return the findings about sources and workspace headers of operators, each once."""
    files = dict.fromkeys(path for target in targets for path in _files(root, target))
    return tuple(finding for path in files for finding in _old_names(path, bytes_of(root / path)))


def _files(root: Path, target: Target) -> Iterator[str]:
    words = declared_options(target)
    folders = [root / folder for folder in include_folders(words)]
    angled = [root / folder for folder in angled_folders(words)]
    for source in target.strings("srcs"):
        yield source
        for path in local_headers(str(root / source), folders, angled=angled):
            if Path(path).is_relative_to(root):
                yield Path(path).relative_to(root).as_posix()


def _old_names(path: str, data: bytes) -> Iterator[Finding]:
    """Find names of the system arguments that CANN has renamed, which adaptation renames in what it generates."""
    text = data.decode("latin-1")
    if not any(name in text for name in LEGACY_SYS_ARGS):
        return
    lines = lines_of(text, path)
    told = set()
    for edit in legacy_edits(tokenize(text)):
        old = text[edit.start : edit.end]
        if old not in told:
            told.add(old)
            yield Finding(
                rule=_RULE,
                severity=Severity.WARNING,
                at=lines.at(edit.start),
                message=f"'{old}' is now called '{edit.text}'",
                fix=Fix(kind="rename-symbol", file=path, old_value=old, new_value=edit.text, digest=digest(data)),
            )
