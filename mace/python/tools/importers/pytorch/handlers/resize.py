# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Images in other sizes, and samples of images."""

from __future__ import annotations

from typing import Any

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.frame.known import STATIC_HINT
from mace.python.tools.importers.pytorch.context import (
    HANDLERS,
    Context,
)
from mace.python.tools.importers.standard.operators import Size

# A length below 2^16 times a multiple of 1/256 is exact in float32.
_PARTS = 256
_NAMES = {
    "nearest": ("upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d"),
    "nearest_exact": tuple(f"_upsample_nearest_exact{n}d" for n in (1, 2, 3)),
    "linear": ("upsample_linear1d", "upsample_bilinear2d", "upsample_trilinear3d"),
    "cubic": ("upsample_bicubic2d",),
    "linear_aa": ("_upsample_bilinear2d_aa",),
    "cubic_aa": ("_upsample_bicubic2d_aa",),
}
_MODES = {name: mode for mode, names in _NAMES.items() for name in names}


@HANDLERS.register(*(f"aten.{name}" for name in _MODES))
def _upsample(c: Context) -> None:
    x = c.value("input" if c.has("input") else "self")
    axes = list(range(2, c.rank(x)))
    scales = _scales(c, len(axes))
    is_open = not all(isinstance(dim, int) for dim in c.shape(x)[2:])
    lengths = [] if is_open else [c.length(x, axis) for axis in axes]
    sizes: list[Size] | None = c.sizes("output_size") if c.has("output_size") else None
    factors: list[float] | None = None
    if sizes is None and is_open:
        factors = _exact(scales)
    elif sizes is None:
        sizes = [int(n * (s or 1)) for n, s in zip(lengths, scales)]
    known = [size for size in sizes or () if isinstance(size, int)]
    if sizes is not None and (is_open or len(known) < len(sizes)):
        if any(scale is not None for scale in scales):
            raise UnsupportedNodeError("scales beside an open size", STATIC_HINT)
    elif sizes is not None and not c.flag("align_corners"):
        factors = _other_ratios(lengths, known, scales)
    attributes = _attributes(c, c.flag("align_corners"))
    if factors is not None:
        scale = c.constant(np.array(factors, np.float32))
        c.give(c.op("Resize", x, None, scale, axes=axes, **attributes))
    else:
        target = c.lengths.listed(sizes or [])
        c.give(c.op("Resize", x, None, None, target, axes=axes, **attributes))


def _exact(scales: list[float | None]) -> list[float]:
    """The factors of an image whose size the run knows: PyTorch multiplies in float64,
    and Resize in float32.
    """
    factors = [1.0 if scale is None else scale for scale in scales]
    if not all((factor * _PARTS).is_integer() for factor in factors):
        raise UnsupportedNodeError(
            f"factors {factors} of an image whose size is not known before the run, "
            f"which are no multiples of 1/{_PARTS}",
            STATIC_HINT,
        )
    return factors


def _other_ratios(
    lengths: list[int], sizes: list[int], scales: list[float | None]
) -> list[float] | None:
    """The ratios of pixels, if they are not those of the sizes."""
    known = [scale for scale in scales if scale is not None]
    if len(known) < len(scales):
        return None
    made = [length * scale for length, scale in zip(lengths, known)]
    if all(abs(m - size) <= 1e-6 * size for m, size in zip(made, sizes)):
        return None
    if list(map(int, made)) != sizes:
        raise UnsupportedNodeError(f"scales {scales} for sizes {sizes}")
    return known


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
    names = ("scales",) if count == 1 else ("scales_d", "scales_h", "scales_w")[-count:]
    return [c.number(name) if c.has(name) else None for name in names]


@HANDLERS.register("aten.grid_sampler", "aten.grid_sampler_2d", "aten.grid_sampler_3d")
def _grid_sampler(c: Context) -> None:
    modes = ("linear", "nearest", "cubic")
    paddings = ("zeros", "border", "reflection")
    mode, padding = c.integer("interpolation_mode"), c.integer("padding_mode")
    if not (0 <= mode < 3 and 0 <= padding < 3):
        raise UnsupportedNodeError(f"mode {mode}, padding {padding}")
    how = {"mode": modes[mode], "padding_mode": paddings[padding]}
    aligned = int(c.flag("align_corners"))
    x, grid = c.value("input"), c.value("grid")
    c.give(c.op("GridSample", x, grid, align_corners=aligned, **how))


@HANDLERS.register("aten.affine_grid_generator")
def _affine_grid(c: Context) -> None:
    size = c.constant(np.array(c.integers("size"), np.int64))
    aligned = int(c.flag("align_corners"))
    c.give(c.op("AffineGrid", c.value("theta"), size, align_corners=aligned))
