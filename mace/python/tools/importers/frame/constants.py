# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Inputs that are the same in every run, as a sample rate: the converted model has
constants in their place. Conditions that depend on nothing else are then decided while
the model is imported.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from mace.python.tools.importers.frame.description import (
    ModelDescription,
    TensorDescription,
)
from mace.python.tools.importers.frame.errors import ImportModelError
from mace.python.tools.importers.frame.request import (
    ImportRequest,
    InputConstant,
    InputSpec,
)
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import DataFormat
from mace.python.tools.ir.shapes import format_shape
from mace.python.tools.wording import shown


def with_constants(
    request: ImportRequest, about: ModelDescription | None
) -> ImportRequest:
    """The request with its constants as the model has these inputs, and with inputs for
    them, so that the importer finds the tensors that they stand for.

    Raises:
        ImportModelError: the model has no such inputs; tells all of them.
    """
    names = [spec.name for spec in request.inputs]
    fitted = fit_constants(request.constants, about, request.model_path, names)
    specs = (
        InputSpec(
            name, item.array.shape, DataType.of(item.array.dtype), DataFormat.NONE
        )
        for name, item in fitted.items()
    )
    return replace(request, inputs=(*request.inputs, *specs), constants=fitted)


def fit_constants(
    constants: Mapping[str, InputConstant],
    about: ModelDescription | None,
    model: Path | str,
    others: Collection[str] = (),
) -> dict[str, InputConstant]:
    """The constants in the types and shapes of the inputs that they stand for.

    Args:
        about: None: the model's files do not say of their inputs (TorchScript); what
            cannot be is then found when they are imported.
        model: the file, for messages.
        others: inputs that the application passes.

    Raises:
        ImportModelError: the model has no such inputs; tells all of them.
    """
    own = map(TensorDescription, constants) if about is None else about.inputs
    inputs = {tensor.name: tensor for tensor in own}
    outputs = {tensor.name for tensor in about.outputs} if about else set()
    fitted: dict[str, InputConstant] = {}
    problems: list[str] = []
    for name, item in constants.items():
        found: Array | str
        if name in others:
            found = "is in input_tensors as well; name it in one of both"
        elif name in inputs:
            found = _fit(item.array, inputs[name])
        elif name in outputs:
            found = f"is an output of {model}, not an input"
        else:
            there = ", ".join(inputs) or "none"
            found = (
                f"is no input of {model} (a wrong name, or a tensor inside of it); its "
                f"inputs: {there}"
            )
        if isinstance(found, str):
            problems.append(f"{item.key}: {shown(name)} {found}")
        else:
            fitted[name] = replace(item, array=found)
    if about and not (problems or others) and set(inputs) <= set(constants):
        key = next(iter(constants.values())).key
        problems.append(
            f"{key}: every input of {model} would be a constant; one at least must "
            "come from the application"
        )
    if problems:
        raise ImportModelError("\n".join(problems))
    return fitted


def _fit(array: Array, tensor: TensorDescription) -> Array | str:
    """The array as an input, or why it cannot be one. What the file does not say of the
    input is as the array has it.
    """
    typed = _as_type(array, tensor.dtype)
    shaped = typed if isinstance(typed, str) else _as_shape(typed, tensor)
    if not isinstance(shaped, str):
        return shaped
    dtype = "" if tensor.dtype is None else f"{tensor.dtype.value} "
    shape = "" if tensor.shape is None else format_shape(tensor.shape)
    return f"is {shaped}, and the input is {dtype}{shape}".rstrip()


def _as_type(array: Array, dtype: DataType | None) -> Array | str:
    if dtype is None:
        wanted = np.dtype("float32") if array.dtype.kind == "f" else array.dtype
    else:
        wanted = dtype.numpy
    if wanted.kind == "f":
        if array.dtype.kind not in "fiu":
            return _found(array)
        with np.errstate(over="ignore"):
            typed = array.astype(wanted)
        lost = np.isinf(typed) & np.isfinite(array)
        return "beyond its largest number" if lost.any() else typed
    if wanted.kind == "b":
        is_truth = array.dtype.kind == "b" or (
            array.dtype.kind in "iu" and bool(np.isin(array, (0, 1)).all())
        )
        return array.astype(wanted) if is_truth else _found(array)
    if array.dtype.kind not in "iu":
        return _found(array)
    bounds = np.iinfo(str(wanted))
    fits = not array.size or (bounds.min <= array.min() and array.max() <= bounds.max)
    return array.astype(wanted) if fits else _found(array)


def _found(array: Array) -> str:
    """What an array is, for messages: its only element or its type."""
    if array.size == 1:
        return str(array.reshape(-1)[0])
    return f"of type {array.dtype}"


def _as_shape(array: Array, tensor: TensorDescription) -> Array | str:
    """An open dimension is as long as the array's; a number is any tensor of one."""
    own = tensor.shape
    if own is None:
        return array
    if array.ndim == 0 and all(dim == 1 or not isinstance(dim, int) for dim in own):
        return array.reshape((1,) * len(own))
    fits = array.ndim == len(own) and all(
        not isinstance(dim, int) or dim == length
        for dim, length in zip(own, array.shape)
    )
    return array if fits else f"of shape {format_shape(array.shape)}"
