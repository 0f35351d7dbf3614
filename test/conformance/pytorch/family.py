# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""A network that is recorded, with its inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

Results = Mapping[str, Tensor]


@dataclass
class Family:
    """A network with its inputs.

    Attributes:
        dynamic: `dynamic_shapes` of torch.export.
        others: inputs with other lengths.
    """

    module: nn.Module
    inputs: Sequence[Tensor]
    dynamic: Any = None
    others: Sequence[Sequence[Tensor]] = ()

    def keys(self, inputs: Sequence[Tensor]) -> list[str]:
        """Names of the results, if the network is a function."""
        if not isinstance(self.module, Function):
            return []
        return list(self.module.function(*inputs))


class Function(nn.Module):
    def __init__(self, function: Callable[..., Results]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: Tensor) -> list[Tensor]:
        return list(self.function(*inputs).values())


def normal(*shape: int) -> Tensor:
    return torch.randn(*shape)
