# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Compares the shapes of the deployment file with the model's."""

from __future__ import annotations

from mace.python.tools.importers.base import ImportModelError, InputSpec
from mace.python.tools.ir.layout import NCHW_TO_NHWC


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
    raise ImportModelError(
        f"input_shapes: {spec.name} is {list(own)} in the model, which "
        f"{list(shape)} of the deployment file contradicts{hint}"
    )
