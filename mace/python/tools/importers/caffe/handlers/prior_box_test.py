# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Prior boxes, compared with OpenCV."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mace.python.tools.importers.caffe.testing import (
    Family,
    import_net,
    rand,
    with_inputs,
)
from mace.python.tools.importers.frame.errors import UnsupportedNodesError

FAMILY = Family("prior_box")
INPUTS = {"x": rand(1, 4, 5, 6), "data": rand(1, 3, 60, 80)}


def _layer(param: str) -> str:
    return (
        'layer { name: "b" type: "PriorBox" bottom: "x" bottom: "data" top: "y" '
        f"prior_box_param {{ {param} }} }}"
    )


@pytest.mark.parametrize(
    "param",
    [
        "min_size: 20",
        "min_size: 20 max_size: 35 aspect_ratio: 2",
        "min_size: 20 max_size: 35 aspect_ratio: 2 aspect_ratio: 3 flip: false",
        "min_size: [20, 40] max_size: [35, 70] aspect_ratio: [2, 0.5, 1]",
        "min_size: 20 step: 8 offset: 0.25 clip: true",
        "min_size: 20 step_h: 8 step_w: 9",
    ],
)
def test_as_opencv(tmp_path: Path, param: str) -> None:
    # OpenCV needs the variance, and its clip is true by default.
    clip = "" if "clip" in param else "clip: false"
    for variance in ("variance: 0.2", "variance: [0.1, 0.1, 0.2, 0.3]"):
        FAMILY.check(tmp_path, _layer(f"{param} {clip} {variance}"), INPUTS)


@pytest.mark.parametrize("size", ["img_size: 100", "img_h: 100 img_w: 100"])
def test_the_size_of_the_image(tmp_path: Path, size: str) -> None:
    # OpenCV ignores it.
    boxes = []
    for row in range(5):
        for column in range(6):
            x, y = (column + 0.5) * 100 / 6, (row + 0.5) * 100 / 5
            boxes += [x - 10, y - 10, x + 10, y + 10]
    wanted = np.stack([np.array(boxes) / 100, np.full(len(boxes), 0.1)])[None]
    FAMILY.check(tmp_path, _layer(f"min_size: 20 {size}"), INPUTS, expected=[wanted])


@pytest.mark.parametrize(
    ("param", "message"),
    [
        ("", "min_size is missing"),
        ("min_size: 20 max_size: 10", "max_size 10.0 is not more than min_size 20"),
        ("min_size: 20 max_size: [30, 40]", "2 max_size for 1 min_size"),
        ("min_size: 20 variance: [1, 2]", "variance"),
        ("min_size: 20 step: 2 step_h: 2", "either step, or"),
        ("min_size: 20 img_size: 2 img_h: 2", "either img_size, or"),
        ("min_size: 20 aspect_ratio: 0", "aspect_ratio 0"),
    ],
)
def test_what_is_refused(tmp_path: Path, param: str, message: str) -> None:
    text = with_inputs(_layer(param), INPUTS)
    with pytest.raises(UnsupportedNodesError, match=message):
        import_net(tmp_path, text, INPUTS, ["y"])


def test_every_handler_was_tried() -> None:
    FAMILY.assert_all_tried()
