# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""A layer, as passed to its handler, and the table in which handlers register."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mace.python.tools.importers.caffe.caffemodel import Blob
from mace.python.tools.importers.caffe.net import NetLayer
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.frame.handlers import HandlerTable
from mace.python.tools.importers.frame.known import KnownShapes
from mace.python.tools.ir.builder import GraphBuilder, narrow
from mace.python.tools.ir.constant import Constant
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.shapes import Shape

NCHW = {"data_format": "NCHW"}
NO_WEIGHTS = "the caffemodel has no weights for this layer"


class Layer(KnownShapes):
    """A layer under conversion.

    Attributes:
        proto: its LayerParameter.
        builder: where its operators go.
        bottoms: its inputs.
        tops: the names that its outputs get; None for versions of a blob that a
            later layer replaces.
        results: its outputs, filled by `set_top` and `emit`.
    """

    def __init__(
        self,
        source: NetLayer,
        builder: GraphBuilder,
        bottoms: Sequence[Value],
        tops: Sequence[str | None],
        blobs: Sequence[Blob],
    ) -> None:
        self.proto = source.proto
        self.name = source.name
        self.type = source.type
        self.builder = builder
        self.bottoms = tuple(bottoms)
        self.tops = tuple(tops)
        self.results: dict[int, Value] = {}
        self._blobs = tuple(blobs)

    # Inputs and weights.

    def bottom(self, index: int = 0) -> Value:
        """An input that must be there."""
        if index >= len(self.bottoms):
            raise UnsupportedNodeError(
                f"has {len(self.bottoms)} bottoms; {index + 1} are needed"
            )
        return self.bottoms[index]

    def image(self, value: Value | None = None) -> Shape:
        """The shape of an image, by default of the first bottom: [N, C, H, W]."""
        dims = self.shape(self.bottom() if value is None else value)
        if len(dims) != 4:
            raise UnsupportedNodeError(
                f"an input of {len(dims)} dimensions; images [N, C, H, W] are supported"
            )
        return dims

    def static_image(self, value: Value) -> tuple[int, ...]:
        """The same of a value whose shape must be known."""
        dims = self.static_shape(value)
        self.image(value)
        return dims

    def channels(self) -> int:
        """The length of the second axis of the first bottom."""
        dims = self.shape(self.bottom())
        if len(dims) < 2 or not isinstance(dims[1], int):
            raise UnsupportedNodeError("the number of channels is not known")
        return dims[1]

    def axis(self, axis: int, rank: int) -> int:
        """An axis, counted from the front."""
        if not -rank <= axis < rank:
            raise UnsupportedNodeError(f"axis {axis} is outside a rank of {rank}")
        return axis + rank if axis < 0 else axis

    def blob(self, index: int, shape: Sequence[int], what: str) -> Constant:
        """Learned numbers, in the shape that the layer asks for.

        Raises:
            UnsupportedNodeError: the caffemodel has other ones.
        """
        blob = self._blob(index, what)
        if not _fits(blob, shape):
            raise UnsupportedNodeError(
                f"{what} must have the shape {list(shape)}, but the caffemodel has "
                f"{list(blob.shape)}",
                "give the prototxt and the caffemodel of one model",
            )
        wanted = tuple(shape)
        return blob.flat.moved(lambda array: array.reshape(wanted), wanted)

    def learned(self, index: int, shape: Sequence[int], what: str) -> Value:
        """The same as a value."""
        return self.lazy(self.blob(index, shape, what), what)

    def _blob(self, index: int, what: str) -> Blob:
        if not self._blobs:
            raise UnsupportedNodeError(NO_WEIGHTS)
        if index >= len(self._blobs):
            raise UnsupportedNodeError(
                f"the caffemodel has {len(self._blobs)} blobs for this layer; the "
                f"{what} is missing"
            )
        blob = self._blobs[index]
        if blob.problem:
            raise UnsupportedNodeError(f"{what}: {blob.problem}")
        return blob

    # Outputs.

    def make(self, op_type: str, inputs: Sequence[Value | None], **attrs: Any) -> Value:
        """Adds a helper operator that Caffe does not have."""
        name = f"{self.name}/{op_type}"
        return self.builder.one(op_type, inputs, None, attrs, name)

    def make_all(
        self, op_type: str, inputs: Sequence[Value | None], count: int, **attrs: Any
    ) -> list[Value]:
        """Adds a helper operator with several outputs."""
        unique = self.builder.graph.unique_name
        names = [unique(f"{self.name}/{op_type}/{i}") for i in range(count)]
        return self.builder.op(op_type, inputs, names, attrs, source=False)

    def emit(self, op_type: str, inputs: Sequence[Value | None], **attrs: Any) -> Value:
        """Adds the operator that makes the first top."""
        if len(self.tops) != 1:
            raise UnsupportedNodeError(f"has {len(self.tops)} tops; 1 is supported")
        self.emit_all(op_type, inputs, **attrs)
        return self.results[0]

    def emit_all(
        self, op_type: str, inputs: Sequence[Value | None], **attrs: Any
    ) -> None:
        """Adds the operator that makes all tops."""
        names = [self._free_name(top) for top in self.tops]
        values = self.builder.op(op_type, inputs, names, attrs, self.name)
        for top, value in zip(self.tops, values):
            value.source = top
        self.results.update(enumerate(values))

    def _free_name(self, top: str | None) -> str:
        """The name of a value of the graph that is to be a top."""
        graph = self.builder.graph
        if top is None:
            return graph.unique_name(self.name)
        taken = graph.values.get(top)
        if taken is None:
            return top
        if taken in graph.inputs:  # and a layer works in place on it
            return graph.unique_name(self.name)
        graph.rename_value(taken, graph.unique_name(f"{top}/inner"))
        return top

    def set_top(self, index: int, value: Value) -> None:
        """Makes a value that exists a top of the layer."""
        top = self.tops[index]
        if top is None:
            self.results[index] = value
            return
        alias = self.builder.alias(value, self._free_name(top))
        alias.source = top
        self.results[index] = alias

    # Helpers.

    def eltwise(self, mode: str, *operands: Any) -> Value:
        """Helper arithmetic on values and numbers."""
        return self.make("Eltwise", self._values(operands), mode=mode)

    def emit_eltwise(self, mode: str, *operands: Any) -> None:
        """Arithmetic that makes the first top."""
        self.emit("Eltwise", self._values(operands), mode=mode)

    def emit_chain(self, x: Value, steps: Sequence[tuple[Any, ...]]) -> None:
        """Arithmetic one step after the other: a mode and what `x` is combined with."""
        for mode, *more in steps[:-1]:
            x = self.eltwise(mode, x, *more)
        for mode, *more in steps[-1:]:
            self.emit_eltwise(mode, x, *more)
        if not steps:
            self.set_top(0, x)

    def _values(self, operands: Sequence[Any]) -> list[Value]:
        """Operands of arithmetic: numbers have the type of the first value."""
        dtype = next(item.dtype for item in operands if isinstance(item, Value))
        return [
            item if isinstance(item, Value) else self.literal(item, dtype)
            for item in operands
        ]

    def as_integers(self, value: Value) -> Value:
        """Positions, which layers of Caffe write as floats."""
        if not value.dtype.is_float:
            return value
        return self.make("Cast", [value], to="INT32")

    def part(
        self, value: Value, axis: int, begin: int, end: int, shrink: bool = False
    ) -> Value:
        """A slice along an axis."""
        return self.make(
            "StridedSlice",
            [value],
            axes=[axis],
            begins=[begin],
            ends=[end],
            strides=[1],
            shrink_axes=[axis] if shrink else [],
        )

    def literal(self, data: Any, dtype: DataType = DataType.FLOAT32) -> Value:
        """A helper constant."""
        array = narrow(np.asarray(data, dtype.numpy))
        return self.builder.graph.add_constant(f"{self.name}/constant", array)

    def lazy(self, constant: Constant, suffix: str) -> Value:
        """A constant that is computed when it is needed."""
        return self.builder.graph.add_constant(f"{self.name}/{suffix}", constant)

    def transposed(self, constant: Constant, perm: Sequence[int], suffix: str) -> Value:
        """The same with axis perm[i] as axis i."""
        name = f"{self.name}/{suffix}"
        return self.builder.transposed_constant(name, constant, perm)


def _fits(blob: Blob, shape: Sequence[int]) -> bool:
    if blob.flat.size != math.prod(shape):
        return False
    return [d for d in blob.shape if d != 1] == [d for d in shape if d != 1]


Handler = Callable[[Layer], None]
HANDLERS: HandlerTable[Handler] = HandlerTable(
    "mace.python.tools.importers.caffe.handlers"
)
