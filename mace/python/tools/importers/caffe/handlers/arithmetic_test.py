# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Functions of elements, sums, maxima and products, compared with OpenCV or Caffe's
formulas.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mace.python.tools.importers.caffe.testing import Family, layer_text, rand

FAMILY = Family("arithmetic")
X = rand(2, 3, 4, 5)


@pytest.mark.parametrize(
    ("kind", "param"),
    [
        ("ReLU", ""),
        ("ReLU", "relu_param { negative_slope: 0.1 }"),
        ("ReLU6", ""),
        ("ELU", ""),
        ("ELU", "elu_param { alpha: 0.5 }"),
        ("Sigmoid", ""),
        ("TanH", ""),
        ("AbsVal", ""),
        ("BNLL", ""),
        ("Power", "power_param { power: 2 scale: 0.5 shift: 1 }"),
        ("Power", "power_param { scale: 3 }"),
        ("Power", ""),
        ("Power", "power_param { power: 3 }"),
    ],
)
@pytest.mark.parametrize("shape", [(2, 3, 4, 5), (3, 4)])
def test_functions(
    tmp_path: Path, kind: str, param: str, shape: tuple[int, ...]
) -> None:
    FAMILY.check(tmp_path, layer_text(kind, param), {"x": 4 * rand(*shape)})


@pytest.mark.parametrize(
    ("kind", "param", "wanted"),
    [
        ("Power", "power_param { power: 0.5 shift: 3 }", np.sqrt(3 + X)),
        ("Power", "power_param { power: -0.5 shift: 3 }", (3 + X) ** -0.5),
        ("Power", "power_param { power: -1 shift: 3 }", 1 / (3 + X)),
        ("Power", "power_param { power: 1.5 shift: 3 }", (3 + X) ** 1.5),
        ("Power", "power_param { power: 0 }", np.ones_like(X)),
        ("Clip", "clip_param { min: -1 max: 0.5 }", np.clip(X, -1, 0.5)),
        ("Clip", "clip_param { min: 0 max: 1.5 }", np.clip(X, 0, 1.5)),
        ("Swish", "", X / (1 + np.exp(-X))),
        ("Swish", "swish_param { beta: 2 }", X / (1 + np.exp(-2 * X))),
    ],
)
def test_formulas(tmp_path: Path, kind: str, param: str, wanted: np.ndarray) -> None:
    FAMILY.check(tmp_path, layer_text(kind, param), {"x": X}, expected=[wanted])


def test_prelu(tmp_path: Path) -> None:
    FAMILY.check(tmp_path, layer_text("PReLU"), {"x": X}, blobs={"l": [rand(3)]})
    text = layer_text("PReLU", "prelu_param { channel_shared: true }")
    FAMILY.check(tmp_path, text, {"x": X}, blobs={"l": [rand(1)]})
    x, slopes = rand(4, 3), rand(3)
    wanted = np.where(x < 0, x * slopes, x)
    text = layer_text("PReLU")
    FAMILY.check(tmp_path, text, {"x": x}, blobs={"l": [slopes]}, expected=[wanted])


@pytest.mark.parametrize(
    "param",
    [
        "",
        "operation: PROD",
        "operation: MAX",
        "operation: SUM coeff: [2, -1, 0.5]",
    ],
)
def test_eltwise(tmp_path: Path, param: str) -> None:
    inputs = {name: rand(2, 3, 4, 5, seed=i) for i, name in enumerate("abc")}
    text = layer_text("Eltwise", f"eltwise_param {{ {param} }}", "a b c")
    FAMILY.check(tmp_path, text, inputs)


def test_a_difference(tmp_path: Path) -> None:
    inputs = {name: rand(2, 3, seed=i) for i, name in enumerate("ab")}
    text = layer_text("Eltwise", "eltwise_param { coeff: 1 coeff: -1 }", "a b")
    FAMILY.check(tmp_path, text, inputs, expected=[inputs["a"] - inputs["b"]])


@pytest.mark.parametrize(
    ("layer", "message"),
    [
        (layer_text("Clip"), "clip_param is missing"),
        (layer_text("Clip", "clip_param { min: 1 }"), "lacks .*clip_param.max"),
        (layer_text("Eltwise"), "has 1 bottoms; at least 2"),
        (layer_text("Eltwise", "", "x z"), "bottoms have different shapes"),
        (
            layer_text(
                "Eltwise", "eltwise_param { operation: MAX coeff: [1, 2] }", "x x"
            ),
            "2 coeff for 2 bottoms; only sums",
        ),
        (layer_text("PReLU"), r"slopes must have the shape \[3\]"),
    ],
)
def test_what_cannot_be_converted(tmp_path: Path, layer: str, message: str) -> None:
    inputs = {"x": X, "z": rand(2, 3)}
    FAMILY.refuses(tmp_path, layer, inputs, message, {"l": [rand(4)]})


@pytest.mark.parametrize("axis", [1, 2, -1])
def test_arg_max_of_an_axis(tmp_path: Path, axis: int) -> None:
    x = np.round(X)  # some are equal
    last = x.shape[axis] - 1 - np.flip(x, axis).argmax(axis, keepdims=True)
    text = layer_text("ArgMax", f"argmax_param {{ axis: {axis} }}")
    FAMILY.check(tmp_path, text, {"x": x}, expected=[last])
    text = layer_text("ArgMax", f"argmax_param {{ axis: {axis} out_max_val: true }}")
    FAMILY.check(tmp_path, text, {"x": x}, expected=[x.max(axis, keepdims=True)])


@pytest.mark.parametrize("shape", [(2, 7), (2, 3, 4), (2, 3, 4, 5)])
def test_arg_max_of_images(tmp_path: Path, shape: tuple[int, ...]) -> None:
    x = rand(*shape)
    flat, after = x.reshape(2, -1), (1,) * max(len(shape) - 2, 1)
    best = flat.argmax(1).reshape(2, 1, *after)
    FAMILY.check(tmp_path, layer_text("ArgMax"), {"x": x}, expected=[best])
    both = np.concatenate([best, flat.max(1).reshape(best.shape)], 1)
    text = layer_text("ArgMax", "argmax_param { out_max_val: true }")
    FAMILY.check(tmp_path, text, {"x": x}, expected=[both])


@pytest.mark.parametrize("axis", [1, -1])
def test_several_maxima_of_an_axis(tmp_path: Path, axis: int) -> None:
    x = np.round(X)  # some are equal: the last ones come first
    length = x.shape[axis]
    order = np.flip(np.argsort(x, axis, stable=True), axis)
    order = order.take(range(3), axis)
    for param, wanted in (
        ("", order),
        ("out_max_val: true", np.take_along_axis(x, order, axis)),
    ):
        text = layer_text("ArgMax", f"argmax_param {{ axis: {axis} top_k: 3 {param} }}")
        FAMILY.check(tmp_path, text, {"x": x}, expected=[wanted])
    text = layer_text("ArgMax", f"argmax_param {{ axis: {axis} top_k: {length + 1} }}")
    FAMILY.refuses(tmp_path, text, {"x": x}, f"top_k is {length + 1}")


@pytest.mark.parametrize("shape", [(2, 7), (2, 3, 4), (2, 3, 4, 5)])
def test_several_maxima_of_images(tmp_path: Path, shape: tuple[int, ...]) -> None:
    x = rand(*shape)
    flat, after = x.reshape(2, -1), (1,) * max(len(shape) - 3, 0)
    order = np.argsort(-flat, 1)[:, :5]
    best = order.reshape(2, 1, 5, *after)
    text = layer_text("ArgMax", "argmax_param { top_k: 5 }")
    FAMILY.check(tmp_path, text, {"x": x}, expected=[best])
    values = np.take_along_axis(flat, order, 1).reshape(best.shape)
    text = layer_text("ArgMax", "argmax_param { top_k: 5 out_max_val: true }")
    both = np.concatenate([best, values], 1)
    FAMILY.check(tmp_path, text, {"x": x}, expected=[both])


def _product(param: str) -> str:
    return layer_text(
        "InnerProduct", f"inner_product_param {{ num_output: 5 {param} }}"
    )


def test_products_of_an_image(tmp_path: Path) -> None:
    x = {"x": rand(2, 3, 4, 2)}
    FAMILY.check(tmp_path, _product(""), x, blobs={"l": [rand(5, 24), rand(5)]})
    text = _product("bias_term: false")
    FAMILY.check(tmp_path, text, x, blobs={"l": [rand(5, 24)]})
    # As files that are older than shapes of blobs have it.
    blobs = {"l": [rand(1, 1, 5, 24), rand(1, 1, 1, 5)]}
    FAMILY.check(tmp_path, _product(""), x, blobs=blobs)


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@pytest.mark.parametrize("transpose", [False, True])
def test_products_of_some_axes(tmp_path: Path, axis: int, transpose: bool) -> None:
    # OpenCV ignores transpose, and lumps the axes before the first one together.
    x, bias = rand(2, 3, 4), rand(5)
    rows = x.reshape(*x.shape[: axis % 3], -1)
    weights = rand(rows.shape[-1], 5) if transpose else rand(5, rows.shape[-1])
    wanted = rows @ (weights if transpose else weights.T) + bias
    text = _product(f"axis: {axis} transpose: {str(transpose).lower()}")
    blobs = {"l": [weights, bias]}
    FAMILY.check(tmp_path, text, {"x": x}, blobs=blobs, expected=[wanted])


@pytest.mark.parametrize("bias", [True, False])
def test_embed(tmp_path: Path, bias: bool) -> None:
    text = layer_text(
        "Embed",
        f"embed_param {{ num_output: 3 input_dim: 6 bias_term: {str(bias).lower()} }}",
    )
    x = np.array([[5, 0, 2], [1, 1, 4]], np.float32)
    table, offset = rand(6, 3), rand(3)
    wanted = table[x.astype(int)] + (offset if bias else 0)
    blobs = {"l": [table, offset] if bias else [table]}
    FAMILY.check(tmp_path, text, {"x": x}, blobs=blobs, expected=[wanted])


def test_every_handler_was_tried() -> None:
    FAMILY.assert_all_tried()
