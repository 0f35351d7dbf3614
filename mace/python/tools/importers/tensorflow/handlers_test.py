# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Every handler against TensorFlow, through the NumPy reference executor."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.importers.base import (
    ImportRequest,
    InputSpec,
    OutputSpec,
)
from mace.python.tools.importers.tensorflow import import_model
from mace.python.tools.importers.tensorflow.context import HANDLERS
from mace.python.tools.importers.tensorflow.importer import load_handlers
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.evaluate import run_graph
from mace.python.tools.ir.graph import DataFormat

tf = pytest.importorskip("tensorflow", reason="it is the reference here")

SEED = 20261121
_covered: set[str] = set()


def frozen(function: Callable[..., Any], arrays: list[Array], dynamic: bool) -> Any:
    """The frozen function of tensors called x0, x1, ...

    With `dynamic` TensorFlow is not told the dimensions, so that it leaves
    arithmetic on shapes in the graph.
    """
    from tensorflow.python.framework.convert_to_constants import (
        convert_variables_to_constants_v2,
    )

    specs = [
        tf.TensorSpec(
            [None] * a.ndim if dynamic else a.shape, tf.as_dtype(a.dtype), name=f"x{i}"
        )
        for i, a in enumerate(arrays)
    ]
    concrete = tf.function(function).get_concrete_function(*specs)
    return convert_variables_to_constants_v2(concrete)


def check(
    tmp_path: Path,
    function: Callable[..., Any],
    *arrays: Array,
    tolerance: float = 2e-5,
    dynamic: bool = False,
) -> None:
    """Imports `function` and compares all its outputs on `arrays`."""
    concrete = frozen(function, list(arrays), dynamic)
    definition = concrete.graph.as_graph_def()
    _covered.update(node.op for node in definition.node)
    path = tmp_path / "model.pb"
    path.write_bytes(definition.SerializeToString())
    graph = import_model(
        ImportRequest(
            "m",
            path,
            tuple(
                InputSpec(f"x{i}", a.shape, data_format=DataFormat.NONE)
                for i, a in enumerate(arrays)
            ),
            tuple(OutputSpec(t.name, DataFormat.NONE) for t in concrete.outputs),
        )
    )
    results = run_graph(graph, {f"x{i}": a for i, a in enumerate(arrays)})
    expected = concrete(*[tf.constant(a) for a in arrays])
    for tensor, value in zip(concrete.outputs, expected):
        wanted = value.numpy()
        got = results[tensor.name]
        assert got.shape == wanted.shape
        np.testing.assert_allclose(got, wanted, tolerance, tolerance)


def rand(*shape: int, low: float = -2.0, high: float = 2.0) -> Array:
    rng = np.random.default_rng(SEED + len(shape))
    return rng.uniform(low, high, shape).astype(np.float32)


@pytest.mark.parametrize("padding", ["SAME", "VALID", [[0, 0], [1, 2], [0, 1], [0, 0]]])
@pytest.mark.parametrize("stride", [1, 2, 3])
def test_conv2d(tmp_path: Path, padding: Any, stride: int) -> None:
    w = rand(3, 5, 4, 6)
    check(
        tmp_path,
        lambda x: tf.nn.conv2d(x, w, stride, padding),
        rand(2, 11, 12, 4),
    )


def test_conv2d_dilated_and_grouped(tmp_path: Path) -> None:
    w = rand(3, 3, 2, 6)
    x = rand(1, 9, 9, 4)
    check(tmp_path, lambda x: tf.nn.conv2d(x, w, 1, "SAME"), x)
    w1 = rand(3, 3, 4, 6)
    check(
        tmp_path,
        lambda x: tf.raw_ops.Conv2D(
            input=x, filter=w1, strides=[1] * 4, padding="VALID", dilations=[1, 2, 2, 1]
        ),
        x,
    )


@pytest.mark.parametrize("multiplier", [1, 3])
def test_depthwise(tmp_path: Path, multiplier: int) -> None:
    w = rand(3, 3, 5, multiplier)
    check(
        tmp_path,
        lambda x: tf.nn.depthwise_conv2d(x, w, [1, 2, 2, 1], "SAME"),
        rand(1, 8, 9, 5),
    )


@pytest.mark.parametrize("padding", ["SAME", "VALID", [[0, 0], [1, 2], [0, 1], [0, 0]]])
@pytest.mark.parametrize("stride", [1, 2, 4])
def test_transposed_conv2d(tmp_path: Path, padding: Any, stride: int) -> None:
    w = rand(3, 2, 6, 5)
    x = rand(2, 4, 5, 5)
    pads = [[1, 2], [0, 1]] if isinstance(padding, list) else [[0, 0], [0, 0]]
    for extra in range(stride):
        if padding == "SAME":
            size = [4 * stride - extra, 5 * stride - extra]
        else:
            size = [
                stride * (x.shape[i + 1] - 1) + w.shape[i] - sum(pads[i]) + extra
                for i in range(2)
            ]
        check(
            tmp_path,
            lambda x, size=size: tf.nn.conv2d_transpose(
                x, w, [2, *size, 6], stride, padding
            ),
            x,
        )


def test_transposed_conv2d_to_a_shape_that_is_computed(tmp_path: Path) -> None:
    w = rand(4, 4, 6, 5)

    def upsample(x: Any) -> Any:
        n, h, width = (tf.shape(x)[i] for i in range(3))
        return tf.nn.conv2d_transpose(x, w, tf.stack([n, h * 2, width * 2, 6]), 2)

    check(tmp_path, upsample, rand(1, 4, 3, 5), dynamic=True)


@pytest.mark.parametrize("multiplier", [1, 2])
def test_transposed_depthwise(tmp_path: Path, multiplier: int) -> None:
    w = rand(3, 3, 5, multiplier)
    check(
        tmp_path,
        lambda x: tf.raw_ops.DepthwiseConv2dNativeBackpropInput(
            input_sizes=[2, 8, 9, 5],
            filter=w,
            out_backprop=x,
            strides=[1, 2, 2, 1],
            padding="SAME",
        ),
        rand(2, 4, 5, 5 * multiplier),
    )


def test_choices(tmp_path: Path) -> None:
    x, y = rand(3, 4, 5), rand(4, 1)
    check(tmp_path, lambda x, y: tf.where(x > 0, x, y), x, y)
    check(tmp_path, lambda x: tf.where(x[:, 0, :1] > 0, tf.constant(1.5), x[0, :3]), x)
    rows = rand(3)
    for other in (x, rows):
        check(
            tmp_path,
            lambda x, c: tf.raw_ops.Select(condition=c > 0, x=x, y=-x),
            other,
            rows,
        )


@pytest.mark.parametrize("axis", [-1, 0, 1])
def test_one_hot(tmp_path: Path, axis: int) -> None:
    indices = np.array([[0, 2, -1], [3, 1, 4]], np.int32)
    check(tmp_path, lambda i: tf.one_hot(i, 4, 2.5, -1.0, axis), indices)
    check(tmp_path, lambda i: tf.one_hot(i, 4, axis=axis, dtype=tf.int32), indices)


@pytest.mark.parametrize("a, b", [(False, False), (True, False), (False, True)])
def test_matmul(tmp_path: Path, a: bool, b: bool) -> None:
    x = rand(5, 4) if a else rand(4, 5)
    y = rand(6, 5) if b else rand(5, 6)
    check(tmp_path, lambda x, y: tf.matmul(x, y, a, b), x, y)
    check(tmp_path, lambda x: tf.matmul(x, y, a, b), x)
    check(
        tmp_path,
        lambda x, y: tf.matmul(x, y, transpose_b=True),
        rand(2, 1, 4, 5),
        rand(3, 6, 5),
    )


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("pool", ["max_pool2d", "avg_pool2d"])
def test_pool(tmp_path: Path, padding: str, pool: str) -> None:
    check(
        tmp_path,
        lambda x: getattr(tf.nn, pool)(x, [3, 2], [2, 1], padding),
        rand(2, 7, 8, 3),
    )


def test_local_response_norm(tmp_path: Path) -> None:
    check(tmp_path, lambda x: tf.nn.lrn(x, 2, 1.5, 0.3, 0.7), rand(1, 3, 3, 9))


def test_bias_and_batch_norm(tmp_path: Path) -> None:
    scale, offset, mean, var = (rand(3, low=0.5) for _ in range(4))
    check(tmp_path, lambda x: tf.nn.bias_add(x, offset), rand(2, 4, 4, 3))
    check(
        tmp_path,
        lambda x: (
            tf.raw_ops.FusedBatchNormV3(
                x=x,
                scale=scale,
                offset=offset,
                mean=mean,
                variance=var,
                epsilon=0.01,
                is_training=False,
            ).y
        ),
        rand(2, 4, 4, 3),
    )


def test_binary(tmp_path: Path) -> None:
    x, y = rand(2, 3, 4), rand(3, 1)
    operations = [
        tf.add,
        tf.subtract,
        tf.multiply,
        tf.divide,
        tf.maximum,
        tf.minimum,
        tf.math.squared_difference,
        tf.math.floordiv,
        tf.math.floormod,
    ]
    check(tmp_path, lambda x, y: [f(x, y) for f in operations], x, y)
    check(tmp_path, lambda x: tf.pow(x, 2.5), np.abs(x))
    check(tmp_path, lambda x, y: tf.raw_ops.AddN(inputs=[x, y, x]), x, x)
    check(tmp_path, lambda x: tf.raw_ops.Add(x=x, y=x), x)
    check(tmp_path, lambda x: tf.raw_ops.Div(x=x, y=3.0), x)


def test_comparisons(tmp_path: Path) -> None:
    x = np.array([1, 2, 3, -1], np.float32)
    y = np.array([1, 3, 2, -1], np.float32)
    operations = [
        tf.equal,
        tf.not_equal,
        tf.less,
        tf.less_equal,
        tf.greater,
        tf.greater_equal,
    ]
    check(
        tmp_path,
        lambda x, y: [tf.cast(f(x, y), tf.float32) for f in operations],
        x,
        y,
    )


def test_unary(tmp_path: Path) -> None:
    operations = [
        tf.negative,
        tf.abs,
        tf.sqrt,
        tf.math.rsqrt,
        tf.square,
        tf.exp,
        tf.math.log,
        tf.floor,
        tf.math.ceil,
        tf.round,
        tf.sign,
        tf.math.reciprocal,
        tf.math.erf,
        tf.sin,
        tf.cos,
        tf.math.rint,
    ]
    check(
        tmp_path,
        lambda x: [f(x) for f in operations],
        rand(3, 5, low=0.1, high=4),
    )
    check(tmp_path, lambda x: tf.raw_ops.Inv(x=x), rand(3, low=1))


def test_activations(tmp_path: Path) -> None:
    operations = [
        tf.nn.relu,
        tf.nn.relu6,
        tf.nn.leaky_relu,
        tf.nn.elu,
        tf.nn.sigmoid,
        tf.nn.tanh,
        tf.nn.softplus,
        tf.nn.softmax,
        tf.nn.log_softmax,
    ]
    check(
        tmp_path,
        lambda x: [f(x) for f in operations],
        rand(3, 7, low=-8, high=8),
    )


def test_arrangement(tmp_path: Path) -> None:
    x = rand(2, 3, 4)
    check(tmp_path, lambda x: tf.reshape(x, [4, -1]), x)
    check(tmp_path, lambda x: tf.transpose(x, [2, 0, 1]), x)
    check(tmp_path, lambda x: tf.squeeze(x, [0, 2]), rand(1, 3, 1, 2))
    check(tmp_path, lambda x: tf.squeeze(x), rand(1, 3, 1, 2))
    check(tmp_path, lambda x: tf.expand_dims(x, -1), x)
    check(tmp_path, lambda x: tf.concat([x, x * 2], 1), x)
    check(tmp_path, lambda x: tf.raw_ops.Concat(concat_dim=2, values=[x, x]), x)
    check(tmp_path, lambda x: tf.stack([x, x * 2], 1), x)
    check(tmp_path, lambda x: tf.unstack(x, axis=1), x)
    check(tmp_path, lambda x: tf.split(x, 2, 2), x)
    check(tmp_path, lambda x: tf.split(x, [1, -1], 2), x)
    check(tmp_path, lambda x: tf.gather(x, [2, 0, 2], axis=1), x)
    check(tmp_path, lambda x: tf.raw_ops.Gather(params=x, indices=[1, 0]), x)


@pytest.mark.parametrize("mode", ["CONSTANT", "REFLECT", "SYMMETRIC"])
def test_pad(tmp_path: Path, mode: str) -> None:
    pads = [[0, 0], [1, 2], [2, 0]]
    x = rand(2, 3, 4)
    check(tmp_path, lambda x: tf.pad(x, pads, mode), x)
    check(tmp_path, lambda x: tf.pad(x, pads, constant_values=-1.5), x)


SLICES: list[Callable[[Any], Any]] = [
    lambda x: x[1:, ::2, -3:-1],
    lambda x: x[..., 1],
    lambda x: x[0, ..., ::-1],
    lambda x: x[:, tf.newaxis, 1, ..., tf.newaxis],
    lambda x: x[-1],
    lambda x: x[::-1, 4:0:-2],
    lambda x: x[1:1],
    lambda x: tf.slice(x, [0, 1, 2], [-1, 2, 1]),
]


@pytest.mark.parametrize("number", range(len(SLICES)))
def test_slices(tmp_path: Path, number: int) -> None:
    check(tmp_path, SLICES[number], rand(3, 5, 4))


@pytest.mark.parametrize("keep", [False, True])
def test_reductions(tmp_path: Path, keep: bool) -> None:
    operations = [
        tf.reduce_mean,
        tf.reduce_sum,
        tf.reduce_max,
        tf.reduce_min,
        tf.reduce_prod,
    ]
    check(
        tmp_path,
        lambda x: [f(x, [0, -1], keep) for f in operations],
        rand(3, 4, 5),
    )


def test_shape_arithmetic_is_folded(tmp_path: Path) -> None:
    def arithmetic(x: Any) -> list[Any]:
        return [
            tf.reshape(x, [tf.shape(x)[0], tf.size(x) // tf.shape(x)[0]]),
            x + tf.zeros_like(x) + tf.ones_like(x),
            x * tf.cast(tf.raw_ops.Rank(input=x), tf.float32),
            x + tf.fill([tf.shape(x)[2]], 2.0),
            x + tf.cast(tf.range(0, tf.shape(x)[2] * 2, 2), tf.float32),
        ]

    check(tmp_path, arithmetic, rand(2, 3, 4), dynamic=True)


def test_plumbing(tmp_path: Path) -> None:
    check(
        tmp_path,
        lambda x: [
            tf.stop_gradient(tf.identity(x)) + 1,
            *tf.identity_n([x, x * 2]),
            tf.debugging.check_numerics(x, "finite"),
            tf.ensure_shape(x, [3]),
        ],
        rand(3),
    )


def test_constants_of_every_type(tmp_path: Path) -> None:
    for dtype in (tf.float16, tf.bfloat16, tf.float64, tf.int64, tf.uint8):
        held = tf.constant([1, 2, 3], dtype)
        check(tmp_path, _adds(held), rand(3))


def _adds(held: Any) -> Callable[[Any], Any]:
    return lambda x: x + tf.cast(held, tf.float32)


@pytest.mark.parametrize(
    ("align_corners", "half_pixel_centers"),
    [(False, False), (True, False), (False, True)],
)
@pytest.mark.parametrize("op", ["Bilinear", "NearestNeighbor", "Bicubic"])
def test_resize(
    tmp_path: Path, op: str, align_corners: bool, half_pixel_centers: bool
) -> None:
    for size in ([12, 18], [11, 5], [3, 20], [1, 1]):
        check(
            tmp_path,
            lambda x, size=size: getattr(tf.raw_ops, f"Resize{op}")(
                images=x,
                size=size,
                align_corners=align_corners,
                half_pixel_centers=half_pixel_centers,
            ),
            rand(2, 6, 9, 3),
            # TensorFlow looks cubic weights up in a table: 8e-4 of the range of 4.
            tolerance=3.2e-3 if op == "Bicubic" else 2e-5,
        )


@pytest.mark.parametrize("block", [2, 3])
def test_blocks(tmp_path: Path, block: int) -> None:
    check(tmp_path, lambda x: tf.nn.space_to_depth(x, block), rand(2, 6, 12, 3))
    check(tmp_path, lambda x: tf.nn.depth_to_space(x, block), rand(2, 3, 4, 36))


def test_batches_of_blocks(tmp_path: Path) -> None:
    image = rand(2, 6, 9, 3)
    check(tmp_path, lambda x: tf.space_to_batch(x, [2, 3], [[0, 0], [0, 0]]), image)
    check(tmp_path, lambda x: tf.space_to_batch(x, [4, 2], [[1, 1], [2, 1]]), image)
    check(tmp_path, lambda x: tf.space_to_batch(x, [3], [[1, 2]]), image)
    batch = rand(12, 3, 4, 5)
    check(tmp_path, lambda x: tf.batch_to_space(x, [2, 3], [[0, 0], [0, 0]]), batch)
    check(tmp_path, lambda x: tf.batch_to_space(x, [3, 2], [[1, 2], [0, 3]]), batch)
    check(tmp_path, lambda x: tf.batch_to_space(x, [4], [[0, 1]]), batch)


def test_reverse(tmp_path: Path) -> None:
    for axes in ([0], [1, -1], []):
        check(tmp_path, lambda x, axes=axes: tf.reverse(x, axes), rand(2, 3, 4))


@pytest.mark.parametrize("axis", [0, 2, -1])
def test_arg(tmp_path: Path, axis: int) -> None:
    x = np.round(rand(4, 5, 6, 7))  # has ties
    check(tmp_path, lambda x: tf.argmax(x, axis), x)
    check(tmp_path, lambda x: tf.argmin(x, axis, tf.int32), x)


def test_resize_by_a_computed_size(tmp_path: Path) -> None:
    check(
        tmp_path,
        lambda x: tf.compat.v1.image.resize_bilinear(x, tf.shape(x)[1:3] * 2),
        rand(2, 6, 9, 3),
        dynamic=True,
    )


# Nodes whose handlers TensorFlow's Python interface no longer makes.
_NOT_MADE = {
    "BatchMatMul",
    "BatchMatMulV3",
    "BiasAddV1",
    "FusedBatchNorm",
    "FusedBatchNormV2",
    "PlaceholderWithDefault",
    "PreventGradient",
    "Snapshot",
}


def test_every_handler_was_tried() -> None:
    """Runs last: what has a handler was compared with TensorFlow."""
    load_handlers()
    assert set(HANDLERS.types()) - _covered - _NOT_MADE == set()
