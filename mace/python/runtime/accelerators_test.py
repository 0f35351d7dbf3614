# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What the library is told of the DSP and of accelerators."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from mace.python.runtime import accelerators
from mace.python.runtime.accelerators import AcceleratorOptions, set_accelerators
from mace.python.tools.errors import UsageError

_ROOT = Path(__file__).resolve().parents[3]
_PUBLIC = _ROOT / "mace/public"
_HEADER = (_PUBLIC / "mace_accelerator_c.h").read_text(encoding="utf-8")


class _Library:
    """Writes down the calls of a library that has the DSP and accelerators."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []

    def mace_hexagon_configure(self, _config: object, *values: object) -> int:
        self.calls.append(("hexagon", *values))
        return 0

    def mace_accelerator_configure(self, _config: object, *values: object) -> int:
        self.calls.append(("accelerator", *values))
        return 0


@pytest.mark.parametrize(
    ("prefix", "numbers"),
    [
        ("MACE_CORNER_", accelerators.CORNERS),
        ("MACE_PREFER_", accelerators.PREFERENCES),
        ("MACE_PERFORMANCE_", accelerators.PERFORMANCES),
    ],
)
def test_words_are_those_of_the_header(prefix: str, numbers: dict[str, int]) -> None:
    named = re.findall(rf"{prefix}(\w+) = (\d+)", _HEADER)
    assert numbers == {name.lower(): int(text) for name, text in named}


def test_settings_of_accelerators_are_those_of_the_header() -> None:
    text = (_PUBLIC / "mace_accelerators.h").read_text(encoding="utf-8")
    assert "enum Kind { CACHE, APU_HINTS, QNN_PERFORMANCE } kind;" in text
    assert "MACE_CACHE_LOAD_OR_STORE = 3" in _HEADER


def test_nothing_is_said_to_the_dsp_by_default() -> None:
    library = _Library()
    set_accelerators(library, None, AcceleratorOptions())
    assert library.calls == [
        ("accelerator", 1, 100, 1, None, None),
        ("accelerator", 2, 0, 0, None, None),
    ]


def test_all_that_is_asked_for_is_said() -> None:
    library = _Library()
    asked = AcceleratorOptions(
        dsp_power="svs",
        dsp_dcvs=True,
        dsp_latency_us=70,
        dsp_unsigned_pd=True,
        apu_boost=40,
        apu_preference="low_power",
        htp_performance="balanced",
        cache=Path("a.bin"),
    )
    set_accelerators(library, None, asked)
    assert library.calls == [
        ("hexagon", 1, 0, 0, 0),
        ("hexagon", 0, 6, 1, 70),
        ("accelerator", 1, 40, 0, None, None),
        ("accelerator", 2, 3, 0, None, None),
        ("accelerator", 0, 3, 0, b"a.bin", b"a.bin"),
    ]


def test_a_library_without_them_is_told_nothing() -> None:
    set_accelerators(object(), None, AcceleratorOptions(dsp_power="turbo"))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"dsp_power": "fast"}, "dsp_power: found 'fast', accepted: release, turbo"),
        ({"apu_boost": 101}, "apu_boost: found 101, accepted: 0, 1, ... 100"),
        ({"dsp_latency_us": -1}, "dsp_latency_us: found -1"),
        ({"htp_performance": 3}, "htp_performance: found 3, accepted: burst, "),
        ({"apu_preference": "speed"}, "apu_preference: found 'speed'"),
    ],
)
def test_wrong_options_are_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        AcceleratorOptions(**wrong)
    assert message in str(caught.value)
