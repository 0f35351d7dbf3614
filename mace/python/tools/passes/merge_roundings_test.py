# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Several roundings of a tensor to the same integers."""

from __future__ import annotations

import numpy as np
import pytest

from mace.python.tools.ir import DataType, Graph, GraphBuilder, Value
from mace.python.tools.passes.manager import choose
from mace.python.tools.passes.testing import Build, rewrite, types


def _merged(build: Build) -> Graph:
    """The graph after this pass alone: others have more to say of two roundings."""
    return rewrite(build, choose(["merge_roundings"]))


def _rounded(b: GraphBuilder, x: Value, name: str, scale: float, zero: int) -> Value:
    parameters = [
        b.constant(f"{name}/scale", np.array(scale, np.float32)),
        b.constant(f"{name}/zero", np.array(zero, np.uint8)),
    ]
    q = b.one("Quantize", [x, *parameters], None, {"to": "UINT8"}, name)
    return b.one("Dequantize", [q, *parameters], None, None, f"{name}/real")


@pytest.mark.parametrize(("scale", "zero"), [(0.05, 120), (0.05, 121), (0.06, 120)])
def test_roundings_for_two_readers(scale: float, zero: int) -> None:
    def build(b: GraphBuilder, _: np.random.Generator) -> None:
        x = b.input("x", DataType.FLOAT32, (3, 4))
        parts = [_rounded(b, x, "p", 0.05, 120), _rounded(b, x, "q", scale, zero)]
        b.output(b.one("Eltwise", parts, None, {"mode": "POW"}, "power"), "y")

    same = (scale, zero) == (0.05, 120)
    assert types(_merged(build))["Quantize"] == (1 if same else 2)


@pytest.mark.parametrize(("scale", "zero"), [(0.05, 120), (0.05, 121), (0.06, 120)])
def test_a_rounding_of_rounded_numbers(scale: float, zero: int) -> None:
    def build(b: GraphBuilder, _: np.random.Generator) -> None:
        x = b.input("x", DataType.FLOAT32, (3, 4))
        y = _rounded(b, _rounded(b, x, "p", 0.05, 120), "q", scale, zero)
        b.output(b.one("Eltwise", [y], None, {"mode": "EXP"}, "exp"), "y")

    same = (scale, zero) == (0.05, 120)
    assert types(_merged(build))["Quantize"] == (1 if same else 2)


@pytest.mark.parametrize("scale", [0.05, 0.06])
def test_a_shuffle_of_channels_whose_parts_are_rounded(scale: float) -> None:
    def build(b: GraphBuilder, _: np.random.Generator) -> None:
        x = _rounded(b, b.input("x", DataType.FLOAT32, (1, 4, 5, 6)), "p", 0.05, 120)
        shapes = [np.array(s, np.int32) for s in ((1, 4, 5, 2, 3), (1, 4, 5, 6))]
        first, last = (b.constant(f"shape{i}", s) for i, s in enumerate(shapes))
        y = b.one("Reshape", [x, first], None, None, "divide")
        y = _rounded(b, y, "q", scale, 120)
        y = b.one("Transpose", [y], None, {"perm": (0, 1, 2, 4, 3)}, "turn")
        y = _rounded(b, y, "r", scale, 120)
        b.output(b.one("Reshape", [y, last], None, None, "join"), "y")

    names = ["merge_roundings", "channel_shuffle", "channels_last"]
    found = types(rewrite(build, choose(names)))
    assert found["ChannelShuffle"] == (1 if scale == 0.05 else 0)
    assert found["Quantize"] == (1 if scale == 0.05 else 2)
