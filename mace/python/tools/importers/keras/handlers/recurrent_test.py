# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers and their cells, compared with Keras."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.importers.frame.errors import UnsupportedNodesError
from mace.python.tools.importers.keras.testing import Family, imported, rand

keras = pytest.importorskip("keras")
layers = keras.layers
FAMILY = Family("recurrent")


@pytest.mark.parametrize("kind", ["SimpleRNN", "GRU", "LSTM"])
def test_each_kind(tmp_path: Path, kind: str) -> None:
    make = getattr(layers, kind)
    more: dict[str, Any] = (
        {} if kind == "SimpleRNN" else {"recurrent_activation": "hard_sigmoid"}
    )
    FAMILY.check(
        tmp_path,
        lambda x, h, c: [
            make(4)(x),
            make(4, use_bias=False, return_sequences=True)(x),
            *make(4, return_sequences=True, return_state=True)(x),
            make(4, go_backwards=True)(x),
            make(4, go_backwards=True, return_sequences=True)(x),
            make(4, activation="relu", **more)(x),
            make(4)(x, initial_state=[h, c] if kind == "LSTM" else [h]),
            layers.Bidirectional(make(4))(x),
            layers.Bidirectional(make(4))(
                x, initial_state=[h, c, c, h] if kind == "LSTM" else [h, c]
            ),
        ],
        rand(2, 5, 3),
        rand(2, 4),
        rand(2, 4) / 2,
        endings=("keras", "h5"),
    )


def test_gates_that_reset_before(tmp_path: Path) -> None:
    FAMILY.check(tmp_path, lambda x: layers.GRU(4, reset_after=False)(x), rand(2, 5, 3))


@pytest.mark.parametrize("ending", ["keras", "h5"])
def test_both_directions(tmp_path: Path, ending: str) -> None:
    def make(**settings: Any) -> Any:
        return layers.LSTM(4, return_sequences=True, **settings)

    wrap = layers.Bidirectional
    FAMILY.check(
        tmp_path,
        lambda x: [
            wrap(make())(x),
            wrap(make(), merge_mode="sum")(x),
            wrap(make(), merge_mode="ave")(x),
            wrap(make(), merge_mode="mul")(x),
            *wrap(make(return_state=True))(x),
            wrap(make(), backward_layer=make(go_backwards=True, use_bias=False))(x),
        ],
        rand(2, 5, 3),
        endings=[ending],
    )


def test_layers_on_steps(tmp_path: Path) -> None:
    each = layers.TimeDistributed
    FAMILY.check(
        tmp_path,
        lambda x: [
            each(layers.Conv2D(4, 3, activation="relu"))(x),
            each(layers.Flatten())(x),
            each(layers.BatchNormalization())(x),
        ],
        rand(2, 3, 4, 5, 2),
        endings=("keras", "h5"),
    )


@pytest.mark.parametrize("order", ["channels_last", "channels_first"])
def test_models_on_steps(tmp_path: Path, order: str) -> None:
    """A network on images in front of a recurrent layer, as models of video have."""
    image = keras.Input((4, 5, 2), name="image")
    y = layers.Conv2D(3, 2, activation="relu", data_format=order)(image)
    y = layers.BatchNormalization()(y)
    inner = keras.Model(image, layers.GlobalAveragePooling2D(data_format=order)(y))
    steps = [layers.Flatten(), layers.Dense(3)]
    chain = keras.Sequential([keras.Input((4, 5, 2)), *steps])
    FAMILY.check(
        tmp_path,
        lambda x: [
            layers.LSTM(3)(layers.TimeDistributed(inner)(x)),
            layers.TimeDistributed(chain)(x),
        ],
        rand(2, 3, 4, 5, 2),
        endings=("keras", "h5"),
    )


def test_what_a_model_on_steps_lacks_is_named(tmp_path: Path) -> None:
    word = keras.Input((4,), name="word")
    inner = keras.Model(word, layers.Solarization(name="odd")(word))
    x = keras.Input((3, 4), batch_size=1, name="x0")
    path = tmp_path / "m.keras"
    keras.Model(x, layers.TimeDistributed(inner, name="y")(x)).save(path)
    with pytest.raises(UnsupportedNodesError, match="y/each/odd") as error:
        imported(path, [rand(1, 3, 4)], ["y"])
    assert "changes the colours" in str(error.value)


# Gaps, all steps, none of them, and some at the end.
_WORDS = np.array(
    [[0, 3, 0, 2, 1], [1, 2, 3, 4, 1], [0, 0, 0, 0, 0], [4, 2, 0, 0, 0]], np.int32
)


@pytest.mark.parametrize("kind", ["SimpleRNN", "GRU", "LSTM"])
def test_masked_steps(tmp_path: Path, kind: str) -> None:
    make = getattr(layers, kind)

    def build(words: Any, h: Any, c: Any) -> list[Any]:
        x = layers.Dropout(0.5)(layers.Embedding(5, 3, mask_zero=True)(words))
        states = [h, c] if kind == "LSTM" else [h]
        whole = make(4, return_sequences=True)
        return [
            make(4)(x),
            *make(4, return_sequences=True, return_state=True)(x),
            make(4, go_backwards=True)(x),
            make(4, go_backwards=True, return_sequences=True)(x),
            make(4, zero_output_for_mask=True, return_sequences=True)(x),
            make(4)(x, initial_state=states),
            make(4)(layers.Dense(3)(whole(x))),
        ]

    FAMILY.check(tmp_path, build, _WORDS, rand(4, 4), rand(4, 4))


@pytest.mark.parametrize("sequences", [False, True])
def test_masked_steps_in_both_directions(tmp_path: Path, sequences: bool) -> None:
    x = rand(4, 5, 3)
    x[_WORDS == 0] = -1
    FAMILY.check(
        tmp_path,
        lambda y: layers.Bidirectional(layers.GRU(2, return_sequences=sequences))(
            layers.Masking(-1)(y)
        ),
        x,
    )


def test_masks_behind_layers_that_change_steps_are_refused(tmp_path: Path) -> None:
    x = keras.Input((3,), name="x0")
    path = tmp_path / "m.keras"
    y = layers.Conv1D(2, 1)(layers.Embedding(5, 2, mask_zero=True)(x))
    keras.Model(x, layers.LSTM(2, name="y")(y)).save(path)
    with pytest.raises(UnsupportedNodesError, match="it gets a mask that"):
        imported(path, [np.ones((1, 3), np.float32)], ["y"])


def test_states_between_runs_are_refused(tmp_path: Path) -> None:
    x = keras.Input((3, 2), batch_size=1, name="x0")
    path = tmp_path / "m.keras"
    keras.Model(x, layers.LSTM(2, stateful=True, name="y")(x)).save(path)
    with pytest.raises(UnsupportedNodesError, match="stateful is set"):
        imported(path, [rand(1, 3, 2)], ["y"])


def _stacked() -> object:
    return layers.StackedRNNCells(
        [layers.LSTMCell(3), layers.GRUCell(4), layers.LSTMCell(2, use_bias=False)]
    )


def test_layers_around_cells(tmp_path: Path) -> None:
    FAMILY.check(
        tmp_path,
        lambda x, h: [
            *layers.RNN(layers.LSTMCell(4), return_state=True)(x),
            layers.RNN(layers.GRUCell(4), go_backwards=True, return_sequences=True)(x),
            layers.RNN(layers.SimpleRNNCell(4))(x, initial_state=[h]),
            layers.RNN(_stacked(), return_sequences=True)(x),
            layers.RNN(_stacked(), go_backwards=True)(x),
            layers.Bidirectional(layers.RNN(layers.GRUCell(4)))(x),
            layers.RNN([layers.GRUCell(3), layers.GRUCell(2)])(x),
        ],
        rand(2, 5, 3),
        rand(2, 4),
        endings=("keras", "h5"),
    )


def test_single_steps(tmp_path: Path) -> None:
    def build(x: object, h: object, c: object) -> list[object]:
        y, states = layers.LSTMCell(4)(x, [h, c])
        z, _ = layers.GRUCell(4)(x, [h])
        w, _ = layers.SimpleRNNCell(4)(x, [c])
        cells = layers.StackedRNNCells([layers.GRUCell(4), layers.GRUCell(4)])
        v, _ = cells(x, [h, c])
        return [y, *states, z, w, v]

    FAMILY.check(tmp_path, build, rand(2, 3), rand(2, 4), rand(2, 4) / 2)


def test_masked_cells(tmp_path: Path) -> None:
    tokens = np.array([[1, 4, 0, 2], [3, 0, 0, 0]], np.int32)
    table = layers.Embedding(5, 3, mask_zero=True)
    FAMILY.check(
        tmp_path,
        lambda x: [
            layers.RNN(_stacked())(table(x)),
            layers.RNN(layers.LSTMCell(4), return_sequences=True)(table(x)),
        ],
        tokens,
    )


def test_every_handler_was_compared() -> None:
    FAMILY.assert_all_tried()
