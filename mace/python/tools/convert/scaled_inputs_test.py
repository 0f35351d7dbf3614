# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Inputs that the converted model normalises itself."""

from __future__ import annotations

import numpy as np
import pytest

from mace.python.tools.config.border_tensor import BorderTensor
from mace.python.tools.config.vocabulary import DataFormat as BorderFormat
from mace.python.tools.convert.scaled_inputs import scale_inputs, scaled
from mace.python.tools.data_type import DataType as BorderType
from mace.python.tools.importers.frame.errors import ImportModelError
from mace.python.tools.ir import DataFormat, DataType, Graph, GraphBuilder
from mace.python.tools.ir.evaluate import run_graph
from mace.python.tools.passes import optimize
from mace.python.tools.passes.testing import types

_MEANS = (123.7, 116.8, 103.9)
_SCALES = (0.017, 0.0175, 0.0174)


def _network(data_format: DataFormat = DataFormat.NHWC) -> Graph:
    """A convolution with padding, which cannot take the normalisation over."""
    second = data_format is DataFormat.NCHW
    b = GraphBuilder("net", "test")
    shape = (1, 3, 6, 5) if second else (1, 6, 5, 3)
    x = b.input("x", DataType.FLOAT32, shape, data_format)
    weights = np.random.default_rng(0).standard_normal((4, 3, 3, 3))
    attrs = {"padding": "SAME", "data_format": data_format.value}
    filters = b.constant("w", weights.astype(np.float32))
    y = b.one("Conv2D", [x, filters], None, attrs, "y")
    b.output(y, "y", data_format)
    b.graph.prune()
    return b.graph


def _info(**changes: object) -> BorderTensor:
    values = {"data_type": BorderType.UINT8, "means": _MEANS, "scales": _SCALES}
    return BorderTensor("x", (1, 6, 5, 3), **{**values, **changes})  # type: ignore


def _pixels() -> np.ndarray:
    return np.random.default_rng(1).integers(0, 256, (1, 6, 5, 3)).astype(np.uint8)


@pytest.mark.parametrize("data_format", [DataFormat.NHWC, DataFormat.NCHW])
@pytest.mark.parametrize(
    ("means", "scales", "between"),
    [
        (_MEANS, _SCALES, ["BatchNorm"]),
        ((127.5,), (1 / 127.5,), ["BatchNorm"]),
        (_MEANS, None, ["Eltwise"]),
        # The filter has it.
        (None, (0.5,), []),
    ],
)
def test_bytes_give_what_normalised_floats_give(
    data_format: DataFormat,
    means: tuple[float, ...] | None,
    scales: tuple[float, ...] | None,
    between: list[str],
) -> None:
    info = _info(means=means, scales=scales)
    wanted, found = _network(data_format), _network(data_format)
    scale_inputs(found, [info], "net")
    for graph in (wanted, found):
        optimize(graph)
    assert found.inputs[0].name == "x"
    assert found.inputs[0].dtype is DataType.UINT8
    assert [op.type for op in found.ops] == ["Cast", *between, "Conv2D"]
    pixels = _pixels()
    (want,) = run_graph(wanted, {"x": scaled(info, pixels)}).values()
    (have,) = run_graph(found, {"x": pixels}).values()
    np.testing.assert_allclose(have, want, rtol=0, atol=1e-5 * np.abs(want).max())


def test_floats_are_normalised_without_a_cast() -> None:
    graph = _network()
    scale_inputs(graph, [_info(data_type=BorderType.FLOAT16)], "net")
    assert graph.inputs[0].dtype is DataType.FLOAT32
    optimize(graph)
    assert types(graph) == {"BatchNorm": 1, "Conv2D": 1}


def test_bytes_alone() -> None:
    graph = _network()
    scale_inputs(graph, [_info(means=(0.0,), scales=None)], "net")
    optimize(graph)
    assert types(graph) == {"Cast": 1, "Conv2D": 1}


def test_without_numbers_nothing_changes() -> None:
    graph = _network()
    scale_inputs(graph, [_info(means=None, scales=None)], "net")
    assert types(graph) == {"Conv2D": 1}
    assert graph.inputs[0].dtype is DataType.FLOAT32


def test_what_is_no_float() -> None:
    b = GraphBuilder("net", "test")
    x = b.input("x", DataType.INT32, (4,))
    b.output(b.one("Eltwise", [x], None, {"mode": "NEG"}, "y"), "y")
    info = BorderTensor("x", (4,), BorderType.INT32, means=(1.0,))
    with pytest.raises(ImportModelError, match="takes 'x' as int32; give 0 and 1"):
        scale_inputs(b.graph, [info], "net")
    neutral = BorderTensor("x", (4,), BorderType.INT32, means=(0.0,), scales=(1.0,))
    scale_inputs(b.graph, [neutral], "net")
    assert types(b.graph) == {"Eltwise": 1}
    indices = np.arange(4, dtype=np.int32)
    assert scaled(neutral, indices) is indices


def test_the_reference_takes_the_channels_where_they_are() -> None:
    pixels = _pixels()
    last = scaled(_info(), pixels)
    second = scaled(_info(data_format=BorderFormat.NCHW), pixels.transpose(0, 3, 1, 2))
    np.testing.assert_array_equal(second.transpose(0, 2, 3, 1), last)
    assert last.dtype == np.float32
    np.testing.assert_allclose(last[0, 0, 0], (pixels[0, 0, 0] - _MEANS) * _SCALES)
