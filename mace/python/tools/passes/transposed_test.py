# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What passes make of transposed convolutions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mace.python.tools.ir import DataType, GraphBuilder, Op, Value
from mace.python.tools.passes.testing import random, rewrite, types


def _deconv(
    b: GraphBuilder, rng: np.random.Generator, groups: int = 1, **attrs: Any
) -> Value:
    x = b.input("x", DataType.FLOAT32, (2, 5, 6, 4))
    inputs = [
        x,
        b.constant("w", random(rng, 8, 3, 4, 4 // groups)),
        b.constant("b", random(rng, 8)),
    ]
    return b.one("Deconv2D", inputs, None, {"groups": groups, **attrs}, "up")


def _only(op_type: str, normalised: bool = False, **attrs: Any) -> Op:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        y = _deconv(b, rng, **attrs)
        if normalised:
            more = [b.constant(n, random(rng, 8)) for n in "so"]
            y = b.one("BatchNorm", [y, *more], None, None, "bn")
            y = b.one("Activation", [y], None, {"activation": "RELU"}, "act")
        b.output(y, "y")

    graph = rewrite(build)
    assert types(graph) == {op_type: 1}
    return graph.ops[0]


@pytest.mark.parametrize("groups", [1, 2])
def test_normalisation_and_activation_are_folded(groups: int) -> None:
    op = _only("Deconv2D", normalised=True, groups=groups, strides=[2, 3])
    assert op.attr("activation") == "RELU"


def test_groups_of_single_channels_become_depthwise() -> None:
    attrs = {"groups": 4, "strides": [2, 2], "pads": [1, 0, 1, 2]}
    op = _only("DepthwiseDeconv2d", normalised=True, **attrs)
    assert op.input(1).shape == (3, 4, 4, 2)


@pytest.mark.parametrize("dilation", [1, 2])
def test_stride_one_is_a_convolution(dilation: int) -> None:
    pads, added = [1, 0, 2, 1], [1, 0]
    op = _only(
        "Conv2D", pads=pads, output_padding=added, dilations=[dilation, dilation]
    )
    assert list(op.attr("pads")) == [
        2 * dilation - 1,
        3 * dilation,
        2 * dilation - 2 + 1,
        3 * dilation - 1,
    ]
    assert _only("DepthwiseConv2d", groups=4).input(1).shape == (3, 4, 4, 2)


def test_stride_one_that_begins_inside_the_image_stays() -> None:
    _only("Deconv2D", pads=[3, 0, 0, 0])
