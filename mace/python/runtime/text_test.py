# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Models with operators on strings, against ONNX Runtime."""

from __future__ import annotations

import io
import locale
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from PIL import Image

import mace
from mace.python.runtime.text import STRING_OPERATORS

_WORDS = ["good", "bad", "film", "very"]
_TEXTS = np.array([["Good", "film"], ["very", "BAD"], ["the", "film"]], object)
_COUNT = {
    "mode": "TF",
    "min_gram_length": 1,
    "max_gram_length": 1,
    "max_skip_count": 0,
    "ngram_counts": [0],
    "ngram_indexes": [0, 1, 2, 3],
    "pool_strings": _WORDS,
}


def _save(
    path: Path,
    nodes: Sequence[onnx.NodeProto],
    inputs: Mapping[str, tuple[int, Sequence[Any]]],
    outputs: Mapping[str, tuple[int, Any]],
    constants: Mapping[str, np.ndarray[Any, Any]] | None = None,
) -> Path:
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        list(nodes),
        "text",
        [info(name, *kind) for name, kind in inputs.items()],
        [info(name, *kind) for name, kind in outputs.items()],
        [numpy_helper.from_array(a, n) for n, a in (constants or {}).items()],
    )
    opset = [helper.make_opsetid("", 20)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=9), path)
    return path


def _classifier(path: Path) -> Path:
    """Counts words in small letters, and adds other numbers to the scores."""
    weights = np.random.default_rng(3).standard_normal((4, 5)).astype(np.float32)
    nodes = [
        helper.make_node("Reshape", ["words", "flat"], ["line"]),
        helper.make_node(
            "StringNormalizer",
            ["line"],
            ["small"],
            case_change_action="LOWER",
            locale="C",
        ),
        helper.make_node("Reshape", ["small", "rows"], ["table"]),
        helper.make_node("TfIdfVectorizer", ["table"], ["counts"], **_COUNT),
        helper.make_node("MatMul", ["counts", "weights"], ["product"]),
        helper.make_node("Add", ["product", "bonus"], ["scores"]),
        helper.make_node("Softmax", ["scores"], ["probability"]),
    ]
    return _save(
        path,
        nodes,
        {
            "words": (TensorProto.STRING, (3, 2)),
            "bonus": (TensorProto.FLOAT, (3, 5)),
        },
        {
            "probability": (TensorProto.FLOAT, (3, 5)),
            "small": (TensorProto.STRING, (6,)),
        },
        {
            "flat": np.array([-1]),
            "rows": np.array([3, 2]),
            "weights": weights,
        },
    )


def _by_onnxruntime(path: Path, feeds: Mapping[str, Any]) -> list[Any]:
    ort = pytest.importorskip("onnxruntime")
    found: list[Any] = ort.InferenceSession(path).run(None, dict(feeds))
    return found


def test_a_classifier_of_texts(tmp_path: Path) -> None:
    path = _classifier(tmp_path / "text.onnx")
    model = mace.load_text(path)
    assert (model.inputs, model.outputs) == (
        ("words", "bonus"),
        ("probability", "small"),
    )
    assert model.in_python == ("Reshape", "StringNormalizer", "TfIdfVectorizer")
    assert model.engine is not None
    assert [info.name for info in model.engine.inputs] == ["bonus", "counts"]
    for seed in range(3):
        bonus = np.random.default_rng(seed).random((3, 5)).astype(np.float32)
        probability, small = _by_onnxruntime(path, {"words": _TEXTS, "bonus": bonus})
        found = model(_TEXTS, bonus=bonus)
        np.testing.assert_allclose(found["probability"], probability, 1e-5, 1e-6)
        assert found["small"].tolist() == small.tolist()
    again = model(_TEXTS.tolist(), bonus)
    np.testing.assert_array_equal(again["probability"], found["probability"])


def test_each_run_decides_how_many_texts(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("TfIdfVectorizer", ["words"], ["counts"], **_COUNT),
        helper.make_node("Relu", ["counts"], ["half"]),
        helper.make_node("Add", ["half", "half"], ["y"]),
    ]
    path = _save(
        tmp_path / "open.onnx",
        nodes,
        {"words": (TensorProto.STRING, ("N", 2))},
        {"y": (TensorProto.FLOAT, ("N", 4))},
    )
    model = mace.load_text(path)
    for count in (1, 3):
        (wanted,) = _by_onnxruntime(path, {"words": _TEXTS[:count]})
        np.testing.assert_array_equal(model(_TEXTS[:count]), wanted)


_CASES: dict[str, tuple[list[Any], dict[str, Any], list[int]]] = {
    "RegexFullMatch": ([_TEXTS], {"pattern": "[a-z]+"}, [TensorProto.BOOL]),
    "StringConcat": ([_TEXTS, np.array(["!"], object)], {}, [TensorProto.STRING]),
    "StringNormalizer": (
        [_TEXTS[0]],
        {
            "case_change_action": "UPPER",
            "is_case_sensitive": 0,
            "stopwords": ["good"],
            "locale": "C",
        },
        [TensorProto.STRING],
    ),
    "StringSplit": (
        [np.array(["a b c", "d"], object)],
        {"delimiter": " "},
        [TensorProto.STRING, TensorProto.INT64],
    ),
    "TfIdfVectorizer": ([_TEXTS], _COUNT, [TensorProto.FLOAT]),
}


@pytest.mark.parametrize("op_type", _CASES)
def test_each_operator(op_type: str, tmp_path: Path) -> None:
    """By itself: then nothing is left for the engine."""
    inputs, attributes, types = _CASES[op_type]
    names = [f"x{i}" for i in range(len(inputs))]
    outputs = [f"y{i}" for i in range(len(types))]
    path = _save(
        tmp_path / "one.onnx",
        [helper.make_node(op_type, names, outputs, **attributes)],
        {name: (TensorProto.STRING, x.shape) for name, x in zip(names, inputs)},
        {name: (kind, None) for name, kind in zip(outputs, types)},
    )
    model = mace.load_text(path)
    assert (model.engine, model.in_python) == (None, (op_type,))
    before = locale.setlocale(locale.LC_ALL)
    found = model.run(dict(zip(names, inputs)))
    assert locale.setlocale(locale.LC_ALL) == before
    wanted = _by_onnxruntime(path, dict(zip(names, inputs)))
    for name, value in zip(outputs, wanted):
        assert found[name].tolist() == value.tolist()


def test_images_are_decoded(tmp_path: Path) -> None:
    pixels = np.random.default_rng(1).integers(0, 255, (4, 5, 3), np.uint8)
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "PNG")
    nodes = [
        helper.make_node("ImageDecoder", ["file"], ["image"], pixel_format="RGB"),
        helper.make_node("Cast", ["image"], ["numbers"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["numbers", "two"], ["y"]),
    ]
    path = _save(
        tmp_path / "image.onnx",
        nodes,
        {"file": (TensorProto.UINT8, ("bytes",))},
        {"y": (TensorProto.FLOAT, ("h", "w", 3))},
        {"two": np.array(2, np.float32)},
    )
    model = mace.load_text(path)
    y = model(np.frombuffer(stream.getvalue(), np.uint8))
    np.testing.assert_array_equal(y, pixels * 2.0)


def test_every_operator_was_tried() -> None:
    assert {*_CASES, "ImageDecoder"} == STRING_OPERATORS


def test_mistakes_are_named(tmp_path: Path) -> None:
    model = mace.load_text(_classifier(tmp_path / "text.onnx"))
    bonus = np.zeros((3, 5), np.float32)
    for call, message in (
        (lambda: model.run({"words": _TEXTS}), "inputs are missing: bonus"),
        (lambda: model(_TEXTS, bonus, x=1), "'x' is not an input"),
        (lambda: model(_TEXTS, bonus, 1), "3 inputs for a model that takes 2"),
        (lambda: model(_TEXTS[:2], bonus), "operators on strings .* failed"),
    ):
        with pytest.raises(mace.MaceError, match=message):
            call()
    plain = _save(
        tmp_path / "plain.onnx",
        [helper.make_node("Relu", ["x"], ["y"])],
        {"x": (TensorProto.FLOAT, (1, 2))},
        {"y": (TensorProto.FLOAT, (1, 2))},
    )
    (tmp_path / "broken.onnx").write_text("no model")
    for file, message in (
        (plain, "no operators on strings; mace.load runs all of it"),
        (tmp_path / "broken.onnx", "is no model of ONNX"),
        (tmp_path / "nothing.onnx", "no such file"),
    ):
        with pytest.raises(mace.MaceError, match=message):
            mace.load_text(file)
