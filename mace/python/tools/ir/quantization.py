# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The meaning of the integers of a value."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.shapes import Shape

# The types whose values may be quantized.
QUANTIZED_TYPES = (DataType.INT8, DataType.UINT8, DataType.INT16, DataType.INT32)


@dataclass(frozen=True)
class Quantization:
    """The integer q stands for the number scale * (q - zero point).

    Attributes:
        scales: one, or one for each index of `axis`; finite and above 0.
        zero_points: as many; empty if all are 0.
        axis: counted from the front; 0 if there is one scale.
    """

    scales: tuple[float, ...]
    zero_points: tuple[int, ...] = ()
    axis: int = 0

    @property
    def per_tensor(self) -> bool:
        """Whether there is one scale for all elements."""
        return len(self.scales) == 1

    @property
    def zero_point(self) -> int:
        """That of a whole tensor."""
        return self.zero_points[0] if self.zero_points else 0

    @classmethod
    def of_tensor(cls, scale: float, zero_point: int) -> Quantization:
        """One scale for all elements."""
        return cls((scale,), (zero_point,) if zero_point else ())

    def permuted(self, perm: tuple[int, ...]) -> Quantization:
        """The quantization of the value whose axis i is axis `perm[i]` of this
        one's.
        """
        return self if self.per_tensor else self.on_axis(perm.index(self.axis))

    def on_axis(self, axis: int) -> Quantization:
        """The same scales for the indices of another axis."""
        return replace(self, axis=axis)

    def problems(self, dtype: DataType, shape: Shape | None) -> list[str]:
        """Why a value of that type and shape cannot have this quantization."""
        if dtype not in QUANTIZED_TYPES:
            return [f"{dtype.value} is no type of quantized values"]
        if not self.scales:
            return ["has no scale"]
        found = []
        wrong = [s for s in self.scales if not (math.isfinite(s) and s > 0)]
        if wrong:
            found.append(f"scale {wrong[0]} is not finite and above 0")
        if self.zero_points and len(self.zero_points) != len(self.scales):
            found.append(
                f"has {len(self.zero_points)} zero points for {len(self.scales)} scales"
            )
        bounds = np.iinfo(dtype.numpy)
        outside = [z for z in self.zero_points if not bounds.min <= z <= bounds.max]
        if outside:
            found.append(f"zero point {outside[0]} does not fit into {dtype.value}")
        if self.per_tensor:
            if self.axis:
                found.append(f"has axis {self.axis} for one scale")
        elif shape is not None and not 0 <= self.axis < len(shape):
            found.append(f"axis {self.axis} is none of {len(shape)}")
        elif shape is not None:
            length = shape[self.axis]
            if isinstance(length, int) and length != len(self.scales):
                found.append(
                    f"has {len(self.scales)} scales for {length} indices of "
                    f"axis {self.axis}"
                )
        return found

    def __str__(self) -> str:
        numbers = ", ".join(f"{scale:g}" for scale in self.scales[:4])
        scales = numbers if len(self.scales) < 5 else f"{numbers}, ..."
        text = f"scale {scales}"
        if any(self.zero_points):
            zeros = ", ".join(str(zero) for zero in self.zero_points[:4])
            text += f" zero {zeros}" + (", ..." if len(self.zero_points) > 4 else "")
        return text if self.per_tensor else f"{text} axis {self.axis}"
