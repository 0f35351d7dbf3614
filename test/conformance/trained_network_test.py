# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""A trained classifier on the GPU, and in 8-bit integers: its answers for images.

The weights of other networks here are random, so that rounding errors grow from layer
to layer and no answer is right or wrong. This one is the example's, which
`mace/examples/digits/train.py` and `train_qat.py` train; its held-out images were
never trained on.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.examples.digits.train import load
from mace.python.tools.importers.frame.request import (
    ImportRequest,
    InputSpec,
    OutputSpec,
)
from mace.python.tools.importers.onnx import import_model as import_onnx_model
from mace.python.tools.importers.tensorflow import import_model
from mace.python.tools.ir import Graph
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import DataFormat
from mace.python.tools.passes.manager import PassManager
from mace.python.tools.quantize.insert import QuantizeOptions
from mace.python.tools.quantize.quantizer import Quantizer
from mace.python.tools.quantize.ranges import read_ranges
from mace.python.tools.report.placement import placement_of
from mace.python.tools.validate.metrics import compute_metrics
from test.conformance.native import DSP_VERSIONS, dsp, native
from test.conformance.networks_test import _imported, _model_of, _on_gpu
from test.conformance.reference import run_onnxruntime

# Images of which a DSP is emulated.
_ON_DSP = 40
DIGITS = Path(__file__).resolve().parents[2] / "mace/examples/digits"


@pytest.mark.parametrize(
    ("data_type", "similarity"), [("fp32", 0.99999), ("fp16 storage", 0.9999)]
)
def test_digits_on_the_gpu(data_type: str, similarity: float) -> None:
    _, _, images, labels = load()
    path = DIGITS / "digits.onnx"
    wanted = run_onnxruntime(path, ["probability"], {"image": images})["probability"]
    graph = _imported("onnx", path, "image", images.shape, "probability")
    with _model_of(data_type, native("host")) as model:
        found = _on_gpu(graph, {"image": images}, model)["probability"]
    lowest = min(
        compute_metrics(one, other).similarity for one, other in zip(wanted, found)
    )
    correct = int((found.argmax(1) == labels).sum())
    print(f"{data_type}: {correct} of {len(labels)}, lowest similarity {lowest:.9f}")
    assert lowest >= similarity
    np.testing.assert_array_equal(found.argmax(1), wanted.argmax(1))
    assert correct == _accuracy()["correct"]


def _trained_for_integers(count: int) -> Graph:
    graph = import_model(
        ImportRequest(
            "digits_qat",
            DIGITS / "digits_qat.pb",
            (InputSpec("image", (count, 8, 8, 1)),),
            (OutputSpec("probability", DataFormat.NONE),),
        )
    )
    PassManager().run(graph)
    return graph


def _quantized_after_training(count: int) -> Graph:
    graph = import_onnx_model(
        ImportRequest(
            "digits_ptq",
            DIGITS / "digits.onnx",
            (InputSpec("image", (count, 8, 8, 1)),),
            (OutputSpec("probability", DataFormat.NONE),),
        )
    )
    ranges = read_ranges(DIGITS / "digits_ranges.txt")
    quantize = Quantizer("digits_ptq", ranges, "digits_ranges.txt", QuantizeOptions())
    PassManager(quantize=quantize).run(graph)
    return graph


def test_digits_trained_for_integers() -> None:
    # Integers are the same on every processor.
    correct = _correct_in_integers(_trained_for_integers)
    assert correct == _accuracy()["qat"]["correct"]


def test_digits_with_weights_in_8_bits() -> None:
    """As `quantize_large_weights` stores them; activations stay floats."""
    _, _, images, labels = load()
    path = DIGITS / "digits.onnx"
    graph = _imported("onnx", path, "image", images.shape, "probability")
    correct = {}
    for data_type in ("fp32", "int8"):
        with _model_of(data_type, native("host")) as model:
            found = model(graph, {"image": images})["probability"]
        correct[data_type] = int((found.argmax(1) == labels).sum())
    print(correct)
    assert correct["fp32"] == _accuracy()["correct"]
    assert abs(correct["int8"] - correct["fp32"]) <= 1


def test_digits_quantized_after_training() -> None:
    correct = _correct_in_integers(_quantized_after_training)
    assert correct >= _accuracy()["correct"] - 1


@pytest.mark.parametrize("version", DSP_VERSIONS)
@pytest.mark.parametrize("make", [_trained_for_integers, _quantized_after_training])
def test_digits_on_a_dsp(make: Callable[[int], Graph], version: str) -> None:
    if shutil.which("qemu-hexagon") is None:
        pytest.skip("qemu-hexagon is not installed: tools/setup.sh --for cross")
    images = load()[2][:_ON_DSP]
    graph = make(_ON_DSP)
    wanted = native("host")(graph, {"image": images})["probability"]
    found = dsp(version=version)(graph, {"image": images})["probability"]
    np.testing.assert_array_equal(found, wanted)
    placement = placement_of(dsp(version=version).report(graph, {"image": images}))
    assert placement is not None
    kinds = {"Conv2D", "DepthwiseConv2d", "FullyConnected"}
    products = [op for op in placement.operators if op.type in kinds]
    assert len(products) >= 3
    assert {op.device for op in products} == {"dsp"}


def _correct_in_integers(make: Callable[[int], Graph]) -> int:
    """How many of the held-out images a graph recognises, whose operators are all
    quantized but the last.
    """
    _, _, images, labels = load()
    graph = make(len(images))
    inner = [op for op in graph.ops if op.type not in ("Dequantize", "Softmax")]
    assert {op.output.dtype for op in inner} == {DataType.UINT8}
    found = native("host")(graph, {"image": images})["probability"]
    return int((found.argmax(1) == labels).sum())


def _accuracy() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((DIGITS / "accuracy.json").read_text("utf-8"))
    return found
