"""What is measured: for each scenario what is done before a run, what is run, and which actions that must carry out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tests.bench.actions import expected
from tests.bench.workspace import BenchWorkspace

Edit = Callable[[BenchWorkspace, int], None]
Wanted = Callable[[BenchWorkspace], Counter[str]]


def _no_edit(_workspace: BenchWorkspace, _edition: int) -> None:
    pass


def _nothing(_workspace: BenchWorkspace) -> Counter[str]:
    return expected()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """`edit` is done before each run, with another edition each time; `options` are those of skrules alone.

    `compiles` counts the compile commands that every tool must run. `budget` has the most CPU seconds by number of
    operators, of the whole run or, with `beyond_compile`, of what it takes beyond the compile commands themselves and, with
    `beyond_codegen`, beyond reading, checking and adapting kernels too.
    """

    name: str
    edit: Edit = _no_edit
    wanted: Wanted = _nothing
    options: tuple[str, ...] = ()
    cold: bool = False
    label: bool = False
    peers: bool = True
    beyond_compile: bool = False
    beyond_codegen: bool = False
    budget: Mapping[int, float] = field(default_factory=dict)


def _edit_kernel(workspace: BenchWorkspace, edition: int) -> None:
    workspace.edit_kernel(workspace.sample, edition)


def _edit_contract(workspace: BenchWorkspace, edition: int) -> None:
    workspace.edit_contract(workspace.sample, edition)


def _edit_shared(workspace: BenchWorkspace, edition: int) -> None:
    workspace.edit_shared(edition)


def _everything(workspace: BenchWorkspace) -> Counter[str]:
    return expected(workspace.operators, workspace.operators)


def _sample(workspace: BenchWorkspace) -> Counter[str]:
    return expected([workspace.sample], [workspace.sample])


def _sample_table(workspace: BenchWorkspace) -> Counter[str]:
    return expected([workspace.sample])


def _sharing(workspace: BenchWorkspace) -> Counter[str]:
    return expected(workspace.sharing, workspace.sharing)


# In this order: each starts from what the one before has left.
BUILDS = (
    Scenario(name="cold", cold=True, wanted=_everything, beyond_compile=True, budget={100: 2.0, 1000: 10.0}),
    Scenario(name="null", budget={100: 0.3, 1000: 0.5}),
    Scenario(name="null, no fast path", options=("--no-fast-path",), budget={100: 0.8, 1000: 5.0}),
    Scenario(
        name="kernel edit",
        edit=_edit_kernel,
        wanted=_sample,
        beyond_compile=True,
        beyond_codegen=True,
        budget={100: 0.4, 1000: 1.5},
    ),
    Scenario(name="contract edit", edit=_edit_contract, wanted=_sample_table, beyond_compile=True, beyond_codegen=True),
    Scenario(name="shared header edit", edit=_edit_shared, wanted=_sharing, beyond_compile=True, beyond_codegen=True),
    Scenario(name="label", label=True, budget={100: 0.3, 1000: 0.4}),
    Scenario(name="label, kernel edit", label=True, edit=_edit_kernel, wanted=_sample, beyond_compile=True, beyond_codegen=True),
    # Nothing may be left to do after all of these.
    Scenario(name="null after edits", peers=False, budget={100: 0.3, 1000: 0.5}),
)
QUERY = "query rdeps"
QUERY_BUDGET = {100: 0.3, 1000: 0.6}
MEMORY_BUDGET = {100: 50e6, 1000: 120e6}
NAMES = (*(scenario.name for scenario in BUILDS), QUERY)
