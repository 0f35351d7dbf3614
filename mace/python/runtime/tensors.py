# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Inputs and outputs of a converted model, and arrays for them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mace.python.runtime.library import TYPES
from mace.python.tools.errors import MaceError, UsageError

Array = npt.NDArray[Any]

_FORMATS = ("NONE", "NHWC", "NCHW")


@dataclass(frozen=True)
class TensorInfo:
    """An input or output.

    Attributes:
        shape: -1 for a dimension that each run decides.
        dtype: of its elements.
        format: the order of its dimensions: ``"NHWC"``, ``"NCHW"``, or ``"NONE"`` if
            it is no image.
        largest_shape: of an input whose shape has limits; else empty.
        scales, zero_points: of integers that stand for ``scale * (q - zero_point)``,
            one for all or one for each channel; else empty.
        alias: another name for it; empty if it has none.
    """

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    format: str = "NONE"
    largest_shape: tuple[int, ...] = ()
    scales: tuple[float, ...] = field(default=(), repr=False)
    zero_points: tuple[int, ...] = field(default=(), repr=False)
    alias: str = field(default="", repr=False)

    @property
    def is_static(self) -> bool:
        """Whether the model says all of its shape."""
        return min(self.shape, default=0) >= 0

    @property
    def shape_text(self) -> str:
        """The shape for people: `?` for a dimension that each run decides."""
        return f"[{', '.join('?' if dim < 0 else str(dim) for dim in self.shape)}]"

    def accept(self, given: Any) -> Array:
        """An array that the library reads: the given one, or a converted copy.

        Raises:
            UsageError: a number of it cannot be one of this tensor's.
        """
        array = given if isinstance(given, np.ndarray) else self._as_array(given)
        if array.dtype != self.dtype:
            array = self._converted(array)
        if not array.flags.c_contiguous:
            array = np.ascontiguousarray(array)
        return array

    def _as_array(self, given: Any) -> Array:
        """An array of another library's tensor, or of a list of numbers."""
        if getattr(given, "requires_grad", False):
            given = given.detach()  # a run has no gradients
        try:
            return np.asarray(given)
        # Whatever the other library raises.
        except Exception as error:
            kind = f"{type(given).__module__}.{type(given).__name__}"
            own = getattr(given, "dtype", None)
            of_type = f" of {own}" if own else ""
            raise UsageError(
                f"input '{self.name}' is {self.dtype.name}, and NumPy makes no array "
                f"of the given {kind}{of_type} ({error}); convert it first, a tensor "
                "of PyTorch by tensor.float().cpu()"
            ) from error

    def _converted(self, array: Array) -> Array:
        own, kind = self.dtype, array.dtype.kind
        if own.kind == "f" and array.dtype.name in ("float32", "float16", "bfloat16"):
            return array.astype(array.dtype.newbyteorder("="), copy=False)
        if own.kind == "f" and kind in "fiub":
            return array.astype(own)
        if own.kind in "iu" and kind in "iub":
            limits = np.iinfo(own)
            if array.size == 0 or (
                limits.min <= int(array.min()) and int(array.max()) <= limits.max
            ):
                return array.astype(own)
            raise UsageError(
                f"input '{self.name}' is {own.name}: the array has {array.min()} to "
                f"{array.max()}, accepted: {limits.min} to {limits.max}"
            )
        if kind not in "biuf":
            raise UsageError(
                f"input '{self.name}' is {own.name}, but the array is "
                f"{array.dtype.name}, which holds no real numbers"
            )
        raise UsageError(
            f"input '{self.name}' is {own.name}, but the array is {array.dtype.name}; "
            f"convert it first: array.astype({own.name!r})"
        )

    def native_type(self, dtype: np.dtype[Any]) -> int:
        """The library's number of an array's type."""
        return TYPES[dtype.name]


@dataclass(frozen=True)
class GraphFile:
    """The graph of a converted model.

    Attributes:
        inputs: that a run takes, without states.
        runtime: what the model was converted for, ``"cpu"`` or ``"cpu+gpu"``.
        precision: as `data_type` of a deployment file; empty if the file has none.
        external_sources: files that the model named, relative to its folder, with
            their SHA-256.
    """

    content: bytes
    name: str
    inputs: tuple[TensorInfo, ...]
    outputs: tuple[TensorInfo, ...]
    runtime: str
    precision: str
    external_sources: tuple[tuple[str, str], ...]


def is_graph(start: bytes) -> bool:
    """Whether a file that begins like this may be a converted model: its first field is
    the version of the format. A graph of TensorFlow begins with a node.
    """
    return start[:1] == b"\x08"


def read_graph(path: Path) -> GraphFile:
    """Reads what a run needs to know of a model.

    Raises:
        MaceError: the file is missing, or no converted model.
    """
    # Late: programs may import what they don't use.
    from google.protobuf.message import DecodeError

    from mace.python.tools.proto import load_proto

    proto = load_proto("mace/proto/mace.proto")
    try:
        content = path.read_bytes()
        message = proto.Model.FromString(content)
    except OSError as error:
        reason = error.strerror or str(error)
        raise MaceError(f"{path} cannot be read: {reason}") from error
    except DecodeError as error:
        raise MaceError(f"{path} is no MACE model: {error}") from error
    if not message.inputs or not message.outputs:
        raise MaceError(f"{path} is no MACE model: it has no inputs or no outputs")
    names = {
        number: name[len("DT_") :].lower()
        for number, name in proto.enum_names("DataType").items()
    }
    states = {state.input for state in message.states}
    values = [value for value in message.inputs if value.name not in states]
    return GraphFile(
        content,
        message.name,
        tuple(_info(value, names) for value in values),
        tuple(_info(value, names) for value in message.outputs),
        message.hints.runtime or "cpu",
        message.hints.data_type,
        tuple((file.path, file.sha256) for file in message.external_sources),
    )


def _info(value: Any, names: dict[int, str]) -> TensorInfo:
    type_name = names.get(value.data_type, "")
    if type_name == "bfloat16":
        # NumPy has none; the library converts at the border of the model.
        type_name = "float32"
    if type_name not in TYPES:
        raise MaceError(
            f"'{value.name}' has elements of {type_name or 'an unknown type'}, which "
            "cannot be passed to a model"
        )
    scales = value.quantization.scales
    return TensorInfo(
        value.name,
        tuple(value.shape),
        np.dtype(type_name),
        _FORMATS[value.data_format] if value.data_format < len(_FORMATS) else "NONE",
        tuple(value.largest_shape),
        tuple(scales),
        tuple(value.quantization.zero_points) or (0,) * len(scales),
        value.alias,
    )


def elements(shape: Sequence[int]) -> int:
    """The number of elements of a shape."""
    return math.prod(shape)
