# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The value of flags that name ABIs of devices, in all spellings."""

from __future__ import annotations

import argparse

from mace.python.tools.config.deployment import Abi
from mace.python.tools.devices.boards import ABI_SPELLINGS

_ABIS = {**ABI_SPELLINGS, **{abi.value: abi for abi in Abi}}


def device_abi(text: str) -> Abi:
    """The ABI of one word; argparse reports the error."""
    if text not in _ABIS:
        raise argparse.ArgumentTypeError(
            f"found {text!r}, accepted: {', '.join(abi.value for abi in Abi)}"
        )
    return _ABIS[text]
