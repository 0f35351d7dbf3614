# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Kaldi's LSTM beside a NumPy model of LstmNonlinearityComponent, step by step."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from mace.python.tools.importers.frame.errors import UnsupportedNodesError
from mace.python.tools.importers.onnx.testing import (
    assert_same,
    import_proto,
    kaldi_model,
    normal,
    run_mace,
)
from mace.python.tools.ir.dtypes import Array

UNITS, SIZE, STATE, OUTPUT = 4, 6, 3, 5


def _model(kind: str, *args: Any, **options: Any) -> onnx.ModelProto:
    return kaldi_model(kind.removeprefix("kaldi."), *args, **options)


def _sigmoid(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


def _cell(
    gates: Array, c: Array, params: Array, factors: Array | None = None
) -> tuple[Array, Array]:
    """The component's definition, for rows."""
    i_part, f_part, c_part, o_part = np.split(gates.astype(np.float64), 4, -1)
    i, f, o = (1, 1, 1) if factors is None else np.split(factors, 3, -1)
    i_t = _sigmoid(i_part + params[0] * c)
    f_t = _sigmoid(f_part + params[1] * c)
    new = f_t * f * c + i_t * i * np.tanh(c_part)
    o_t = _sigmoid(o_part + params[2] * new)
    return new, o_t * o * np.tanh(new)


@pytest.mark.parametrize("with_factors", [False, True])
def test_non_linearity(with_factors: bool, tmp_path: Path) -> None:
    x = normal(2, 7, 5 * UNITS + 3 * with_factors)
    params = normal(3, UNITS)
    factors = x[..., 5 * UNITS :] if with_factors else None
    gates, c = x[..., : 4 * UNITS], x[..., 4 * UNITS : 5 * UNITS]
    wanted = np.concatenate(_cell(gates, c, params, factors), -1)
    model = _model("kaldi.LstmNonlinear", {"x": x}, {"p": params})
    assert_same(run_mace(model, {"x": x}, tmp_path), [wanted.astype(np.float32)])


def _weights(bias_a: bool, bias_b: bool) -> dict[str, Array]:
    found = {
        "a": normal(4 * UNITS, SIZE + STATE) * np.float32(0.5),
        "p": normal(3, UNITS),
        "b": normal(OUTPUT, UNITS),
    }
    if bias_a:
        found["bias_a"] = normal(4 * UNITS, seed=3)
    if bias_b:
        found["bias_b"] = normal(OUTPUT, seed=4)
    return found


def _layer(
    x: Array,
    weights: dict[str, Array],
    delays: tuple[int, int],
    scale: float,
    offset: int,
    states: tuple[Array, Array],
) -> tuple[Array, Array, Array]:
    """One frame after another. States of frame t are at t + delay."""
    hidden, memory = ([*np.moveaxis(s, 1, 0)] for s in states)
    outputs = []
    for t in range(x.shape[1]):
        joined = np.concatenate([x[:, t], hidden[t]], -1)
        gates = joined @ weights["a"].T + weights.get("bias_a", 0)
        c, m = _cell(gates, memory[t], weights["p"])
        y = m @ weights["b"].T + weights.get("bias_b", 0)
        outputs.append(y)
        hidden.append(y[:, offset : offset + STATE] * scale)
        memory.append(c * scale)
    stacked = [np.stack(s, 1) for s in (outputs, hidden, memory)]
    return stacked[0], stacked[1][:, delays[0] :], stacked[2][:, delays[1] :]


@pytest.mark.parametrize("frames", [1, 7, 8])
@pytest.mark.parametrize("delays", [(1, 1), (3, 3), (2, 4), (3, 1)])
def test_layer(frames: int, delays: tuple[int, int], tmp_path: Path) -> None:
    x = normal(2, frames, SIZE)
    weights = _weights(bias_a=frames != 8, bias_b=frames != 7)
    states = (normal(2, delays[0], STATE), normal(2, delays[1], UNITS, seed=9))
    options: dict[str, Any] = {
        "prev_out_delay": -delays[0],
        "prev_cell_delay": -delays[1],
        "prev_out_dim": STATE,
        "prev_cell_dim": UNITS,
        "prev_out_offset": 2,
        "scale": 0.75,
        **{name: 1 for name in ("bias_a", "bias_b") if name in weights},
    }
    zeros = (np.zeros_like(states[0]), np.zeros_like(states[1]))
    wanted, _, _ = _layer(x, weights, delays, 0.75, 2, zeros)
    model = _model("kaldi.DynamicLSTM", {"x": x}, weights, **options)
    found = run_mace(model, {"x": x}, tmp_path)
    assert_same(found, [wanted.astype(np.float32)], 1e-4)
    if frames < max(delays):
        return
    # States go from one call to the next.
    wanted, *kept = _layer(x, weights, delays, 0.75, 2, states)
    caches = [list(range(frames - delay, frames)) for delay in delays]
    inputs = {"x": x, "h": states[0], "c": states[1]}
    names = ["y", "next_h", "next_c"]
    model = _model(
        "kaldi.DynamicLSTM",
        inputs,
        weights,
        names,
        **options,
        forward_indexes=list(range(frames)),
        out_cache_indexes=caches[0],
        cell_cache_indexes=caches[1],
    )
    found = run_mace(model, inputs, tmp_path)
    last = [s[:, -delay:] for s, delay in zip(kept, delays)]
    assert_same(found, [a.astype(np.float32) for a in (wanted, *last)], 1e-4)


def test_a_layer_of_every_third_frame(tmp_path: Path) -> None:
    x = normal(1, 9, SIZE)
    weights = _weights(bias_a=True, bias_b=True)
    zeros = (np.zeros((1, 1, STATE)), np.zeros((1, 1, UNITS)))
    wanted, _, _ = _layer(x[:, ::3], weights, (1, 1), 1, 0, zeros)
    model = _model(
        "kaldi.DynamicLSTM",
        {"x": x},
        weights,
        prev_out_delay=-3,
        prev_cell_delay=-3,
        prev_out_dim=STATE,
        prev_cell_dim=UNITS,
        bias_a=1,
        bias_b=1,
        subsample_factor=3,
        forward_indexes=[0, 3, 6],
    )
    found = run_mace(model, {"x": x}, tmp_path)
    assert_same(found, [wanted.astype(np.float32)], 1e-4)


_DELAYS = {"prev_out_delay": -1, "prev_cell_delay": -1}
_DIMS = {"prev_out_dim": STATE, "prev_cell_dim": UNITS}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (_DIMS, "delays of"),
        ({**_DIMS, **_DELAYS, "subsample_factor": 3}, "one in 3"),
        (_DELAYS, "prev_out_dim 0"),
        ({**_DELAYS, **_DIMS, "prev_out_dim": 2}, "weights of shapes"),
        ({**_DELAYS, **_DIMS, "prev_out_offset": 3}, "weights of shapes"),
        ({**_DELAYS, **_DIMS, "forward_indexes": [5]}, "frames 5 to 5 of 4"),
        ({**_DELAYS, **_DIMS, "bias_a": 1}, "input 4 is missing"),
    ],
)
def test_what_is_refused(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    x = normal(1, 4, SIZE)
    model = _model("kaldi.DynamicLSTM", {"x": x}, _weights(False, False), **options)
    with pytest.raises(UnsupportedNodesError, match=message):
        import_proto(model, {"x": x}, ["y"], tmp_path)


def test_refused_parameters(tmp_path: Path) -> None:
    x = normal(1, 4, 5 * UNITS + 1)
    model = _model("kaldi.LstmNonlinear", {"x": x}, {"p": normal(3, UNITS)})
    with pytest.raises(UnsupportedNodesError, match="parameters of shape"):
        import_proto(model, {"x": x}, ["y"], tmp_path)
