# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Channels first or last: converts arrays between the two orders.

MACE keeps rank-4 activations channels last (NHWC). ONNX and Caffe put channels
first (NCHW), TensorFlow and TensorFlow Lite put them last.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mace.python.tools.config.vocabulary import DataFormat, Platform
from mace.python.tools.ir.shapes import NCHW_TO_NHWC, NHWC_TO_NCHW

Array = npt.NDArray[Any]


def framework_format(platform: Platform) -> DataFormat:
    """The position of a framework's channels."""
    if platform in (Platform.TENSORFLOW, Platform.TFLITE, Platform.KERAS):
        return DataFormat.NHWC
    return DataFormat.NCHW


def convert(array: Array, source: DataFormat, target: DataFormat) -> Array:
    """Moves the channels of a rank-4 array; other ranks and NONE stay."""
    if array.ndim != 4 or source is target or DataFormat.NONE in (source, target):
        return array
    perm = NHWC_TO_NCHW if target is DataFormat.NCHW else NCHW_TO_NHWC
    return np.ascontiguousarray(array.transpose(perm))


def class_axis(rank: int, data_format: DataFormat) -> int:
    """The dimension of the classes, for pixel accuracy."""
    return 1 if rank == 4 and data_format is DataFormat.NCHW else -1


def candidates(
    array: Array, axes: tuple[int, ...] | None, shape: tuple[int, ...]
) -> list[Array]:
    """The ways in which `array`, an intermediate tensor of MACE, can be converted to
    the framework's tensor of `shape`: one at most, as the model file says where the
    framework's axes are. Files of earlier releases do not; the shapes almost always
    show whether the channels were moved. If all three dimensions are equal, both ways
    are possible, and the caller uses the better one.

    Args:
        axes: of the framework's tensor, by axis of `array`; empty for the same ones,
            None if the file does not say.
    """
    if axes is not None:
        if len(axes) == array.ndim:
            array = np.ascontiguousarray(array.transpose(np.argsort(axes)))
        elif axes:
            return []
        same = _squeezed(array.shape) == _squeezed(shape)
        return [array.reshape(shape)] if same else []
    found = []
    if array.shape == shape:
        found.append(array)
    if array.ndim == 4 and len(shape) == 4:
        moved = array.transpose(NHWC_TO_NCHW)
        if moved.shape == shape:
            found.append(np.ascontiguousarray(moved))
    # Dimensions of 1 that a pass dropped or added.
    if not found and _squeezed(array.shape) == _squeezed(shape):
        found.append(array.reshape(shape))
    return found


def _squeezed(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(dim for dim in shape if dim != 1)
