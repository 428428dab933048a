"""The process that runs a reference: reads a request, calls the user's functions, writes records and raw arrays.

In the folder of the request stand afterwards `loaded.json`, and of each case by its number `<n>.begun.json`, its arrays and
at last `<n>.json`: a record is there only when all it speaks of is. See `reference`, which asks for it and checks it.
"""

from __future__ import annotations

import contextlib
import faulthandler
import inspect
import json
import os
import sys
import time
import traceback
import types
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from skrules.compare import numbers
from skrules.compare.numbers import Array
from skrules.errors import Location, TestFailure, did_you_mean

_MODULE = "skrules_reference"


def main(request: str) -> NoReturn:
    """Do what the file `request` says, and end: threads and exit handlers of the user's code have nothing to add."""
    path = Path(request)
    with (path.parent / "trace.txt").open("wb") as trace:
        faulthandler.enable(trace)
        faulthandler.dump_traceback_later(max(0.01, json.loads(path.read_bytes())["deadline"] - time.time()), file=trace)
        status = 1
        try:
            serve(path)
            status = 0
        except BaseException:  # what is wrong with the user's objects rather than with the code
            traceback.print_exc(file=sys.__stderr__)
        finally:
            for stream in (sys.stdout, sys.stderr, sys.__stdout__):
                with contextlib.suppress(Exception):  # it may be the user's own
                    stream.flush()  # type: ignore[union-attr]
            os._exit(status)


def serve(request: Path) -> None:
    """Load the reference and run all cases of the request; what the user's code does wrong goes into the records."""
    folder = request.parent
    asked = json.loads(request.read_bytes())
    path = Path(asked["reference"])
    try:
        module = _load(path)
    except TestFailure as error:
        _write(folder / "loaded.json", {"error": _described(error)})
        return
    _write(folder / "loaded.json", {})
    for index, case in enumerate(asked["cases"]):
        try:
            record = _answer(module, path, case, folder, str(index))
        except TestFailure as error:
            record = {"error": _described(error)}
        _write(folder / f"{index}.json", record)


def _load(path: Path) -> types.ModuleType:
    module = types.ModuleType(_MODULE)
    module.__file__ = str(path)
    # Registered, since dataclasses and pickle look a class's module up by name.
    sys.modules[_MODULE] = module
    try:
        exec(compile(path.read_bytes(), str(path), "exec"), module.__dict__)
    except BaseException as error:
        raise _failure("cannot be loaded", error, path) from error
    return module


def _answer(module: types.ModuleType, path: Path, case: Mapping[str, Any], folder: Path, index: str) -> dict[str, Any]:
    """Run one case, leave its arrays in `folder` and return its record."""
    function = _function(module, case["functions"])
    name = getattr(function, "__name__", case["functions"][0])
    code = getattr(inspect.unwrap(function), "__code__", None)
    line = getattr(code, "co_firstlineno", 0)
    at = Location(file="", line=line)
    _write(folder / f"{index}.begun.json", {"line": line})
    available = {each: _value(given, folder) for each, given in case["arguments"].items()}
    arguments = _arguments(function, available, f"the reference {name}()", at)
    try:
        with np.errstate(all="ignore"):
            result = function(**arguments)
    except BaseException as error:
        raise _failure(f"fails in case '{case['name']}'", error, path) from error
    returned = _by_output(result, case["outputs"], f"the reference {name}()", at)
    try:
        arrays = _arrays(returned, case["outputs"], at)
    except TestFailure:
        raise
    except BaseException as error:
        raise _failure(f"returns no array in case '{case['name']}'", error, path) from error
    shapes = case["shapes"]
    files = {label: f"{index}.{number}" for number, label in enumerate(arrays)}
    return {
        "line": line,
        "arrays": {label: _leave(array, shapes[label], folder, files[label]) for label, array in arrays.items()},
    }


def _function(module: types.ModuleType, names: list[str]) -> Callable[..., Any]:
    for name in names:
        function = module.__dict__.get(name)
        if callable(function):
            chosen: Callable[..., Any] = function
            return chosen
    known = [name for name, value in module.__dict__.items() if isinstance(value, types.FunctionType)]
    message = f"there is no function '{names[0]}' for the entry of that name"
    raise TestFailure(message, at=Location(file=""), allowed=known, hint=did_you_mean(names[0], known))


def _value(given: Mapping[str, Any], folder: Path) -> Any:
    if "list" in given:
        return [_value(item, folder) for item in given["list"]]
    if "bytes" in given:
        return bytes.fromhex(given["bytes"])
    if "file" in given:
        dtype = numbers.numpy_dtype(given["dtype"])
        array = np.fromfile(folder / given["file"], dtype.newbyteorder("<"))
        return array.astype(dtype, copy=False).reshape(given["shape"])
    return given["value"]


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


def _by_output(result: Any, outputs: Mapping[str, Any], what: str, at: Location) -> Mapping[Any, Any]:
    if not isinstance(result, Mapping):
        if len(outputs) != 1:
            message = f"{what} must return a mapping with {', '.join(outputs)}, not {type(result).__name__}"
            raise TestFailure(message, at=at)
        return {next(iter(outputs)): result}
    for name in [*result, *outputs]:
        if name not in outputs or name not in result:
            verb = "returns no" if name in outputs else "returns the unknown"
            raise TestFailure(f"{what} {verb} '{name}'", at=at, allowed=outputs)
    return result


def _arrays(returned: Mapping[Any, Any], outputs: Mapping[str, Any], at: Location) -> dict[str, Array]:
    """Return the arrays by label; one that has a mask keeps it."""
    arrays = {}
    for name, output in outputs.items():
        if "label" in output:
            arrays[output["label"]] = _array(returned[name])
            continue
        items, labels = list(returned[name]), output["list"]
        if len(items) != len(labels):
            raise TestFailure(f"the reference's '{name}' has {len(items)} tensors, not {len(labels)}", at=at)
        arrays |= {label: _array(item) for label, item in zip(labels, items, strict=True)}
    return arrays


def _array(value: Any) -> Array:
    return np.ma.asarray(value) if isinstance(value, np.ma.MaskedArray) else np.asarray(value)


def _leave(array: Array, shape: list[int], folder: Path, name: str) -> dict[str, Any]:
    """Write an array, as its dtype has the bytes, and describe it. One of no use is described only."""
    described: dict[str, Any] = {"shape": list(array.shape), "dtype": str(array.dtype)}
    if described["shape"] == shape and numbers.number_dtype(described["dtype"]) is not None:
        (folder / f"{name}.data").write_bytes(np.ma.getdata(array).tobytes())
        described["data"] = f"{name}.data"
        if isinstance(array, np.ma.MaskedArray):
            (folder / f"{name}.mask").write_bytes(np.ma.getmaskarray(array).tobytes())
            described["mask"] = f"{name}.mask"
    return described


def _failure(what: str, error: BaseException, path: Path) -> TestFailure:
    """Return the failure of the user's code, at the last line of the user's file that the error came through."""
    text = f"{type(error).__name__}: {error}".rstrip(": ")
    line = column = 0
    if isinstance(error, SyntaxError) and error.filename == str(path):
        line, column = error.lineno or 0, error.offset or 0
    else:
        trace = error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == str(path):
                line = trace.tb_lineno
            trace = trace.tb_next
    return TestFailure(f"the reference {what}: {text}", at=Location(file="", line=line, column=column))


def _described(error: TestFailure) -> dict[str, Any]:
    line, column = (error.at.line, error.at.column) if error.at else (0, 0)
    allowed = [str(each) for each in error.allowed]
    return {"message": error.message, "line": line, "column": column, "allowed": allowed, "hint": error.hint}


def _write(path: Path, record: Mapping[str, Any]) -> None:
    """Write a record in one step: there is no half of one."""
    new = path.with_suffix(".new")
    new.write_text(json.dumps(record), encoding="utf-8")
    new.replace(path)
