# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Small networks that together use every operator of the PyTorch importer.

Imports PyTorch. Each family is a function of tensors; `Family` makes it a module whose
results have names.
"""

from __future__ import annotations

import lengths
import numeric
import torch
import torch.ao.quantization.fx._decomposed  # defines quantized_decomposed
import torch.nn.functional as F  # noqa: N812
from family import Family, Function, Results, normal
from torch import Tensor, nn


def _unary(x: Tensor) -> Results:
    unit = torch.tanh(x) * 0.9
    positive = x.abs() + 0.1
    names = "neg abs sign exp sigmoid tanh erf sin cos tan sinh cosh atan asinh ceil"
    more = "floor round trunc frac square expm1 erfc exp2"
    result = {n: getattr(torch, n)(x) for n in f"{names} {more}".split()}
    for name in ("acos", "asin", "atanh"):
        result[name] = getattr(torch, name)(unit)
    for name in ("log", "log2", "log10", "log1p", "sqrt", "rsqrt", "reciprocal"):
        result[name] = getattr(torch, name)(positive)
    result["acosh"] = torch.acosh(positive + 1)
    for name in ("isnan", "isinf", "isfinite"):
        result[name] = getattr(torch, name)(1 / x.round())
    result["nan_to_num"] = torch.nan_to_num(0 / x.round(), 2.0, 3.0, -3.0)
    result["round_int"] = torch.floor(x.int())
    result["sqrt_int"] = torch.sqrt(x.int().abs())
    return result


def _binary(x: Tensor, y: Tensor, i: Tensor, j: Tensor) -> Results:
    b, d = x > 0, y > 0.3
    positive = x.abs() + 0.1
    return {
        "add": x + y,
        "add_alpha": torch.add(x, y, alpha=2),
        "add_scalar": x + 2,
        "add_mixed": i + 0.5,
        "add_bool": i + b,
        "sub": x - y,
        "sub_alpha": torch.sub(x, y, alpha=0.5),
        "rsub": 3 - x,
        "rsub_op": torch.rsub(x, y),
        "mul": x * y,
        "mul_int": i * 3,
        "mul_bool": b * x,
        "div": x / y,
        "div_int": i / j,
        "div_floor": torch.div(x, y, rounding_mode="floor"),
        "div_trunc": torch.div(x, y, rounding_mode="trunc"),
        "div_floor_int": torch.div(i, j, rounding_mode="floor"),
        "div_trunc_int": torch.div(i, j, rounding_mode="trunc"),
        "floor_divide": i // 3,
        "remainder": torch.remainder(x, y),
        "remainder_int": i % j,
        "fmod": torch.fmod(x, y),
        "pow": positive**y,
        "pow_scalar": x**3,
        "pow_half": positive**0.5,
        "pow_base": 2**y,
        "maximum": torch.maximum(x, y),
        "minimum": torch.minimum(x, y),
        "max_other": torch.max(i, j),
        "atan2": torch.atan2(x, y),
        "eq": i == j,
        "ne": i != 2,
        "lt": x < y,
        "le": x <= 0.5,
        "gt": x > y,
        "ge": i >= 0.5,
        "and": b & d,
        "or": torch.logical_or(b, d),
        "xor": b ^ d,
        "not": ~b,
        "logical_not": torch.logical_not(i),
        "logical_and": torch.logical_and(i, b),
        "bitwise": i & j,
        "bitwise_or": i | 5,
        "clamp": x.clamp(-0.5, 0.5),
        "clamp_min": x.clamp_min(0.1),
        "clamp_max": x.clamp(max=0.2),
        "clamp_tensor": torch.clamp(x, y - 0.1, y + 0.1),
        "clamp_int": i.clamp(0, 2),
        "where": torch.where(b, x, y),
        "where_scalar": torch.where(b, x, -1.0),
        "masked_fill": x.masked_fill(b, float("-inf")),
        "lerp": torch.lerp(x, y, 0.3),
        "addcmul": torch.addcmul(x, x, y, value=0.5),
        "addcdiv": torch.addcdiv(x, x, y.abs() + 1),
        "outer": torch.outer(x[:, 0], y),
    }


def _activations(x: Tensor) -> Results:
    return {
        "relu": F.relu(x),
        "relu6": F.relu6(x * 4),
        "hardtanh": F.hardtanh(x, -0.5, 0.7),
        "leaky_relu": F.leaky_relu(x, 0.2),
        "elu": F.elu(x, 0.5),
        "selu": F.selu(x),
        "celu": F.celu(x, 0.7),
        "gelu": F.gelu(x),
        "gelu_tanh": F.gelu(x, approximate="tanh"),
        "silu": F.silu(x),
        "mish": F.mish(x),
        "hardsigmoid": F.hardsigmoid(x * 3),
        "hardswish": F.hardswish(x * 3),
        "softplus": F.softplus(x, 2, 3),
        "softplus_plain": F.softplus(x),
        "softsign": F.softsign(x),
        "logsigmoid": F.logsigmoid(x),
        "threshold": F.threshold(x, 0.1, 2.0),
        "hardshrink": F.hardshrink(x, 0.3),
        "softshrink": F.softshrink(x, 0.3),
        "glu": F.glu(x, 1),
        "softmax": F.softmax(x, 1),
        "softmax_last": F.softmax(x, -1, dtype=torch.float32),
        "log_softmax": F.log_softmax(x, 2),
        "softmin": F.softmin(x, 1),
        "prelu": F.prelu(x, torch.full((x.shape[1],), 0.25)),
        "rrelu": F.rrelu(x),
    }


def _changed(x: Tensor, y: Tensor) -> Results:
    """Operators that change tensors in place."""
    a = x + 1
    F.relu_(a)
    b = a * 2
    b += y
    b.mul_(0.5)
    d = b.clone()
    d.clamp_(-1, 1)
    e = torch.zeros_like(x)
    e.fill_(3)
    e.add_(a)
    g = F.dropout(d, 0.5, training=False)
    g.sub_(1)
    mask = x.new_zeros(3, 4)
    mask[:2, 1:] = 1
    mask[-1] = y
    mask[:, -1] += 2
    rows = mask[1]
    rows.mul_(3)
    with torch.no_grad():
        h = x.exp()
        h.div_(2)
    return {"a": a, "b": b, "e": e, "g": g, "h": h + 1, "mask": mask, "rows": rows}


def _arranged(x: Tensor) -> Results:  # [2, 6, 4, 4]
    chunks = x.chunk(4, 1)
    split = x.split(4, 1)
    sizes = torch.split(x, [1, 2, 3], 1)
    unbound = x.unbind(0)
    thirds = torch.tensor_split(x, 4, 1)
    flat = x.flatten(1)
    grid = torch.meshgrid(x[0, 0, 0], x[0, :3, 0, 0], indexing="ij")
    pictures = torch.meshgrid(x[0, 0, 0], x[0, :3, 0, 0], indexing="xy")
    return {
        "view": x.view(2, -1, 4),
        "reshape": x.reshape(6, 2, 16),
        "flatten": flat,
        "flatten_inner": x.flatten(1, 2),
        "unflatten": x.unflatten(1, (2, 3)),
        "permute": x.permute(0, 2, 3, 1).contiguous(),
        "transpose": x.transpose(1, -1),
        "t": flat.t(),
        "mT": x.mT,
        "movedim": x.movedim(1, -1),
        "unsqueeze": x.unsqueeze(-1),
        "squeeze": x.unsqueeze(2).squeeze(2),
        "squeeze_all": x[:1, :1].squeeze(),
        "expand": x[:, :1].expand(-1, 3, -1, -1),
        "expand_as": x[:, :1].expand_as(x),
        "repeat": x.repeat(1, 2, 1, 1),
        "repeat_more": x.repeat(2, 1, 1, 1, 1),
        "tile": x.tile(2),
        "repeat_interleave": x.repeat_interleave(3, 1),
        "cat": torch.cat([x, x * 2, x.int()], -1),
        "stack": torch.stack([x, -x], 2),
        "hstack": torch.hstack([x, x]),
        "vstack": torch.vstack([x, x]),
        "chunk": chunks[-1],
        "split": split[1],
        "sizes": sizes[2] + sizes[0],
        "unbind": unbound[1],
        "tensor_split": thirds[0],
        "slice": x[:, 1:5:2, :, -3:],
        "slice_one": x[..., :-1],
        "select": x[:, -1],
        "narrow": x.narrow(1, 2, 3),
        "flip": x.flip(1, 3),
        "roll": x.roll(1, 2),
        "roll_more": x.roll((1, -2), (0, 1)),
        "pixel_shuffle": F.pixel_shuffle(x[:, :4], 2),
        "pixel_unshuffle": F.pixel_unshuffle(x, 2),
        "channel_shuffle": F.channel_shuffle(x, 3),
        "pad": F.pad(x, (1, 2, 0, 3), value=0.5),
        "pad_negative": F.pad(x, (-1, 1)),
        "pad_reflect": F.pad(x, (1, 2, 2, 1), mode="reflect"),
        "pad_replicate": F.pad(x, (1, 2, 2, 1), mode="replicate"),
        "pad_circular": F.pad(x, (1, 2, 2, 1), mode="circular"),
        "unfold": F.unfold(x, (2, 3), padding=1, stride=2),
        "fold": F.fold(F.unfold(x, 2), (4, 4), 2),
        "windows": x.unfold(2, 2, 1),
        "diagonal": x.diagonal(1, 2, 3),
        "grid": grid[0] + grid[1],
        "pictures": pictures[0] - pictures[1],
        "int": x.to(torch.int64),
        "type_as": x.int().type_as(x),
    }


def _renamed(x: Tensor, y: Tensor, volume: Tensor) -> Results:
    """Operators that PyTorch's functions lead to on other ways, and other names."""
    aten = torch.ops.aten
    b = x > 0
    h = x[:, :3]
    numbers = torch.arange(6.0) / 7 - 0.4
    weights = [numbers.view(2, 3), numbers[:4].view(2, 2), numbers[1:3], numbers[4:]]
    return {
        "arctan2": aten.arctan2(x, y),
        "broadcast_to": aten.broadcast_to(y, [3, 4]),
        "clamp_max": aten.clamp_max(x, 0.5),
        "clip": aten.clip(x, -0.5),
        "concat": aten.concat([x, x], 1),
        "concatenate": aten.concatenate([x, x], 0),
        "divide": aten.divide(x, y),
        "true_divide": aten.true_divide(x, y),
        "multiply": aten.multiply(x, y),
        "subtract": aten.subtract(x, y),
        "not_equal": aten.not_equal(x, y),
        "logical_xor": aten.logical_xor(x > 0, y),
        "fliplr": aten.fliplr(x),
        "flipud": aten.flipud(x),
        "float_power": aten.float_power(x.abs(), 2).float(),
        "moveaxis": aten.moveaxis(x, 0, 1),
        "swapaxes": aten.swapaxes(x, 0, 1),
        "swapdims": aten.swapdims(x, 0, 1),
        "numpy_T": aten.numpy_T(x),
        "ravel": aten.ravel(x),
        "reshape_as": aten.reshape_as(x.t(), x),
        "view_as": aten.view_as(x, x),
        "alias": aten.alias(x),
        "dstack": aten.dstack([volume, volume]),
        "dot": torch.dot(y, y),
        "addmv": torch.addmv(y[:3], x, y),
        "dropout": aten.alpha_dropout(x, 0.5, False) + 1,
        "feature_dropout": aten.feature_dropout(x, 0.5, False) + 2,
        "ones_like": torch.ones_like(x) + torch.zeros_like(torch.empty_like(x)),
        "new_ones": x.new_ones(3, 4) * x,
        "zero": torch.zero_(x + 1),
        "scatter_reduce": x.scatter_reduce(0, b.long(), x * 2, "amax"),
        "safe_softmax": aten._safe_softmax(x, 1),
        "norm": aten.norm(x, 2, [1]),
        "pad_line": aten.reflection_pad1d(x, [1, 2]),
        "pad_image": aten.reflection_pad2d(volume, [1, 0, 2, 1]),
        "pad_volume": aten.reflection_pad3d(volume[None], [1, 0, 1, 1, 1, 0]),
        "repeat_line": aten.replication_pad1d(x, [1, 2]),
        "repeat_image": aten.replication_pad2d(volume, [1, 0, 2, 1]),
        "repeat_volume": aten.replication_pad3d(volume[None], [1, 0, 1, 1, 1, 0]),
        "sdpa": aten._scaled_dot_product_flash_attention_for_cpu(
            volume[None], volume[None], volume[None]
        )[0],
        "unsafe_view": aten._unsafe_view(x, [4, 3]),
        "unsafe_index": aten._unsafe_index(x, [torch.tensor([0, 2])]),
        "diff": torch.diff(x),
        "diff_prepend": torch.diff(x, prepend=x[:, :1]),
        "rnn": aten.rnn_tanh(
            x[None, :, :3], x[None, :1, :2], weights, True, 1, 0.0, False, False, True
        )[0],
        "rnn_cell": aten.rnn_tanh_cell(h, x[:, :2], *weights),
        "relu_cell": aten.rnn_relu_cell(h, x[:, :2], *weights),
        "item": x * torch.tensor([2.5]).item(),
        "convolution": aten._convolution(
            volume,
            torch.ones(1, 3, 3) * 0.5,
            None,
            *([1], [1], [1], False, [0], 1, False, False, False),
        ),
    }


def _volumes(x: Tensor, grid: Tensor) -> Results:  # [1, 2, 4, 4, 6], [1, 2, 2, 2, 3]
    line = x[0, :, 0]
    return {
        "adaptive": F.adaptive_avg_pool3d(x, (2, 2, 3)),
        "adaptive_max": F.adaptive_max_pool3d(x, 1),
        "adaptive_line": F.adaptive_max_pool1d(line[0], 3),
        "max_line": F.max_pool1d(line[0], 2, return_indices=True)[0],
        "nearest": F.interpolate(x, scale_factor=2),
        "nearest_line": F.interpolate(line[0][None], 9),
        "exact_line": F.interpolate(line[0][None], 9, mode="nearest-exact"),
        "exact": F.interpolate(x, (5, 4, 3), mode="nearest-exact"),
        "linear": F.interpolate(x, (5, 4, 3), mode="trilinear"),
        "bicubic": F.interpolate(x[0], (3, 4), mode="bicubic", antialias=True),
        "sample": F.grid_sample(x, grid, align_corners=False),
        "transposed": F.conv_transpose3d(x, torch.ones(2, 3, 2, 2, 2) * 0.5, stride=2),
    }


def _made(x: Tensor) -> Results:  # [3, 4]
    n, m = x.shape
    return {
        "arange": x + torch.arange(m),
        "arange_steps": torch.arange(1, 9, 2) + x,
        "full": torch.full((n, m), 2.5) + x,
        "full_like": torch.full_like(x, 3) + x,
        "zeros_like": torch.zeros_like(x) + x,
        "ones": torch.ones(n, 1) * x,
        "new_zeros": x.new_zeros(n, m) + x,
        "new_full": x.new_full((1, m), 2.0) + x,
        "eye": torch.eye(n) @ x,
        "linspace": torch.linspace(0, 1, m) * x,
        "tril": torch.tril(x, -1),
        "triu": x.triu(1),
        "constant": torch.tensor([1.0, 2.0, 3.0, 4.0]) * x,
        "scalar": torch.tensor(2.5) * x,
        "causal": x.masked_fill(torch.triu(torch.ones(n, m), 1).bool(), -1e9),
    }


def _reduced(x: Tensor) -> Results:  # [2, 3, 4]
    largest, places = x.max(1)
    smallest = x.min(-1, keepdim=True)
    top = x.topk(2, -1)
    bottom = x.topk(2, 1, largest=False)
    ordered = x.sort(-1, descending=True)
    deviation = torch.std_mean(x, 2)
    return {
        "mean": x.mean(),
        "mean_dim": x.mean((1, 2), keepdim=True),
        "sum": x.sum(-1),
        "sum_int": x.int().sum(1),
        "sum_bool": (x > 0).sum(-1),
        "prod": x.prod(1),
        "amax": x.amax((0, 2)),
        "amin": x.amin(1, keepdim=True),
        "amax_int": (x * 9).int().amax((1, 2)),
        "argmax_int": (x * 9).int().argmax(1),
        "var": x.var(1),
        "var_biased": x.var((1, 2), unbiased=False, keepdim=True),
        "std": x.std(),
        "std_mean": deviation[0] + deviation[1],
        "logsumexp": x.logsumexp(1),
        "norm": x.norm(dim=1),
        "norm_one": torch.linalg.vector_norm(x, 1, -1),
        "norm_max": torch.linalg.vector_norm(x, float("inf"), -1),
        "normalize": F.normalize(x, dim=1),
        "cosine": F.cosine_similarity(x, x.flip(1), 1),
        "all": (x > -1).all(1),
        "any": (x > 1).any(),
        "max": largest,
        "max_places": places,
        "min": smallest.values,
        "min_all": x.min(),
        "argmax": x.argmax(1),
        "argmax_flat": x.argmax(),
        "argmin": x.argmin(-1, keepdim=True),
        "cumsum": x.cumsum(1),
        "cumprod": x.cumprod(-1),
        "vdot": torch.vdot(x[0, 0], x[1, 2]),
        "topk": top.values,
        "topk_places": top.indices,
        "bottom": bottom.values,
        "sort": ordered.values,
        "sort_places": ordered.indices,
        "argsort": x.argsort(1),
    }


def _indexed(x: Tensor, i: Tensor, rows: Tensor) -> Results:  # [3, 4, 5], 0..2
    columns = torch.tensor([3, 0, -1])
    put = x.clone()
    put = put.index_put((rows,), x[:2] * 2)
    return {
        "embedding": F.embedding(i, x[0]),
        "index_select": x.index_select(1, i[0]),
        "gather": x.gather(2, i[:, :, None].expand(-1, -1, 2).clamp(max=2)),
        "index": x[i],
        "index_list": x[:, [0, 2]],
        "index_two": x[:, columns, i[0, :3]],
        "index_apart": x[i[0, :3], :, columns],
        "index_front": x[rows, rows],
        "index_put": put,
        "index_add": x.index_put((rows,), x[:2], accumulate=True),
        "mask_put": x.masked_fill(x > 1, 0) + torch.where(x > 0, 1, 2),
        "scatter": x.scatter(2, i[:, :, None].clamp(max=2), 7.0),
        "scatter_source": x.scatter(1, i[:, :3, None].expand(-1, -1, 5) * 0 + 1, x),
        "scatter_add": x.scatter_add(1, i[:, :, None].expand(-1, -1, 5), x),
        **{
            f"scatter_{kind}_{own}": x.scatter_reduce(
                1, i[:, :, None].expand(-1, -1, 5), x * 2, kind, include_self=own
            )
            for kind in ("mean", "sum", "prod", "amax", "amin")
            for own in (False, True)
        },
        "scatter_amax_int": (x * 9)
        .int()
        .scatter_reduce(0, i[:, :, None], (x * 7).int(), "amax", include_self=False),
        "index_add_twice": x.index_add(1, rows, x[:, :2], alpha=2),
        "index_copy": x.index_copy(2, rows, x[:, :, 2:4]),
        "diag_embed": torch.diag_embed(x),
        "diag_embed_axes": torch.diag_embed(x[0], 0, -1, 0),
        "select_scatter": torch.select_scatter(x, x[0, 0], 1, 0)
        if x.shape[0] == 4
        else torch.select_scatter(x, x[:, 0], 1, -1),
        "slice_scatter": torch.slice_scatter(x, x[:, :2], 1, 1, 3),
        "slice_steps": torch.slice_scatter(x, x[:, :2], 1, 0, 4, 2),
        "one_hot": F.one_hot(i, 5).float(),
        "bucketize": torch.bucketize(x, torch.tensor([-0.5, 0.0, 0.7])),
        "take_along": torch.take_along_dim(x, i[:, :, None], 2),
        "take_along_one": torch.take_along_dim(x, i[:1, :, None], 0),
        "take_along_all": torch.take_along_dim(x, i),
    }


class _Convolutions(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleDict(
            {
                "plain": nn.Conv2d(4, 6, 3),
                "strided": nn.Conv2d(4, 6, 3, 2, 1, bias=False),
                "groups": nn.Conv2d(4, 8, (1, 3), padding=(0, 2), groups=2),
                "depthwise": nn.Conv2d(4, 4, 3, padding=1, groups=4),
                "dilated": nn.Conv2d(4, 6, 3, dilation=2, padding="same"),
                "valid": nn.Conv2d(4, 6, 2, padding="valid"),
                "reflected": nn.Conv2d(4, 6, 3, padding=1, padding_mode="reflect"),
                "transposed": nn.ConvTranspose2d(4, 3, 3, 2, 1, 1),
                "transposed_groups": nn.ConvTranspose2d(4, 4, 2, groups=2),
                "norm": nn.BatchNorm2d(4),
                "norm_plain": nn.BatchNorm2d(4, affine=False),
                "instance": nn.InstanceNorm2d(4, affine=True),
                "instance_plain": nn.InstanceNorm2d(4),
                "group": nn.GroupNorm(2, 4),
                "layer": nn.LayerNorm([8, 8]),
                "layer_plain": nn.LayerNorm(8, elementwise_affine=False),
                "rms": nn.RMSNorm(8),
                "response": nn.LocalResponseNorm(3),
            }
        )
        self.line = nn.ModuleDict(
            {
                "conv1d": nn.Conv1d(4, 5, 3, padding=1),
                "weight_norm": nn.utils.parametrizations.weight_norm(
                    nn.Conv1d(4, 5, 3), dim=2
                ),
                "transposed1d": nn.ConvTranspose1d(4, 5, 4, 2, 1),
                "norm1d": nn.BatchNorm1d(4),
            }
        )
        self.volume = nn.ModuleDict({"conv3d": nn.Conv3d(1, 3, 3, padding=1)})

    def forward(self, x: Tensor) -> list[Tensor]:  # [2, 4, 8, 8]
        results = [layer(x) for layer in self.layers.values()]
        results += [layer(x.flatten(2)) for layer in self.line.values()]
        results += [layer(x.unsqueeze(1)) for layer in self.volume.values()]
        return [*results, self.layers["plain"](x[0])]


def _pools(x: Tensor) -> Results:  # [2, 3, 9, 7]
    return {
        "max": F.max_pool2d(x, 3, 2, 1),
        "max_ceil": F.max_pool2d(x, 2, ceil_mode=True),
        "max_dilated": F.max_pool2d(x, 2, 1, dilation=2),
        "average": F.avg_pool2d(x, 3, 2, 1),
        "average_exclusive": F.avg_pool2d(x, 3, 2, 1, count_include_pad=False),
        "average_ceil": F.avg_pool2d(x, (2, 3), ceil_mode=True),
        "divisor": F.avg_pool2d(x, 2, divisor_override=3),
        "global": F.adaptive_avg_pool2d(x, 1),
        "adaptive": F.adaptive_avg_pool2d(x, (3, 7)),
        "adaptive_uneven": F.adaptive_avg_pool2d(x, (4, 3)),
        "adaptive_max": F.adaptive_max_pool2d(x, (2, 3)),
        "max1d": F.max_pool1d(x[:, 0], 2),
        "average1d": F.avg_pool1d(x[:, 0], 3, padding=1),
        "adaptive1d": F.adaptive_avg_pool1d(x[:, 0], 1),
        "single": F.max_pool2d(x[0], 2),
        "max3d": F.max_pool3d(x[:, None], 2),
        "average3d": F.avg_pool3d(x[:, None], (1, 2, 2)),
    }


def _resized(x: Tensor, grid: Tensor) -> Results:  # [1, 2, 5, 6], [1, 3, 4, 2]
    return {
        "nearest": F.interpolate(x, scale_factor=2),
        "nearest_size": F.interpolate(x, (7, 9)),
        "exact": F.interpolate(x, (7, 9), mode="nearest-exact"),
        "bilinear": F.interpolate(x, (10, 7), mode="bilinear"),
        "aligned": F.interpolate(x, (10, 7), mode="bilinear", align_corners=True),
        "scaled": F.interpolate(x, scale_factor=1.7, mode="bilinear"),
        "smaller": F.interpolate(x, scale_factor=0.5, mode="bilinear"),
        "antialias": F.interpolate(x, (3, 4), mode="bilinear", antialias=True),
        "bicubic": F.interpolate(x, (9, 11), mode="bicubic"),
        "linear": F.interpolate(x[0], 11, mode="linear"),
        "one_row": F.interpolate(x, (1, 3), mode="bilinear"),
        "sample": F.grid_sample(x, grid, align_corners=False),
        "sample_border": F.grid_sample(
            x, grid, "nearest", padding_mode="border", align_corners=True
        ),
        "affine": F.grid_sample(
            x,
            F.affine_grid(
                grid[0, :2, :3, 0].unsqueeze(0), [1, 2, 4, 4], align_corners=False
            ),
            align_corners=False,
        ),
    }


class _Products(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(8, 5)
        self.plain = nn.Linear(8, 5, bias=False)
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
        self.encoder = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)

    def forward(self, x: Tensor, y: Tensor) -> list[Tensor]:  # [2, 6, 8], [2, 8, 6]
        q = x.view(2, 6, 2, 4).transpose(1, 2)
        mask = torch.ones(6, 6).tril().bool()
        return [
            self.linear(x),
            self.plain(x[0]),
            x @ y,
            torch.bmm(x, y),
            torch.mm(x[0], y[0]),
            torch.mv(x[0], y[0, :, 0]),
            torch.addmm(x[0, :, :6], x[0], y[0], beta=0.5, alpha=2),
            torch.baddbmm(x[:, :, :6], x, y, alpha=0.5),
            torch.einsum("bij,bjk->bik", x, y),
            torch.einsum("bij,bij->b", x, x),
            F.scaled_dot_product_attention(q, q, q),
            F.scaled_dot_product_attention(q, q, q, is_causal=True),
            F.scaled_dot_product_attention(q, q, q, mask, scale=0.3),
            F.scaled_dot_product_attention(q, q, q, mask.float()),
            F.scaled_dot_product_attention(q, q[:, :1], q[:, :1], enable_gqa=True),
            self.attention(x, x, x)[0],
            self.encoder(x),
        ]


class _Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(4, 3, 2, batch_first=True, bidirectional=True)
        self.plain = nn.LSTM(4, 3, bias=False)
        self.gru = nn.GRU(4, 3, bidirectional=True)
        self.rnn = nn.RNN(4, 3, batch_first=True, nonlinearity="relu")
        self.cell = nn.LSTMCell(4, 3)
        self.gru_cell = nn.GRUCell(4, 3)

    def forward(self, x: Tensor, h: Tensor) -> list[Tensor]:  # [2, 5, 4], [1, 5, 3]
        a, (b, c) = self.lstm(x)
        d, (e, f) = self.plain(x, (h, h * 2))
        g, i = self.gru(x)
        j, k = self.rnn(x)
        m, n = self.cell(x[:, 0])
        return [a, b, c, d, e, f, g, i, j, k, m, n, self.gru_cell(x[:, 0])]


class _Open(nn.Module):
    """With dimensions that the export leaves open."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, padding=1)
        self.linear = nn.Linear(4, 5)

    def forward(self, x: Tensor, tokens: Tensor) -> list[Tensor]:
        y = self.conv(x)
        n, _, h, w = y.shape
        y = F.interpolate(y, (h * 2, w // 2), mode="bilinear")
        y = y.flatten(2).transpose(1, 2)
        pooled = F.adaptive_avg_pool2d(x, 1).view(n, -1)
        length = tokens.shape[1]
        places = torch.arange(length).expand(n, -1)
        lengths = [
            h + w - 1 + (w + n) % 3,
            torch.sym_max(h, w) + torch.sym_min(h, 9),
            torch.sym_int(torch.sym_float(w) * 2.5),
            x.numel() // h,
            -n + 9,
        ]
        sizes = [torch.zeros_like(x.new_empty(2, n)) + length for n in lengths]
        flat = (tokens + places).float().view(n * length)
        scaled = flat * torch.sym_float(h) + length / 2
        return [self.linear(y), pooled, flat, scaled, *sizes]


class _Lengths(nn.Module):
    """With dimensions that remain open in MACE, too: lengths of sequences, sizes of
    images.
    """

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        self.conv = nn.Conv2d(3, 4, 3, stride=2, padding=1)
        self.places = nn.Embedding(16, 8)

    def forward(self, x: Tensor, image: Tensor) -> list[Tensor]:
        n, length, _ = x.shape
        y = self.layer(x + self.places(torch.arange(length)))
        heads = y.view(n, length, 2, 4).transpose(1, 2)
        causal = F.scaled_dot_product_attention(heads, heads, heads, is_causal=True)
        padded = F.pad(torch.cat([x, x * 2], 1), (0, 0, 1, 2))
        features = F.relu(self.conv(image))
        large = [
            F.interpolate(features, scale_factor=2.0, mode="nearest"),
            F.interpolate(features, scale_factor=(2.0, 3.0), mode="bilinear"),
        ]
        order = (x > 0).long()
        placed = [
            x.scatter(1, order[:, :, :3], 1.5),
            torch.zeros_like(x).scatter_add(1, order, x),
            x.scatter_reduce(1, order, x * 2, "mean", include_self=False),
            torch.einsum("bnk,bml->bnmkl", x, x[:1]),
        ]
        return [y, causal, padded, x.cumsum(1) / length, *large, *placed]


class _Quantized(nn.Module):
    """A layer with weights and activations of 8 bits, as `quantize_pt2e` makes it."""

    def __init__(self) -> None:
        super().__init__()
        weights = torch.randint(-127, 128, (4, 3, 3, 3), dtype=torch.int8)
        self.register_buffer("weights", weights)
        self.register_buffer("scales", torch.rand(4) * 0.01 + 0.002)
        self.register_buffer("zeros", torch.zeros(4, dtype=torch.int64))
        self.register_buffer("bias", torch.randint(-900, 900, (4,), dtype=torch.int32))

    def forward(self, x: Tensor) -> list[Tensor]:
        ops = torch.ops.quantized_decomposed
        signed = (0.03, -3, -128, 127, torch.int8)
        few = (0.05, 60, 0, 127, torch.uint8)
        q = ops.quantize_per_tensor(x, *signed)
        a = ops.dequantize_per_tensor(q, *signed)
        channels = (self.scales, self.zeros, 0, -127, 127, torch.int8)
        w = ops.dequantize_per_channel(self.weights, *channels)
        whole = (0.0003, 0, -(2**31), 2**31 - 1, torch.int32)
        b = ops.dequantize_per_tensor(self.bias, *whole)
        y = F.relu(F.conv2d(a, w, b, padding=1))
        z = ops.dequantize_per_tensor(ops.quantize_per_tensor(y, *few), *few)
        per_row = (torch.full((3,), 0.02), torch.zeros(3).long(), 1, -7, 7, torch.int8)
        rows = ops.quantize_per_channel(x, *per_row)
        return [q, z, rows, ops.dequantize_per_channel(rows, *per_row)]


def families() -> dict[str, Family]:
    """All of them, by name. Weights and inputs are those of a fixed seed."""
    torch.manual_seed(3)
    integers = torch.tensor([[3, -4, 7, 0], [5, 2, -6, 9], [1, 8, -2, 4]])
    divisors = torch.tensor([[2, 3, -2, 5], [-3, 2, 4, 2], [1, -5, 3, 7]])
    batch, height = torch.export.Dim("batch", max=7), torch.export.Dim("height", min=4)
    width, length = torch.export.Dim("width", min=4), torch.export.Dim("length", min=2)
    result = {
        "unary": Family(Function(_unary), [normal(2, 3, 4)]),
        "binary": Family(
            Function(_binary), [normal(3, 4), normal(4), integers, divisors]
        ),
        "activations": Family(Function(_activations), [normal(2, 4, 3)]),
        "changed": Family(Function(_changed), [normal(3, 4), normal(4)]),
        "arranged": Family(Function(_arranged), [normal(2, 6, 4, 4)]),
        "renamed": Family(
            Function(_renamed), [normal(3, 4), normal(4), normal(2, 3, 4)]
        ),
        "volumes": Family(
            Function(_volumes),
            [normal(1, 2, 4, 4, 6), torch.rand(1, 2, 2, 2, 3) * 2 - 1],
        ),
        "made": Family(Function(_made), [normal(3, 4)]),
        "reduced": Family(Function(_reduced), [normal(2, 3, 4)]),
        "indexed": Family(
            Function(_indexed),
            [normal(3, 4, 5), torch.tensor([[2, 0, 1, 1]] * 3), torch.tensor([2, 0])],
        ),
        "convolutions": Family(_Convolutions(), [normal(2, 4, 8, 8)]),
        "pools": Family(Function(_pools), [normal(2, 3, 9, 7)]),
        "resized": Family(
            Function(_resized), [normal(1, 2, 5, 6), torch.rand(1, 3, 4, 2) * 2 - 1]
        ),
        "products": Family(_Products(), [normal(2, 6, 8), normal(2, 8, 6)]),
        "recurrent": Family(_Recurrent(), [normal(2, 5, 4), normal(1, 5, 3)]),
        "projected": Family(
            numeric.Projected(), [normal(2, 5, 4), normal(4, 2, 3), normal(4, 2, 5)]
        ),
        "spectral": Family(
            Function(numeric.spectral), [normal(2, 6, 8), normal(2, 40)]
        ),
        "filters": Family(numeric.Filter(), [normal(2, 2, 6, 8), normal(8)]),
        "algebra": Family(
            Function(numeric.algebra),
            [normal(2, 4, 4), normal(2, 4, 3), normal(2, 3)],
        ),
        "special": Family(
            Function(numeric.special), [normal(3, 4), normal(3, 4), integers]
        ),
        "ordered": Family(
            Function(numeric.ordered),
            [normal(3, 7), torch.tensor([[2, 5, 0, 3, 3, 6, 1]] * 3)],
        ),
        "unpooled": Family(Function(numeric.unpooled), [normal(2, 3, 6, 8)]),
        "found": Family(
            Function(numeric.found),
            [normal(4, 5), torch.tensor([True, False, True, True])],
        ),
        "random": Family(Function(numeric.random), [normal(3, 4)]),
        "lengths": Family(
            _Lengths(),
            [normal(2, 5, 8), normal(1, 3, 8, 6)],
            (
                {0: batch, 1: torch.export.Dim("length", min=2, max=16)},
                {
                    2: torch.export.Dim("height", min=4, max=64),
                    3: torch.export.Dim("width", min=4, max=64),
                },
            ),
        ),
        "quantized": Family(_Quantized(), [normal(2, 3, 6, 5)]),
        "open": Family(
            _Open(),
            [normal(2, 3, 6, 8), torch.tensor([[1, 2, 3], [4, 5, 6]])],
            (
                {0: batch, 2: height, 3: width},
                {0: batch, 1: length},
            ),
        ),
    }
    result |= lengths.families()
    for family in result.values():
        family.module.eval()
    return result
