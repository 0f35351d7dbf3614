# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The table of families: a small network with the structure of each kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class Example:
    """A network and what it is called with.

    Attributes:
        network: takes the inputs by position and returns tensors.
        inputs: the same for the export and for the comparison.
        open: dimensions that the export leaves open: for each input, the axes and their
            names.
        lengths: of each name, three lengths at which an export with open dimensions is
            compared; empty if it is not.
        dynamic: as `open`, where only these exports leave dimensions open.
    """

    network: nn.Module
    inputs: Sequence[Tensor]
    open: Sequence[dict[int, str]] = ()
    lengths: Mapping[str, Sequence[int]] = field(default_factory=dict)
    dynamic: Sequence[dict[int, str]] = ()


FAMILIES: dict[str, Callable[[], Example]] = {}


def family(make: Callable[[], Example]) -> Callable[[], Example]:
    """Registers a family by the name of the function."""
    FAMILIES[make.__name__] = make
    return make


def open_family(make: Callable[[], Example]) -> Callable[[], Example]:
    """Registers a family that names lengths."""
    return family(make)


def opened(
    example: Example, axes: Sequence[dict[int, str]], **lengths: Sequence[int]
) -> Example:
    """The example with dimensions that exports for several lengths leave open."""
    return replace(example, dynamic=axes, lengths=lengths)


class Call(nn.Module):
    """Calls a network in its own way and returns the tensors of the result."""

    def __init__(
        self, network: nn.Module, call: Callable[..., Any] | None = None
    ) -> None:
        super().__init__()
        self.network, self._call = network, call

    def forward(self, *inputs: Tensor) -> Any:
        if self._call is None:
            return self.network(*inputs)
        return self._call(self.network, *inputs)


def image(*shape: int) -> Tensor:
    """Smooth random numbers from 0 to 1, as pixels have."""
    small = torch.rand(*shape[:-2], max(2, shape[-2] // 8), max(2, shape[-1] // 8))
    flat = small.reshape(-1, 1, *small.shape[-2:])
    large = nn.functional.interpolate(flat, shape[-2:], mode="bilinear")
    return large.reshape(shape)


def tokens(length: int, count: int = 100, batch: int = 1) -> Tensor:
    """Random words."""
    return torch.randint(2, count, (batch, length))
