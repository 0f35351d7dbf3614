# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Makes a network hard to quantize without changing what it computes.

Between two convolutions with a ReLU between them, each channel may be multiplied by a
positive number, if the weights that read it are divided by the same one. Training may
end with channels of very different ranges; one scale for all of them then leaves few
integers to most. Quantizers that equalise channels undo this.
"""

from __future__ import annotations

import torch
from torch import fx, nn

_OCTAVES = 4.0


def with_unequal_channels(network: fx.GraphModule, seed: int) -> int:
    """Multiplies channels by 1/16 to 16, in place; returns for how many convolutions.

    Args:
        network: traced, with normalisations folded.
        seed: of the factors.
    """
    random = torch.Generator().manual_seed(seed)
    modules = dict(network.named_modules())
    count = 0
    for relu in network.graph.nodes:
        if not (_is(modules, relu, nn.ReLU) and len(relu.users) == 1):
            continue
        (after,), before = relu.users, relu.args[0]
        if not (_is(modules, before, nn.Conv2d) and _is(modules, after, nn.Conv2d)):
            continue
        first, second = modules[before.target], modules[after.target]
        # Filters of a depthwise convolution each read one channel, along another axis.
        along = (-1, 1, 1, 1) if second.groups == first.out_channels else (1, -1, 1, 1)
        octaves = torch.rand(first.out_channels, generator=random) * 2 - 1
        factor = 2 ** (octaves * _OCTAVES)
        with torch.no_grad():
            first.weight.mul_(factor.reshape(-1, 1, 1, 1))
            first.bias.mul_(factor)
            second.weight.div_(factor.reshape(along))
        count += 1
    return count


def _is(modules: dict[str, nn.Module], node: fx.Node, kind: type[nn.Module]) -> bool:
    return node.op == "call_module" and isinstance(modules[str(node.target)], kind)
