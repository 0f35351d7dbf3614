# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Fourier transforms compared with onnxruntime and NumPy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from mace.python.tools.importers.frame.errors import UnsupportedNodesError
from mace.python.tools.importers.onnx.testing import (
    import_open,
    import_proto,
    make_model,
    normal,
    run_mace,
    run_onnxruntime,
)
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.evaluate import run_graph


def _dft(x: Array, inputs: dict[str, Array], opset: int, **attributes: int) -> Any:
    names = ["x", "length" if "length" in inputs else "", "axis"]
    names = names[: 3 if "axis" in inputs else 2]
    node = onnx.helper.make_node("DFT", names, ["y"], **attributes)
    return make_model([node], {"x": x}, ["y"], inputs, opset)


def _close(found: Array, wanted: Array) -> None:
    np.testing.assert_allclose(found, wanted, 1e-4, 1e-4 * np.abs(wanted).max())


@pytest.mark.parametrize("length", [None, 5, 12])
@pytest.mark.parametrize("axis", [1, 2])
@pytest.mark.parametrize(
    ("parts", "attributes"),
    [(1, {}), (1, {"onesided": 1}), (2, {}), (2, {"inverse": 1})],
)
def test_dft(
    parts: int,
    attributes: dict[str, int],
    axis: int,
    length: int | None,
    tmp_path: Path,
) -> None:
    x = normal(2, 8, 9, parts)
    inputs = {"axis": np.array(axis)}
    if length is not None:
        inputs["length"] = np.array(length)
    model = _dft(x, inputs, 20, **attributes)
    (found,) = run_mace(model, {"x": x}, tmp_path)
    numbers = x[..., 0] + (1j * x[..., 1] if parts == 2 else 0)
    transform = np.fft.ifft if "inverse" in attributes else np.fft.fft
    wanted = transform(numbers, length, axis)
    if "onesided" in attributes:
        count = wanted.shape[axis] // 2 + 1
        wanted = wanted.take(range(count), axis)
    _close(found, np.stack([wanted.real, wanted.imag], -1))


def test_dft_of_real_numbers_and_back(tmp_path: Path) -> None:
    x = normal(3, 10, 1)
    (half,) = run_mace(
        _dft(x, {"axis": np.array(1)}, 20, onesided=1), {"x": x}, tmp_path
    )
    assert half.shape == (3, 6, 2)
    back = _dft(half, {"axis": np.array(1)}, 20, onesided=1, inverse=1)
    _close(run_mace(back, {"x": half}, tmp_path)[0], x)


def test_dft_of_operator_set_17(tmp_path: Path) -> None:
    x = normal(2, 6, 5, 2)
    model = _dft(x, {}, 17, axis=2)
    _close(run_mace(model, {"x": x}, tmp_path)[0], run_onnxruntime(model, {"x": x})[0])


@pytest.mark.parametrize("onesided", [0, 1])
@pytest.mark.parametrize("with_window", [False, True])
def test_stft(with_window: bool, onesided: int, tmp_path: Path) -> None:
    x = normal(2, 100, 1)
    inputs: dict[str, Array] = {"step": np.array(7), "length": np.array(16)}
    names = ["x", "step", "", "length"]
    if with_window:
        names[2] = "window"
        inputs["window"] = np.hanning(16).astype(np.float32)
    node = onnx.helper.make_node("STFT", names, ["y"], onesided=onesided)
    model = make_model([node], {"x": x}, ["y"], inputs, 17)
    _close(run_mace(model, {"x": x}, tmp_path)[0], run_onnxruntime(model, {"x": x})[0])


@pytest.mark.parametrize("parts", [0, 1, 2])
def test_stft_of_open_signals(parts: int, tmp_path: Path) -> None:
    inputs: dict[str, Array] = {"step": np.array(7), "length": np.array(16)}
    node = onnx.helper.make_node("STFT", ["x", "step", "", "length"], ["y"], onesided=0)
    x = normal(2, 100, *[parts] * (parts > 0))
    graph = import_open(
        make_model([node], {"x": x}, ["y"], inputs, 17), tmp_path, "nt."
    )
    for signals, samples in ((2, 100), (3, 51), (1, 16)):
        x = normal(signals, samples, *[parts] * (parts > 0))
        # ONNX Runtime wants to see how many numbers a sample has.
        seen = {"x": x if parts else x[..., None]}
        model = make_model([node], seen, ["y"], inputs, 17)
        _close(run_graph(graph, {"x": x})["y"], run_onnxruntime(model, seen)[0])


def test_transforms_that_are_too_long_are_refused(tmp_path: Path) -> None:
    x = normal(1, 4099, 1)  # a prime number
    with pytest.raises(UnsupportedNodesError, match="a transform of 4099 samples"):
        import_proto(_dft(x, {"axis": np.array(1)}, 20), {"x": x}, ["y"], tmp_path)


@pytest.mark.parametrize(
    ("kind", "length"), [("fft", 3000), ("ifft", 2048), ("rfft", 4096), ("irfft", 2050)]
)
def test_long_lines(kind: str, length: int, tmp_path: Path) -> None:
    """Transforms that are two of shorter lines."""
    count = length // 2 + 1 if kind == "irfft" else length
    x = normal(2, count, 1 if kind == "rfft" else 2)
    attributes = {"inverse": int("i" in kind), "onesided": int("r" in kind)}
    model = _dft(x, {"axis": np.array(1)}, 20, **attributes)
    (found,) = run_mace(model, {"x": x}, tmp_path)
    numbers = x[..., 0] + (1j * x[..., 1] if x.shape[2] == 2 else 0)
    wanted = getattr(np.fft, kind)(numbers, length, 1)
    parts = [wanted] if kind == "irfft" else [wanted.real, wanted.imag]
    _close(found, np.stack(parts, -1))
