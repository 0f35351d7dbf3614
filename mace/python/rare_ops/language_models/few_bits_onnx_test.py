# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Weights of few bits, compared with onnxruntime."""

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


def _check(
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
    _check(tmp_path, "com.microsoft.MatMulNBits", normal(3, _DEPTH), constants, **sizes)


@pytest.mark.parametrize("kind", [0, 1])
@pytest.mark.parametrize("rows", [5, 6])
def test_matmul_of_bitsandbytes(kind: int, rows: int, tmp_path: Path) -> None:
    """Blocks go on from one row to the next, and the last one is not full."""
    size = rows * _DEPTH
    constants = {"w": _bytes(-(-size // 2)), "largest": _scales(-(-size // 32))}
    sizes = {"K": _DEPTH, "N": rows, "quant_type": kind, "block_size": 32}
    _check(
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
