# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Images in other sizes, and samples of images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.pytorch.context import (
    HANDLERS,
    STATIC_HINT,
    Context,
)
from mace.python.tools.importers.standard.operators import Size
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value

_FLOAT = DataType.FLOAT32
_KINDS = {
    "nearest": ("nearest", (1, 2, 3)),
    "_nearest_exact": ("nearest_exact", (1, 2, 3)),
    "linear": ("linear", (1,)),
    "bilinear": ("linear", (2,)),
    "trilinear": ("linear", (3,)),
    "bicubic": ("cubic", (2,)),
}
_MODES: dict[str, str] = {}
for _name, (_mode, _counts) in _KINDS.items():
    for _count in _counts:
        _first = "_" if _name.startswith("_") else ""
        _MODES[f"{_first}upsample_{_name.lstrip('_').replace('_', '-')}{_count}d"] = (
            _mode
        )
_MODES = {name.replace("-", "_"): mode for name, mode in _MODES.items()}
_MODES["_upsample_bilinear2d_aa"] = "linear_aa"
_MODES["_upsample_bicubic2d_aa"] = "cubic_aa"


@HANDLERS.register(*(f"aten.{name}" for name in _MODES))
def _upsample(c: Context) -> None:
    name = "input" if c.has("input") else "self"
    x = c.value(name)
    rank = c.rank(x)
    scales = _scales(c, rank - 2)
    if _is_open(c, x) and not c.has("output_size"):
        c.give(_scaled(c, x, scales))
        return
    if c.has("output_size"):
        wanted = c.sizes("output_size")
        if _is_open(c, x) or not all(isinstance(size, int) for size in wanted):
            c.give(_sized(c, x, wanted))
            return
    lengths = [c.length(x, axis) for axis in range(2, rank)]
    if c.has("output_size"):
        sizes = c.integers("output_size")
    else:
        sizes = [int(n * (s or 1)) for n, s in zip(lengths, scales)]
    aligned = c.flag("align_corners")
    attributes = _attributes(c, aligned)
    inputs: list[Any] = [None, None, np.array(sizes, np.int64)]
    if not aligned and _differ(lengths, sizes, scales):
        # The scale is the ratio of pixels, instead of the ratio of the sizes.
        inputs = [None, c.constant(np.array(scales, np.float32)), None]
        made = [int(n * s) for n, s in zip(lengths, scales) if s is not None]
        if made != sizes:
            raise UnsupportedNodeError(f"scales {scales} for sizes {sizes}")
    inputs = inputs[: 3 if inputs[2] is not None else 2]
    c.give(c.op("Resize", x, *inputs, axes=list(range(2, rank)), **attributes))


def _is_open(c: Context, x: Value) -> bool:
    return not all(isinstance(dim, int) for dim in c.shape(x)[2:])


def _sized(c: Context, x: Value, sizes: Sequence[Size]) -> Value:
    """An image in a size, one of which the run knows."""
    if any(scale is not None for scale in _scales(c, len(sizes))):
        raise UnsupportedNodeError("scales beside an open size", STATIC_HINT)
    attributes = _attributes(c, c.flag("align_corners"))
    axes = list(range(2, 2 + len(sizes)))
    return c.op(
        "Resize", x, None, None, c.lengths.listed(sizes), axes=axes, **attributes
    )


def _scaled(c: Context, x: Value, scales: list[float | None]) -> Value:
    """An image whose size the run knows, by factors."""
    factors = [1.0 if scale is None else scale for scale in scales]
    if not all(float(factor).is_integer() for factor in factors):
        raise UnsupportedNodeError(
            f"factors {factors} of an image whose size is not known before the run",
            STATIC_HINT,
        )
    attributes = _attributes(c, c.flag("align_corners"))
    axes = list(range(2, 2 + len(factors)))
    scale = c.constant(np.array(factors, np.float32))
    return c.op("Resize", x, None, scale, axes=axes, **attributes)


def _attributes(c: Context, aligned: bool) -> dict[str, Any]:
    mode = _MODES[c.operator]
    smooth = 1 if mode.endswith("_aa") else None
    attributes: dict[str, Any] = {"antialias": smooth, "exclude_outside": smooth}
    mode = mode.removesuffix("_aa")
    if mode.startswith("nearest"):
        exact = mode == "nearest_exact"
        attributes |= {
            "mode": "nearest",
            "nearest_mode": "round_prefer_ceil" if exact else "floor",
            "coordinate_transformation_mode": "half_pixel" if exact else "asymmetric",
        }
    else:
        attributes |= {
            "mode": mode,
            "cubic_coeff_a": (-0.5 if smooth else -0.75) if mode == "cubic" else None,
            "coordinate_transformation_mode": "align_corners"
            if aligned
            # A single row lies in the middle, unlike in ONNX's pytorch_half_pixel.
            else "half_pixel",
        }
    return attributes


def _scales(c: Context, count: int) -> list[float | None]:
    if c.has("scale_factors"):
        return [float(s) for s in c.numbers("scale_factors")]
    names = {
        1: ("scales",),
        2: ("scales_h", "scales_w"),
        3: ("scales_d", "scales_h", "scales_w"),
    }[count]
    return [c.number(name) if c.has(name) else None for name in names]


def _differ(lengths: list[int], sizes: list[int], scales: list[float | None]) -> bool:
    if any(scale is None for scale in scales):
        return False
    return any(
        scale is not None and abs(length * scale - size) > 1e-6 * size
        for length, size, scale in zip(lengths, sizes, scales)
    )


@HANDLERS.register("aten.grid_sampler", "aten.grid_sampler_2d", "aten.grid_sampler_3d")
def _grid_sampler(c: Context) -> None:
    modes = ("linear", "nearest", "cubic")
    paddings = ("zeros", "border", "reflection")
    mode, padding = c.integer("interpolation_mode"), c.integer("padding_mode")
    if not (0 <= mode < 3 and 0 <= padding < 3):
        raise UnsupportedNodeError(f"mode {mode}, padding {padding}")
    c.give(
        c.op(
            "GridSample",
            c.value("input"),
            c.value("grid"),
            mode=modes[mode],
            padding_mode=paddings[padding],
            align_corners=int(c.flag("align_corners")),
        )
    )


@HANDLERS.register("aten.affine_grid_generator")
def _affine_grid(c: Context) -> None:
    size = c.constant(np.array(c.integers("size"), np.int64))
    aligned = int(c.flag("align_corners"))
    c.give(c.op("AffineGrid", c.value("theta"), size, align_corners=aligned))
