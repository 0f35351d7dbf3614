# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The cases of `operators.py`: operators with shapes from real networks."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto, helper

from benchmarks.operator_case import (
    Case,
    Shape,
    floats,
    ints,
    one,
    scalar,
    tensors,
    then_cast,
)
from benchmarks.operator_elements import ELEMENTS
from benchmarks.operator_sequences import SEQUENCES
from benchmarks.operator_volumes import VOLUMES

_BATCH = (1, 64, 56, 56)  # an image of ResNet-50, NCHW
_TOKENS = (1, 128, 768)  # a layer of a small transformer
_SCENE = (1, 21, 129, 129)  # scores of a segmentation


def _conv(
    name: str, shape: Shape, out: int, kernel: int, groups: int = 1, stride: int = 1
) -> Case:
    return one(
        name,
        "Conv",
        shape,
        constants={"w": floats(out, shape[1] // groups, kernel, kernel)},
        group=groups,
        pads=[kernel // 2] * 4,
        strides=[stride] * 2,
    )


def _dilated(shape: Shape, out: int, dilation: int) -> Case:
    return one(
        f"convolution 3x3, dilation {dilation}, {shape[1]} to {out} channels",
        "Conv",
        shape,
        constants={"w": floats(out, shape[1], 3, 3)},
        pads=[dilation] * 4,
        dilations=[dilation] * 2,
    )


def _deconv(
    name: str, shape: Shape, out: int, window: tuple[int, int, int], groups: int = 1
) -> Case:
    kernel, stride, pad = window
    return one(
        f"transposed {name}",
        "ConvTranspose",
        shape,
        constants={"w": floats(shape[1], out // groups, kernel, kernel)},
        group=groups,
        pads=[pad] * 4,
        strides=[stride] * 2,
    )


# Name, shape, output channels, and kernel, stride and padding.
_DECONVS = (
    ("convolution 4x4 by 2, 512 to 256 channels", (1, 512, 8, 8), 256, (4, 2, 1)),
    ("convolution 4x4 by 2, 256 to 256 channels", (1, 256, 32, 32), 256, (4, 2, 1)),
    ("convolution 4x4 by 2, 64 to 3 channels", (1, 64, 32, 32), 3, (4, 2, 1)),
    ("convolution 2x2 by 2, 128 to 64 channels", (1, 128, 56, 56), 64, (2, 2, 0)),
    ("convolution 3x3 by 2, 128 to 64 channels", (1, 128, 56, 56), 64, (3, 2, 1)),
    ("convolution 16x16 by 8, 21 classes", (1, 21, 16, 16), 21, (16, 8, 4)),
)


def _int8_matmul(rows: int, depth: int, columns: int) -> Case:
    """Floats to uint8, times a constant of int8, sums to floats."""
    rng = np.random.default_rng(1)
    constants = {
        "scale": np.array(4 / 255, np.float32),
        "a_zero": np.array(128, np.uint8),
        "w": rng.integers(-128, 128, (depth, columns), np.int8),
        "w_zero": np.array(3, np.int8),
    }
    return Case(
        f"matmul {rows}x{depth}x{columns} of 8 bits",
        [
            helper.make_node("QuantizeLinear", ["a", "scale", "a_zero"], ["q"]),
            helper.make_node("MatMulInteger", ["q", "w", "a_zero", "w_zero"], ["i"]),
            helper.make_node("Cast", ["i"], ["y"], to=TensorProto.FLOAT),
        ],
        {"a": (rows, depth)},
        tensors(constants),
    )


def _int8_heads(name: str, a: Shape, b: Shape, transposed: bool) -> Case:
    """Two tensors of floats to uint8, their product of 8 bits, and that to floats."""
    constants = {
        "scale": np.array(4 / 255, np.float32),
        "zero": np.array(128, np.uint8),
        "y_scale": np.array(0.25, np.float32),
    }
    quantized = [
        helper.make_node("QuantizeLinear", [x, "scale", "zero"], [f"{x}_q"])
        for x in ("a", "b")
    ]
    turned = helper.make_node("Transpose", ["b_q"], ["b_t"], perm=[0, 2, 1])
    second = "b_t" if transposed else "b_q"
    operands = ["a_q", "scale", "zero", second, "scale", "zero", "y_scale", "zero"]
    return Case(
        name,
        [
            *quantized,
            *([turned] if transposed else []),
            helper.make_node("QLinearMatMul", operands, ["y_q"]),
            helper.make_node("DequantizeLinear", ["y_q", "y_scale", "zero"], ["y"]),
        ],
        {"a": a, "b": b},
        tensors(constants),
    )


def _products() -> list[Case]:
    heads = (12, 128, 64)
    turned = Case(
        "matmul, 12 heads, B transposed",
        [
            helper.make_node("Transpose", ["b"], ["t"], perm=[0, 2, 1]),
            helper.make_node("MatMul", ["a", "t"], ["y"]),
        ],
        {"a": heads, "b": heads},
    )
    return [
        *(
            one(f"matmul {m}x768x3072", "MatMul", (m, 768), (768, 3072))
            for m in (1, 4, 16, 128)
        ),
        turned,
        *(_int8_matmul(m, 768, 768) for m in (1, 128)),
        one("matmul, 12 heads", "MatMul", (12, 128, 128), heads),
        _int8_heads("matmul of 8 bits, 12 heads, B transposed", heads, heads, True),
        _int8_heads("matmul of 8 bits, 12 heads", (12, 128, 128), heads, False),
        one("gemm 128x768x768, A transposed", "Gemm", (768, 128), (768, 768), transA=1),
        *(
            one(
                f"fully connected {m}x2048x1000",
                "Gemm",
                (m, 2048),
                constants={"w": floats(1000, 2048), "o": floats(1000)},
                transB=1,
            )
            for m in (1, 16)
        ),
        _conv("convolution 1x1, 256 to 64 channels", (1, 256, 56, 56), 64, 1),
        _conv("convolution 3x3, 64 channels", _BATCH, 64, 3),
        _conv("convolution 3x3 by 2, 128 channels", (1, 128, 56, 56), 128, 3, 1, 2),
        _conv("convolution 7x7 by 2, 3 to 64 channels", (1, 3, 224, 224), 64, 7, 1, 2),
        _conv("depthwise 3x3", (1, 128, 56, 56), 128, 3, 128),
        _conv("depthwise 3x3 by 2", (1, 64, 112, 112), 64, 3, 64, 2),
        _conv("depthwise 3x3, multiplier 2", _BATCH, 128, 3, 64),
        _conv("depthwise 3x3, multiplier 4", (1, 32, 56, 56), 128, 3, 32),
        _conv("depthwise 5x5", (1, 96, 28, 28), 96, 5, 96),
        *(
            _conv(f"convolution 3x3, {c} channels per group", (1, 96, 28, 28), 96, 3, g)
            for c, g in ((2, 48), (4, 24), (8, 12), (24, 4))
        ),
        *(
            one(
                f"convolution 3x3 by computed filters, {c} channels",
                "Conv",
                (1, c, size, size),
                (c, c, 3, 3),
                pads=[1] * 4,
            )
            for c, size in ((16, 32), (64, 56))
        ),
        # The last layers of DeepLabV3.
        *(
            _dilated((1, c, 16, 16), out, d)
            for c, out, d in ((512, 512, 4), (2048, 256, 12), (2048, 256, 24))
        ),
        *(_deconv(*case) for case in _DECONVS),
        _deconv("depthwise convolution 4x4 by 2", _BATCH, 64, (4, 2, 1), 64),
    ]


_UNARY: dict[str, dict[str, Any]] = {
    "Exp": {},
    "Log": {"range": (0.1, 4.0)},
    "Sqrt": {"range": (0.0, 4.0)},
    "Erf": {},
    "Sin": {},
    "Cos": {},
    "Asin": {"range": (-1.0, 1.0)},
    "Atan": {},
    "Sinh": {},
    "Asinh": {},
    "Abs": {},
    "Neg": {},
    "Floor": {},
    "Ceil": {},
    "Round": {},
    "Sign": {},
    "Reciprocal": {"range": (0.5, 2.0)},
    "Relu": {},
    "LeakyRelu": {"alpha": 0.1},
    "Elu": {},
    "Selu": {},
    "HardSigmoid": {},
    "HardSwish": {},
    "Tanh": {},
    "Sigmoid": {},
    "Gelu": {},
    "Softplus": {},
    "Softsign": {},
    "Mish": {},
}

_BINARY: dict[str, dict[str, Any]] = {
    "Add": {},
    "Sub": {},
    "Mul": {},
    "Div": {"range": (0.5, 2.0)},
    "Max": {},
    "Min": {},
    "Pow": {"range": (0.1, 2.0)},
}


def _elementwise() -> list[Case]:
    channels = floats(64, 1, 1)
    return [
        *(one(op.lower(), op, _BATCH, **more) for op, more in _UNARY.items()),
        *(one(op.lower(), op, _BATCH, _BATCH, **more) for op, more in _BINARY.items()),
        one("pow, by 2.5", "Pow", _BATCH, range=(0, 2), constants={"e": scalar(2.5)}),
        one("add, per channel", "Add", _BATCH, constants={"c": channels}),
        one("multiply, per image and channel", "Mul", _BATCH, (1, 64, 1, 1)),
        one("prelu", "PRelu", _BATCH, constants={"s": channels}),
        one("clip", "Clip", _BATCH, constants={"low": scalar(0), "high": scalar(6)}),
        then_cast(one("greater", "Greater", _BATCH, _BATCH), TensorProto.FLOAT),
        then_cast(
            one("cast to int32 and back", "Cast", _BATCH, to=TensorProto.INT32),
            TensorProto.FLOAT,
        ),
    ]


def _normalisations() -> list[Case]:
    ones = np.ones(64, np.float32)
    affine = {"s": ones, "o": 0 * ones}
    moments = {"m": 0 * ones, "v": ones}
    return [
        one("softmax, 12 x 128 rows of 128", "Softmax", (12, 128, 128), axis=-1),
        one("softmax, 1 row of 1000", "Softmax", (1, 1000), axis=-1),
        one("softmax, rows of 21", "Softmax", (4096, 21), axis=-1),
        one("softmax over 21 channels of an image", "Softmax", (1, 21, 65, 65), axis=1),
        one("logsoftmax, 128 rows of 1000", "LogSoftmax", (128, 1000), axis=-1),
        one(
            "local response norm, 5 of 64 channels",
            "LRN",
            _BATCH,
            size=5,
            alpha=1e-4,
            beta=0.75,
            bias=1.0,
        ),
        one(
            "batch norm", "BatchNormalization", _BATCH, constants={**affine, **moments}
        ),
        one("instance norm", "InstanceNormalization", _BATCH, constants=affine),
        one(
            "layer norm, rows of 768",
            "LayerNormalization",
            _TOKENS,
            axis=-1,
            constants={"s": np.ones(768, np.float32), "o": np.zeros(768, np.float32)},
        ),
        one("mean and variance norm", "MeanVarianceNormalization", _BATCH),
        one("l2 norm of rows of 768", "LpNormalization", _TOKENS, axis=-1),
    ]


def _reductions() -> list[Case]:
    axes = {"height and width": ints(2, 3), "channels": ints(1)}
    operators = ("ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL2")
    return [
        *(
            one(
                f"{op.lower()} over {where}",
                op,
                _BATCH,
                keepdims=1,
                constants={"axes": over},
            )
            for op in operators
            for where, over in axes.items()
        ),
        one(
            "reducesum over rows of 768",
            "ReduceSum",
            _TOKENS,
            keepdims=1,
            constants={"axes": ints(-1)},
        ),
        *(
            then_cast(
                one(f"argmax over {name}", "ArgMax", shape, axis=axis),
                TensorProto.FLOAT,
            )
            for name, shape, axis in (
                ("21 channels", _SCENE, 1),
                ("rows of 1000", (128, 1000), -1),
            )
        ),
        *(
            one(
                f"{name} pool {k}x{k} by {s}",
                op,
                (1, 64, 112, 112),
                kernel_shape=[k] * 2,
                strides=[s] * 2,
                pads=[(k - 1) // 2] * 4,
            )
            for name, op in (("max", "MaxPool"), ("average", "AveragePool"))
            for k, s in ((2, 2), (3, 2))
        ),
        *(
            one(
                f"{name} pool {k}x{k} by {s} of one channel",
                op,
                (1, 1, 64, 64),
                kernel_shape=[k, k],
                strides=[s, s],
                pads=[(k - 1) // 2] * 4,
            )
            for name, op in (("max", "MaxPool"), ("average", "AveragePool"))
            for k, s in ((9, 1), (3, 2))
        ),
        one("global average pool", "GlobalAveragePool", (1, 1280, 7, 7)),
    ]


def _resize(name: str, shape: Shape, size: tuple[int, int], mode: str) -> Case:
    """Half-pixel coordinates, or aligned corners if the name says so."""
    corners = "corners" in name
    node = helper.make_node(
        "Resize",
        ["a", "", "", "size"],
        ["y"],
        mode=mode,
        coordinate_transformation_mode="align_corners" if corners else "half_pixel",
    )
    constants = {"size": ints(*shape[:2], *size)}
    return Case(name, [node], {"a": shape}, tensors(constants))


def _resizes() -> list[Case]:
    half = (1, 64, 28, 28)
    return [
        _resize("resize nearest, by 2", half, (56, 56), "nearest"),
        _resize("resize bilinear, by 2", half, (56, 56), "linear"),
        _resize("resize bicubic, by 2", half, (56, 56), "cubic"),
        _resize(
            "resize bilinear, 21 channels, corners",
            (1, 21, 65, 65),
            (257, 257),
            "linear",
        ),
        _resize(
            "resize bilinear, photo of 3 channels",
            # Distances that are exact in float; otherwise weights would differ by
            # rounding.
            (1, 3, 448, 672),
            (224, 224),
            "linear",
        ),
    ]


# Name, shape and order of axes; arrays are not images.
_TRANSPOSES = (
    ("NCHW to NHWC, 3 channels", (1, 3, 224, 224), (0, 2, 3, 1)),
    ("NHWC to NCHW, 3 channels", (1, 224, 224, 3), (0, 3, 1, 2)),
    ("NCHW to NHWC, 64 channels", (1, 64, 56, 56), (0, 2, 3, 1)),
    ("NHWC to NCHW, 64 channels", (1, 56, 56, 64), (0, 3, 1, 2)),
    ("128 tokens of 12 heads", (1, 128, 12, 64), (0, 2, 1, 3)),
    ("matrix 768x768", (768, 768), (1, 0)),
)


def _channel_shuffle(name: str, shape: tuple[int, int, int, int], groups: int) -> Case:
    n, c, h, w = shape
    nodes = [
        helper.make_node("Reshape", ["a", "split"], ["apart"]),
        helper.make_node("Transpose", ["apart"], ["turned"], perm=[0, 2, 1, 3, 4]),
        helper.make_node("Reshape", ["turned", "shape"], ["y"]),
    ]
    constants = {"split": ints(n, groups, c // groups, h, w), "shape": ints(*shape)}
    return Case(name, nodes, {"a": shape}, tensors(constants))


def _slice(name: str, begins: Shape, ends: Shape, axes: Shape, steps: Shape) -> Case:
    constants = {"b": begins, "e": ends, "x": axes, "s": steps}
    stored = {key: ints(*values) for key, values in constants.items()}
    return one(name, "Slice", _BATCH, constants=stored)


def _moves() -> list[Case]:
    halves: dict[str, Any] = {"num_outputs": 2, "outputs": ("y", "z")}
    tokens = np.random.default_rng(1).integers(0, 1000, (1, 128))
    return [
        *(
            one(f"transpose, {name}", "Transpose", shape, perm=perm, images=False)
            for name, shape, perm in _TRANSPOSES
        ),
        _channel_shuffle("channel shuffle, 2 groups", (1, 116, 28, 28), 2),
        _channel_shuffle("channel shuffle, 3 groups", (1, 240, 28, 28), 3),
        one(
            "pad, 1 pixel around",
            "Pad",
            _BATCH,
            constants={"p": ints(0, 0, 1, 1, 0, 0, 1, 1)},
        ),
        one("concat of channels", "Concat", _BATCH, _BATCH, axis=1),
        one("concat of images", "Concat", _BATCH, _BATCH, axis=0),
        one("split of channels", "Split", _BATCH, axis=1, **halves),
        one("split of images", "Split", (2, *_BATCH[1:]), axis=0, **halves),
        _slice("slice of pixels", (4, 4), (52, 52), (2, 3), (1, 1)),
        _slice("slice of every second pixel", (0, 0), (56, 56), (2, 3), (2, 2)),
        _slice("slice of channels", (16,), (48,), (1,), (1,)),
        one(
            "gather of 128 rows of 768",
            "Gather",
            (1000, 768),
            constants={"i": tokens},
            images=False,
        ),
        *(
            one(
                f"depth to space, {mode}",
                "DepthToSpace",
                _BATCH,
                blocksize=2,
                mode=mode,
            )
            for mode in ("DCR", "CRD")
        ),
        one("space to depth", "SpaceToDepth", _BATCH, blocksize=2),
        one("tile, twice in height", "Tile", _BATCH, constants={"n": ints(1, 1, 2, 1)}),
        one(
            "expand, a pixel to an image",
            "Expand",
            (1, 64, 1, 1),
            constants={"n": ints(*_BATCH)},
        ),
    ]


def _grid_sample(name: str, shape: tuple[int, int, int, int], mode: str) -> Case:
    # Not of rank 4, so that it is no image.
    points = shape[2] * shape[3]
    size = np.array([shape[0], *shape[2:], 2])
    nodes = [
        helper.make_node("Reshape", ["b", "size"], ["grid"]),
        helper.make_node("GridSample", ["a", "grid"], ["y"], mode=mode),
    ]
    inputs = {"a": shape, "b": (shape[0], points, 2)}
    return Case(name, nodes, inputs, tensors({"size": size}), range=(-1.0, 1.0))


def _selected(classes: int, boxes: int) -> Case:
    # There are always 100 results for a class.
    limits = {
        "most": np.array([100]),
        "iou": np.array([0.5], np.float32),
        "score": np.array([0.3], np.float32),
    }
    nodes = [
        helper.make_node("NonMaxSuppression", ["a", "b", *limits], ["n"]),
        helper.make_node("Cast", ["n"], ["y"], to=TensorProto.FLOAT),
    ]
    return Case(
        f"non max suppression, {classes} x {boxes}",
        nodes,
        {"a": (1, boxes, 4), "b": (1, classes, boxes)},
        tensors(limits),
        images=False,
        range=(0.0, 1.0),
    )


def _regions() -> Case:
    rng = np.random.default_rng(0)
    corners = rng.random((100, 4)) * [500, 400, 400, 300] + [0, 0, 30, 30]
    corners[:, 2:] += corners[:, :2]
    constants = {"r": corners.astype(np.float32), "i": np.zeros(100, np.int64)}
    return one(
        "roi align, 100 regions of 256 channels",
        "RoiAlign",
        (1, 256, 50, 68),
        constants=constants,
        output_height=7,
        output_width=7,
        sampling_ratio=2,
        spatial_scale=1 / 16,
    )


def _vision() -> list[Case]:
    return [
        _grid_sample("grid sample of a photo", (1, 3, 256, 256), "linear"),
        _grid_sample("grid sample of 64 channels", (1, 64, 64, 64), "linear"),
        _grid_sample("grid sample, cubic", (1, 3, 256, 256), "cubic"),
        _selected(1, 8400),
        _selected(80, 1000),
        _regions(),
    ]


def _rows() -> list[Case]:
    tokens = (1, 128, 768)
    scale = np.ones(768, np.float32)
    channels = np.ones(64, np.float32)
    return [
        one("softmax, 16 rows of 32000", "Softmax", (16, 32000), axis=-1),
        one("softmax, 512 rows of 2048", "Softmax", (512, 2048), axis=-1),
        one("softmax over axis 1 of 3", "Softmax", (16, 128, 256), axis=1),
        one(
            "layer norm, 1 row of 4096",
            "LayerNormalization",
            (1, 1, 4096),
            axis=-1,
            constants={"s": np.ones(4096, np.float32)},
        ),
        one(
            "layer norm, 3136 rows of 96",
            "LayerNormalization",
            (1, 3136, 96),
            axis=-1,
            constants={
                "s": np.ones(96, np.float32),
                "o": np.zeros(96, np.float32),
            },
        ),
        one(
            "rms norm, rows of 768",
            "RMSNormalization",
            tokens,
            axis=-1,
            constants={"s": scale},
            opset=23,
        ),
        one(
            "group norm, 32 groups",
            "GroupNormalization",
            _BATCH,
            num_groups=32,
            epsilon=1e-5,
            constants={"s": channels, "o": 0 * channels},
            opset=21,
        ),
        *(
            one(
                f"cumsum over axis {axis} of {shape}",
                "CumSum",
                shape,
                constants={"x": np.array(axis, np.int64)},
                images=False,
            )
            for shape, axis in (((128, 1000), 1), ((128, 1000), 0), ((1, 80000), 1))
        ),
        one("hardmax, 128 rows of 1000", "Hardmax", (128, 1000), axis=-1),
        one(
            "reducemean over rows of 768",
            "ReduceMean",
            tokens,
            constants={"x": ints(-1)},
        ),
        one("reducemax over tokens", "ReduceMax", tokens, constants={"x": ints(1)}),
        one("reducelogsumexp", "ReduceLogSumExp", tokens, constants={"x": ints(-1)}),
        one("add, rows of 768", "Add", tokens, (768,), images=False),
        one("multiply, columns", "Mul", tokens, (1, 128, 1), images=False),
        one(
            "where, masks",
            "Where",
            (128, 768),
            (128, 768),
            (128, 768),
            types={"a": "bool"},
            images=False,
        ),
    ]


CASES = (
    *_products(),
    *_elementwise(),
    *_normalisations(),
    *_reductions(),
    *_resizes(),
    *_moves(),
    *_vision(),
    *_rows(),
    *VOLUMES,
    *ELEMENTS,
    *SEQUENCES,
)
