"""Nodes for SCons: what it asks of them, and what it is answered."""

from __future__ import annotations

import SCons.Errors

from skrules.engine.action import Action
from skrules.scons.nodes import Failure, GoalNode, StepNode

ACTION = Action(mnemonic="ASC", label="//ops/a", inputs=("a.asc",), outputs=("a.o", "a.x"), run=lambda _root: None)


def node_of(calls, *, current=False):
    return StepNode(
        ACTION,
        is_current=lambda _node: current,
        carry_out=lambda node: calls.append(("build", str(node))),
        remove=lambda node: calls.append(("remove", str(node))) or True,
    )


def test_a_step_is_named_by_its_first_output_and_asks_the_engine():
    calls = []
    node = node_of(calls)
    assert str(node) == "a.o"
    assert node.has_builder()
    assert node.is_derived()
    assert not node.missing()
    assert not node.is_up_to_date()
    assert node_of(calls, current=True).is_up_to_date()
    node.build()
    assert node.remove()
    assert calls == [("build", "a.o"), ("remove", "a.o")]


def test_inputs_come_before():
    first, second = node_of([]), node_of([])
    second.add_inputs([first])
    assert second.children() == [first]
    goal = GoalNode("ops/a", [second])
    assert goal.children() == [second]
    assert str(goal) == "ops/a"
    assert not goal.remove()


def test_a_failure_keeps_its_status():
    failure = Failure(node=node_of([]), message="//ops/a: ASC failed", status=5)
    assert SCons.Errors.convert_to_BuildError(failure).exitstatus == 5
    failure.exitstatus = 2  # what SCons does to every error
    assert failure.exitstatus == 5
