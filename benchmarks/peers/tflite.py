# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Converts an ONNX image network to a LiteRT model: same graph, same weights.

    python -m benchmarks.peers.tflite IN.onnx OUT.tflite

Nodes are converted one by one to TensorFlow operations with channels last, as a
TensorFlow user would write them; TensorFlow's converter then fuses some of them. Values
of ONNX rank N with channels second are stored with channels last. Supports the networks
of benchmarks/networks.py; other nodes are refused by name.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import tensorflow as tf

Attributes = dict[str, Any]


def _last(rank: int) -> list[int]:
    """The permutation that moves axis 1 to the end."""
    return [0, *range(2, rank), 1]


def _first(rank: int) -> list[int]:
    """The permutation that moves the last axis to axis 1."""
    return [0, rank - 1, *range(1, rank - 1)]


def _padding(size: Sequence[int], kernel: Sequence[int], a: Attributes) -> Any:
    """ "SAME", "VALID" or the pads to add, [[top, bottom], [left, right]]."""
    pads = list(a.get("pads", [0, 0, 0, 0]))
    if not any(pads):
        return "VALID"
    strides = a.get("strides", [1, 1])
    same = [
        max((-(-extent // stride) - 1) * stride + width - extent, 0)
        for extent, stride, width in zip(size, strides, kernel)
    ]
    if pads == [*(p // 2 for p in same), *(p - p // 2 for p in same)]:
        return "SAME"
    return [[pads[0], pads[2]], [pads[1], pads[3]]]


def _inside(size: int, kernel: int, stride: int, pads: list[int]) -> NDArray[Any]:
    """How many kernel elements are inside the input, for each output, on one axis."""
    starts = np.arange(0, size + sum(pads) - kernel + 1, stride) - pads[0]
    return np.minimum(starts + kernel, size) - np.maximum(starts, 0)


class Translator:
    """One graph; `values` maps ONNX names to TensorFlow values or constants.

    Constants are numpy arrays as ONNX has them; a rule that makes one returns
    None.
    """

    def __init__(self, graph: onnx.GraphProto) -> None:
        self.graph = graph
        self.constants: dict[str, NDArray[Any]] = {
            tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer
        }
        self.values: dict[str, Any] = {}
        self._nonnegative: set[str] = set()
        unknown = sorted({n.op_type for n in graph.node} - set(_RULES))
        if unknown:
            raise NotImplementedError(f"no rule for {', '.join(unknown)}")

    def __call__(self, image: Any) -> Any:
        self.values = {self.graph.input[0].name: image}
        for node in self.graph.node:
            attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
            result = _RULES[node.op_type](self, node, attributes)
            if result is not None:
                self.values[node.output[0]] = result
            if node.op_type in ("Relu", "Clip") or (
                node.op_type in ("Concat", "MaxPool", "Dropout")
                and self._nonnegative.issuperset(node.input)
            ):
                self._nonnegative.add(node.output[0])
        return self.values[self.graph.output[0].name]

    def constant(self, name: str) -> NDArray[Any]:
        """A weight. Raises NotImplementedError if it is computed."""
        if name not in self.constants:
            raise NotImplementedError(f"{name} is not a constant")
        return self.constants[name]

    def conv(self, node: onnx.NodeProto, a: Attributes) -> Any:
        x, weight = self.values[node.input[0]], self.constant(node.input[1])
        strides, groups = a.get("strides", [1, 1]), a.get("group", 1)
        if a.get("dilations", [1, 1]) != [1, 1]:
            raise NotImplementedError(f"{node.name}: dilations")
        padding = _padding(x.shape[1:3], weight.shape[2:], a)
        if not isinstance(padding, str):
            x, padding = tf.pad(x, [[0, 0], *padding, [0, 0]]), "VALID"
        if groups > 1 and weight.shape[:2] == (groups, 1):
            x = tf.nn.depthwise_conv2d(
                x, weight.transpose(2, 3, 0, 1), [1, *strides, 1], padding
            )
        else:
            x = tf.nn.conv2d(x, weight.transpose(2, 3, 1, 0), strides, padding)
        if len(node.input) > 2:
            x = tf.nn.bias_add(x, self.constant(node.input[2]))
        return x

    def batch_normalization(self, node: onnx.NodeProto, a: Attributes) -> Any:
        scale, offset, mean, variance = (self.constant(n) for n in node.input[1:5])
        factor = scale / np.sqrt(variance + a.get("epsilon", 1e-5))
        return self.values[node.input[0]] * factor + (offset - mean * factor)

    def binary(self, node: onnx.NodeProto, a: Attributes) -> Any:
        operation = tf.multiply if node.op_type == "Mul" else tf.add
        result = self._operand(node.input[0])
        for name in node.input[1:]:
            result = operation(result, self._operand(name))
        return result

    def _operand(self, name: str) -> Any:
        if name in self.values:
            return self.values[name]
        array = self.constant(name)
        if array.ndim == 4:
            return array.transpose(_last(4))
        if array.ndim == 3:
            return array.transpose(1, 2, 0)
        if array.size == 1:
            return array.reshape(())
        raise NotImplementedError(f"{name}: a constant of shape {array.shape}")

    def unsqueeze(self, node: onnx.NodeProto, a: Attributes) -> Any:
        array = self.constant(node.input[0])
        for axis in sorted(a["axes"]):
            array = np.expand_dims(array, axis)
        self.constants[node.output[0]] = array
        return None

    def clip(self, node: onnx.NodeProto, a: Attributes) -> Any:
        limits = [float(self.constant(name)) for name in node.input[1:]]
        if limits != [0.0, 6.0]:
            raise NotImplementedError(f"{node.name}: limits {limits}")
        return tf.nn.relu6(self.values[node.input[0]])

    def max_pool(self, node: onnx.NodeProto, a: Attributes) -> Any:
        x = self.values[node.input[0]]
        padding = _padding(x.shape[1:3], a["kernel_shape"], a)
        if not isinstance(padding, str):
            # 0 is as good as -infinity if no value is negative, and PAD is faster than
            # PADV2.
            least = 0.0 if node.input[0] in self._nonnegative else x.dtype.min
            x = tf.pad(x, [[0, 0], *padding, [0, 0]], constant_values=least)
            padding = "VALID"
        return tf.nn.max_pool2d(x, a["kernel_shape"], a.get("strides", [1, 1]), padding)

    def average_pool(self, node: onnx.NodeProto, a: Attributes) -> Any:
        x, kernel = self.values[node.input[0]], a["kernel_shape"]
        strides = a.get("strides", [1, 1])
        padding = _padding(x.shape[1:3], kernel, a)
        count = a.get("count_include_pad", 0)
        if isinstance(padding, str) and not (count and padding == "SAME"):
            return tf.nn.avg_pool2d(x, kernel, strides, padding)
        if isinstance(padding, str):
            raise NotImplementedError(f"{node.name}: counts its padding")
        padded = tf.pad(x, [[0, 0], *padding, [0, 0]])
        result = tf.nn.avg_pool2d(padded, kernel, strides, "VALID")
        if count:
            return result
        # ONNX divides by the elements inside only, which is a constant share of the
        # kernel.
        rows, columns = (
            _inside(x.shape[1 + i], kernel[i], strides[i], padding[i]) for i in (0, 1)
        )
        share = np.outer(rows, columns) / (kernel[0] * kernel[1])
        return result * (1.0 / share)[None, :, :, None].astype(np.float32)

    def global_average_pool(self, node: onnx.NodeProto, a: Attributes) -> Any:
        return tf.reduce_mean(self.values[node.input[0]], [1, 2], keepdims=True)

    def concat(self, node: onnx.NodeProto, a: Attributes) -> Any:
        if a["axis"] != 1:
            raise NotImplementedError(f"{node.name}: axis {a['axis']}")
        return tf.concat([self.values[name] for name in node.input], -1)

    def lrn(self, node: onnx.NodeProto, a: Attributes) -> Any:
        size = a["size"]
        if size % 2 == 0:
            raise NotImplementedError(f"{node.name}: size {size}")
        return tf.nn.local_response_normalization(
            self.values[node.input[0]],
            depth_radius=size // 2,
            bias=a.get("bias", 1.0),
            alpha=a.get("alpha", 1e-4) / size,
            beta=a.get("beta", 0.75),
        )

    def flatten(self, node: onnx.NodeProto, a: Attributes) -> Any:
        return self._to_rank_2(self.values[node.input[0]])

    def reshape(self, node: onnx.NodeProto, a: Attributes) -> Any:
        shape = [int(n) for n in self.constant(node.input[1])]
        if node.input[0] in self.constants:
            array = self.constants[node.input[0]].reshape(shape)
            self.constants[node.output[0]] = array
            return None
        x = self.values[node.input[0]]
        if len(shape) == 2:
            return self._to_rank_2(x)
        # Splits or joins channels; the spatial axes do not change.
        spatial = list(x.shape[1:3])
        if shape[-2:] == spatial:
            return tf.reshape(x, [x.shape[0], *spatial, *shape[1:-2]])
        raise NotImplementedError(f"{node.name}: to {shape}")

    def transpose(self, node: onnx.NodeProto, a: Attributes) -> Any:
        x = self.values[node.input[0]]
        if x.shape.rank == 5 and list(a["perm"]) == [0, 2, 1, 3, 4]:
            return tf.transpose(x, [0, 1, 2, 4, 3])
        raise NotImplementedError(f"{node.name}: permutation {a['perm']}")

    def _to_rank_2(self, x: Any) -> Any:
        if x.shape.rank == 4 and x.shape[1] * x.shape[2] > 1:
            x = tf.transpose(x, _first(4))
        return tf.reshape(x, [1, -1])

    def gemm(self, node: onnx.NodeProto, a: Attributes) -> Any:
        if a.get("transA") or a.get("alpha", 1.0) != 1 or a.get("beta", 1.0) != 1:
            raise NotImplementedError(f"{node.name}: transA, alpha or beta")
        weight = self.constant(node.input[1])
        if a.get("transB"):
            weight = weight.T
        result = tf.matmul(self.values[node.input[0]], weight)
        return tf.nn.bias_add(result, self.constant(node.input[2]).ravel())

    def softmax(self, node: onnx.NodeProto, a: Attributes) -> Any:
        x = self.values[node.input[0]]
        if x.shape.rank == 4 and x.shape[1] * x.shape[2] > 1:
            raise NotImplementedError(f"{node.name}: over more than channels")
        return tf.nn.softmax(x)

    def relu(self, node: onnx.NodeProto, a: Attributes) -> Any:
        return tf.nn.relu(self.values[node.input[0]])

    def sigmoid(self, node: onnx.NodeProto, a: Attributes) -> Any:
        return tf.sigmoid(self.values[node.input[0]])

    def hard_sigmoid(self, node: onnx.NodeProto, a: Attributes) -> Any:
        if abs(a.get("alpha", 0.2) - 1 / 6) > 1e-6 or a.get("beta", 0.5) != 0.5:
            raise NotImplementedError(f"{node.name}: alpha or beta")
        return tf.nn.relu6(self.values[node.input[0]] + 3.0) * (1 / 6)

    def hard_swish(self, node: onnx.NodeProto, a: Attributes) -> Any:
        x = self.values[node.input[0]]
        return x * tf.nn.relu6(x + 3.0) * (1 / 6)

    def reduce_mean(self, node: onnx.NodeProto, a: Attributes) -> Any:
        axes = a.get("axes")
        if axes is None and len(node.input) > 1:
            axes = self.constant(node.input[1]).tolist()
        x = self.values[node.input[0]]
        if axes is None or sorted(axis % x.shape.rank for axis in axes) != [2, 3]:
            raise NotImplementedError(f"{node.name}: over other axes than an image's")
        return tf.reduce_mean(x, [1, 2], keepdims=bool(a.get("keepdims", 1)))

    def same(self, node: onnx.NodeProto, a: Attributes) -> Any:
        return self.values[node.input[0]]


_Rule = Callable[[Translator, onnx.NodeProto, Attributes], Any]
_RULES: dict[str, _Rule] = {
    "Add": Translator.binary,
    "AveragePool": Translator.average_pool,
    "BatchNormalization": Translator.batch_normalization,
    "Clip": Translator.clip,
    "Concat": Translator.concat,
    "Conv": Translator.conv,
    "Dropout": Translator.same,
    "Flatten": Translator.flatten,
    "Gemm": Translator.gemm,
    "GlobalAveragePool": Translator.global_average_pool,
    "HardSigmoid": Translator.hard_sigmoid,
    "HardSwish": Translator.hard_swish,
    "LRN": Translator.lrn,
    "MaxPool": Translator.max_pool,
    "Mul": Translator.binary,
    "ReduceMean": Translator.reduce_mean,
    "Relu": Translator.relu,
    "Reshape": Translator.reshape,
    "Sigmoid": Translator.sigmoid,
    "Softmax": Translator.softmax,
    "Sum": Translator.binary,
    "Transpose": Translator.transpose,
    "Unsqueeze": Translator.unsqueeze,
}


def convert(source: Path, images: Sequence[Any] = ()) -> bytes:
    """The LiteRT model of an ONNX file with one image input and one output.

    Args:
        source: the file.
        images: NHWC. If there are any, the model computes in 8-bit integers, with
            the ranges of these samples, between inputs and outputs in floats.

    Raises:
        NotImplementedError: it has a node without a rule.
    """
    graph = onnx.load(str(source)).graph
    translate = Translator(graph)
    # A batch of unknown size is 1.
    dims = [d.dim_value or 1 for d in graph.input[0].type.tensor_type.shape.dim]
    shape = [dims[axis] for axis in _last(len(dims))]
    function = tf.function(
        translate, input_signature=[tf.TensorSpec(shape, tf.float32, name="image")]
    )
    converter = tf.lite.TFLiteConverter.from_concrete_functions(
        [function.get_concrete_function()]
    )
    if images:
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
        converter.representative_dataset = lambda: ([image] for image in images)
        converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    model: bytes = converter.convert()
    return model


def main() -> None:
    source, target = (Path(name) for name in sys.argv[1:3])
    try:
        target.write_bytes(convert(source))
    except NotImplementedError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
