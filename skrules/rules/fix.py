"""`scons fix`: the edits that findings about the requested operators carry, made in the workspace's own sources."""

from __future__ import annotations

from skrules.arch_file import load_archs
from skrules.errors import UsageError
from skrules.findings import Finding, Severity
from skrules.remediate.remediation import Outcome, Request, remediate
from skrules.report.published import finding_ids
from skrules.rules.generation import examine_operator, read_operator
from skrules.rules.validate import Validation
from skrules.rules.workspace import Workspace
from skrules.validate.registry import rule_texts


def fix_sources(workspace: Workspace, *, settings: str = "", dry_run: bool = False) -> Outcome:
    """Apply the fixes of all findings about the requested operators; with `dry_run` nothing is written.

    Findings are those that `scons validate` would tell now, and are called as there; `settings` is the file with what the
    workspace decides about rules, or "". Raises UsageError or ToolchainError when an operator cannot be looked at, or none is
    requested.
    """
    targets = workspace.of_rule("operator")
    if not targets:
        raise UsageError("there is no operator to fix", hint="name one, or a pattern such as //ops/...")
    validation = Validation(workspace.root, settings, load_archs())
    texts = rule_texts(validation.rules)
    requests: dict[Finding, Request] = {}
    for target in targets:
        findings = examine_operator(read_operator(workspace.root, target), validation).findings
        for finding, name in zip(findings, finding_ids(findings, texts), strict=True):
            if finding.fix or finding.severity is not Severity.NOTE:
                requests.setdefault(finding, Request(finding_id=name, fix=finding.fix))  # operators share headers
    return remediate(workspace.root, list(requests.values()), dry_run=dry_run)
