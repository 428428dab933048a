"""The operators as torch sees them.

`torch.ops.ascendc_ops.<entry>(...)` takes what the kernel takes, outputs too, and returns the tensor that the contract
names. It is composed of `<entry>_`, which writes and returns nothing: that is what compilers keep in their graphs, since
an operator that returns one of its arguments cannot be made free of side effects.
"""

import warnings

import torch
from torch import library

NAMESPACE = "ascendc_ops"
_registered = {}  # package -> its library, which ends when it is dropped


def register(package, entries, function_of):
    """Define the operators of a package; a second call does nothing. `function_of(entry)` returns its native function.

    Raises ImportError when another package has defined one of them, and then none is defined.
    """
    if package in _registered:
        return
    alone = {entry: table for entry, table in entries.items() if len(table["operators"]) == 1}
    for entry in entries.keys() - alone.keys():
        owners = " and ".join(entries[entry]["operators"])
        warnings.warn(f"torch.ops.{NAMESPACE}.{entry} is not defined: {owners} have an entry of that name each", stacklevel=2)
    launches = launch_names(alone)
    taken = [name for name in (*alone, *launches.values()) if hasattr(getattr(torch.ops, NAMESPACE), name)]
    if taken:
        raise ImportError(
            f"{package} cannot define torch.ops.{NAMESPACE}.{sorted(taken)[0]}: another package has defined it",
            name=package,
        )
    ops = _registered[package] = library.Library(NAMESPACE, "FRAGMENT")
    for entry, table in alone.items():
        launch = launches[entry]
        ops.define(launch + table["launch_schema"])
        launched = _launched(entry, function_of)
        ops.impl(launch, launched, "PrivateUse1")
        # Calls without tensors, and those with tensors of another device: the binding says, by names, what is wrong with them.
        ops.impl(launch, launched, "CompositeExplicitAutograd")
        ops.impl(launch, _traced(entry, table), "Meta")
        ops.define(entry + table["schema"])
        ops.impl(entry, _composed(launch, entry, table), "CompositeImplicitAutograd")


def launch_names(entries):
    """Return the name of the launch of each entry: with a `_` more, or as many as no other entry has."""
    names = {}
    for entry in sorted(entries):
        name = entry + "_"
        while name in entries or name in names.values():
            name += "_"
        names[entry] = name
    return names


def _composed(launch, entry, table):
    launch = getattr(getattr(torch.ops, NAMESPACE), launch).default
    returned = table["returned"]
    rows = _rows_of_tensors(table)

    def call(*args):
        # The transforms of torch.func take from tensors what they follow before a launch is reached.
        for place, row in rows:
            for item, tensor in enumerate(args[place] if row["kind"] == "tensor_list" else (args[place],)):
                derivative = _derivative_of(tensor)
                if derivative:
                    raise RuntimeError(_title(entry, table) + _name(row, item) + derivative)
        launch(*args)
        return None if returned is None else args[returned]

    return call


def _launched(entry, function_of):
    function = None

    def launch(*args):
        nonlocal function
        if function is None:
            function = function_of(entry)
        function(*args)

    return launch


def _traced(entry, table):
    """What is known before there is memory: shapes do not change, and a call that would be refused is refused here."""
    title = _title(entry, table)
    rows = _rows_of_tensors(table)

    def trace(*args):
        first = None
        for place, row in rows:
            for item, tensor in enumerate(args[place] if row["kind"] == "tensor_list" else (args[place],)):
                name = title + _name(row, item)
                _check(name, row, tensor)
                if tensor is None:
                    continue
                first = first or (name.removeprefix(title), tensor.device)
                # One tensor without memory brings a call here, wherever the others are.
                if tensor.device != first[1]:
                    raise ValueError(f"{name} is on {tensor.device}, but {first[0]} is on {first[1]}")

    return trace


def _rows_of_tensors(table):
    return [(place, row) for place, row in enumerate(table["parameters"]) if row["kind"] in ("tensor", "tensor_list")]


def _title(entry, table):
    return "{}: run_{}(): ".format(table["operator"], entry)


def _name(row, item):
    return "'{}{}' ({})".format(row["name"], f"[{item}]" if row["kind"] == "tensor_list" else "", row["c_type"])


def _derivative_of(tensor):
    """Return what is wrong with a tensor that derivatives are taken of, or "": they would stop here, and be zero."""
    if tensor is None:
        return ""
    if tensor.requires_grad and torch.is_grad_enabled():
        return " requires grad, and there is no backward; call it under torch.no_grad()"
    forward_ad = torch.autograd.forward_ad
    if forward_ad._current_level >= 0 and forward_ad.unpack_dual(tensor).tangent is not None:
        return " has a tangent, and there is no forward derivative; call it with tensors that have none"
    return ""


def _check(name, row, tensor):
    if tensor is None:
        if not row["nullable"]:
            raise TypeError(f"{name} takes a torch.Tensor, got None (NoneType)")
        return
    derivative = _derivative_of(tensor)
    if derivative:
        raise RuntimeError(name + derivative)
    dtype = str(tensor.dtype).removeprefix("torch.")
    if row["dtype"] and dtype != row["dtype"]:
        raise TypeError("{} must be {}, got {}".format(name, row["dtype"], dtype))
    if row["rank"] is not None and tensor.dim() != row["rank"]:
        raise ValueError(
            "{} must have rank {}, got rank {}, shape {}".format(name, row["rank"], tensor.dim(), list(tensor.shape))
        )
