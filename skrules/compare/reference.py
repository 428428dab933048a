"""The operator's own reference: `reference.py` beside its cases, with one function an entry.

    def add_custom(x, y):
        return x + y

A function takes, by name, those inputs, in-place tensors, lists of them, scalars and structs (as bytes) it wants, and returns
the output, or a mapping from output to array when there are several. An output list is a list of arrays. Elements that are
padding, which the kernel may leave as they are, are masked: `numpy.ma.masked_array(values, mask=...)`.
"""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from skrules.compare import numbers
from skrules.compare.case import Case, label_of
from skrules.compare.numbers import Array
from skrules.compare.plan import outputs_of
from skrules.compare.subject import Subject
from skrules.contract.model import Role
from skrules.errors import Location, TestFailure, did_you_mean


class Reference:
    """A loaded reference file. Its module is its own: nothing of it stays in `sys.modules` or on disk."""

    def __init__(self, path: Path, name: str = "") -> None:
        """Load `path`; messages call it `name`. Raises TestFailure with the place when its code fails."""
        self._path = path
        self._name = name or path.name
        module = f"skrules_reference_{hashlib.sha256(str(path).encode()).hexdigest()[:12]}"
        self._module = types.ModuleType(module)
        self._module.__file__ = str(path)
        with self._running("cannot be loaded"):
            code = compile(path.read_bytes(), str(path), "exec")
            exec(code, self._module.__dict__)

    @contextlib.contextmanager
    def _running(self, what: str) -> Iterator[None]:
        # Registered while its code runs, since dataclasses and pickle look a class's module up by name.
        sys.modules[self._module.__name__] = self._module
        try:
            yield
        except (KeyboardInterrupt, TestFailure):
            raise
        except BaseException as error:
            text = f"{type(error).__name__}: {error}".rstrip(": ")
            raise TestFailure(f"the reference {what}: {text}", at=self._place(error)) from error
        finally:
            sys.modules.pop(self._module.__name__, None)

    def _place(self, error: BaseException) -> Location:
        """The last line of the user's file that the error came through."""
        if isinstance(error, SyntaxError) and error.filename == str(self._path):
            return Location(file=self._name, line=error.lineno or 0, column=error.offset or 0)
        line = 0
        trace = error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == str(self._path):
                line = trace.tb_lineno
            trace = trace.tb_next
        return Location(file=self._name, line=line)

    def expected(self, case: Case, entry: Subject, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """Return the expected output arrays of a case by label, in the dtype that the reference computed; masked where masked.

        `inputs` has the initial content of input and in-place tensors by label. Raises TestFailure: no function for the
        entry, its code fails, it asks for what the kernel does not have, or it returns other outputs or shapes than the
        case has.
        """
        function = self._function(entry)
        code = getattr(inspect.unwrap(function), "__code__", None)
        at = Location(file=self._name, line=getattr(code, "co_firstlineno", 0))
        tensors = dict(outputs_of(case, entry))
        # By parameter: a list is one output, even one without items.
        outputs = [
            each.name
            for each in entry.arguments
            if each.name in tensors or (each.name in case.lists and Role.OUTPUT in each.roles)
        ]
        arguments = _arguments(function, _available(case, entry, inputs), f"the reference {function.__name__}()", at)
        with self._running(f"fails in case '{case.name}'"), np.errstate(all="ignore"):
            result = function(**arguments)
        if not isinstance(result, Mapping):
            if len(outputs) != 1:
                raise TestFailure(
                    f"the reference {function.__name__}() must return a mapping with {', '.join(outputs)}, "
                    f"not {type(result).__name__}",
                    at=at,
                )
            result = {outputs[0]: result}
        for name in [*result, *outputs]:
            if name not in outputs or name not in result:
                what = "returns no" if name in outputs else "returns the unknown"
                raise TestFailure(f"the reference {function.__name__}() {what} '{name}'", at=at, allowed=outputs)
        arrays: dict[str, Array] = {}
        with self._running(f"returns no array in case '{case.name}'"):
            for name in outputs:
                if name in case.lists:
                    items, wanted = list(result[name]), len(case.lists[name])
                    if len(items) != wanted:
                        raise TestFailure(f"the reference's '{name}' has {len(items)} tensors, not {wanted}", at=at)
                    arrays |= {label_of(name, index): _array(item) for index, item in enumerate(items)}
                else:
                    arrays[name] = _array(result[name])
        for name, tensor in tensors.items():
            _check(arrays[name], name, tensor.shape, tensor.dtype, at)
        return arrays

    def _function(self, entry: Subject) -> Callable[..., Any]:
        for name in (entry.name, entry.kernel_name):
            function = self._module.__dict__.get(name)
            if callable(function):
                chosen: Callable[..., Any] = function
                return chosen
        known = [name for name, value in self._module.__dict__.items() if isinstance(value, types.FunctionType)]
        message = f"there is no function '{entry.name}' for the entry of that name"
        raise TestFailure(message, at=Location(file=self._name), allowed=known, hint=did_you_mean(entry.name, known))


def _available(case: Case, entry: Subject, inputs: Mapping[str, Array]) -> dict[str, Any]:
    """Everything a reference may ask for, tensors as copies that it may change."""
    available: dict[str, Any] = {**case.scalars, **case.structs}
    for parameter in entry.arguments:
        if Role.INPUT not in parameter.roles:
            continue
        if parameter.name in case.tensors:
            array = inputs.get(parameter.name)
            available[parameter.name] = None if array is None else array.copy()
        elif parameter.name in case.lists:
            items = range(len(case.lists[parameter.name]))
            available[parameter.name] = [inputs[label_of(parameter.name, index)].copy() for index in items]
    return available


def _arguments(function: Callable[..., Any], available: Mapping[str, Any], what: str, at: Location) -> dict[str, Any]:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        raise TestFailure(f"{what} has no signature", at=at) from None
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return dict(available)
    chosen = {}
    for parameter in parameters:
        if parameter.kind is parameter.VAR_POSITIONAL:
            continue
        if parameter.kind is parameter.POSITIONAL_ONLY:
            raise TestFailure(f"{what} takes '{parameter.name}' by position; arguments come by name", at=at)
        if parameter.name in available:
            chosen[parameter.name] = available[parameter.name]
        elif parameter.default is parameter.empty:
            hint = did_you_mean(parameter.name, available)
            raise TestFailure(f"{what} asks for '{parameter.name}', which is no input", at=at, allowed=available, hint=hint)
    return chosen


def _array(value: Any) -> Array:
    """Return a value as an array, which keeps its mask if it has one."""
    return np.ma.asarray(value) if isinstance(value, np.ma.MaskedArray) else np.asarray(value)


def _check(array: Array, name: str, shape: tuple[int, ...], dtype: str, at: Location) -> None:
    if array.shape != shape:
        raise TestFailure(f"the reference's '{name}' has the shape {list(array.shape)}, not {list(shape)}", at=at)
    if array.dtype.kind not in "biuf" and str(array.dtype) not in numbers.COMPARABLE:
        raise TestFailure(f"the reference's '{name}' is an array of {array.dtype}", at=at)
    array = array.compressed() if isinstance(array, np.ma.MaskedArray) else array
    if numbers.is_float(dtype) or dtype == "bool" or not array.size:
        return
    low, high = numbers.limits(dtype)
    values = array if array.dtype.kind in "biu" else array.astype(np.float64)
    if values.dtype.kind == "f" and not bool(np.all(np.isfinite(values) & (np.trunc(values) == values))):
        raise TestFailure(f"the reference's '{name}' has fractions, and the output is {dtype}", at=at)
    if int(values.min()) < low or int(values.max()) > high:
        raise TestFailure(f"the reference's '{name}' goes beyond {dtype}: {values.min()} to {values.max()}", at=at)
