# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Random numbers that each run draws, for the importers of all frameworks."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from typing import Union

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.ir.builder import GraphBuilder
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.shapes import Shape, static

Seed = Union[Value, Sequence[int]]


def draw(
    builder: GraphBuilder, label: str, normal: bool, shape: Value, seed: Seed
) -> Value:
    """Numbers in [0, 1), or of the standard normal distribution.

    Args:
        label: of the node, for names.
        shape: of the result; one dimension.
        seed: two numbers, or a value that has them: then all runs draw the same.
    """
    if not builder.graph.inputs:
        raise UnsupportedNodeError("a model without inputs draws no random numbers")
    # An input of the model is no value that the engine knows before a run.
    inputs = [builder.graph.inputs[0], shape]
    attrs: dict[str, object] = {"distribution": "NORMAL" if normal else "UNIFORM"}
    if isinstance(seed, Value):
        inputs.append(seed)
    else:
        attrs["seed"] = [_signed(number) for number in seed]
    return builder.one("Random", inputs, None, attrs, f"{label}/random")


def shape_of(builder: GraphBuilder, value: Value, label: str) -> Value:
    """The shape of a value, as a constant if it is known."""
    known = static(value.shape)
    if known is not None:
        return constant_shape(builder, known, label)
    return builder.one("Shape", [value], None, {}, f"{label}/shape")


def constant_shape(builder: GraphBuilder, shape: Shape, label: str) -> Value:
    """A shape as a constant."""
    return builder.constant(f"{label}/shape", np.array(shape, np.int32))


def seed_of(name: str, given: float | None) -> tuple[int, int]:
    """The seed of a node: what it gives, or else its own by its name."""
    if given is None:
        return zlib.crc32(name.encode()), 1
    (bits,) = struct.unpack("<I", struct.pack("<f", given))
    return bits, 0


def _signed(number: int) -> int:
    """The lowest 32 bits as a signed integer."""
    return (int(number) + 2**31) % 2**32 - 2**31
