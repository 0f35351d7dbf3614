# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""An input, an output or a tensor to compare, as a deployment file declares it."""

from __future__ import annotations

from dataclasses import dataclass

from mace.python.tools.config import values as v
from mace.python.tools.config import vocabulary as words
from mace.python.tools.data_type import DataType


@dataclass(frozen=True)
class BorderTensor:
    """An input, an output or a tensor to compare of a subgraph.

    Attributes:
        shape: -1 for what is decided at run time; of an output, empty if the
            deployment does not say it.
        largest: of an input, the shape with its upper limits; empty if it has none.
        alias: name that the application uses instead of `name`.
        validation_data: of an input; of an output what is expected, None:
            computed by the original framework.
        range: lowest and highest value of an input; None: not given.
        means, scales: of an input, one for all channels or one for each: the
            original model takes (input - mean) * scale; None: not given.
    """

    name: str
    shape: tuple[int, ...]
    data_type: DataType = DataType.FLOAT32
    data_format: words.DataFormat = words.DataFormat.NHWC
    alias: str | None = None
    validation_data: v.FileRef | None = None
    range: tuple[float, float] | None = None
    means: tuple[float, ...] | None = None
    scales: tuple[float, ...] | None = None
    largest: tuple[int, ...] = ()

    @property
    def public_name(self) -> str:
        return self.alias or self.name

    @property
    def is_scaled(self) -> bool:
        """Whether the converted model takes it before it is normalised."""
        return self.means is not None or self.scales is not None

    @property
    def channels(self) -> int | None:
        """How many it has; None if it has no such dimension, -1: any number."""
        if not self.shape:
            return None
        channels_second = self.data_format is words.DataFormat.NCHW
        return self.shape[1 if channels_second and len(self.shape) > 2 else -1]
