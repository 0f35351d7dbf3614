# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The report of a model on two devices, for tests."""

from __future__ import annotations

from typing import Any


def placed(
    name: str, kind: str, device: str, estimated_us: float = 2.0, **refused: str
) -> dict[str, Any]:
    """One operator; `refused` gives reasons by device."""
    return {
        "name": name,
        "type": kind,
        "device": device,
        "kernel": "image" if device == "gpu" else "",
        "output": "float32[1, 100]",
        "remark": "",
        "estimated_us": estimated_us,
        "refusals": [{"device": d, "reason": why} for d, why in refused.items()],
    }


def two_devices() -> dict[str, Any]:
    """conv on the GPU, relu on the CPU, add on the GPU; the APU is missing."""

    def copy(tensor: str, source: str, target: str, before: int) -> dict[str, Any]:
        ends = {"from": source, "to": target}
        return {"tensor": tensor, **ends, "bytes": 400, "before_operator": before}

    return {
        "placement": {
            "operators": [
                placed("conv", "Conv2D", "gpu"),
                placed("relu", "Activation", "cpu", gpu="no <kernel> of rank 5"),
                placed("add", "Eltwise", "gpu"),
            ],
            "copies": [copy("b", "gpu", "cpu", 1), copy("c", "cpu", "gpu", 2)],
            "left_out": [{"device": "apu", "reason": "this build has no APU runtime"}],
        },
    }
