"""What the rules of validation say of an operator: within its codegen step, and as a step of its own for `scons validate`.

A blocker ends the codegen step, so that nothing is compiled of an operator that is known to be wrong; what else is said is
shown when it is said. `scons validate` keeps it in a file for each operator, and shows it each time.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from skrules import resources
from skrules.arch import ArchTable
from skrules.engine.action import Action
from skrules.engine.files import bytes_of, write_atomically
from skrules.errors import UsageError
from skrules.rules.status import FINDINGS

if TYPE_CHECKING:  # most builds adapt nothing, and ask no rule
    from skrules.contract.entry import Resolution
    from skrules.findings import Finding
    from skrules.rules.codegen import Generated
    from skrules.rules.context import Context
    from skrules.rules.declaration import Target
    from skrules.source.model import SourceUnit
    from skrules.validate.baseline import Known
    from skrules.validate.compat import Compat
    from skrules.validate.examination import Examined
    from skrules.validate.rule import Rule
    from skrules.validate.settings import Settings

MNEMONIC = "VALIDATE"
_FAILED_NAME = "findings.failed.json"
_FACTS = ("compat.yaml", "ascend.yaml")


class Validation:
    """The rules of a workspace, the facts they rest on, and what the workspace decides; each is read when first asked for.

    `settings_path` is the settings file that the SConstruct names, relative to the workspace, or "".
    """

    def __init__(self, root: Path, settings_path: str, archs: ArchTable) -> None:
        self._root = root
        self._settings_path = settings_path
        self._archs = archs

    @cached_property
    def settings(self) -> Settings:
        """Raises UsageError for a settings file that is not there, or not as it must be."""
        from skrules.validate.settings import DEFAULTS, load_settings

        if not self._settings_path:
            return DEFAULTS
        return load_settings(bytes_of(self._root / self._settings_path), self._settings_path)

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        from skrules.validate.registry import load_rules

        rules = load_rules(self._root / name for name in self._beside(self.settings.rules))
        self.settings.check([rule.id for rule in rules])
        return rules

    @cached_property
    def compat(self) -> Compat:
        from skrules.validate.compat_file import load_compat

        return load_compat(self._archs)

    @cached_property
    def baseline(self) -> frozenset[Known]:
        from skrules.validate.baseline import load_baseline

        return load_baseline(bytes_of(self._root / self.baseline_path), self.baseline_path) if self.baseline_path else frozenset()

    @cached_property
    def baseline_path(self) -> str:
        """The baseline, relative to the workspace, or ""."""
        hint = "skrules write-baseline makes a baseline, of what is found now"
        return next(iter(self._beside([self.settings.baseline] if self.settings.baseline else [], hint)), "")

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        """The files of the workspace that decide what is said, relative to it."""
        if not self._settings_path:
            return ()
        decided = (self._settings_path, self.baseline_path, *self._beside(self.settings.rules))
        return tuple(path for path in decided if path)

    @cached_property
    def key(self) -> str:
        """A digest of the facts."""
        facts = b"\0".join((resources.toolchains() / name).read_bytes() for name in _FACTS)
        return hashlib.sha256(facts).hexdigest()[:32]

    def _beside(self, names: Iterable[str], hint: str = "") -> list[str]:
        from skrules.validate.settings import beside

        paths = [beside(Path(self._settings_path), name).as_posix() for name in names]
        for path in paths:
            if not (self._root / path).is_file():
                raise UsageError(f"{self._settings_path} names '{path}', which is not there", hint=hint)
        return paths

    def examine(
        self,
        units: Sequence[SourceUnit],
        headers: Mapping[str, Sequence[SourceUnit]],
        resolutions: Sequence[Resolution],
        archs: Sequence[str],
        others: Iterable[Finding] = (),
        *,
        with_known: bool = False,
    ) -> Examined:
        """Return what is to be said of an operator. `others` are the findings of reading, contract and adaptation;
        `with_known` says what the baseline has too, and what it would know all of it by."""
        from skrules.validate.examination import examine
        from skrules.validate.subject import Decision, Subject, files_of

        subject = Subject(
            files=files_of([(unit, headers.get(unit.path, ())) for unit in units]),
            decisions=tuple(
                Decision(
                    kernel=entry.kernel.qualified_name,
                    block_dim=entry.contract.block_dim,
                    mask=entry.contract.sk.mask,
                    at=entry.contract.at,
                )
                for resolution in resolutions
                for entry in resolution.entries
            ),
            targets=tuple(self.compat.target_of_arch(self._archs.arch(name).name) for name in archs),
            compat=self.compat,
        )
        baseline = frozenset() if with_known else self.baseline
        return examine(subject, self.rules, settings=self.settings, baseline=baseline, others=others, keyed=with_known)


def validation_action(target: Target, generated: Generated, context: Context) -> Action:
    """Return the step that writes what is to be said of an operator. It reads what the codegen step reads."""
    folder = f"{context.build}/validate/{target.label.path}"
    depfile = f"{folder}/findings.d"
    sources, contract = target.strings("srcs"), target.file("contract")
    return Action(
        mnemonic=MNEMONIC,
        label=str(target.label),
        what=generated.action.what,
        inputs=generated.action.inputs,
        outputs=(f"{folder}/{FINDINGS}",),
        key=generated.action.key,
        run=functools.partial(_run, target, context.validation, f"{folder}/{FINDINGS}", f"{folder}/{_FAILED_NAME}", depfile),
        depfile=depfile,
        search=tuple(word for word in generated.action.search if not word.startswith("@")),
        roles={**dict.fromkeys(sources, "source"), contract: "contract"},
    )


def _run(target: Target, validation: Validation, passed: str, failed: str, depfile: str, root: Path) -> None:
    from skrules.engine.depfile import write_depfile
    from skrules.engine.files import write_if_changed
    from skrules.findings import blockers
    from skrules.report.formats import Report, render
    from skrules.rules.generation import examine_operator, needs_human, read_operator
    from skrules.validate.registry import rule_texts

    for path in (passed, failed):
        (root / path).unlink(missing_ok=True)
    operator = read_operator(root, target)
    examined = examine_operator(operator, validation)
    report = Report(
        root=root,
        rules=rule_texts(validation.rules),
        source="skrules",
        stage="validate",
        metadata={"label": str(target.label), "allowed": examined.allowed, "known": examined.known},
    )
    text = render(examined.findings, "json", report).encode()
    write_if_changed(root / depfile, write_depfile(passed, operator.read).encode())
    is_stopped = bool(blockers(examined.findings))
    write_atomically(root / (failed if is_stopped else passed), text)
    if is_stopped:
        raise needs_human(target.label.name, examined.findings)
