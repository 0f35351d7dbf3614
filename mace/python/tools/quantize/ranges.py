# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Ranges of tensors, and the scales and zero points that they become."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mace.python.installation import command
from mace.python.tools.errors import MaceError
from mace.python.tools.ir import DataType
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.quantization import Quantization
from mace.python.tools.ir.quantized_ops import saturated

# The least scale: quotients of scales stay normal float32 numbers.
_LEAST_SCALE = 1e-12
_UINT8_STEPS = 255
# Symmetric weights do not use -128.
_WEIGHT_STEPS = 127
# A bias takes at most this share of the int32 range, so that sums do not overflow.
_BIAS_STEPS = 1 << 29


@dataclass(frozen=True)
class Range:
    """The numbers of a tensor that integers must represent.

    Attributes:
        low, high: finite, low <= high.
        stated: the quantization by a zero point of uint8 that has this range, where the
            model's file says it.
    """

    low: float
    high: float
    stated: Quantization | None = None

    @classmethod
    def of_integers(cls, quantization: Quantization, dtype: DataType) -> Range:
        """What all integers of 8 bits with one scale stand for."""
        shift = int(np.iinfo(dtype.numpy).min)
        zero = quantization.zero_point - shift
        scale = quantization.scales[0]
        stated = Quantization.of_tensor(scale, zero)
        return cls(-zero * scale, (_UINT8_STEPS - zero) * scale, stated)

    def with_zero(self) -> Range:
        """The range with 0, which integers always represent: padding is 0."""
        return Range(min(self.low, 0.0), max(self.high, 0.0))

    def quantization(self, dtype: DataType) -> Quantization:
        """The scale and zero point of a whole tensor.

        Args:
            dtype: UINT8 or INT8, whose integers are all used; or INT16, with the zero
                point 0.
        """
        bounds = np.iinfo(dtype.numpy)
        if self.stated is not None and dtype is not DataType.INT16:
            zero = self.stated.zero_point + int(bounds.min)
            return Quantization.of_tensor(self.stated.scales[0], zero)
        whole = self.with_zero()
        if dtype is DataType.INT16:
            scale = max(max(-whole.low, whole.high) / bounds.max, _LEAST_SCALE)
            return Quantization.of_tensor(float(np.float32(scale)), 0)
        scale = (whole.high - whole.low) / (bounds.max - bounds.min)
        scale = max(scale, _LEAST_SCALE)
        zero = int(saturated(dtype, np.rint(bounds.min - whole.low / scale)))
        return Quantization.of_tensor(float(np.float32(scale)), zero)


def weight_scales(weights: Array, bias: Array | None, input_scale: float) -> Array:
    """The symmetric int8 scale of each output's weights, float32 [outputs].

    Args:
        weights: [outputs, ...].
        bias: [outputs]; None: 0.
        input_scale: of what the weights multiply. A scale is large enough for the bias
            to be an int32 multiple of both scales' product.
    """
    rows = np.abs(weights.reshape(weights.shape[0], -1))
    scales = rows.max(axis=1, initial=0).astype(np.float64) / _WEIGHT_STEPS
    if bias is not None:
        of_bias = np.abs(bias.astype(np.float64)) / (input_scale * _BIAS_STEPS)
        scales = np.maximum(scales, of_bias)
    least = np.float64(_LEAST_SCALE)
    return np.asarray(np.maximum(scales, least), np.float32)


def quantized_weights(weights: Array, scales: Array) -> Array:
    """The int8 integers of weights, whose scales broadcast to them."""
    steps = np.rint(weights.astype(np.float64) / scales)
    return np.clip(steps, -_WEIGHT_STEPS, _WEIGHT_STEPS).astype(np.int8)


def quantized(array: Array, quantization: Quantization, dtype: DataType) -> Array:
    """The integers of a tensor with one scale."""
    steps = np.rint(array.astype(np.float64) / quantization.scales[0])
    return saturated(dtype, steps + quantization.zero_point)


# Files of ranges: a line for each tensor, and for each sample in a log of them.
#
# A log has `Tensor range @@<tensor>@@<min>,<max>` among other lines; a range file has
# `<tensor>@@<min>,<max>`.


_LOG_LINE = re.compile(r"Tensor range @@(.+)@@([^@,\s]+),([^@,\s]+)\s*$")
_LINE = re.compile(r"(.+)@@([^@,\s]+),([^@,\s]+)\s*$")


class RangeFileError(MaceError):
    """A file of ranges cannot be used."""


def log_line(tensor: str, seen: Range) -> str:
    """The line of a log for one tensor and one sample."""
    return f"Tensor range @@{_line(tensor, seen)}"


def write_ranges(ranges: Mapping[str, Range]) -> str:
    """The text of a range file."""
    return "".join(f"{_line(name, seen)}\n" for name, seen in ranges.items())


def _line(tensor: str, seen: Range) -> str:
    # Nine digits give the float32 back.
    return f"{tensor}@@{seen.low:.9g},{seen.high:.9g}"


def read_log(path: Path) -> dict[str, list[Range]]:
    """The ranges of each tensor, one for each sample.

    Raises:
        RangeFileError: there are none, or they are no numbers.
    """
    found: dict[str, list[Range]] = {}
    problems = []
    for number, line in _lines(path):
        matched = _LOG_LINE.search(line)
        if matched is None:
            if "Tensor range @@" in line:
                problems.append(f"line {number} is cut off: {line.strip()!r}")
            continue
        name, low, high = matched.groups()
        seen = _range(low, high)
        if isinstance(seen, str):
            problems.append(f"line {number}, {name}: {seen}")
        else:
            found.setdefault(name, []).append(seen)
    if not found and not problems:
        problems.append("it has no line 'Tensor range @@<tensor>@@<min>,<max>'")
    if problems:
        raise RangeFileError(
            f"{path} is no log of tensor ranges: {_several(problems)}\n"
            f"make it with: {command('run')} --config=FILE --quantize_stat "
            "--input_dir=DIR > LOG"
        )
    return found


def read_ranges(path: Path) -> dict[str, Range]:
    """The range of each tensor.

    Raises:
        RangeFileError: names all lines and tensors that cannot be used.
    """
    found: dict[str, Range] = {}
    problems = []
    for number, line in _lines(path):
        if not line.strip():
            continue
        matched = _LINE.match(line)
        if matched is None:
            problems.append(
                f"line {number} is no <tensor>@@<min>,<max>: {line.strip()!r}"
            )
            continue
        name, low, high = matched.groups()
        seen = _range(low, high)
        if isinstance(seen, str):
            problems.append(f"line {number}, {name}: {seen}")
        elif seen.low == seen.high:
            problems.append(
                f"line {number}, {name}: it is {low} in all samples, so that they do "
                "not show what values it has"
            )
        elif name in found:
            problems.append(f"line {number}, {name}: it has a second range")
        else:
            found[name] = seen
    if not found and not problems:
        problems.append("it has no line <tensor>@@<min>,<max>")
    if problems:
        raise RangeFileError(
            f"{path} cannot be used as range file: {_several(problems)}\n"
            "correct these lines, or collect the ranges again with samples like those "
            "of the application (run --quantize_stat)"
        )
    return found


def combine(
    log: Mapping[str, Sequence[Range]],
    percentile: float = 0.0,
    enhance_ratio: float | None = None,
) -> dict[str, Range]:
    """One range for each tensor.

    Args:
        log: the ranges of all samples.
        percentile: in 0..50. The limits are exceeded by this share of the samples'
            minima, and by this share of their maxima.
        enhance_ratio: leaves out samples whose range is so many times as wide as the
            median of all; None: takes all.
    """
    combined = {}
    for name, seen in log.items():
        lows = np.array([item.low for item in seen])
        highs = np.array([item.high for item in seen])
        if enhance_ratio is not None:
            widths = highs - lows
            usual = widths <= enhance_ratio * np.median(widths)
            lows, highs = lows[usual], highs[usual]
        combined[name] = Range(
            float(np.percentile(lows, percentile)),
            float(np.percentile(highs, 100 - percentile)),
        )
    return combined


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RangeFileError(f"{path} cannot be read: {error}") from error
    return enumerate(text.splitlines(), 1)


def _range(low: str, high: str) -> Range | str:
    """A range, or what is wrong with it."""
    try:
        found = Range(float(low), float(high))
    except ValueError:
        return f"{low},{high} are no numbers"
    if not (math.isfinite(found.low) and math.isfinite(found.high)):
        return f"{low},{high} are not finite: samples or weights have NaN or infinity"
    if found.low > found.high:
        return f"min {low} is above max {high}"
    return found


def _several(problems: Iterable[str]) -> str:
    return "".join(f"\n  {problem}" for problem in problems)
