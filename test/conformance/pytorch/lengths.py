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
        "rolled_by_half": torch.roll(x, length // 2, 1),
        "rolled_by_more": torch.roll(x, -3 * length + 1, 1),
        "quantile": torch.quantile(x, 0.3, 1),
        "quantiles": torch.quantile(x, torch.tensor([0.1, 0.5, 1]), 1, keepdim=True),
        "quantile_of_all": torch.quantile(x, 0.7),
        **{
            f"quantile_{mode}": torch.quantile(x, 0.65, 1, interpolation=mode)
            for mode in ("lower", "higher", "nearest", "midpoint")
        },
        "largest_so_far": torch.cummax(x, 1)[0],
        "where_largest": torch.cummax(x.round(), 1)[1],
        "least_so_far": torch.cummin(x, 1)[0],
        "products": torch.cumprod(x, 1),
        "logarithms": torch.logcumsumexp(x * 50, 1),
        "differences": torch.diff(x),
        "second": torch.diff(x, 2, 1, prepend=x[:, :1]),
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
        "second_half": torch.tensor_split(x, 2, 1)[1],
        "before_last": torch.tensor_split(x, [1, -2], 1)[1],
        "half_of_two": x[:, : length // 2 * 2].split(length // 2, 1)[1],
        "repeated": x[:, :1].repeat(1, length, 2),
        "more_axes": x.repeat(length - 4, 1, 1, 1),
        "tiled": torch.tile(x, (length // 4, 1)),
        "each": x.repeat_interleave(length // 2, 2),
        "each_twice": x.repeat_interleave(2, 1),
    }


def numbers(x: Tensor) -> Results:  # [3, length]
    """Each as a factor of x, and some as the end of a part."""
    n = x.shape[1]
    integers = {
        "share": torch.sym_int(n * 0.35),
        "quotient": math.trunc(n / 3),
        "square": n**2,
        "right": n >> 1,
        "left": n << 2,
        "up": -(-n // 4),
    }
    factors = {
        "larger": torch.sym_max(n, 8),
        "rest": -n % 5,
        "either": torch.sym_ite((n == 7) | (n != 20), n, n * 2),
        "both": torch.sym_ite(torch.sym_not((n > 8) & (n <= 10)), n + 1, n * 2),
        "neither": torch.sym_ite((n < 8) | (n >= 15), n * 3, n + 2),
        "scale": n**-0.5,
        "root": torch._sym_sqrt(n),
        "half": n / 2,
        "modulo": (n * 0.5) % 3,
        "one_of_two": torch.sym_ite(n > 8, 1.5, 2.5),
    }
    return {
        **{name: x * number for name, number in (integers | factors).items()},
        **{f"{name}_part": x[:, :number] * 2 for name, number in integers.items()},
    }


def averages(x: Tensor, y: Tensor) -> Results:  # [1, 4, height, width], [2, 3, length]
    return {
        "of_two": F.adaptive_avg_pool2d(x, (2, 3)),
        "of_one_axis": F.adaptive_avg_pool2d(x, (1, 5)),
        "largest": F.adaptive_max_pool2d(x, (3, 2)),
        "all": F.adaptive_avg_pool2d(x, 1),
        "line": F.adaptive_avg_pool1d(y, 4),
        "longer": F.adaptive_avg_pool1d(y, 30),
        "largest_of_line": F.adaptive_max_pool1d(y, 5),
    }


def bags(index: Tensor, begins: Tensor) -> Results:  # [4, length], [3]
    table = torch.linspace(-1, 1, 40).view(8, 5)
    line = index.flatten()
    return {
        "sums": F.embedding_bag(index, table, mode="sum"),
        "means": F.embedding_bag(line, table, begins, mode="mean"),
        "with_last": F.embedding_bag(
            line, table, begins, mode="sum", include_last_offset=True
        ),
    }


def spaced(x: Tensor) -> Results:  # [2, length]
    length = x.shape[1]
    return {
        "few": torch.linspace(0, length // 2, 5),
        "two": torch.linspace(length, 1, 2),
        "one": torch.linspace(length, 0, 1),
        "back": torch.linspace(length - 1, 0, 6) / length,
        "centres": torch.linspace(0.5, length - 0.5, 7),
        "one_window": F.avg_pool1d(x, 6, 12).squeeze(1),
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


def found(x: Tensor, edges: Tensor) -> Results:
    """[nodes, 3] and [2, edges]: what a run counts of lengths that it knows."""
    rows = x.sum(1) > 0
    kept = edges[:, edges[0] != edges[1]]
    nodes = torch.arange(x.shape[0])
    loops = torch.cat([kept, torch.stack([nodes, nodes])], 1)
    messages = x[loops[0]] * 2
    line = edges.flatten()
    return {
        "places": torch.nonzero(x > 0),
        "rows": x[rows],
        "elements": x[x > 0],
        "selected": torch.masked_select(x, x > 0.1),
        "mean_of_rows": x[rows].mean(0),
        "joined": torch.cat([x[rows], x]),
        "kept": kept,
        "loops": loops,
        "messages": torch.zeros_like(x).index_add(0, loops[1], messages),
        "largest": torch.zeros_like(x).scatter_reduce(
            0, loops[1][:, None].expand(-1, 3), messages, "amax"
        ),
        "heads": x[rows].view(-1, 3, 1) + 1,
        "values": torch.unique(line),
        "inverse": torch.unique(edges, return_inverse=True)[1],
        "runs": torch.unique_consecutive(line),
        "scattered": x.masked_scatter(x > 0, x * 3),
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
        "fourier": torch.view_as_real(torch.fft.fft(x, dim=1)),
        "fourier_of_two": torch.view_as_real(torch.fft.fftn(x, dim=(1, 3))),
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
    samples = x.shape[1]
    real, whole = torch.fft.rfft(x), torch.fft.fft(torch.complex(x, x.flip(1)))
    grid = x[0, : samples // 3 * 3].view(3, -1)
    results = {
        "stft": spectrum,
        "real": real,
        "whole": whole,
        "longer": torch.fft.rfft(x[0], samples * 2),
        "shorter": torch.fft.fft(x, samples // 2, norm="ortho"),
        "grid": torch.fft.fft2(grid, norm="forward"),
        "inverse": torch.fft.ifft(whole * 2),
    }
    return {
        **{name: torch.view_as_real(result) for name, result in results.items()},
        "stft_dense": dense.abs(),
        "back": torch.fft.irfft(real),
        "back_to_odd": torch.fft.irfft(real, samples + 3),
        "shifted": torch.fft.fftshift(x, 1),
        "shifted_back": torch.fft.ifftshift(x, 1),
        "istft": torch.istft(spectrum, 16, 4, window=window),
    }


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


def tracked(template: Tensor, image: Tensor) -> Results:
    """[2, 4, h, w] and [n, 4, height, width]: filters of any size, halves."""
    line, wide = template.flatten(2)[..., :5], image.flatten(2)
    conv = F.conv2d
    return {
        "whole": conv(image, template, stride=2, padding=1),
        "depthwise": conv(image, template[:1].transpose(0, 1), groups=4),
        "dilated": conv(image, template[:, :2], torch.ones(2), 1, 2, (1, 2), 2),
        "line": F.conv1d(wide, line, stride=3),
        "volume": F.conv3d(image[:, None], template[:, None, :2], padding=(1, 0, 1)),
        "half": F.interpolate(image, scale_factor=0.5, mode="bilinear"),
        "wider": F.interpolate(image, scale_factor=(1.5, 0.25)),
        "back": F.interpolate(
            F.interpolate(image, scale_factor=0.5, mode="bicubic"), image.shape[2:]
        ),
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
        "lengths_found": family(
            found,
            lambda n: [normal(7 + n, 3), torch.randint(0, 5, (2, 12 + n))],
            [0],
            [1],
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
        "lengths_tracked": family(
            tracked,
            lambda n: [
                normal(2, 4, 3 + n // 3, 4 + n // 3),
                normal(2 + n // 3, 4, 7 + n, 9 + n),
            ],
            [2, 3],
            [0, 2, 3],
        ),
        "lengths_spaced": family(spaced, lambda n: [normal(2, 9 + n)], [1]),
        "lengths_numbers": family(numbers, lambda n: [normal(3, 9 + n)], [1]),
        "lengths_averages": family(
            averages,
            lambda n: [normal(1, 4, 7 + n, 9 + n), normal(2, 3, 9 + n)],
            [2, 3],
            [2],
        ),
        "lengths_bags": family(
            bags,
            lambda n: [
                torch.randint(0, 8, (4, 6 + n)),
                torch.tensor([0, 5, 11 + n]),
            ],
            [1],
            [],
        ),
        "lengths_around": family(around, lambda n: [normal(1, 3, 9 + n)], [2]),
        "lengths_signal": family(signal, lambda n: [normal(1, 64 + n)], [1]),
    }
