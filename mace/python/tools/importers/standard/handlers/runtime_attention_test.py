# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Attention of the domain com.microsoft, compared with onnxruntime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.errors import MaceError
from mace.python.tools.importers.onnx.testing import (
    check_operator,
    normal,
)
from mace.python.tools.ir.dtypes import Array


def _lengths(*lengths: int) -> Array:
    return np.array(lengths, np.int32)


@pytest.mark.parametrize(
    "mask",
    [
        _lengths(5, 2),
        np.array([[1, 1, 1, 0, 1], [1, 1, 0, 0, 0]], np.int32),
        np.array(np.tri(5, 5)[None].repeat(2, 0), np.int32),
    ],
)
@pytest.mark.parametrize("filter_value", [None, -50.0])
def test_masks_of_keys(mask: Array, filter_value: float | None, tmp_path: Path) -> None:
    inputs = {n: normal(2, 5, 24, seed=i) for i, n in enumerate("qkv")}
    more: dict[str, Any] = (
        {} if filter_value is None else {"mask_filter_value": filter_value}
    )
    names = ["q", "k", "v", "", "mask"]
    feeds = {**inputs, "mask": mask}
    kind = "com.microsoft.MultiHeadAttention"
    check_operator(tmp_path, kind, feeds, names, num_heads=3, **more)


@pytest.mark.parametrize(
    ("mask", "attributes"),
    [
        (None, {}),
        (_lengths(5, 3), {}),
        (np.array([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]], np.int32), {"scale": 0.3}),
        (None, {"unidirectional": 1}),
    ],
)
def test_attention_of_one_product(
    mask: Array | None, attributes: dict[str, Any], tmp_path: Path
) -> None:
    feeds = {"x": normal(2, 5, 12)}
    constants = {"w": normal(12, 36) / 3, "b": normal(36)}
    names = ["x", "w", "b"]
    if mask is not None:
        feeds["mask"] = mask
        names.append("mask")
    check_operator(
        tmp_path,
        "com.microsoft.Attention",
        feeds,
        names,
        ["y"],
        constants,
        num_heads=3,
        **attributes,
    )


@pytest.mark.parametrize("unidirectional", [0, 1])
def test_attention_with_a_past(unidirectional: int, tmp_path: Path) -> None:
    feeds = {"x": normal(2, 3, 12), "past": normal(2, 2, 3, 4, 4)}
    constants = {"w": normal(12, 36) / 3, "b": normal(36)}
    check_operator(
        tmp_path,
        "com.microsoft.Attention",
        feeds,
        ["x", "w", "b", "", "past"],
        ["y", "present"],
        constants,
        num_heads=3,
        unidirectional=unidirectional,
    )


@pytest.mark.parametrize("interleaved", [0, 1])
@pytest.mark.parametrize("shape", [(2, 5, 24), (2, 3, 5, 8)])
@pytest.mark.parametrize(
    "places", [np.array([2]), np.array([[0, 1, 2, 3, 4], [3, 4, 5, 6, 7]])]
)
def test_rotary_embedding(
    interleaved: int, shape: tuple[int, ...], places: Array, tmp_path: Path
) -> None:
    angles = np.arange(10)[:, None] * 0.3 ** np.arange(4)
    table = {"c": np.cos(angles).astype(np.float32), "s": np.sin(angles)}
    constants = {"c": table["c"], "s": table["s"].astype(np.float32), "p": places}
    check_operator(
        tmp_path,
        "com.microsoft.RotaryEmbedding",
        {"x": normal(*shape)},
        ["x", "p", "c", "s"],
        constants=constants,
        interleaved=interleaved,
    )


def test_rotary_embedding_of_a_part(tmp_path: Path) -> None:
    angles = np.arange(10)[:, None] * 0.3 ** np.arange(2)
    constants = {
        "c": np.cos(angles).astype(np.float32),
        "s": np.sin(angles).astype(np.float32),
        "p": np.array([1]),
    }
    check_operator(
        tmp_path,
        "com.microsoft.RotaryEmbedding",
        {"x": normal(2, 5, 24)},
        ["x", "p", "c", "s"],
        constants=constants,
        num_heads=3,
        rotary_embedding_dim=4,
    )


def _decoder(new: int, past: int) -> dict[str, Array]:
    return {
        "q": normal(1, new, 64, seed=1),
        "k": normal(1, new, 32, seed=2),
        "v": normal(1, new, 32, seed=3),
        "pk": normal(1, 2, past, 16, seed=4),
        "pv": normal(1, 2, past, 16, seed=5),
    }


@pytest.mark.parametrize(
    ("new", "past", "attributes"),
    [
        (1, 6, {}),
        (1, 6, {"scale": 0.2}),
        (1, 6, {"softcap": 2.0}),
        (1, 6, {"local_window_size": 3}),
        (4, 0, {"local_window_size": 2}),
        (4, 0, {}),
        (1, 6, {"do_rotary": 1}),
        (4, 0, {"do_rotary": 1}),
        (1, 6, {"do_rotary": 1, "rotary_interleaved": 1}),
    ],
)
def test_group_query_attention(
    new: int, past: int, attributes: dict[str, Any], tmp_path: Path
) -> None:
    feeds = _decoder(new, past)
    if past == 0:
        del feeds["pk"], feeds["pv"]
    angles = np.arange(10)[:, None] * 0.3 ** np.arange(8)
    constants = {
        "last": _lengths(past + new - 1),
        "total": np.array(past + new, np.int32),
        "c": np.cos(angles).astype(np.float32),
        "s": np.sin(angles).astype(np.float32),
    }
    kept = ["pk", "pv"] if past else ["", ""]
    names = ["q", "k", "v", *kept, "last", "total"]
    if attributes.get("do_rotary"):
        names += ["c", "s"]
    used = {name: array for name, array in constants.items() if name in names}
    check_operator(
        tmp_path,
        "com.microsoft.GroupQueryAttention",
        feeds,
        names,
        ["y", "present_key", "present_value"],
        used,
        num_heads=4,
        kv_num_heads=2,
        **attributes,
    )


def test_group_query_attention_of_one_packed_tensor(tmp_path: Path) -> None:
    constants = {"last": _lengths(3), "total": np.array(4, np.int32)}
    check_operator(
        tmp_path,
        "com.microsoft.GroupQueryAttention",
        {"x": normal(1, 4, 64)},
        ["x", "", "", "", "", "last", "total"],
        ["y", "present_key", "present_value"],
        constants,
        num_heads=4,
        kv_num_heads=2,
    )


def test_caches_of_constant_size_are_refused(tmp_path: Path) -> None:
    feeds = _decoder(1, 6)
    constants = {"last": _lengths(3), "total": np.array(4, np.int32)}
    names = ["q", "k", "v", "pk", "pv", "last", "total"]
    with pytest.raises(MaceError, match="total_sequence_length .* is not known to be"):
        check_operator(
            tmp_path,
            "com.microsoft.GroupQueryAttention",
            feeds,
            names,
            ["y", "present_key", "present_value"],
            constants,
            num_heads=4,
            kv_num_heads=2,
        )


def test_batches_of_sequences_that_differ_are_refused(tmp_path: Path) -> None:
    constants = {"last": _lengths(3, 2), "total": np.array(4, np.int32)}
    with pytest.raises(MaceError, match="a batch of 2, whose sequences may differ"):
        check_operator(
            tmp_path,
            "com.microsoft.GroupQueryAttention",
            {"x": normal(2, 4, 64)},
            ["x", "", "", "", "", "last", "total"],
            ["y"],
            constants,
            num_heads=4,
            kv_num_heads=2,
        )
