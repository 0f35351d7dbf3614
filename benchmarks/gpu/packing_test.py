# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.gpu.packing import (
    WEIGHTS,
    PackingError,
    Store,
    decode,
    encode,
    pack,
    unpack,
)
from benchmarks.gpu.prepare import rounded

_RNG = np.random.default_rng(0)
_WEIGHTS = _RNG.standard_normal(5000).astype(np.float32)
_ROUNDED = rounded(_WEIGHTS, 2)
_UNUSUAL = np.array([np.nan, np.inf, -np.inf, -0.0, 1e-30, 65504.0, 65536.0], "<f4")


def _round_trip(data: bytes) -> tuple[set[str], int]:
    """Decodes what was encoded; returns the forms and the stored size."""
    weights, rest = Store(), Store()
    pieces = encode(data, weights, rest)
    assert decode(pieces, bytes(weights.data), bytes(rest.data)) == data
    forms = {form for form, _, _ in pieces}
    return forms, len(weights.data) + len(rest.data)


@pytest.mark.parametrize(
    ("data", "forms", "share"),
    [
        (_ROUNDED[:4096].tobytes(), {"float8"}, 4),
        (_ROUNDED[:4096].astype("<f2").tobytes(), {"half8"}, 2),
        (_WEIGHTS[:4096].astype("<f2").astype("<f4").tobytes(), {"float16"}, 2),
        (_WEIGHTS[:4096].tobytes(), {"raw"}, 1),
        (bytes(range(256)) * 64, {"raw"}, 1),
    ],
)
def test_each_kind_of_data_has_its_form(
    data: bytes, forms: set[str], share: int
) -> None:
    assert _round_trip(data) == (forms, len(data) // share)


@pytest.mark.parametrize("size", [0, 1, 4095, 4096, 4097, 8191])
def test_any_size_is_restored(size: int) -> None:
    _round_trip((_ROUNDED.tobytes())[:size])


def test_forms_change_within_a_file() -> None:
    data = _ROUNDED.tobytes() + _WEIGHTS.tobytes() + _ROUNDED.astype("<f2").tobytes()
    forms, _ = _round_trip(data)
    assert forms >= {"float8", "raw"}


def test_unusual_floats_keep_their_bits() -> None:
    _round_trip(np.tile(_UNUSUAL, 2000).tobytes())
    for value in _UNUSUAL:
        _round_trip(np.full(1024, value, "<f4").tobytes())
    _round_trip(np.full(1024, 0x7F800001, "<u4").tobytes())  # a signalling NaN


def test_float_and_half_of_the_same_weights_are_stored_once(tmp_path: Path) -> None:
    weights = rounded(_RNG.standard_normal(100_000).astype(np.float32), 2)
    floats, halves = tmp_path / "floats", tmp_path / "halves"
    floats.write_bytes(weights.tobytes())
    halves.write_bytes(weights.astype("<f2").tobytes())
    alone = pack({"b/a": floats}, tmp_path)
    both = pack({"b/a": floats, "b/c": halves}, tmp_path)
    assert alone < len(weights)
    assert both < alone * 1.05
    target = tmp_path / "restored"
    unpack(tmp_path, target)
    assert (target / "b/a").read_bytes() == floats.read_bytes()
    assert (target / "b/c").read_bytes() == halves.read_bytes()


def test_repetitions_are_stored_once_wherever_they_are() -> None:
    random = _RNG.bytes(100_000)
    store = Store()
    store.next_file("one")
    assert store.add(random) == [(0, 100_000)]
    store.next_file("one")
    assert store.add(random[777:90_000]) == [(777, 89_223)]
    slices = store.add(random[:20_000] + random[50_000:])
    assert b"".join(store.data[o : o + n] for o, n in slices) == (
        random[:20_000] + random[50_000:]
    )
    assert len(store.data) < 140_000
    store.next_file("two")
    assert store.add(random) == [(len(store.data) - 100_000, 100_000)]


def test_a_damaged_folder_is_found(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(_ROUNDED.tobytes())
    pack({"a": file}, tmp_path)
    index = (tmp_path / "models.json").read_text()
    (tmp_path / "models.json").write_text(index.replace('"sha256": "', '"sha256": "0'))
    with pytest.raises(PackingError, match="^a of .* is damaged"):
        unpack(tmp_path, tmp_path / "restored")
    assert not (tmp_path / "restored").exists()
    (tmp_path / WEIGHTS).write_bytes((tmp_path / WEIGHTS).read_bytes()[:-9])
    with pytest.raises(PackingError, match="incomplete"):
        unpack(tmp_path, tmp_path / "restored")
