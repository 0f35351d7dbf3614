# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Small ONNX files in the styles of the programs that export them.

Names, operator sets and idioms are those of the exporters: how each writes a
hard-swish, the size of an upsampling, the first state of an LSTM or the layout of its
framework. Weights are random.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

_F, _I64 = TensorProto.FLOAT, TensorProto.INT64
Array = npt.NDArray[Any]


class _File:
    """A file under construction; nodes are named after their outputs."""

    def __init__(self, opset: int, producer: str, ir_version: int = 8) -> None:
        self._rng = np.random.default_rng(11)
        self._opset, self._producer, self._ir = opset, producer, ir_version
        self._nodes: list[onnx.NodeProto] = []
        self._constants: dict[str, Array] = {}

    def add(self, op: str, inputs: str, outputs: str, **attributes: Any) -> str:
        """One node; names are separated by blanks, '-' is an absent input."""
        names = ["" if name == "-" else name for name in inputs.split()]
        results = outputs.split()
        self._nodes.append(
            helper.make_node(
                op, names, results, name=f"{op}_{results[0]}", **attributes
            )
        )
        return results[0]

    def chain(self, value: str, *steps: tuple[str, str, dict[str, Any]]) -> str:
        """Nodes of one input after each other: operator, output, attributes."""
        for op, output, attributes in steps:
            value = self.add(op, value, output, **attributes)
        return value

    def weight(self, name: str, *shape: int, scale: float | None = None) -> str:
        fan_in = int(np.prod(shape[1:])) if len(shape) > 1 else 1
        size = scale if scale is not None else (2 / fan_in) ** 0.5
        return self.constant(name, size * self._rng.standard_normal(shape))

    def constant(self, name: str, value: Any, dtype: Any = np.float32) -> str:
        self._constants[name] = np.asarray(value, dtype)
        return name

    def integers(self, name: str, *values: int) -> str:
        return self.constant(name, values, np.int64)

    def norm(self, prefix: str, names: Sequence[str], channels: int) -> str:
        """The four constants of a BatchNormalization, by an exporter's names."""
        values = (
            1 + 0.1 * self._rng.standard_normal(channels),
            0.1 * self._rng.standard_normal(channels),
            0.1 * self._rng.standard_normal(channels),
            self._rng.uniform(0.5, 1.5, channels),
        )
        return " ".join(
            self.constant(prefix + name, value) for name, value in zip(names, values)
        )

    def model(
        self,
        inputs: dict[str, Sequence[Any]],
        outputs: dict[str, Sequence[Any]],
        types: dict[str, int] | None = None,
        listed: bool = False,
    ) -> onnx.ModelProto:
        """The file.

        Args:
            types: of inputs that are not floats.
            listed: whether weights are among the inputs, as before IR version 4.
        """
        kinds = types or {}

        def info(name: str, shape: Sequence[Any]) -> onnx.ValueInfoProto:
            kind = kinds.get(name, _F)
            return helper.make_tensor_value_info(name, kind, list(shape))

        infos = [info(name, shape) for name, shape in inputs.items()]
        if listed:
            infos += [
                helper.make_tensor_value_info(
                    name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape
                )
                for name, array in self._constants.items()
            ]
        graph = helper.make_graph(
            self._nodes,
            "main_graph",
            infos,
            [info(name, shape) for name, shape in outputs.items()],
            [numpy_helper.from_array(a, name) for name, a in self._constants.items()],
        )
        return helper.make_model(
            graph,
            producer_name=self._producer,
            ir_version=self._ir,
            opset_imports=[helper.make_opsetid("", self._opset)],
        )


_TORCH_NORM = (".weight", ".bias", ".running_mean", ".running_var")


def torchscript_classifier() -> onnx.ModelProto:
    """torch.onnx.export of a residual block, as in ResNet."""
    f = _File(13, "pytorch")
    w = f.weight("onnx::Conv_193", 16, 3, 3, 3)
    b = f.weight("onnx::Conv_194", 16, scale=0.1)
    f.add("Conv", f"input.1 {w} {b}", "/conv1/Conv_output_0", pads=[1] * 4)
    f.add("Relu", "/conv1/Conv_output_0", "/relu/Relu_output_0")
    w = f.weight("layer1.0.conv1.weight", 16, 16, 3, 3)
    f.add("Conv", f"/relu/Relu_output_0 {w}", "/layer1/Conv_output_0", pads=[1] * 4)
    norm = f.norm("layer1.0.bn1", _TORCH_NORM, 16)
    f.add("BatchNormalization", f"/layer1/Conv_output_0 {norm}", "/layer1/bn1")
    f.add("Add", "/layer1/bn1 /relu/Relu_output_0", "/layer1/Add_output_0")
    f.chain(
        "/layer1/Add_output_0",
        ("Relu", "/layer1/relu_1/Relu_output_0", {}),
        ("GlobalAveragePool", "/avgpool/GlobalAveragePool_output_0", {}),
        ("Flatten", "/Flatten_output_0", {"axis": 1}),
    )
    w, b = f.weight("fc.weight", 10, 16), f.weight("fc.bias", 10, scale=0.1)
    f.add("Gemm", f"/Flatten_output_0 {w} {b}", "191", transB=1)
    return f.model({"input.1": (1, 3, 12, 12)}, {"191": (1, 10)})


def dynamo_encoder() -> onnx.ModelProto:
    """torch.onnx.export(dynamo=True) of a transformer's encoder layer."""
    f = _File(18, "pytorch", ir_version=10)
    scale = " ".join(
        (f.constant("norm1.weight", np.ones(32)), f.weight("norm1.bias", 32))
    )
    f.add("LayerNormalization", f"x {scale}", "layer_norm", axis=-1, epsilon=1e-5)
    shape = f.integers("val_4", 1, 6, 4, 8)
    heads = {}
    for name in "qkv":
        w = f.weight(f"val_{name}_w", 32, 32)
        f.add("MatMul", f"layer_norm {w}", f"linear_{name}")
        f.add("Reshape", f"linear_{name} {shape}", f"view_{name}", allowzero=1)
        perm = [0, 2, 3, 1] if name == "k" else [0, 2, 1, 3]
        heads[name] = f.add("Transpose", f"view_{name}", f"heads_{name}", perm=perm)
    f.add("MatMul", f"{heads['q']} {heads['k']}", "val_20")
    f.add("Mul", f"val_20 {f.constant('val_21', 8**-0.5)}", "val_22")
    f.add("Softmax", "val_22", "val_23", axis=-1)
    f.add("MatMul", f"val_23 {heads['v']}", "attention")
    f.add("Transpose", "attention", "permute", perm=[0, 2, 1, 3])
    f.add("Reshape", f"permute {f.integers('val_30', 1, 6, 32)}", "view_3", allowzero=1)
    f.add("Add", "view_3 x", "add")
    w = f.weight("linear1.weight_t", 32, 64)
    f.add("MatMul", f"add {w}", "val_40")
    f.add("Div", f"val_40 {f.constant('val_41', 2**0.5)}", "val_42")
    f.add("Erf", "val_42", "val_43")
    f.add("Add", f"val_43 {f.constant('val_44', 1.0)}", "val_45")
    f.add("Mul", f"val_45 {f.constant('val_46', 0.5)}", "val_47")
    f.add("Mul", "val_40 val_47", "gelu")
    f.add("MatMul", f"gelu {f.weight('linear2.weight_t', 64, 32)}", "linear_4")
    f.add("Add", "add linear_4", "add_1")
    f.add("ReduceMean", f"add_1 {f.integers('val_60', 1)}", "mean", keepdims=0)
    return f.model({"x": (1, 6, 32)}, {"mean": (1, 32)})


def tf2onnx_classifier() -> onnx.ModelProto:
    """tf2onnx of a Keras network: NHWC outside, NCHW inside."""
    f = _File(15, "tf2onnx")
    prefix = "StatefulPartitionedCall/model"
    f.add("Transpose", "input_1", f"{prefix}/conv2d/Conv2D__6:0", perm=[0, 3, 1, 2])
    w = f.weight(f"{prefix}/conv2d/Conv2D/ReadVariableOp:0", 8, 3, 3, 3)
    b = f.weight("const_fold_opt__54", 8, scale=0.1)
    f.add(
        "Conv",
        f"{prefix}/conv2d/Conv2D__6:0 {w} {b}",
        f"{prefix}/conv2d/BiasAdd:0",
        strides=[2, 2],
        pads=[0, 0, 1, 1],
    )
    limits = f"{f.constant('const_zero__9', 0.0)} {f.constant('const_six__10', 6.0)}"
    f.add("Clip", f"{prefix}/conv2d/BiasAdd:0 {limits}", f"{prefix}/re_lu/Relu6:0")
    w = f.weight(f"{prefix}/depthwise/weights:0", 8, 1, 3, 3)
    f.add(
        "Conv", f"{prefix}/re_lu/Relu6:0 {w}", f"{prefix}/dw:0", group=8, pads=[1] * 4
    )
    f.add("Transpose", f"{prefix}/dw:0", f"{prefix}/nhwc:0", perm=[0, 2, 3, 1])
    f.add("ReduceMean", f"{prefix}/nhwc:0", f"{prefix}/mean:0", axes=[1, 2], keepdims=0)
    w, b = f.weight("dense/MatMul:0", 8, 5), f.weight("dense/bias:0", 5, scale=0.1)
    f.add("MatMul", f"{prefix}/mean:0 {w}", f"{prefix}/dense/MatMul:0")
    f.add("Add", f"{prefix}/dense/MatMul:0 {b}", f"{prefix}/dense/BiasAdd:0")
    f.add("Softmax", f"{prefix}/dense/BiasAdd:0", "dense", axis=-1)
    return f.model({"input_1": (1, 10, 10, 3)}, {"dense": (1, 5)})


def keras2onnx_network() -> onnx.ModelProto:
    """keras2onnx: operator set 11, unfused normalisations, Identity at the ends."""
    f = _File(11, "keras2onnx", ir_version=6)
    f.add("Transpose", "input_1", "adjusted_input1", perm=[0, 3, 1, 2])
    w, b = f.weight("conv2d/kernel:0", 8, 3, 3, 3), f.weight("conv2d/bias:0", 8)
    f.add("Conv", f"adjusted_input1 {w} {b}", "convolution", auto_pad="SAME_UPPER")
    norm = f.norm("batch_normalization", ("/gamma", "/beta", "/mean", "/var"), 8)
    f.add("BatchNormalization", f"convolution {norm}", "bn", epsilon=1e-3)
    f.add("LeakyRelu", "bn", "leaky", alpha=0.3)
    f.add("MaxPool", "leaky", "pooled", kernel_shape=[2, 2], strides=[2, 2])
    f.add("Transpose", "pooled", "pooled_nhwc", perm=[0, 2, 3, 1])
    f.add("Reshape", f"pooled_nhwc {f.integers('shape', -1, 200)}", "flattened")
    w, b = f.weight("dense/kernel:0", 200, 4), f.weight("dense/bias:0", 4)
    f.add("MatMul", f"flattened {w}", "dense0")
    f.add("Add", f"dense0 {b}", "biased_tensor_name")
    f.add("Sigmoid", "biased_tensor_name", "dense_act")
    f.add("Identity", "dense_act", "dense")
    return f.model({"input_1": (1, 10, 10, 3)}, {"dense": (1, 4)})


def paddle_block() -> onnx.ModelProto:
    """paddle2onnx: hard-swish in parts, squeeze and excite, upsampling by Shape."""
    f = _File(11, "PaddlePaddle", ir_version=7)
    w = f.weight("conv2d_0.w_0", 8, 3, 3, 3)
    f.add("Conv", f"x {w}", "conv2d_0.tmp_0", pads=[1] * 4, strides=[2, 2])
    norm = f.norm("batch_norm_0", (".w_0", ".b_0", ".w_1", ".w_2"), 8)
    f.add("BatchNormalization", f"conv2d_0.tmp_0 {norm}", "batch_norm_0.tmp_2")
    three, six, zero = (f.constant(f"p2o.const.{v}", float(v)) for v in (3, 6, 0))
    f.add("Add", f"batch_norm_0.tmp_2 {three}", "p2o.Add.0")
    f.add("Clip", f"p2o.Add.0 {zero} {six}", "p2o.Clip.0")
    f.add("Mul", "batch_norm_0.tmp_2 p2o.Clip.0", "p2o.Mul.0")
    f.add("Div", f"p2o.Mul.0 {six}", "hardswish_0.tmp_0")
    f.add("GlobalAveragePool", "hardswish_0.tmp_0", "pool2d_0.tmp_0")
    w = f.weight("conv2d_1.w_0", 8, 8, 1, 1)
    f.add("Conv", f"pool2d_0.tmp_0 {w}", "conv2d_1.tmp_0")
    f.add("HardSigmoid", "conv2d_1.tmp_0", "hardsigmoid_0.tmp_0", alpha=1 / 6, beta=0.5)
    f.add("Mul", "hardswish_0.tmp_0 hardsigmoid_0.tmp_0", "elementwise_mul_0")
    f.add("Shape", "elementwise_mul_0", "p2o.Shape.0")
    zero, two = f.integers("p2o.s", 0), f.integers("p2o.e", 2)
    f.add("Slice", f"p2o.Shape.0 {zero} {two}", "p2o.Slice.0")
    f.add(
        "Concat",
        f"p2o.Slice.0 {f.integers('p2o.size', 12, 12)}",
        "p2o.Concat.0",
        axis=0,
    )
    roi, scales = f.constant("p2o.roi", []), f.constant("p2o.scales", [])
    f.add(
        "Resize",
        f"elementwise_mul_0 {roi} {scales} p2o.Concat.0",
        "nearest_interp_v2_0.tmp_0",
        mode="nearest",
        coordinate_transformation_mode="asymmetric",
        nearest_mode="floor",
    )
    f.add("Sigmoid", "nearest_interp_v2_0.tmp_0", "sigmoid_0.tmp_0")
    return f.model({"x": (1, 3, 12, 12)}, {"sigmoid_0.tmp_0": (1, 8, 12, 12)})


def yolo_head() -> onnx.ModelProto:
    """Ultralytics: SiLU, a split, pooling in a row, and boxes from distributions."""
    f = _File(17, "pytorch")

    def conv(value: str, name: str, outs: int, ins: int, kernel: int = 1) -> str:
        w = f.weight(f"model.{name}.conv.weight", outs, ins, kernel, kernel)
        b = f.weight(f"model.{name}.conv.bias", outs, scale=0.1)
        f.add("Conv", f"{value} {w} {b}", f"/model.{name}/Conv", pads=[kernel // 2] * 4)
        f.add("Sigmoid", f"/model.{name}/Conv", f"/model.{name}/Sigmoid")
        return f.add("Mul", f"/model.{name}/Conv /model.{name}/Sigmoid", f"/{name}/Mul")

    value = conv("images", "0", 16, 3, 3)
    f.add("Split", f"{value} {f.integers('split', 8, 8)}", "/2/a /2/b", axis=1)
    inner = conv("/2/b", "2.m", 8, 8, 3)
    f.add("Add", f"/2/b {inner}", "/2/Add")
    f.add("Concat", "/2/a /2/b /2/Add", "/2/Concat", axis=1)
    value = conv("/2/Concat", "9.cv1", 8, 24)
    pools = [value]
    for i in range(3):
        pools.append(
            f.add("MaxPool", pools[-1], f"/9/m{i}", kernel_shape=[5, 5], pads=[2] * 4)
        )
    f.add("Concat", " ".join(pools), "/9/Concat", axis=1)
    value = conv("/9/Concat", "9.cv2", 64, 32)
    f.add("Reshape", f"{value} {f.integers('/22/shape', 1, 64, -1)}", "/22/flat")
    f.add("Reshape", f"/22/flat {f.integers('/22/dfl', 1, 4, 16, 64)}", "/22/dfl/r")
    f.add("Transpose", "/22/dfl/r", "/22/dfl/t", perm=[0, 2, 1, 3])
    f.add("Softmax", "/22/dfl/t", "/22/dfl/s", axis=1)
    w = f.constant("model.22.dfl.conv.weight", np.arange(16.0).reshape(1, 16, 1, 1))
    f.add("Conv", f"/22/dfl/s {w}", "/22/dfl/c")
    f.add("Reshape", f"/22/dfl/c {f.integers('/22/boxes', 1, 4, 64)}", "/22/d")
    f.add("Split", "/22/d", "/22/lt /22/rb", axis=1)
    anchors = f.constant("/22/anchors", np.indices((8, 8)).reshape(1, 2, 64) + 0.5)
    f.add("Sub", f"{anchors} /22/lt", "/22/x1")
    f.add("Add", f"{anchors} /22/rb", "/22/x2")
    f.add("Concat", "/22/x1 /22/x2", "/22/xyxy", axis=1)
    f.add("Mul", f"/22/xyxy {f.constant('/22/stride', 8.0)}", "output0")
    return f.model({"images": (1, 3, 8, 8)}, {"output0": (1, 4, 64)})


def mxnet_network() -> onnx.ModelProto:
    """MXNet: IR version 3 with weights among the inputs, PRelu and Dropout."""
    f = _File(8, "MXNet", ir_version=3)
    norm = f.norm("bn_data", ("_gamma", "_beta", "_moving_mean", "_moving_var"), 3)
    f.add("BatchNormalization", f"data {norm}", "bn_data", epsilon=2e-5)
    w = f.weight("conv0_weight", 8, 3, 3, 3)
    f.add("Conv", f"bn_data {w}", "conv0", pads=[1] * 4, kernel_shape=[3, 3])
    slope = f.constant("relu0_gamma", np.full((8, 1, 1), 0.25))
    f.add("PRelu", f"conv0 {slope}", "relu0")
    f.add(
        "AveragePool",
        "relu0",
        "pool0",
        kernel_shape=[2, 2],
        strides=[2, 2],
        pads=[0] * 4,
    )
    f.add("Dropout", "pool0", "dropout0", ratio=0.4)
    f.add("Flatten", "dropout0", "flatten0")
    w, b = f.weight("fc1_weight", 6, 128), f.weight("fc1_bias", 6, scale=0.1)
    f.add("Gemm", f"flatten0 {w} {b}", "fc1", transB=1, alpha=1.0, beta=1.0)
    f.add("Softmax", "fc1", "softmax", axis=1)
    return f.model({"data": (1, 3, 8, 8)}, {"softmax": (1, 6)}, listed=True)


def old_torch_upsampler() -> onnx.ModelProto:
    """PyTorch 1.0: numbers as names, attributes that later became inputs."""
    f = _File(9, "pytorch", ir_version=4)
    f.add("Pad", "0", "10", mode="reflect", pads=[0, 0, 1, 1, 0, 0, 1, 1])
    f.add("Conv", f"10 {f.weight('1', 8, 3, 3, 3)} {f.weight('2', 8)}", "11")
    f.add("InstanceNormalization", f"11 {f.weight('3', 8)} {f.weight('4', 8)}", "12")
    f.add("Elu", "12", "13", alpha=1.0)
    scales = numpy_helper.from_array(np.asarray([1, 1, 2, 2], np.float32))
    f.add("Constant", "", "14", value=scales)
    f.add("Upsample", "13 14", "15", mode="nearest")
    f.add(
        "Slice", "15", "16", axes=[2, 3], starts=[1, 1], ends=[-1, 9223372036854775807]
    )
    w = f.weight("5", 8, 4, 2, 2)
    f.add("ConvTranspose", f"16 {w}", "17", strides=[2, 2], kernel_shape=[2, 2])
    f.add("Tanh", "17", "18")
    return f.model({"0": (1, 3, 6, 6)}, {"18": (1, 4, 20, 22)})


def mmdeploy_segmenter() -> onnx.ModelProto:
    """MMDeploy: dilated and grouped convolutions, bilinear upsampling, classes."""
    f = _File(11, "pytorch", ir_version=6)
    w = f.weight("backbone.stem.weight", 16, 3, 3, 3)
    f.add("Conv", f"input {w}", "a", strides=[2, 2], pads=[1] * 4)
    f.add("Relu", "a", "b")
    w = f.weight("backbone.layer.weight", 16, 4, 3, 3)
    f.add("Conv", f"b {w}", "c", group=4, dilations=[2, 2], pads=[2] * 4)
    f.add("GlobalAveragePool", "b", "pooled")
    f.add("Expand", f"pooled {f.integers('size', 1, 16, 8, 8)}", "spread")
    f.add("Concat", "c spread", "d", axis=1)
    f.add("Conv", f"d {f.weight('decode_head.weight', 5, 32, 1, 1)}", "e")
    scales = f.constant("scales", [1, 1, 2, 2])
    f.add(
        "Resize",
        f"e {f.constant('roi', [])} {scales}",
        "f",
        mode="linear",
        coordinate_transformation_mode="align_corners",
    )
    f.add("Transpose", "f", "g", perm=[0, 2, 3, 1])
    f.add("Softmax", "g", "h", axis=3)
    f.add("Transpose", "h", "output", perm=[0, 3, 1, 2])
    return f.model({"input": (1, 3, 16, 16)}, {"output": (1, 5, 16, 16)})


def torch_lstm() -> onnx.ModelProto:
    """torch.onnx.export of a bidirectional LSTM, whose first state has a shape."""
    f = _File(14, "pytorch", ir_version=7)
    f.add("Transpose", "frames", "/lstm/T", perm=[1, 0, 2])
    f.add("Shape", "frames", "/lstm/Shape")
    f.add("Gather", f"/lstm/Shape {f.constant('zero', 0, np.int64)}", "/lstm/Gather")
    f.add("Unsqueeze", f"/lstm/Gather {f.integers('axes', 0)}", "/lstm/batch")
    two, size = f.integers("two", 2), f.integers("size", 12)
    f.add("Concat", f"{two} /lstm/batch {size}", "/lstm/state_shape", axis=0)
    f.add("ConstantOfShape", "/lstm/state_shape", "/lstm/zeros")
    w, r = f.weight("W", 2, 48, 10, scale=0.3), f.weight("R", 2, 48, 12, scale=0.3)
    b = f.weight("B", 2, 96, scale=0.1)
    f.add(
        "LSTM",
        f"/lstm/T {w} {r} {b} - /lstm/zeros /lstm/zeros",
        "/lstm/Y /lstm/Yh /lstm/Yc",
        hidden_size=12,
        direction="bidirectional",
    )
    f.add("Transpose", "/lstm/Y", "/lstm/Y1", perm=[0, 2, 1, 3])
    f.add("Reshape", f"/lstm/Y1 {f.integers('joined', 0, 0, -1)}", "/lstm/Y2")
    f.add("Transpose", "/lstm/Y2", "/lstm/Y3", perm=[1, 0, 2])
    f.add("MatMul", f"/lstm/Y3 {f.weight('fc', 24, 7)}", "/fc/MatMul")
    f.add("LogSoftmax", "/fc/MatMul", "log_probs", axis=2)
    return f.model({"frames": (1, 9, 10)}, {"log_probs": (1, 9, 7)})


def huggingface_decoder() -> onnx.ModelProto:
    """optimum: token numbers, a causal mask by Trilu and Where, tied weights."""
    f = _File(14, "pytorch", ir_version=7)
    table = f.weight("wte.weight", 50, 16, scale=0.5)
    f.add("Gather", f"{table} input_ids", "/wte/Gather")
    f.add("Add", f"/wte/Gather {f.weight('wpe.weight', 1, 5, 16, scale=0.1)}", "/h")
    for name in "qkv":
        f.add("MatMul", f"/h {f.weight(f'w{name}', 16, 16)}", f"/{name}")
    f.add("Transpose", "/k", "/kT", perm=[0, 2, 1])
    f.add("MatMul", "/q /kT", "/scores")
    f.add("Div", f"/scores {f.constant('root', 4.0)}", "/scaled")
    mask = f.constant("mask", np.tri(5)[None], np.bool_)
    least = f.constant("least", np.finfo(np.float32).min)
    f.add("Where", f"{mask} /scaled {least}", "/masked")
    f.add("Softmax", "/masked", "/weights", axis=-1)
    f.add("MatMul", "/weights /v", "/context")
    f.add("Add", "/context /h", "/h1")
    f.add("Pow", f"/h1 {f.constant('square', 2.0)}", "/squared")
    f.add("ReduceMean", "/squared", "/variance", axes=[-1])
    f.add("Add", f"/variance {f.constant('eps', 1e-6)}", "/shifted")
    f.add("Sqrt", "/shifted", "/deviation")
    f.add("Div", "/h1 /deviation", "/normalised")
    f.add("Mul", f"/normalised {f.weight('ln_f.weight', 16)}", "/final")
    f.add("Transpose", table, "/tied", perm=[1, 0])
    f.add("MatMul", "/final /tied", "logits")
    return f.model({"input_ids": (1, 5)}, {"logits": (1, 5, 50)}, {"input_ids": _I64})


def quantizer_network() -> onnx.ModelProto:
    """ONNX Runtime's quantizer: QDQ, weights by channel, a symmetric bias."""
    f = _File(13, "onnx.quantize")
    rng = np.random.default_rng(3)

    def qdq(value: str, scale: float, zero: int) -> str:
        s = f.constant(f"{value}_scale", scale)
        z = f.constant(f"{value}_zero_point", zero, np.uint8)
        f.add("QuantizeLinear", f"{value} {s} {z}", f"{value}_q")
        return f.add("DequantizeLinear", f"{value}_q {s} {z}", f"{value}_dq")

    image = qdq("image", 2 / 255, 128)
    q = f.constant("w_quantized", rng.integers(-127, 128, (8, 3, 3, 3)), np.int8)
    scales = rng.uniform(0.002, 0.004, 8)
    s, z = f.constant("w_scale", scales), f.constant("w_zero", np.zeros(8), np.int8)
    w = f.add("DequantizeLinear", f"{q} {s} {z}", "w_dq", axis=0)
    q = f.constant("b_quantized", rng.integers(-9000, 9000, 8), np.int32)
    s = f.constant("b_scale", scales * np.float32(2 / 255))
    z = f.constant("b_zero", np.zeros(8), np.int32)
    b = f.add("DequantizeLinear", f"{q} {s} {z}", "b_dq", axis=0)
    f.add("Conv", f"{image} {w} {b}", "conv", pads=[1] * 4)
    f.add("Relu", "conv", "relu")
    value = qdq("relu", 0.012, 0)
    f.add("GlobalAveragePool", value, "mean")
    value = qdq("mean", 0.006, 0)
    f.add("Flatten", value, "probabilities")
    return f.model({"image": (1, 3, 8, 8)}, {"probabilities": (1, 8)})


EXPORTS: dict[str, Callable[[], onnx.ModelProto]] = {
    made.__name__: made
    for made in (
        torchscript_classifier,
        dynamo_encoder,
        tf2onnx_classifier,
        keras2onnx_network,
        paddle_block,
        yolo_head,
        mxnet_network,
        old_torch_upsampler,
        mmdeploy_segmenter,
        torch_lstm,
        huggingface_decoder,
        quantizer_network,
    )
}
