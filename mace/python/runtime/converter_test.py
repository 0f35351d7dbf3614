# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's commands as functions."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import mace

_ROOT = Path(__file__).resolve().parents[3]
_FOLDER = _ROOT / "mace" / "examples" / "digits"
_DIGITS = _FOLDER / "digits.onnx"


def _images(count: int) -> np.ndarray[Any, Any]:
    """Pictures of digits, as the model takes them."""
    from PIL import Image

    files = sorted((_FOLDER / "images").glob("*.png"))[:count]
    pictures = [np.asarray(Image.open(path).convert("L"), np.float32) for path in files]
    return np.stack(pictures)[:, None] / 255


def test_a_converted_model_is_two_files(tmp_path: Path) -> None:
    target = mace.convert(onnx.load(_DIGITS), tmp_path / "deep" / "digits.pb")
    assert sorted(os.listdir(target.parent)) == ["digits.data", "digits.pb"]
    image = np.random.default_rng(2).random((2, 1, 8, 8), np.float32)
    expected = mace.load(_DIGITS)(image)
    np.testing.assert_array_equal(mace.load(target)(image), expected)
    half = mace.RunOptions(precision="fp16_fp32")
    small = mace.convert(_DIGITS, tmp_path / "half.pb", dims={"N": 1}, options=half)
    sizes = [path.with_suffix(".data").stat().st_size for path in (small, target)]
    assert sizes[0] < 0.6 * sizes[1]
    assert mace.load(small).inputs[0].shape == (1, 1, 8, 8)


def test_what_cannot_be_converted_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "damaged.onnx").write_bytes(_DIGITS.read_bytes()[:500])
    for source, target, message in (
        (_DIGITS, "digits.onnx", "ends in .pb"),
        (tmp_path / "damaged.onnx", "digits.pb", "damaged.onnx"),
        (tmp_path / "absent.onnx", "digits.pb", "no such file"),
    ):
        with pytest.raises(mace.MaceError, match=message):
            mace.convert(source, tmp_path / target)
    assert os.listdir(tmp_path) == ["damaged.onnx"]


def test_a_model_is_quantized_by_samples(tmp_path: Path) -> None:
    images = _images(24)
    model = mace.quantize(_DIGITS, images[:, None], dims={"N": 1})
    floats = mace.load(_DIGITS, dims={"N": 1})
    found = np.concatenate([model(image[None]) for image in images])
    expected = np.concatenate([floats(image[None]) for image in images])
    assert not np.array_equal(found, expected)
    assert (found.argmax(1) == expected.argmax(1)).mean() > 0.9
    saved = mace.load(model.save(tmp_path / "integers.pb"))
    np.testing.assert_array_equal(saved(images[:1]), found[:1])
    sizes = [
        path.stat().st_size for path in (tmp_path / "integers.data", floats.weights)
    ]
    assert sizes[0] < 0.5 * sizes[1]


@pytest.mark.parametrize(
    "samples, message",
    [
        ([], "samples: found none"),
        ("folder", "samples: found a str"),
        ([{"imgae": 1}], "number 0 has 'imgae'; the model has the inputs 'image'"),
        ([(1, 2)], "number 0 has 2 arrays"),
        ([np.zeros((1, 1, 8, 8), complex)], "which holds no real numbers"),
        ([np.zeros((1, 1, 9, 9), np.float32)], "samples' files cannot be used"),
    ],
)
def test_samples_that_are_none(samples: Any, message: str) -> None:
    with pytest.raises(mace.MaceError, match=message):
        mace.quantize(_DIGITS, samples, dims={"N": 1})


def test_a_model_is_inspected(tmp_path: Path) -> None:
    found = mace.inspect(_DIGITS)
    assert [tensor["name"] for tensor in found["inputs"]] == ["image"]
    assert found == {**mace.inspect(_DIGITS.read_bytes()), "model": found["model"]}
    converted = mace.inspect(mace.convert(_DIGITS, tmp_path / "digits.pb"))
    assert converted["framework"] == "MACE"
    assert converted["operators"]["Conv2D"] > 0 and found["operators"] > 0
    with pytest.raises(mace.MaceError, match="no such file"):
        mace.inspect(tmp_path / "absent.onnx")
