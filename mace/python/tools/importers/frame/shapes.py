# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Compares the shapes of the deployment file with the model's."""

from __future__ import annotations

from pathlib import Path

from mace.python.tools.importers.frame.errors import ImportModelError
from mace.python.tools.importers.frame.request import InputSpec
from mace.python.tools.ir.graph import DataFormat
from mace.python.tools.ir.shapes import (
    NCHW_TO_NHWC,
    NHWC_TO_NCHW,
    Shape,
    compatible,
    format_shape,
    permute,
)


def check_declared_shape(
    spec: InputSpec, shape: tuple[int, ...], own: tuple[int, ...] | None
) -> None:
    """Checks the shape of an input, of a framework that puts channels last.

    Args:
        spec: as the deployment file describes it.
        shape: its shape in the framework's order.
        own: the model's shape, with -1 for unknown dimensions; None: not known.

    Raises:
        ImportModelError: they contradict each other.
    """
    if own is None:
        return
    fits = len(own) == len(shape) and all(
        a == b or a < 0 or b < 0 for a, b in zip(own, shape)
    )
    if fits:
        return
    hint = ""
    if len(own) == len(shape) == 4:
        turned = tuple(shape[axis] for axis in NCHW_TO_NHWC)
        if all(a == b or a < 0 or b < 0 for a, b in zip(own, turned)):
            hint = "; is it NCHW? then say input_data_formats: NCHW"
    raise contradiction(spec, own, hint)


def contradiction(spec: InputSpec, own: tuple[int, ...], hint: str) -> ImportModelError:
    """The error for a shape that is not the model's: each as its file has it."""
    return ImportModelError(
        f"input_shapes: {spec.name} is {list(own)} in the model, which "
        f"{list(spec.shape)}{_in_format(spec)} of the deployment file "
        f"contradicts{hint}"
    )


def shape_conflict(
    path: Path, spec: InputSpec, shape: Shape, own: Shape | None
) -> ImportModelError:
    """The error for an input of a framework that puts channels first.

    Args:
        path: of the model.
        spec: as the deployment file describes it.
        shape: its shape in the framework's order.
        own: the model's shape; None: not known.
    """
    said = format_shape(tuple(spec.shape))
    message = (
        f"input_shapes: {spec.name!r} is given as {said}"
        f"{_in_format(spec)}, but {path} has {format_shape(own)}"
    )
    if own is None or len(own) != 4 or len(spec.shape) != 4:
        return ImportModelError(message)
    verbatim = tuple(spec.shape)
    turned = permute(verbatim, NHWC_TO_NCHW)
    if spec.data_format is DataFormat.NHWC and compatible(verbatim, own):
        n, c, h, w = spec.shape
        message += (
            f"; give {format_shape((n, h, w, c))}, or say input_data_formats: NCHW "
            "(NONE if it is no image)"
        )
    elif spec.data_format is not DataFormat.NHWC and compatible(turned, own):
        message += f"; give {format_shape(turned)}, or say input_data_formats: NHWC"
    return ImportModelError(message)


def _in_format(spec: InputSpec) -> str:
    if len(spec.shape) != 4 or spec.data_format is DataFormat.NONE:
        return ""
    return f" in the order {spec.data_format.value}"
