# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Sequences of which only some steps count.

A recurrent layer leaves masked steps out: its state stays, and so does its output, or
that is 0. Here the steps that count move to the front, the layer computes as many of
them as there are, and each step takes the result of the last one that counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.keras.context import Context
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value

# Layers whose outputs have the mask of their input in Keras; all others drop it.
KEEP_MASKS = frozenset(
    {
        *("Activation", "ActivityRegularization", "AlphaDropout", "BatchNormalization"),
        *("Dense", "Dropout", "ELU", "GaussianDropout", "GaussianNoise"),
        *("GroupNormalization", "Identity", "InputLayer", "LayerNormalization"),
        *("LeakyReLU", "Normalization", "PReLU", "ReLU", "Rescaling", "Softmax"),
        *("SpatialDropout1D", "UnitNormalization"),
        *("Bidirectional", "GRU", "LSTM", "SimpleRNN"),
    }
)


@dataclass(frozen=True)
class Steps:
    """The steps of a sequence that count.

    Attributes:
        numbers: [batch, steps], 1 where one counts and 0 elsewhere.
        lengths: [batch], how many do.
        order: [batch, steps, 1], where they are, and then the others.
    """

    context: Context
    numbers: Value
    lengths: Value
    order: Value

    def in_front(self, x: Value) -> Value:
        """[batch, steps, ...] with the steps that count first."""
        return self.context.step("GatherNd", [x, self.order], "in_front", batch_dims=1)

    def spread(self, x: Value, backwards: bool, zero: bool) -> Value:
        """What `in_front` moved, at its places again.

        Args:
            x: [batch, steps, units].
            backwards: the layer reads from the last step to the first.
            zero: masked steps are 0; otherwise they repeat the step before.
        """
        context = self.context
        before = context.step(
            "CumSum", [self.numbers], "before", axis=1, exclusive=backwards
        )
        if backwards:
            places = before
            none = context.step(
                "Eltwise", [before, self._column()], "none", mode="GREATER_EQUAL"
            )
        else:
            one = context.constant(np.array(1, np.int32), "one")
            places = context.step("Eltwise", [before, one], "places", mode="SUB")
            none = context.step("Eltwise", [before, one], "none", mode="LESS")
        first = context.constant(np.array(0, np.int32), "first")
        last = context.constant(np.array(self._count() - 1, np.int32), "last")
        places = context.step("Eltwise", [places, first], "from", mode="MAX")
        places = context.step("Eltwise", [places, last], "to", mode="MIN")
        places = context.step("ExpandDims", [places], "chosen", axes=[2])
        read = context.step("GatherNd", [x, places], "spread", batch_dims=1)
        if zero:
            none = context.step(
                "Eltwise", [self.numbers, first], "masked", mode="EQUAL"
            )
        none = context.step("ExpandDims", [none], "rows", axes=[2])
        nothing = context.scalar(0.0, "nothing")
        return context.step("Where", [none, nothing, read], "kept")

    def _column(self) -> Value:
        return self.context.step("ExpandDims", [self.lengths], "column", axes=[1])

    def _count(self) -> int:
        return self.context.fixed(self.numbers)[1]


def masked_steps(context: Context) -> Steps:
    """The steps that the mask of the input leaves.

    Raises:
        UnsupportedNodeError: the mask is not known, or its length.
    """
    mask = context.known_mask()
    shape = context.fixed(mask)
    if len(shape) != 2 or shape[1] < 1:
        raise UnsupportedNodeError(f"its mask has the shape {list(shape)}")
    count = shape[1]
    numbers = context.step("Cast", [mask], "numbers", to="INT32")
    floats = context.step("Cast", [mask], "floats", to="FLOAT32")
    sums = context.step(
        "Reduce", [floats], "sum", mode="SUM", axes=[1], keep_dims=False
    )
    lengths = context.step("Cast", [sums], "lengths", to="INT32")
    places = context.constant(np.arange(count, dtype=np.int32), "all")
    later = context.constant(np.arange(count, 2 * count, dtype=np.int32), "later")
    keys = context.step("Where", [mask, places, later], "keys")
    _, order = context.steps(
        "TopK", [keys], ["sorted", "order"], k=count, axis=1, largest=False
    )
    order = context.step("ExpandDims", [order], "front", axes=[2])
    return Steps(context, numbers, lengths, order)


def differs(context: Context, x: Value, number: float) -> Value:
    """Whether elements are not a number."""
    other = np.asarray(number, np.int32 if x.dtype is DataType.INT32 else np.float32)
    return context.step(
        "Eltwise", [x, context.constant(other, "masked")], "mask", mode="NOT_EQUAL"
    )
