# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Damaged models of Keras give one clear error, or a usable graph.

The bytes of files are changed, and the values of configurations. The number of
mutations grows with the environment variable MACE_FUZZ_ROUNDS.
"""

from __future__ import annotations

import io
import json
import logging
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.errors import MaceError
from mace.python.tools.importers.keras.testing import imported, rand
from mace.python.tools.ir.dtypes import Array

_LOG = logging.getLogger(__name__)
_SEED = 31
_ROUNDS = int(os.environ.get("MACE_FUZZ_ROUNDS", "1"))
_VALUES: tuple[Any, ...] = (
    *(None, True, -1, 0, 1, 2, 3, 7, 2**31, -(2**63), 1e300, float("nan"), 0.5),
    *("", "x0", "relu", "same", "channels_first", [], [1], [0, 0], [-1, 3, 2**40]),
    *({}, {"class_name": "Dense", "config": {}}, [["x0", 0, 0]], {"config": None}),
)
_KERAS_2 = Path(__file__).with_name("testdata") / "keras2.zip"
_INPUT = rand(2, 8, 8, 3)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """A model in both formats, its output called y."""
    keras = pytest.importorskip("keras")
    layers = keras.layers
    x = keras.Input((8, 8, 3), name="x0")
    y = layers.Conv2D(4, 3, padding="same", activation="relu")(x)
    y = keras.Sequential([layers.BatchNormalization(), layers.DepthwiseConv2D(3)])(y)
    z = layers.MaxPooling2D(2)(layers.ZeroPadding2D(1)(y))
    z = layers.Conv2DTranspose(4, 3, strides=2, padding="same")(z)
    z = layers.PReLU(shared_axes=[1, 2])(layers.Cropping2D(1)(z))
    y = layers.Concatenate()([layers.Add()([y, z]), layers.LayerNormalization()(y)])
    y = layers.Reshape((-1, 8))(y * 0.5 + 1)
    y = layers.Bidirectional(layers.GRU(2, return_sequences=True))(y)
    y = layers.LSTM(4)(layers.MultiHeadAttention(2, 2)(y, y))
    model = keras.Model(x, layers.Dense(3, activation="softmax", name="y")(y))
    folder = tmp_path_factory.mktemp("keras")
    found = {}
    for ending in ("keras", "h5"):
        path = folder / f"model.{ending}"
        model.save(path)
        found[ending] = path.read_bytes()
    return found


def _is_refused(path: Path, seed: object, given: Array = _INPUT) -> bool:
    try:
        imported(path, [given], ["y"])
    except MaceError as error:
        assert str(error).strip()
        return True
    except BaseException:
        _LOG.error("seed %s", seed)
        raise
    return False


@pytest.mark.parametrize("ending", ["keras", "h5"])
def test_damaged_bytes(files: dict[str, bytes], tmp_path: Path, ending: str) -> None:
    good, path = files[ending], tmp_path / f"model.{ending}"
    count = 40 * _ROUNDS
    refused = 0
    for index in range(count):
        rng = np.random.default_rng([_SEED, index])
        data = bytearray(good)
        for _ in range(rng.integers(1, 9)):
            # Structures are mostly at the begin and at the end.
            place = int(rng.integers(len(data)))
            place = place if rng.integers(2) else place % min(4096, len(data))
            data[place] = int(rng.integers(256))
        if rng.integers(5) == 0:
            del data[int(rng.integers(len(data))) :]
        path.write_bytes(data)
        refused += _is_refused(path, [ending, index])
    _LOG.info("%d of %d refused", refused, count)
    assert refused > count // 5


def _places(value: Any) -> list[tuple[Any, Any]]:
    """All places of a nested configuration, as containers and keys."""
    items: list[tuple[Any, Any]] = []
    keys = value if isinstance(value, dict) else range(len(value))
    for key in keys:
        items.append((value, key))
        if isinstance(value[key], (dict, list)):
            items += _places(value[key])
    return items


@pytest.mark.parametrize("version", [2, 3])
def test_damaged_configurations(
    files: dict[str, bytes], tmp_path: Path, version: int
) -> None:
    path = tmp_path / "model.keras"
    data, shape = files["keras"], _INPUT
    if version == 2:
        with zipfile.ZipFile(_KERAS_2) as both:
            data, shape = both.read("keras2.keras"), _INPUT[:1, :6, :6, :2]
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    count = 40 * _ROUNDS
    refused = 0
    for index in range(count):
        rng = np.random.default_rng([_SEED, 1, index])
        config = json.loads(parts["config.json"])
        for _ in range(rng.integers(1, 4)):
            places = _places(config)
            container, key = places[rng.integers(len(places))]
            if rng.integers(4) == 0:
                del container[key]
            else:
                container[key] = _VALUES[rng.integers(len(_VALUES))]
        with zipfile.ZipFile(path, "w") as archive:
            for name, part in parts.items():
                changed = json.dumps(config).encode() if name == "config.json" else part
                archive.writestr(name, changed)
        refused += _is_refused(path, index, shape)
    _LOG.info("%d of %d refused", refused, count)
    # Mutations that nobody notices, or none that pass, would test nothing.
    assert 0 < refused < count
