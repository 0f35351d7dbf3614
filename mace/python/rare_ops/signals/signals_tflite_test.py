# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Fourier transforms and complex numbers, against TensorFlow Lite."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.importers.frame.errors import (
    ImportModelError,
    UnsupportedNodesError,
)
from mace.python.tools.importers.tflite.reader import (
    COMPLEX64,
    FLOAT32,
    Network,
    Operator,
    Tensor,
)
from mace.python.tools.importers.tflite.testing import (
    Family,
    converted,
    import_file,
    import_network,
    one_operator,
    rand,
)
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.evaluate import run_graph

tf = pytest.importorskip("tensorflow", reason="it is the reference here")

_FAMILY = Family("signals_tflite")
check = _FAMILY.check


def test_short_time() -> None:
    check(
        lambda x: tf.abs(tf.signal.stft(x, 16, 8, fft_length=32)),
        rand(2, 64),
        tolerance=1e-4,
    )


@pytest.mark.parametrize("part", ["real", "imag"])
def test_two_axes(part: str) -> None:
    check(
        lambda x: getattr(tf.math, part)(tf.signal.rfft2d(x)),
        rand(3, 8, 16),
        tolerance=1e-4,
    )


def _ints(*numbers: int) -> Array:
    return np.array(numbers, np.int32)


# An operator, further inputs, whether they come first, its options, and the results in
# NumPy. TensorFlow Lite's converter writes most of them only on request.
_WRITTEN: list[tuple[str, list[Array], bool, dict[str, Any], Callable[[Any], Any]]] = [
    ("EXPAND_DIMS", [_ints(-1)], False, {}, lambda z: z[..., None]),
    ("RESHAPE", [_ints(-1, 5)], False, {}, lambda z: z.reshape(-1, 5)),
    ("TRANSPOSE", [_ints(2, 0, 1)], False, {}, lambda z: z.transpose(2, 0, 1)),
    ("SLICE", [_ints(0, 1, 2), _ints(2, -1, 3)], False, {}, lambda z: z[:, 1:, 2:5]),
    (
        *("STRIDED_SLICE", [_ints(0, 0, 4), _ints(2, 3, 0), _ints(1, 1, -2)], False),
        *({"begin_mask": 3, "end_mask": 3}, lambda z: z[..., 4:0:-2]),
    ),
    ("PACK", [], False, {"axis": -1, "values_count": 1}, lambda z: z[..., None]),
    ("UNPACK", [], False, {"axis": -2, "num": 3}, lambda z: z.swapaxes(0, 1)),
    ("SPLIT", [_ints(-2)], True, {"num_split": 3}, lambda z: np.split(z, 3, -2)),
    ("GATHER", [_ints(2, 0)], False, {"axis": -1}, lambda z: z[..., [2, 0]]),
    ("TILE", [_ints(1, 2, 1)], False, {}, lambda z: np.tile(z, (1, 2, 1))),
    ("REVERSE_V2", [_ints(-1)], False, {}, lambda z: z[..., ::-1]),
    (
        *("PAD", [_ints(0, 0, 1, 0, 0, 2).reshape(3, 2)], False, {}),
        lambda z: np.pad(z, ((0, 0), (1, 0), (0, 2))),
    ),
    (
        *("CONCATENATION", [np.ones((2, 3, 1), np.complex64) * 2j], False),
        *({"axis": -1}, lambda z: np.concatenate([z, z[..., :1] * 0 + 2j], -1)),
    ),
    ("ADD", [np.array([1 - 3j], np.complex64)], False, {}, lambda z: z + (1 - 3j)),
    ("SUM", [_ints(-1)], False, {"keep_dims": False}, lambda z: z.sum(-1)),
]


@pytest.mark.parametrize("written", _WRITTEN, ids=lambda written: str(written[0]))
def test_operators_on_complex_numbers(
    written: tuple[str, list[Array], bool, dict[str, Any], Callable[[Any], Any]],
    tmp_path: Path,
) -> None:
    op_type, others, first, options, function = written
    x = rand(2, 3, 8)
    z = np.fft.rfft2(x, (3, 8)).astype(np.complex64)
    wanted = function(z)
    wanted = list(wanted) if op_type in ("SPLIT", "UNPACK") else [wanted]
    network = _network(op_type, others, first, options, wanted)
    results = list(run_graph(import_network(network, tmp_path), {"x": x}).values())
    for index, value in enumerate(wanted):
        real, imag = results[2 * index : 2 * index + 2]
        np.testing.assert_allclose(real + 1j * imag, value, 1e-4, 1e-4)


def _network(
    op_type: str,
    others: Sequence[Array],
    first: bool,
    options: Mapping[str, Any],
    wanted: Sequence[Array],
) -> Network:
    """A Fourier transform, the operator, and both parts of its results."""
    tensors: list[Tensor] = []

    def add(kind: int, array: Array, stored: bool = False) -> int:
        name = f"t{len(tensors)}" if tensors else "x"
        data = array.tobytes() if stored else b""
        buffer = np.frombuffer(data, np.uint8)
        tensors.append(Tensor(name, kind, array.shape, None, buffer, ""))
        return len(tensors) - 1

    x = add(FLOAT32, np.zeros((2, 3, 8)))
    lengths = add(2, _ints(3, 8), True)
    z = add(COMPLEX64, np.zeros((2, 3, 5)))
    more = [add(COMPLEX64 if a.dtype.kind == "c" else 2, a, True) for a in others]
    results = [add(COMPLEX64, array) for array in wanted]
    inputs = (*more, z) if first else (z, *more)
    operators = [
        Operator("RFFT2D", "", (x, lengths), (z,), {}),
        Operator(op_type, "", inputs, tuple(results), options),
    ]
    parts = []
    for result, array in zip(results, wanted):
        for part in ("REAL", "IMAG"):
            parts.append(add(FLOAT32, array.real))
            operators.append(Operator(part, "", (result,), (parts[-1],), {}))
    return Network(tuple(tensors), tuple(operators), (x,), tuple(parts))


def test_the_real_part_by_a_cast() -> None:
    """Behind a SQUEEZE of axis -2, which the converter writes for stft."""
    check(
        lambda x: tf.cast(tf.signal.stft(x, 16, 8, fft_length=16), tf.float32),
        rand(1, 64),
        tolerance=1e-4,
    )


def test_what_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.tflite"
    path.write_bytes(converted(lambda x: tf.signal.rfft2d(x), [rand(4, 8)]))
    with pytest.raises(ImportModelError, match="complex numbers"):
        import_file(path)
    x = np.zeros((2, 2), np.complex64)
    path.write_bytes(one_operator("NEG", [x], [((2, 2), "complex64")]))
    with pytest.raises((ImportModelError, UnsupportedNodesError), match="complex64"):
        import_file(path)


def test_every_handler_was_tried() -> None:
    _FAMILY.assert_all_tried()
