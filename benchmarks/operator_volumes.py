# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Cases of `operators.py` on volumes, [N, C, D, H, W] for both engines."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.operator_case import Case, Shape, one


def _volume(name: str, op: str, shape: Shape, **attributes: Any) -> Case:
    return one(name, op, shape, images=False, **attributes)


def _volumes() -> list[Case]:
    rng = np.random.default_rng(0)
    large, deep = (1, 32, 16, 56, 56), (1, 128, 8, 14, 14)

    def filters(*shape: int) -> Any:
        return {"w": rng.uniform(-0.05, 0.05, shape).astype(np.float32)}

    return [
        _volume(
            "conv 3 x 3 x 3",
            "Conv",
            large,
            constants=filters(32, 32, 3, 3, 3),
            pads=[1] * 6,
        ),
        _volume(
            "conv 3 x 3 x 3, 3 to 32 channels",
            "Conv",
            (1, 3, 16, 112, 112),
            constants=filters(32, 3, 3, 3, 3),
            pads=[1] * 6,
        ),
        _volume(
            "conv 3 x 3 x 3 by 2, 32 to 64 channels",
            "Conv",
            large,
            constants=filters(64, 32, 3, 3, 3),
            pads=[1] * 6,
            strides=[2] * 3,
        ),
        _volume(
            "conv 1 x 1 x 1, 128 to 128 channels",
            "Conv",
            deep,
            constants=filters(128, 128, 1, 1, 1),
        ),
        _volume(
            "conv 3 x 3 x 3, 128 to 128 channels",
            "Conv",
            deep,
            constants=filters(128, 128, 3, 3, 3),
            pads=[1] * 6,
        ),
        _volume(
            "transposed conv 2 x 2 x 2 by 2, 128 to 64 channels",
            "ConvTranspose",
            deep,
            constants=filters(128, 64, 2, 2, 2),
            strides=[2] * 3,
        ),
        *(
            _volume(
                f"{name} pool of volumes, {'x'.join(map(str, k))}"
                f" by {'x'.join(map(str, s))}",
                op,
                large,
                kernel_shape=k,
                strides=s,
                pads=[(e - 1) // 2 for e in k] * 2,
            )
            for name, op in (("max", "MaxPool"), ("average", "AveragePool"))
            for k, s in (
                ([2, 2, 2], [2, 2, 2]),
                ([3, 3, 3], [2, 2, 2]),
                ([1, 2, 2], [1, 2, 2]),
                ([3, 3, 3], [1, 1, 1]),
            )
        ),
        _volume("global average pool of volumes", "GlobalAveragePool", deep),
    ]


VOLUMES = tuple(_volumes())
