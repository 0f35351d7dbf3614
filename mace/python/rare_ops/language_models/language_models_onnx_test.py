# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Weights of few bits and mixtures of experts, compared with onnxruntime."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from mace.python.tools.errors import MaceError
from mace.python.tools.importers.onnx.testing import (
    check_operator,
    make_model,
    normal,
    run_mace,
)
from mace.python.tools.ir.dtypes import Array

_DEPTH, _ROWS = 72, 6


def _bytes(*shape: int) -> Array:
    return np.random.default_rng(3).integers(0, 256, shape).astype(np.uint8)


def _scales(*shape: int) -> Array:
    return np.random.default_rng(4).uniform(0.01, 0.1, shape).astype(np.float32)


def _check_few_bits(
    folder: Path, kind: str, x: Array, constants: Mapping[str, Array], **more: Any
) -> None:
    names = ["x", *constants]
    check_operator(folder, kind, {"x": x}, names, ("y",), constants, **more)


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("shifted", [False, True])
def test_matmul_of_few_bits(bits: int, shifted: bool, tmp_path: Path) -> None:
    block = 32
    blocks = -(-_DEPTH // block)
    constants = {
        "w": _bytes(_ROWS, blocks, block * bits // 8),
        "scales": _scales(_ROWS * blocks),
    }
    if shifted:
        constants["zeros"] = _bytes(_ROWS * -(-blocks * bits // 8))
    sizes = {"K": _DEPTH, "N": _ROWS, "bits": bits, "block_size": block}
    _check_few_bits(
        tmp_path, "com.microsoft.MatMulNBits", normal(3, _DEPTH), constants, **sizes
    )


@pytest.mark.parametrize("kind", [0, 1])
@pytest.mark.parametrize("rows", [5, 6])
def test_matmul_of_bitsandbytes(kind: int, rows: int, tmp_path: Path) -> None:
    """Blocks go on from one row to the next, and the last one is not full."""
    size = rows * _DEPTH
    constants = {"w": _bytes(-(-size // 2)), "largest": _scales(-(-size // 32))}
    sizes = {"K": _DEPTH, "N": rows, "quant_type": kind, "block_size": 32}
    _check_few_bits(
        tmp_path, "com.microsoft.MatMulBnb4", normal(2, 3, _DEPTH), constants, **sizes
    )


def test_an_unknown_table_is_refused(tmp_path: Path) -> None:
    constants = {"w": _bytes(8), "largest": _scales(1)}
    node = onnx.helper.make_node(
        "MatMulBnb4",
        ["x", *constants],
        ["y"],
        domain="com.microsoft",
        **{"K": 4, "N": 4, "quant_type": 2, "block_size": 16},
    )
    inputs = {"x": normal(2, 4)}
    with pytest.raises(MaceError, match="quant_type 2"):
        run_mace(make_model([node], inputs, ["y"], constants), inputs, tmp_path)


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("shifted", [False, True])
def test_gather_of_few_bits(bits: int, shifted: bool, tmp_path: Path) -> None:
    rows, width, block = 10, 48, 16
    constants = {"table": _bytes(rows, width * bits // 8)}
    words = {"words": np.array([[1, 9], [0, 4]])}
    more = {"scales": _scales(rows, width // block)}
    if shifted:
        more["zeros"] = _bytes(rows, -(-width // block * bits // 8))
    check_operator(
        tmp_path,
        "com.microsoft.GatherBlockQuantized",
        words,
        ["table", "words", *more],
        ("y",),
        {**constants, **more},
        bits=bits,
        block_size=block,
    )


_EXPERTS, _WIDTH, _INNER = 4, 32, 64


def _check_experts(
    folder: Path, kind: str, names: list[str], constants: dict[str, Array], **more: Any
) -> None:
    inputs = {"x": normal(2, 3, _WIDTH), "scores": normal(6, _EXPERTS)}
    read = ["x", "scores", *names]
    check_operator(folder, kind, inputs, read, ("y",), constants, **more)


def _weights(rows: int, columns: int, seed: int) -> Array:
    weights: Array = normal(_EXPERTS, rows, columns, seed=seed) / 8
    return weights


@pytest.mark.parametrize("activation", ["relu", "gelu", "silu", "identity"])
@pytest.mark.parametrize("scaled", [0, 1])
def test_experts(activation: str, scaled: int, tmp_path: Path) -> None:
    constants = {
        "w1": _weights(_INNER, _WIDTH, 1),
        "b1": normal(_EXPERTS, _INNER),
        "w2": _weights(_WIDTH, _INNER, 2),
        "b2": normal(_EXPERTS, _WIDTH),
    }
    _check_experts(
        tmp_path,
        "com.microsoft.MoE",
        [*constants],
        constants,
        k=2,
        activation_type=activation,
        normalize_routing_weights=scaled,
    )


@pytest.mark.parametrize("limit", [None, 0.5])
def test_experts_with_gates(limit: float | None, tmp_path: Path) -> None:
    """As in gpt-oss: gates and values take turns."""
    constants = {
        "w1": _weights(2 * _INNER, _WIDTH, 1),
        "w2": _weights(_WIDTH, _INNER, 2),
    }
    more: dict[str, Any] = {} if limit is None else {"swiglu_limit": limit}
    _check_experts(
        tmp_path,
        "com.microsoft.MoE",
        ["w1", "", "w2"],
        constants,
        k=2,
        activation_type="swiglu",
        swiglu_fusion=1,
        activation_alpha=1.702,
        activation_beta=1.0,
        normalize_routing_weights=1,
        **more,
    )


@pytest.mark.parametrize(("bits", "block"), [(4, 0), (4, 16), (8, 0)])
@pytest.mark.parametrize("shifted", [False, True])
def test_experts_of_few_bits(
    bits: int, block: int, shifted: bool, tmp_path: Path
) -> None:
    """Not 8 bits in blocks, for which ONNX Runtime rounds the activations, too."""
    rng = np.random.default_rng(5)
    constants: dict[str, Array] = {}
    for name, rows, columns in (("1", 2 * _INNER, _WIDTH), ("2", _WIDTH, _INNER)):
        size = (_EXPERTS, rows, columns * bits // 8)
        constants[f"w{name}"] = rng.integers(0, 256, size).astype(np.uint8)
        counts = (columns // block,) if block else ()
        scales = rng.uniform(0.001, 0.01, (_EXPERTS, rows, *counts))
        constants[f"s{name}"] = scales.astype(np.float32)
        packed = (rows, columns // block * bits // 8) if block else (rows * bits // 8,)
        zeros = rng.integers(0, 256, (_EXPERTS, *packed)).astype(np.uint8)
        if shifted:
            constants[f"z{name}"] = zeros
    names = ["w1", "s1", "", "w2", "s2"]
    names += ["", "", "", "", "z1", "z2"] if shifted else []
    more = {"block_size": block} if block else {"normalize_routing_weights": 1}
    _check_experts(
        tmp_path,
        "com.microsoft.QMoE",
        names,
        constants,
        k=2,
        expert_weight_bits=bits,
        activation_type="swiglu",
        swiglu_fusion=1,
        activation_alpha=1.0,
        **more,
    )


def test_other_activations_are_refused(tmp_path: Path) -> None:
    constants = {"w1": _weights(_INNER, _WIDTH, 1), "w2": _weights(_WIDTH, _INNER, 2)}
    inputs = {"x": normal(3, _WIDTH), "scores": normal(3, _EXPERTS)}
    names = [*inputs, "w1", "", "w2"]
    more = {"domain": "com.microsoft", "activation_type": "relu2"}
    node = onnx.helper.make_node("MoE", names, ["y"], **more)
    with pytest.raises(MaceError, match="'relu2'"):
        run_mace(make_model([node], inputs, ["y"], constants), inputs, tmp_path)
