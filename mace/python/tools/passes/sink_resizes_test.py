# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""1x1 convolutions of images that were enlarged and joined."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mace.python.tools.ir import DataType, Graph, GraphBuilder, Value
from mace.python.tools.passes.testing import random, rewrite, types

_SIZE = 12
_CHANNELS = 64


def _image(b: GraphBuilder, size: int, channels: int = _CHANNELS) -> Value:
    name = b.graph.unique_name("x")
    return b.input(name, DataType.FLOAT32, (1, size, size, channels))


def _enlarged(b: GraphBuilder, x: Value, mode: str = "LINEAR") -> Value:
    attrs = {"mode": mode, "size": [_SIZE, _SIZE]}
    return b.one("Resize", [x], None, attrs, "resize")


def _convolved(
    b: GraphBuilder,
    rng: np.random.Generator,
    images: list[Value],
    kernel: int = 1,
    **attrs: Any,
) -> Value:
    x = b.one("Concat", images, None, {"axis": 3}, "join")
    assert x.shape is not None and isinstance(x.shape[-1], int)
    filters = b.constant("w", random(rng, _CHANNELS, kernel, kernel, x.shape[-1]))
    bias = b.constant("b", random(rng, _CHANNELS))
    y = b.one("Conv2D", [x, filters, bias], None, attrs, "conv")
    return b.one("Activation", [y], None, {"activation": "RELU"}, "relu")


def _sizes(graph: Graph) -> list[Any]:
    """The heights of what convolutions compute."""
    return sorted(
        op.output.shape[1]
        for op in graph.ops
        if op.type == "Conv2D" and op.output.shape
    )


@pytest.mark.parametrize("mode", ["NEAREST", "LINEAR", "CUBIC"])
def test_enlarged_images_are_convolved_first(mode: str) -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        images = [
            _enlarged(b, _image(b, 3), mode),
            _image(b, _SIZE),
            _enlarged(b, _image(b, 6), mode),
        ]
        b.output(_convolved(b, rng, images), "y")

    graph = rewrite(build)
    assert types(graph) == {"Conv2D": 3, "Resize": 2, "Eltwise": 1}
    assert _sizes(graph) == [3, 6, _SIZE]
    last = graph.outputs[0].producer
    assert last is not None and last.attr("activation") == "RELU"


def test_the_other_inputs_stay_joined() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        images = [_image(b, _SIZE), _enlarged(b, _image(b, 1)), _image(b, _SIZE, 5)]
        b.output(_convolved(b, rng, images), "y")

    graph = rewrite(build)
    assert types(graph) == {"Conv2D": 2, "Resize": 1, "Concat": 1}
    assert _sizes(graph) == [1, _SIZE]


@pytest.mark.parametrize(
    "kernel, attrs", [(3, {"padding": "SAME"}), (1, {"strides": [2, 2]})]
)
def test_other_convolutions_stay(kernel: int, attrs: dict[str, Any]) -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        images = [_image(b, _SIZE), _enlarged(b, _image(b, 3))]
        b.output(_convolved(b, rng, images, kernel, **attrs), "y")

    assert types(rewrite(build)) == {"Conv2D": 1, "Resize": 1, "Concat": 1}


def test_few_channels_and_reduced_images_stay() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        images = [
            _image(b, _SIZE),
            _enlarged(b, _image(b, 3, 4)),
            _enlarged(b, _image(b, 2 * _SIZE)),
        ]
        b.output(_convolved(b, rng, images), "y")

    assert types(rewrite(build)) == {"Conv2D": 1, "Resize": 2, "Concat": 1}


def test_an_enlarged_image_with_other_readers_stays() -> None:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        large = _enlarged(b, _image(b, 3))
        b.output(_convolved(b, rng, [_image(b, _SIZE), large]), "y")
        b.output(b.one("Activation", [large], None, {"activation": "TANH"}, "t"), "z")

    assert types(rewrite(build))["Concat"] == 1
