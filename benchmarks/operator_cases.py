# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What `operators.py` measures: small ONNX graphs at shapes that networks have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper

_BATCH = (1, 64, 56, 56)  # an image of ResNet-50, NCHW
_TOKENS = (1, 128, 768)  # a layer of a small transformer


@dataclass(frozen=True)
class Case:
    """One model.

    Attributes:
        inputs: shapes by name, NCHW where they are images.
        outputs: names.
        images: whether tensors of rank 4 are images; else both engines take
            the same array.
        range: the inputs are drawn uniformly from it.
    """

    name: str
    nodes: Sequence[onnx.NodeProto]
    inputs: Mapping[str, Sequence[int]]
    constants: Sequence[onnx.TensorProto] = ()
    outputs: Sequence[str] = ("y",)
    images: bool = True
    range: tuple[float, float] = (-2.0, 2.0)


def _floats(*shape: int) -> NDArray[np.float32]:
    """Seeded weights whose products with inputs neither grow nor vanish."""
    deviation = float(np.prod(shape[1:])) ** -0.5
    return np.random.default_rng(1).normal(0, deviation, shape).astype(np.float32)


def _one(
    name: str,
    op: str,
    *shapes: Sequence[int],
    constants: Mapping[str, NDArray[Any]] | None = None,
    outputs: Sequence[str] = ("y",),
    images: bool = True,
    range: tuple[float, float] = (-2.0, 2.0),  # noqa: A002
    **attributes: Any,
) -> Case:
    """A model of one node: inputs a, b, ..., then the constants."""
    inputs = {chr(ord("a") + i): shape for i, shape in enumerate(shapes)}
    stored = constants or {}
    node = helper.make_node(op, [*inputs, *stored], list(outputs), **attributes)
    tensors = [numpy_helper.from_array(array, key) for key, array in stored.items()]
    return Case(name, [node], inputs, tensors, outputs, images, range)


def _conv(
    name: str, shape: Sequence[int], out: int, kernel: int, groups: int, stride: int = 1
) -> Case:
    pad = kernel // 2
    return _one(
        name,
        "Conv",
        shape,
        constants={"w": _floats(out, shape[1] // groups, kernel, kernel)},
        group=groups,
        pads=[pad] * 4,
        strides=[stride] * 2,
    )


def _deconv(
    name: str, shape: Sequence[int], out: int, window: tuple[int, int, int], groups: int
) -> Case:
    kernel, stride, pad = window
    return _one(
        name,
        "ConvTranspose",
        shape,
        constants={"w": _floats(shape[1], out // groups, kernel, kernel)},
        group=groups,
        pads=[pad] * 4,
        strides=[stride] * 2,
    )


def _pool(name: str, op: str, kernel: int, stride: int) -> Case:
    pad = (kernel - 1) // 2
    return _one(
        name,
        op,
        (1, 64, 112, 112),
        kernel_shape=[kernel] * 2,
        strides=[stride] * 2,
        pads=[pad] * 4,
    )


def _ints(*values: int) -> NDArray[np.int64]:
    return np.array(values, np.int64)


def _channel_shuffle(name: str, shape: tuple[int, int, int, int], groups: int) -> Case:
    n, c, h, w = shape
    nodes = [
        helper.make_node("Reshape", ["a", "split"], ["apart"]),
        helper.make_node("Transpose", ["apart"], ["turned"], perm=[0, 2, 1, 3, 4]),
        helper.make_node("Reshape", ["turned", "shape"], ["y"]),
    ]
    constants = [
        numpy_helper.from_array(_ints(n, groups, c // groups, h, w), "split"),
        numpy_helper.from_array(_ints(*shape), "shape"),
    ]
    return Case(name, nodes, {"a": shape}, constants)


def _products() -> list[Case]:
    cases = [
        _one(f"matmul {m}x768x3072", "MatMul", (m, 768), (768, 3072))
        for m in (1, 4, 16, 128)
    ]
    heads = (12, 128, 64)
    turned = Case(
        "matmul, 12 heads, B transposed",
        [
            helper.make_node("Transpose", ["b"], ["t"], perm=[0, 2, 1]),
            helper.make_node("MatMul", ["a", "t"], ["y"]),
        ],
        {"a": heads, "b": heads},
    )
    gemm = _one(
        "gemm 128x768x768, A transposed", "Gemm", (768, 128), (768, 768), transA=1
    )
    convolutions = [
        _conv("depthwise 3x3, multiplier 2", (1, 64, 56, 56), 128, 3, 64),
        _conv("depthwise 3x3, multiplier 4", (1, 32, 56, 56), 128, 3, 32),
        _conv("depthwise 5x5", (1, 96, 28, 28), 96, 5, 96),
        *(
            _conv(f"convolution 3x3, {c} channels per group", (1, 96, 28, 28), 96, 3, g)
            for c, g in ((2, 48), (4, 24), (8, 12), (24, 4))
        ),
    ]
    transposed = [
        _deconv(f"transposed convolution {text}", shape, out, window, 1)
        for text, shape, out, window in (
            ("4x4 by 2, 512 to 256 channels", (1, 512, 8, 8), 256, (4, 2, 1)),
            ("4x4 by 2, 256 to 256 channels", (1, 256, 32, 32), 256, (4, 2, 1)),
            ("4x4 by 2, 64 to 3 channels", (1, 64, 32, 32), 3, (4, 2, 1)),
            ("2x2 by 2, 128 to 64 channels", (1, 128, 56, 56), 64, (2, 2, 0)),
            ("3x3 by 2, 128 to 64 channels", (1, 128, 56, 56), 64, (3, 2, 1)),
            ("16x16 by 8, 21 classes", (1, 21, 16, 16), 21, (16, 8, 4)),
        )
    ]
    depthwise = _deconv(
        "transposed depthwise convolution 4x4 by 2", (1, 64, 56, 56), 64, (4, 2, 1), 64
    )
    return [*cases, turned, gemm, *convolutions, *transposed, depthwise]


def _elementwise() -> list[Case]:
    channels = _floats(64, 1, 1)
    unary = ("Exp", "Tanh", "Erf", "Sigmoid", "Gelu", "Softplus", "HardSwish", "Sqrt")
    positive = {"Sqrt": (0.0, 4.0)}
    return [
        *(
            _one(op.lower(), op, _BATCH, range=positive.get(op, (-2.0, 2.0)))
            for op in unary
        ),
        _one(
            "pow, by 2.5",
            "Pow",
            _BATCH,
            range=(0.0, 2.0),
            constants={"e": np.array(2.5, np.float32)},
        ),
        _one("pow, of tensors", "Pow", _BATCH, _BATCH, range=(0.1, 2.0)),
        _one("add", "Add", _BATCH, _BATCH),
        _one("multiply", "Mul", _BATCH, _BATCH),
        _one("add, per channel", "Add", _BATCH, constants={"c": channels}),
        _one("multiply, per image and channel", "Mul", _BATCH, (1, 64, 1, 1)),
        _one("prelu", "PRelu", _BATCH, constants={"s": channels}),
        _one(
            "clip",
            "Clip",
            _BATCH,
            constants={"low": np.array(0, np.float32), "high": np.array(6, np.float32)},
        ),
    ]


def _normalisations() -> list[Case]:
    ones = np.ones(64, np.float32)
    return [
        _one("softmax, 12 x 128 rows of 128", "Softmax", (12, 128, 128), axis=-1),
        _one("softmax, 1 row of 1000", "Softmax", (1, 1000), axis=-1),
        _one("softmax, rows of 21", "Softmax", (4096, 21), axis=-1),
        _one(
            "softmax over 21 channels of an image", "Softmax", (1, 21, 65, 65), axis=1
        ),
        _one(
            "local response norm, 5 of 64 channels",
            "LRN",
            _BATCH,
            size=5,
            alpha=1e-4,
            beta=0.75,
            bias=1.0,
        ),
        _one(
            "layer norm, rows of 768",
            "LayerNormalization",
            _TOKENS,
            axis=-1,
            constants={"s": np.ones(768, np.float32), "o": np.zeros(768, np.float32)},
        ),
        _one(
            "instance norm",
            "InstanceNormalization",
            _BATCH,
            constants={"s": ones, "o": 0 * ones},
        ),
    ]


def _reductions() -> list[Case]:
    return [
        *(
            _one(
                f"{op.lower()} over {where}",
                op,
                _BATCH,
                keepdims=1,
                constants={"axes": axes},
            )
            for op in ("ReduceMean", "ReduceMax")
            for where, axes in (
                ("height and width", _ints(2, 3)),
                ("channels", _ints(1)),
            )
        ),
        _one(
            "reducesum over rows of 768",
            "ReduceSum",
            _TOKENS,
            keepdims=1,
            constants={"axes": _ints(-1)},
        ),
        *(
            _pool(f"{name} pool {k}x{k} by {s}", op, k, s)
            for name, op in (("max", "MaxPool"), ("average", "AveragePool"))
            for k, s in ((2, 2), (3, 2))
        ),
        _one("global average pool", "GlobalAveragePool", (1, 1280, 7, 7)),
    ]


def _moves() -> list[Case]:
    plain = {"images": False}
    return [
        _one(
            "transpose, NCHW to NHWC, 3 channels",
            "Transpose",
            (1, 3, 224, 224),
            perm=[0, 2, 3, 1],
            **plain,
        ),
        _one(
            "transpose, NHWC to NCHW, 3 channels",
            "Transpose",
            (1, 224, 224, 3),
            perm=[0, 3, 1, 2],
            **plain,
        ),
        _one(
            "transpose, NCHW to NHWC, 64 channels",
            "Transpose",
            _BATCH,
            perm=[0, 2, 3, 1],
            **plain,
        ),
        _one(
            "transpose, NHWC to NCHW, 64 channels",
            "Transpose",
            (1, 56, 56, 64),
            perm=[0, 3, 1, 2],
            **plain,
        ),
        _one(
            "transpose, 128 tokens of 12 heads",
            "Transpose",
            (1, 128, 12, 64),
            perm=[0, 2, 1, 3],
            **plain,
        ),
        _channel_shuffle("channel shuffle, 2 groups", (1, 116, 28, 28), 2),
        _channel_shuffle("channel shuffle, 3 groups", (1, 240, 28, 28), 3),
        _one(
            "pad, 1 pixel around",
            "Pad",
            _BATCH,
            constants={"p": _ints(0, 0, 1, 1, 0, 0, 1, 1)},
        ),
        _one("concat of channels", "Concat", _BATCH, _BATCH, axis=1),
        _one("concat of images", "Concat", _BATCH, _BATCH, axis=0),
        _one(
            "split of channels",
            "Split",
            _BATCH,
            axis=1,
            num_outputs=2,
            outputs=("y", "z"),
        ),
        _one(
            "split of images",
            "Split",
            (2, *_BATCH[1:]),
            axis=0,
            num_outputs=2,
            outputs=("y", "z"),
        ),
    ]


CASES = (
    *_products(),
    *_elementwise(),
    *_normalisations(),
    *_reductions(),
    *_moves(),
)
