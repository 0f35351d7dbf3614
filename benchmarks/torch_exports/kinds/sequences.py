# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What takes the place of attention: recurrences, hashes, fewer tokens."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from kinds.family import Example, family, open_family, opened


class _Rwkv(nn.Module):
    """A layer of RWKV 4: averages of all tokens so far, which decay."""

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.layers = nn.ModuleList(nn.Linear(width, width, False) for _ in range(4))
        self.mix = nn.Parameter(torch.rand(3, width))
        self.decay, self.first = (nn.Parameter(torch.randn(width)) for _ in range(2))
        self.shift = nn.ZeroPad2d((0, 0, 1, -1))

    def forward(self, x: Tensor) -> Tensor:
        x = self.norm(x)
        before = self.shift(x)
        mixed = [x * share + before * (1 - share) for share in self.mix]
        keys, values, gates = (
            layer(part) for layer, part in zip(self.layers[:3], mixed)
        )
        decay = -torch.exp(self.decay)
        total = torch.zeros_like(keys[:, 0])
        weight, top = torch.zeros_like(total), torch.full_like(total, -1e38)
        results = []
        for key, value in zip(keys.unbind(1), values.unbind(1)):
            most = torch.maximum(top, self.first + key)
            old, new = torch.exp(top - most), torch.exp(self.first + key - most)
            results.append((old * total + new * value) / (old * weight + new))
            most = torch.maximum(top + decay, key)
            old, new = torch.exp(top + decay - most), torch.exp(key - most)
            total, weight, top = old * total + new * value, old * weight + new, most
        return self.layers[3](gates.sigmoid() * torch.stack(results, 1))


@family
def rwkv() -> Example:
    return Example(_Rwkv(), [torch.randn(1, 6, 16)])


class _StateSpace(nn.Module):
    """The state space of Mamba 2, as products within and between blocks of tokens."""

    block = 4

    @staticmethod
    def _sums(x: Tensor) -> Tensor:
        """Of all elements between two places."""
        count = x.shape[-1]
        on = torch.ones(count, count, dtype=torch.bool)
        x = x[..., None].repeat(1, 1, 1, 1, count).masked_fill(~on.tril(-1), 0)
        return x.cumsum(-2).masked_fill(~on.tril(), -torch.inf)

    def forward(self, x: Tensor, decay: Tensor, b: Tensor, c: Tensor) -> Any:
        x, b, c = (part.unflatten(1, (-1, self.block)) for part in (x, b, c))
        decay = decay.unflatten(1, (-1, self.block)).permute(0, 3, 1, 2)
        sums = decay.cumsum(-1)
        near = self._sums(decay).exp()
        inside = torch.einsum("bclhn,bcshn,bhcls,bcshp->bclhp", c, b, near, x)
        left = torch.exp(sums[..., -1:] - sums)
        states = torch.einsum("bclhn,bhcl,bclhp->bchpn", b, left, x)
        states = torch.cat([torch.zeros_like(states[:, :1]), states], 1)
        ends = nn.functional.pad(sums[..., -1], (1, 0))
        kept = self._sums(ends[:, :, None])[:, :, 0].exp()
        states = torch.einsum("bhzc,bchpn->bzhpn", kept, states)
        before = torch.einsum("bclhn,bchpn,bhcl->bclhp", c, states[:, :-1], sums.exp())
        return (inside + before).flatten(1, 2), states[:, -1]


@family
def mamba2() -> Example:
    inputs = [torch.randn(1, 16, 2, size) for size in (8, 4, 4)]
    return Example(_StateSpace(), [inputs[0], -torch.rand(1, 16, 2), *inputs[1:]])


class _Reformer(nn.Module):
    """Attention among tokens of the same hash, and those of the block before."""

    block = 4

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("planes", torch.randn(8, 4))

    def forward(self, x: Tensor, values: Tensor) -> Tensor:
        count = x.shape[1]
        sides = x @ self.planes
        hashes = torch.cat([sides, -sides], -1).argmax(-1)
        order = torch.argsort(hashes * count + torch.arange(count), dim=-1)
        undo = torch.argsort(order, dim=-1)
        queries, ordered = (
            torch.take_along_dim(part, order[..., None], 1).unflatten(
                1, (-1, self.block)
            )
            for part in (x, values)
        )
        keys = nn.functional.normalize(queries, dim=-1)
        keys, ordered = (
            torch.cat([part, part.roll(1, 1)], 2) for part in (keys, ordered)
        )
        weights = torch.einsum("bcid,bcjd->bcij", queries, keys).softmax(-1)
        result = torch.einsum("bcij,bcjd->bcid", weights, ordered).flatten(1, 2)
        return torch.take_along_dim(result, undo[..., None], 1)


@family
def reformer() -> Example:
    return Example(_Reformer(), [torch.randn(1, 16, 8), torch.randn(1, 16, 8)])


class _Performer(nn.Module):
    """Attention by sums of products of random features of all tokens so far."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("planes", 4 * torch.linalg.qr(torch.randn(16, 16))[0])

    def _features(self, x: Tensor, axes: tuple[int, ...]) -> Tensor:
        x = x * x.shape[-1] ** -0.25
        sides = x @ self.planes.T
        half = x.square().sum(-1, keepdim=True) / 2
        most = sides.amax(axes, keepdim=True)
        return torch.exp(sides - half - most) + 1e-4

    def forward(self, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        queries, keys = self._features(queries, (-1,)), self._features(keys, (-1, -2))
        pairs = torch.einsum("bhnm,bhnd->bhnmd", keys, values).cumsum(2)
        total = torch.einsum("bhnm,bhnmd->bhnd", queries, pairs)
        weight = torch.einsum("bhnm,bhnm->bhn", queries, keys.cumsum(2))
        return total / weight[..., None]


@open_family
def performer() -> Example:
    example = Example(_Performer(), [torch.randn(1, 2, 12, 16) for _ in range(3)])
    return opened(example, [{2: "length"}] * 3, length=(12, 5, 20))


class _MergedTokens(nn.Module):
    """Tokens of an image that are most like others become means with them (ToMe)."""

    merged = 3

    def forward(self, x: Tensor) -> Tensor:
        metric = nn.functional.normalize(x, dim=-1)
        scores, partners = (metric[:, ::2] @ metric[:, 1::2].transpose(1, 2)).max(-1)
        order = scores.argsort(-1, descending=True)[..., None]
        wide = (-1, -1, x.shape[-1])
        kept, gone = order[:, self.merged :], order[:, : self.merged]
        partners = partners[..., None].gather(1, gone)
        sources = x[:, ::2].gather(1, gone.expand(wide))
        others = x[:, 1::2].scatter_reduce(1, partners.expand(wide), sources, "mean")
        return torch.cat([x[:, ::2].gather(1, kept.expand(wide)), others], 1)


@family
def token_merging() -> Example:
    return Example(_MergedTokens(), [torch.randn(1, 16, 8)])
