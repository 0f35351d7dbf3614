# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Functions of tensors some of whose dimensions remain open."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F  # noqa: N812
from family import Family, Function, Results, normal
from torch import Tensor


def order(x: Tensor) -> Results:  # [2, length]
    length = x.shape[1]
    values, places = torch.sort(x, 1, descending=True)
    variance, mean = torch.var_mean(x, 1, keepdim=True)
    return {
        "sorted": values,
        "places": places,
        "argsort": torch.argsort(x),
        "all": torch.sort(x.flatten())[0],
        "few": torch.topk(x, torch.sym_min(length, 3), 1)[0],
        "median": torch.median(x, 1)[0],
        "kthvalue": torch.kthvalue(x, 2, 1)[0],
        "std": x.std(1),
        "std_of_all": x.std(correction=0),
        "variance": variance,
        "mean": mean,
        "rolled": torch.roll(x, 2, 1),
        "rolled_back": torch.roll(x, (-3, 1), (1, 0)),
        "rolled_far": torch.roll(x, 100, 1),
        "rolled_all": torch.roll(x, 5),
    }


def parts(x: Tensor) -> Results:  # [2, length, 3]
    length = x.shape[1]
    shifted = torch.zeros_like(x)
    shifted[:, 1:] = x[:, :-1]
    ends = x.clone()
    ends[:, 0] = 5
    ends[:, -1] = x[:, 1]
    inner = x.clone()
    inner[:, 1:3] = -1
    first, second = x.chunk(2, 1)
    before, middle, after = torch.tensor_split(x, [1, 3], 1)
    return {
        "shifted": shifted,
        "ends": ends,
        "inner": inner,
        "whole": torch.ops.aten.slice_scatter(x, x * 2, 1, 0, length),
        "narrow": x.narrow(1, 1, length - 2),
        "behind": x.narrow(1, -2, 2),
        "first": first,
        "second": second,
        "before": before,
        "middle": middle,
        "after": after,
        "half": x[:, : length // 2],
        "windows": x.unfold(1, 3, 2),
        "joined": x.flatten(0, 1),
        "front": x[:, :, None].flatten(1, 2),
        "last": x.transpose(1, 2).flatten(0, 1),
    }


def places(x: Tensor, index: Tensor, lengths: Tensor) -> Results:
    """[2, length, 3], [count] and [2]."""
    rows, line = torch.arange(2), x.flatten()
    return {
        "picked": x[:, index],
        "last_of_each": x[rows, lengths - 1],
        "negative": x[rows, -lengths],
        "pairs": x[rows[:, None], index[None]],
        "put": x.index_put((rows, lengths - 1), torch.ones(3)),
        "put_many": x.index_put((torch.tensor(0), index), x[0, index] * 2),
        "added": x.index_put((rows[:, None], index), torch.ones(1), accumulate=True),
        "filled": x.index_fill(1, index, 7),
        "taken": torch.take(x, index - 4),
        "put_in_all": torch.put(x, index, line[index]),
    }


def grids(x: Tensor, y: Tensor) -> Results:  # [columns], [rows]
    down, across = torch.meshgrid(y, x, indexing="ij")
    other, _ = torch.meshgrid(y, x, indexing="xy")
    table = torch.outer(y, x)
    wide, high = torch.broadcast_tensors(x[None], y[:, None])
    return {
        "down": down,
        "across": across,
        "other": other,
        "wide": wide,
        "high": high,
        "eye": torch.eye(x.shape[0]) + x,
        "eye_of_two": torch.eye(y.shape[0], x.shape[0]) + table,
        "diagonal": torch.diagonal(table),
        "below": torch.diagonal(table, -1) * 2,
        "above": torch.diagonal(torch.stack([table, table * 2]), 2, 1, 2),
    }


def images(x: Tensor, y: Tensor) -> Results:  # [1, 4, height, width] of any two sizes
    return {
        "bilinear": F.interpolate(x, y.shape[2:], mode="bilinear"),
        "aligned": F.interpolate(x, y.shape[2:], mode="bilinear", align_corners=True),
        "nearest": F.interpolate(y, x.shape[2:], mode="nearest"),
        "fixed": F.interpolate(x, (5, 7), mode="bilinear"),
        "unshuffled": F.pixel_unshuffle(x, 2),
        "shuffled": F.pixel_shuffle(x, 2),
        "groups": F.channel_shuffle(x, 2),
    }


def around(x: Tensor) -> Results:  # [1, 3, length]
    length = x.shape[2]
    modes = ("constant", "reflect", "replicate", "circular")
    return {
        **{f"{mode}_known": F.pad(x, (2, 1), mode) for mode in modes},
        **{f"{mode}_to_4": F.pad(x, (1, -length % 4), mode) for mode in modes},
        "of_two_axes": F.pad(x, (length // 2, 0, -length % 3, 1), value=0.5),
        "fewer": F.pad(x, (1, -(length // 2))),
        "infinite": F.pad(x, (1, 2), value=-math.inf),
        "line": F.interpolate(x, length * 2, mode="linear"),
        "line_of_nearest": F.interpolate(x, length + 3),
    }


def signal(x: Tensor) -> Results:  # [1, samples]
    window = torch.hann_window(16)
    spectrum = torch.stft(x, 16, 4, window=window, return_complex=True)
    dense = torch.stft(x[0], 20, 1, center=False, return_complex=True)
    return {"stft": torch.view_as_real(spectrum), "stft_dense": dense.abs()}


def volumes(x: Tensor) -> Results:  # [1, 4, depth, height, width]
    def filters(*shape: int) -> Tensor:
        return torch.linspace(-0.5, 0.5, torch.Size(shape).numel()).view(shape)

    wide, bias = filters(6, 4, 3, 3, 3), filters(6)
    grouped = filters(4, 2, 3, 2, 1)
    up, far = filters(4, 3, 2, 2, 2), filters(4, 3, 3, 4, 3)
    conv, back = F.conv3d, F.conv_transpose3d
    features = conv(x, wide, bias, padding=1)
    return {
        "conv": features,
        "strides": conv(x, wide, bias, (2, 1, 3), padding=1),
        "dilations": conv(x, wide, padding=2, dilation=2),
        "groups": conv(x, grouped, groups=2, padding=(2, 0, 0)),
        "apart": back(x, up, stride=2),
        "back": back(x, far, stride=(2, 3, 1), padding=1, output_padding=(1, 0, 0)),
        "largest": F.max_pool3d(x, 2),
        "largest_of_features": F.max_pool3d(F.relu(features), 2, (2, 2, 1)),
        "means": F.avg_pool3d(x, 3, 2, 1),
        "mean": F.adaptive_avg_pool3d(x, 1),
        "larger": F.interpolate(
            x[:, :2], (x.shape[2] + 2, x.shape[3], x.shape[4] * 2), mode="trilinear"
        ),
        "trilinear": F.interpolate(x[:, :1], scale_factor=2.0, mode="trilinear"),
        "nearest": F.interpolate(x[:, 1:2], scale_factor=(1.0, 2.0, 3.0)),
    }


def families() -> dict[str, Family]:
    """Networks whose dimensions remain open in MACE."""
    auto = torch.export.Dim.AUTO

    def family(
        function: Callable[..., Results],
        inputs: Callable[[int], Sequence[Tensor]],
        *axes: Sequence[int],
    ) -> Family:
        dynamic = (tuple(dict.fromkeys(own, auto) for own in axes),)
        others = [inputs(more) for more in (-2, 6)]
        return Family(Function(function), inputs(0), dynamic, others)

    def index(count: int) -> Tensor:
        return torch.randint(0, 5, (count,))

    return {
        "lengths_order": family(order, lambda n: [normal(2, 9 + n)], [1]),
        "lengths_parts": family(parts, lambda n: [normal(2, 8 + n, 3)], [1]),
        "lengths_places": family(
            places,
            lambda n: [normal(2, 9 + n, 3), index(4 + n), torch.tensor([2, 7 + n])],
            [1],
            [0],
            [],
        ),
        "lengths_grids": family(
            grids, lambda n: [normal(7 + n), normal(5 + 2 * n)], [0], [0]
        ),
        "lengths_images": family(
            images,
            lambda n: [normal(1, 4, 6 + n, 8 + n), normal(1, 4, 11 - n, 9)],
            [2, 3],
            [2, 3],
        ),
        "lengths_volumes": family(
            volumes,
            lambda n: [normal(1, 4, 5 + n // 3, 6 + n // 3, 7 + n // 3)],
            [2, 3, 4],
        ),
        "lengths_around": family(around, lambda n: [normal(1, 3, 9 + n)], [2]),
        "lengths_signal": family(signal, lambda n: [normal(1, 64 + n)], [1]),
    }
