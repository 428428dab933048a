"""Applies the fixes of findings to the files of a tree.

All fixes of a file are applied to its text in memory, in their order, and the file is then replaced in one step; a fix that
cannot be applied leaves the others alone. Nothing is written for a fix whose digest says that its file has changed since the
finding was made, unless nothing would change.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from skrules.findings import Fix
from skrules.remediate import tree
from skrules.remediate.kind import Kind, Refused
from skrules.remediate.kinds import kinds


class Status(enum.StrEnum):
    """What became of a fix. `SKIPPED`: nothing was left to do; `ESCALATED`: it is not for a program."""

    APPLIED = "applied"
    ESCALATED = "escalated"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A fix to apply. `fix` is None for a finding that is left to people, and `problem` says why a fix cannot be read."""

    finding_id: str
    fix: Fix | None
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """`reason` is the kind of an applied fix, `no_change` of a skipped one, and else why it was not applied."""

    finding_id: str
    status: Status
    reason: str
    file: str = ""
    summary: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One file before and after; `file` is relative to the tree."""

    file: str
    before: bytes
    after: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """`results` are in the order of the requests; `changes` are those that were made, or of a dry run would be."""

    results: tuple[Result, ...]
    changes: tuple[Change, ...]

    def count(self, status: Status) -> int:
        return sum(result.status is status for result in self.results)


def remediate(root: Path, requests: Sequence[Request], *, dry_run: bool = False) -> Outcome:
    """Apply fixes to files below `root`; with `dry_run` nothing is written, and the rest is the same.

    Each file is replaced whole or stays as it is. Must be called in the main thread.
    """
    results: dict[int, Result] = {}
    files: dict[Path, list[int]] = {}
    place = tree.Tree(root)
    for index, request in enumerate(requests):
        if request.fix is None or request.problem:
            status = Status.FAILED if request.problem else Status.ESCALATED
            results[index] = _result(request, status, request.problem or "not_auto_remediable")
            continue
        try:
            files.setdefault(place.find(request.fix.file), []).append(index)
        except Refused as refused:
            results[index] = _result(request, Status.FAILED, refused.reason)
    changes = []
    for path, indices in files.items():
        found, change = _remediate_file(place, path, [requests[index] for index in indices], dry_run=dry_run)
        results.update(zip(indices, found, strict=True))
        if change is not None:
            changes.append(change)
    return Outcome(results=tuple(results[index] for index in range(len(requests))), changes=tuple(changes))


def _remediate_file(
    place: tree.Tree, path: Path, requests: Sequence[Request], *, dry_run: bool
) -> tuple[list[Result], Change | None]:
    try:
        before = tree.read(path)
    except Refused as refused:
        return [_result(request, Status.FAILED, refused.reason) for request in requests], None
    after, results = apply(before, requests)
    if after == before:
        return results, None
    if not dry_run:
        try:
            tree.replace(path, before, after)
        except Refused as refused:
            failed = [
                replace(result, status=Status.FAILED, reason=refused.reason, summary="")
                if result.status is Status.APPLIED
                else result
                for result in results
            ]
            return failed, None
    return results, Change(file=place.name(path), before=before, after=after)


def apply(before: bytes, requests: Sequence[Request]) -> tuple[bytes, list[Result]]:
    """Return the content of one file with the fixes of `requests`, in their order, and what became of each.

    Two fixes that undo one another are not both applied: whatever is applied leaves nothing to do for another run.
    """
    known = kinds()
    mark, text = tree.without_mark(before)
    digest = tree.digest(before)
    applied: list[tuple[Request, Fix]] = []
    results = []
    for request in requests:
        assert request.fix is not None
        fix = request.fix
        try:
            changed = _changed(text, fix, known, digest)
            if changed == text:
                results.append(_result(request, Status.SKIPPED, "no_change"))
                continue
            for other, earlier in [*applied, (request, fix)]:
                if _applied(changed, earlier, known) != changed:
                    raise Refused("not_settled_by_it" if other is request else f"conflicts_with:{other.finding_id}")
        except Refused as refused:
            results.append(_result(request, Status.FAILED, refused.reason))
            continue
        results.append(_result(request, Status.APPLIED, fix.kind, f"size {len(mark) + len(text)} -> {len(mark) + len(changed)}"))
        applied.append((request, fix))
        text = changed
    return mark + text.encode("latin-1"), results


def _changed(text: str, fix: Fix, known: Mapping[str, Kind], digest: str) -> str:
    if fix.kind not in known:
        raise Refused(f"unknown_kind:{fix.kind}")
    changed = _applied(text, fix, known)
    if changed == text:
        return text
    if fix.digest and fix.digest.lower() != digest:
        raise Refused("stale_file")
    if not fix.new_value.isascii() and not _is_utf8(text):
        raise Refused("encoding_unknown")
    return changed


def _applied(text: str, fix: Fix, known: Mapping[str, Kind]) -> str:
    return known[fix.kind].apply(text, fix)


def _is_utf8(text: str) -> bool:
    try:
        text.encode("latin-1").decode()
    except UnicodeDecodeError:
        return False
    return True


def _result(request: Request, status: Status, reason: str, summary: str = "") -> Result:
    file = request.fix.file if request.fix else ""
    return Result(finding_id=request.finding_id, status=status, reason=reason, file=file, summary=summary)
