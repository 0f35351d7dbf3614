# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Arithmetic, comparisons, activations and types, against TensorFlow Lite."""

from __future__ import annotations

import copy
import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.importers.tflite.options import BUILTINS
from mace.python.tools.importers.tflite.testing import (
    Family,
    converted,
    int8_steps,
    one_operator,
    rand,
)

tf = pytest.importorskip("tensorflow", reason="it is the reference here")

_FAMILY = Family("elementwise")
check = _FAMILY.check
check_int8 = _FAMILY.check_int8
check_file = _FAMILY.check_file


def test_arithmetic() -> None:
    def every(a: Any, b: Any) -> list[Any]:
        return [
            a + b,
            a - b,
            a * b,
            a / (b + 3),
            tf.maximum(a, b),
            tf.minimum(a, b),
            tf.pow(tf.abs(a), b),
            tf.math.squared_difference(a, b),
            tf.math.floordiv(a, b),
            tf.math.floormod(a, b),
            tf.nn.relu6(a + b),
            tf.nn.relu(a * b),
            tf.add_n([b, b, b * b]),
        ]

    check(every, rand(2, 3, 4), rand(2, 3, 4, low=0.5))
    check(every, rand(2, 3, 4), rand(4, low=0.5))
    check(every, rand(2, 3, 1), rand(3, 4, low=0.5))


def test_arithmetic_of_integers() -> None:
    def every(a: Any, b: Any) -> list[Any]:
        return [a + b, a - b, a * b, tf.maximum(a, b), tf.math.floordiv(a, b)]

    a = np.arange(-6, 6, dtype=np.int32).reshape(3, 4)
    check(every, a, np.array([1, 2, 3, -2], np.int32))


def test_bits() -> None:
    a = np.array([5, -7, 0x7FFFFFFF, -(2**31)], np.int32)
    b = np.array([3, 1, 30, 31], np.int32)
    check(tf.bitwise.bitwise_xor, a, b)
    check(tf.bitwise.right_shift, a, b)


def test_angles() -> None:
    check(tf.atan2, rand(4, 5), rand(4, 5))


def test_comparisons_and_logic() -> None:
    def every(a: Any, b: Any) -> list[Any]:
        low, equal = tf.less(a, b), tf.equal(a, b)
        return [
            low,
            equal,
            tf.not_equal(a, b),
            tf.less_equal(a, b),
            tf.greater(a, b),
            tf.greater_equal(a, b),
            tf.logical_and(low, a > 0),
            tf.logical_or(low, a > 0),
            tf.logical_not(low),
        ]

    check(every, np.round(rand(3, 4)), np.round(rand(4)))


def test_functions() -> None:
    def every(x: Any) -> list[Any]:
        return [
            -x,
            tf.abs(x),
            tf.sqrt(x),
            tf.math.rsqrt(x),
            tf.exp(x),
            tf.math.log(x),
            tf.square(x),
            tf.sin(x),
            tf.cos(x),
            tf.floor(x),
            tf.math.ceil(x),
            tf.round(x),
            tf.sign(x - 1),
        ]

    check(every, rand(3, 7, low=0.1))
    check(tf.round, np.arange(-8, 8).astype(np.float32) / 2)


def test_activations() -> None:
    def every(x: Any) -> list[Any]:
        return [
            tf.nn.relu(x),
            tf.nn.relu6(x),
            tf.nn.leaky_relu(x, 0.3),
            tf.nn.elu(x),
            tf.tanh(x),
            tf.sigmoid(x),
            tf.nn.softmax(x),
            tf.nn.log_softmax(x),
            x * tf.nn.relu6(x + 3) / 6,
            tf.clip_by_value(x, -1, 1),
            tf.clip_by_value(x, 0, 1),
        ]

    check(every, rand(2, 3, 7) * 4)


def test_logical_not() -> None:
    # The converter makes another comparison of it.
    x = rand(3, 7) > 0
    data = one_operator("LOGICAL_NOT", [x], [(x.shape, "bool")])
    check_file(data, x)


@pytest.mark.parametrize("kind", ["RELU_0_TO_1", "RELU_N1_TO_1", "HARD_SWISH", "SIGN"])
def test_one_by_one(kind: str) -> None:
    x = rand(3, 7) * 4
    data = one_operator(kind, [x], [(x.shape, "float32")])
    check_file(data, x)


@pytest.mark.parametrize("approximate", [False, True])
def test_gelu(approximate: bool) -> None:
    x = rand(3, 7) * 4
    options = {"approximate": approximate}
    data = one_operator("GELU", [x], [(x.shape, "float32")], {}, options, "GeluOptions")
    check_file(data, x, tolerance=1e-4)


def test_softmax_with_beta() -> None:
    x, options = rand(3, 7), {"beta": 0.5}
    data = one_operator(
        "SOFTMAX", [x], [(x.shape, "float32")], {}, options, "SoftmaxOptions"
    )
    check_file(data, x)


def test_prelu() -> None:
    x = rand(1, 4, 5, 6)
    for slope in (rand(1, 1, 6), rand(1, 1, 1), rand(4, 5, 6)):
        data = one_operator("PRELU", [x], [(x.shape, "float32")], {1: slope})
        check_file(data, x)


def test_casts() -> None:
    def every(x: Any) -> list[Any]:
        whole = tf.cast(x, tf.int32)
        kinds = (tf.float32, tf.bool, tf.int8, tf.uint8, tf.int64)
        return [whole, *(tf.cast(whole, kind) for kind in kinds)]

    check(every, rand(3, 5, low=0) * 20)


def test_integers_as_they_are_stored(tmp_path: Path) -> None:
    def stored(x: Any) -> Any:
        return tf.nn.relu(x) * 0.5

    # The last operator becomes CAST, which does not change integers.
    x = rand(4, 50)
    data = converted(stored, [x], "int8")
    schema: Any = importlib.import_module("tensorflow.lite.python.schema_py_generated")
    model = schema.ModelT.InitFromObj(schema.Model.GetRootAs(data, 0))
    graph = model.subgraphs[0]
    code = schema.OperatorCodeT()
    code.builtinCode = code.deprecatedBuiltinCode = BUILTINS.index("CAST")
    code.version = 1
    cast = schema.OperatorT()
    cast.opcodeIndex = len(model.operatorCodes)
    cast.inputs = list(graph.operators[-1].outputs)
    cast.outputs = [len(graph.tensors)]
    model.operatorCodes.append(code)
    graph.operators.append(cast)
    graph.tensors.append(copy.copy(graph.tensors[cast.inputs[0]]))
    graph.outputs = cast.outputs
    flatbuffers: Any = importlib.import_module("flatbuffers")
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    worst, _ = int8_steps(bytes(builder.Output()), [x], tmp_path / "m.tflite")
    assert worst <= 1


_OF_ONE: dict[str, Callable[[Any], Any]] = {
    "abs": tf.abs,
    "elu": tf.nn.elu,
    "exp": tf.exp,
    "gelu": tf.nn.gelu,
    "hard_swish": lambda x: x * tf.nn.relu6(x + 3) / 6,
    "leaky_relu": lambda x: tf.nn.leaky_relu(x, 0.3),
    "log_softmax": tf.nn.log_softmax,
    "neg": tf.negative,
    "relu": tf.nn.relu,
    "relu6": tf.nn.relu6,
    "rsqrt": lambda x: tf.math.rsqrt(tf.abs(x) + 1),
    "sigmoid": tf.sigmoid,
    "softmax": tf.nn.softmax,
    "square": tf.square,
    "tanh": tf.tanh,
}


@pytest.mark.parametrize("name", _OF_ONE)
def test_functions_of_integers(name: str) -> None:
    # The function is not the whole model, so that it has a tensor before and behind it.
    check_int8(lambda x: _OF_ONE[name](x) * 1.5, rand(4, 50) * 3)


_OF_TWO: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b,
    "add_relu6": lambda a, b: tf.nn.relu6(a + b),
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "maximum": tf.maximum,
    "minimum": tf.minimum,
    "squared_difference": tf.math.squared_difference,
    "less": tf.less,
}


@pytest.mark.parametrize("name", _OF_TWO)
def test_arithmetic_of_quantized_integers(name: str) -> None:
    check_int8(_OF_TWO[name], rand(4, 50), rand(50) * 2, share=0.05)


@pytest.mark.parametrize("name", ["add", "mul", "sub"])
def test_arithmetic_of_16_bits(name: str) -> None:
    of_two = _OF_TWO[name]
    check_int8(of_two, rand(4, 50), rand(4, 50) * 2, integers="16x8", steps=2)


def test_another_scale() -> None:
    x = np.arange(-128, 128, dtype=np.int8).reshape(2, 128)
    scales = {0: (0.1, 3), 1: (0.07, -20)}
    for kind in ("int8", "uint8"):
        data = one_operator(
            "QUANTIZE", [x], [(x.shape, kind)], scales=scales | {1: (0.07, 20)}
        )
        check_file(data, x, tolerance=0)


def test_integers_and_floats() -> None:
    x = rand(3, 50) * 3
    data = one_operator("QUANTIZE", [x], [(x.shape, "int8")], scales={1: (0.02, 5)})
    check_file(data, x, tolerance=0)
    whole = np.arange(-128, 128, dtype=np.int8)
    data = one_operator(
        "DEQUANTIZE", [whole], [(whole.shape, "float32")], scales={0: (0.02, 5)}
    )
    check_file(data, whole)


def test_fake_quant() -> None:
    options = {"min": -1.0, "max": 1.5, "num_bits": 8}
    x = rand(3, 50)
    data = one_operator(
        "FAKE_QUANT", [x], [(x.shape, "float32")], {}, options, "FakeQuantOptions"
    )
    check_file(data, x)


def test_float64_is_refused_or_narrowed() -> None:
    data = converted(lambda x: tf.cast(x, tf.float64), [rand(3)])
    check_file(data, rand(3))


def test_every_handler_was_tried() -> None:
    _FAMILY.assert_all_tried()
