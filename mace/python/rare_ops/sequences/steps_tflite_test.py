# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers step by step, against TensorFlow Lite."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.importers.frame.errors import UnsupportedNodesError
from mace.python.tools.importers.frame.testing import request_for
from mace.python.tools.importers.tflite import FRAMEWORK, import_model
from mace.python.tools.importers.tflite.reader import read_network
from mace.python.tools.importers.tflite.testing import (
    Family,
    import_file,
    interpreter_of,
    one_operator,
    rand,
)
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.evaluate import run_graph
from mace.python.tools.passes import optimize

tf = pytest.importorskip("tensorflow", reason="it is the reference here")

_FAMILY = Family("steps_tflite")
check_file = _FAMILY.check_file
TANH = 4
BATCH, SIZE, UNITS = 2, 3, 4


def _check_steps(
    data: bytes, inputs: Sequence[Array], path: Path, tolerance: float = 2e-5
) -> None:
    """Compares runs one after the other, each of which goes on with the states that
    the last one left.

    Args:
        data: a file with states.
        inputs: of the runs.
        tolerance: of floats; integers may differ by one.
    """
    path.write_bytes(data)
    network = read_network(path)
    names = {
        network.tensors[i].name: network.tensors[after].name
        for i, after in network.states.items()
    }
    (entry,) = (network.tensors[i].name for i in network.inputs)
    wanted = [network.tensors[i].name for i in network.outputs]
    asked = request_for(path, [entry, *names], [*wanted, *names.values()])
    graph = import_model(asked)
    optimize(graph)
    values = {value.name: value for value in graph.inputs}
    shapes = {network.tensors[i].name: network.tensors[i].shape for i in network.states}
    states = {name: np.zeros(shapes[name], values[name].dtype.numpy) for name in names}
    interpreter = interpreter_of(data)
    for array in inputs:
        interpreter.set_tensor(interpreter.get_input_details()[0]["index"], array)
        interpreter.invoke()
        feeds = {entry: np.asarray(array, values[entry].dtype.numpy), **states}
        results = run_graph(graph, feeds)
        states = {name: results[after] for name, after in names.items()}
        for detail, name in zip(interpreter.get_output_details(), wanted):
            expected = np.asarray(interpreter.get_tensor(detail["index"]))
            assert results[name].shape == expected.shape
            if expected.dtype == np.float32:
                np.testing.assert_allclose(
                    results[name], expected, tolerance, tolerance
                )
                continue
            far = np.abs(results[name].astype(int) - expected.astype(int))
            assert far.max(initial=0) <= 1


def _numbers(seed: int, *shape: int) -> Array:
    """Different ones for each seed."""
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype(np.float32)


def _runs(count: int = 4) -> list[Array]:
    return [_numbers(100 + i, BATCH, SIZE) for i in range(count)]


def _check_step(data: bytes, operator: str, folder: Path) -> None:
    _check_steps(data, _runs(), folder / "m.tflite")
    _FAMILY.note(operator)


def _rnn(function: int) -> bytes:
    weights = {1: rand(UNITS, SIZE), 2: _numbers(3, UNITS, UNITS), 3: rand(UNITS)}
    return one_operator(
        "RNN",
        _runs(1),
        [((BATCH, UNITS), "float32")],
        weights,
        {"fused_activation_function": function},
        "RNNOptions",
        variables={4: (BATCH, UNITS)},
    )


@pytest.mark.parametrize("function", [0, 1, 3, TANH])
def test_rnn_step(function: int, tmp_path: Path) -> None:
    _check_step(_rnn(function), "RNN", tmp_path)


def _svdf(rank: int, bias: bool, memory: int = 3) -> bytes:
    filters = UNITS * rank
    constants = {1: _numbers(1, filters, SIZE), 2: _numbers(2, filters, memory)}
    if bias:
        constants[3] = _numbers(3, UNITS)
    return one_operator(
        "SVDF",
        _runs(1),
        [((BATCH, UNITS), "float32")],
        constants,
        {"rank": rank, "fused_activation_function": 1},
        "SVDFOptions",
        variables={4: (BATCH, memory * filters)},
        absent=[] if bias else [3],
    )


@pytest.mark.parametrize("memory", [1, 3])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("rank", [1, 2])
def test_svdf(rank: int, bias: bool, memory: int, tmp_path: Path) -> None:
    _check_step(_svdf(rank, bias, memory), "SVDF", tmp_path)


def test_svdf_of_integers(tmp_path: Path) -> None:
    rng, rank, memory = np.random.default_rng(5), 2, 4
    filters = UNITS * rank
    scales = {0: (1 / 64, 3), 1: (1 / 100, 0), 2: (1 / 8192, 0), 4: (1 / 2048, 0)}
    data = one_operator(
        "SVDF",
        [np.zeros((BATCH, SIZE), np.int8)],
        [((BATCH, UNITS), "int8")],
        {
            1: rng.integers(-127, 128, (filters, SIZE)).astype(np.int8),
            2: rng.integers(-9000, 9000, (filters, memory)).astype(np.int16),
            3: rng.integers(-500, 500, UNITS).astype(np.int32),
        },
        {"rank": rank, "fused_activation_function": 1},
        "SVDFOptions",
        {**scales, 3: (1 / 2048 / 8192, 0), 5: (1 / 50, -128)},
        version=3,
        variables={4: (BATCH, memory * filters)},
        kinds={4: "int16"},
    )
    runs = [rng.integers(-128, 128, (BATCH, SIZE)).astype(np.int8) for _ in range(6)]
    _check_steps(data, runs, tmp_path / "m.tflite")


def _lstm_step(
    coupled: bool = False,
    peepholes: bool = False,
    outputs: int = UNITS,
    norms: bool = False,
    **options: Any,
) -> bytes:
    constants: dict[int, Array] = {}
    for gate in range(4):
        if coupled and gate == 0:
            continue
        constants[1 + gate] = _numbers(gate, UNITS, SIZE)
        constants[5 + gate] = _numbers(gate + 5, UNITS, outputs)
        constants[12 + gate] = _numbers(gate, UNITS)
        if peepholes and gate < 3:
            constants[9 + gate] = _numbers(9 + gate, UNITS)
        if norms:
            constants[20 + gate] = _numbers(20 + gate, UNITS)
    if peepholes:
        constants[11] = _numbers(31, UNITS)
        if coupled:
            constants.pop(9, None)
    if outputs != UNITS:
        constants[16] = _numbers(16, outputs, UNITS)
        constants[17] = _numbers(17, outputs)
    states = {18: (BATCH, outputs), 19: (BATCH, UNITS)}
    total = 24 if norms else 20
    places = range(1, total)
    return one_operator(
        "LSTM",
        _runs(1),
        [((BATCH, outputs), "float32")],
        constants,
        {"fused_activation_function": TANH, **options},
        "LSTMOptions",
        variables=states,
        absent=[i for i in places if i not in constants and i not in states],
    )


@pytest.mark.parametrize("peepholes", [False, True])
@pytest.mark.parametrize("coupled", [False, True])
def test_lstm_step(coupled: bool, peepholes: bool, tmp_path: Path) -> None:
    _check_step(_lstm_step(coupled, peepholes), "LSTM", tmp_path)


def test_lstm_with_projection_norms_and_limits(tmp_path: Path) -> None:
    _check_step(_lstm_step(outputs=3, proj_clip=0.3, cell_clip=0.4), "LSTM", tmp_path)
    _check_step(_lstm_step(outputs=3, norms=True, peepholes=True), "LSTM", tmp_path)
    _check_step(_lstm_step(coupled=True, norms=True), "LSTM", tmp_path)


def _basic(variables: bool) -> bytes:
    states = {1: (BATCH, UNITS), 4: (BATCH, UNITS)}
    given = (
        [] if variables else [np.zeros(shape, np.float32) for shape in states.values()]
    )
    widths = (UNITS, UNITS, SIZE + UNITS, 4 * UNITS)
    return one_operator(
        "LSTM",
        [*_runs(1), *given],
        [((BATCH, width), "float32") for width in widths],
        {2: _numbers(2, 4 * UNITS, SIZE + UNITS), 3: _numbers(3, 4 * UNITS)},
        {"fused_activation_function": TANH, "kernel_type": 1},
        "LSTMOptions",
        variables=states if variables else {},
    )


def test_basic_lstm(tmp_path: Path) -> None:
    _check_step(_basic(True), "LSTM", tmp_path)
    h, c = _numbers(5, BATCH, UNITS), _numbers(6, BATCH, UNITS)
    check_file(_basic(False), _runs(1)[0], h, c)


def test_states_must_be_named(tmp_path: Path) -> None:
    path = tmp_path / "m.tflite"
    path.write_bytes(_rnn(TANH))
    with pytest.raises(UnsupportedNodesError, match="v4 is a state") as error:
        import_file(path)
    assert "states: {v4: v4/next}" in str(error.value)
    about = FRAMEWORK.open(path).describe()
    assert about.states == {"v4": "v4/next"}
    assert [tensor.name for tensor in about.inputs] == ["x0", "v4"]
    assert [tensor.name for tensor in about.outputs] == ["y0", "v4/next"]


def test_every_handler_was_tried() -> None:
    _FAMILY.assert_all_tried()
