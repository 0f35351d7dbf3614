# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What the DSP and accelerators are asked for."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Literal, Optional, Union

from mace.python.runtime.library import check
from mace.python.tools.errors import UsageError

# What editors complete; the numbers are below.
Corner = Literal[
    "release", "turboplus", "turbo", "nomplus", "nominal", "svsplus", "svs", "svs2"
]
Preference = Literal["low_power", "fast_single_answer", "sustained_speed"]
Performance = Literal[
    "burst",
    "sustained_high",
    "high",
    "balanced",
    "low_balanced",
    "power_saver",
    "low_power_saver",
    "high_power_saver",
    "system_settings",
]

# mace_hexagon_corner.
CORNERS = {
    "release": 0,
    "turboplus": 1,
    "turbo": 2,
    "nomplus": 3,
    "nominal": 4,
    "svsplus": 5,
    "svs": 6,
    "svs2": 7,
}
# mace_apu_preference.
PREFERENCES = {"low_power": 0, "fast_single_answer": 1, "sustained_speed": 2}
# mace_performance.
PERFORMANCES = {
    "burst": 0,
    "sustained_high": 1,
    "high": 2,
    "balanced": 3,
    "low_balanced": 4,
    "power_saver": 5,
    "low_power_saver": 6,
    "high_power_saver": 7,
    "system_settings": 8,
}
_MOST_BOOST = 100
# AcceleratorSetting::Kind.
_CACHE, _APU_HINTS, _PERFORMANCE = 0, 1, 2
_LOAD_OR_STORE = 3


@dataclass(frozen=True)
class AcceleratorOptions:
    """What the DSP and accelerators are asked for.

    It has no effect on other devices, nor in a library without these.

    Attributes:
        dsp_power: what the DSP's clock should do, None: as the system likes.
        dsp_dcvs: `dsp_power` is the most, and the DSP chooses below it.
        dsp_latency_us: how long the DSP may take to wake up; 0: no wish.
        dsp_unsigned_pd: insist on a process of the DSP for unsigned code.
        apu_boost: how fast the APU's clock should run, from 0 to 100.
        apu_preference: what the APU's clock is chosen for.
        htp_performance: the HTP's clock.
        cache: a file for what accelerators compile, which makes the next start faster.
    """

    dsp_power: Optional[Corner] = None
    dsp_dcvs: bool = False
    dsp_latency_us: int = 0
    dsp_unsigned_pd: bool = False
    apu_boost: int = _MOST_BOOST
    apu_preference: Preference = "fast_single_answer"
    htp_performance: Performance = "burst"
    cache: Union[str, os.PathLike[str], None] = None

    def __post_init__(self) -> None:
        for key, accepted in (
            ("dsp_power", (None, *CORNERS)),
            ("apu_preference", tuple(PREFERENCES)),
            ("htp_performance", tuple(PERFORMANCES)),
        ):
            found = getattr(self, key)
            if found not in accepted:
                words = ", ".join(word for word in accepted if word is not None)
                raise UsageError(f"{key}: found {found!r}, accepted: {words}")
        for key, most in (("apu_boost", _MOST_BOOST), ("dsp_latency_us", 1 << 30)):
            found = getattr(self, key)
            if not isinstance(found, int) or not 0 <= found <= most:
                raise UsageError(f"{key}: found {found!r}, accepted: 0, 1, ... {most}")


def set_accelerators(c: Any, config: Any, options: AcceleratorOptions) -> None:
    """Sets the options in a mace_config, as far as the library has such devices.

    Raises:
        EngineError: the library refuses one.
    """
    if hasattr(c, "mace_hexagon_configure"):
        if options.dsp_unsigned_pd:
            check(c.mace_hexagon_configure(config, 1, 0, 0, 0))
        power, latency = options.dsp_power, options.dsp_latency_us
        if power is not None or options.dsp_dcvs or latency:
            corner = CORNERS[power or "release"]
            dcvs = int(options.dsp_dcvs)
            check(c.mace_hexagon_configure(config, 0, corner, dcvs, latency))
    if hasattr(c, "mace_accelerator_configure"):
        configure = c.mace_accelerator_configure
        preference = PREFERENCES[options.apu_preference]
        performance = PERFORMANCES[options.htp_performance]
        check(configure(config, _APU_HINTS, options.apu_boost, preference, None, None))
        check(configure(config, _PERFORMANCE, performance, 0, None, None))
        if options.cache is not None:
            file = os.fsencode(options.cache)
            check(configure(config, _CACHE, _LOAD_OR_STORE, 0, file, file))
