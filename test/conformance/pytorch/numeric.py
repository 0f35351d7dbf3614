# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Families of numerical functions: spectra, linear algebra, order, random numbers."""

from __future__ import annotations

from collections.abc import Mapping

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

Results = Mapping[str, Tensor]


def spectral(x: Tensor, line: Tensor) -> Results:  # [2, 6, 8], [2, 40]
    fft, real = torch.fft, torch.view_as_real
    z = torch.complex(x, x.flip(2))
    window = torch.hann_window(16)
    spectrum = torch.stft(line, 16, 4, window=window, return_complex=True)
    plain = torch.stft(line[0], 12, 5, 10, center=False, return_complex=True)
    return {
        "fft": real(fft.fft(x)),
        "fft_dim": real(fft.fft(z, n=5, dim=1, norm="ortho")),
        "ifft": real(fft.ifft(z, norm="forward")),
        "rfft": real(fft.rfft(x, dim=1)),
        "rfft_longer": fft.rfft(x, n=11).abs(),
        "irfft": fft.irfft(z),
        "irfft_odd": fft.irfft(z, n=9, dim=1, norm="ortho"),
        "hfft": fft.hfft(z),
        "ihfft": real(fft.ihfft(x).conj_physical()),
        "rfft2": real(fft.rfft2(x, norm="ortho")),
        "irfft2": fft.irfft2(fft.rfft2(x), s=(6, 8)),
        "fft2": real(fft.fft2(z)),
        "ifft2": real(fft.ifft2(z, dim=(0, 2))),
        "fftn": real(fft.fftn(x)),
        "ifftn": real(fft.ifftn(z, dim=(1, 2))),
        "rfftn": real(fft.rfftn(x, s=(4, 6))),
        "irfftn": fft.irfftn(fft.rfftn(x), s=x.shape),
        "shift": fft.fftshift(x, (1,)) + fft.ifftshift(x[:, :, :8]),
        "shift_odd": fft.ifftshift(fft.fftshift(x[:, :5], 1)[:, :, 1:], 1),
        "frequencies": x * fft.fftfreq(8) + x[:, :, :1] * fft.rfftfreq(14),
        "stft": real(spectrum),
        "stft_plain": plain.abs(),
        "istft": torch.istft(spectrum, 16, 4, window=window),
        "istft_longer": torch.istft(spectrum * 2, 16, 4, window=window, length=43),
        "unfold_back": torch.ops.aten.unfold_backward(x[:, :2, :3], [2, 5], 1, 3, 2),
        "strided": (x + 1).as_strided((2, 3, 4), (24, 8, 2), 1),
    }


class Filter(nn.Module):
    """Layers of complex numbers: global filters and Fourier neural operators."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(6, 5, dtype=torch.cfloat))
        self.mix = nn.Parameter(torch.randn(2, 3, 2, 2, dtype=torch.cfloat))

    def forward(self, x: Tensor, angles: Tensor) -> list[Tensor]:  # [2, 2, 6, 8], [8]
        spectrum = torch.fft.rfft2(x, norm="ortho")
        filtered = torch.fft.irfft2(spectrum * self.weight, s=(6, 8), norm="ortho")
        low = torch.zeros(2, 3, 6, 5, dtype=torch.cfloat)
        mixed = torch.einsum("bixy,ioxy->boxy", spectrum[:, :, :2, :2], self.mix)
        low[:, :, :2, :2] = mixed
        turned = torch.polar(torch.ones_like(angles), angles)
        pairs = torch.view_as_complex(x.reshape(2, 2, 6, 4, 2))
        rotated = torch.view_as_real(pairs * turned[:4]).flatten(3)
        z, w = spectrum, spectrum.flip(3).conj()
        several = {
            "add": z + w,
            "sub": z - 2.5,
            "neg": -z,
            "mul": z * x[..., :5],
            "number": z * (0.5 + 2j),
            "div": z / (w + 3),
            "div_real": z / (x[..., :5].abs() + 1),
            "matmul": z.transpose(2, 3) @ w,
            "mm": torch.mm(z[0, 0], w[0, 0].t()),
            "bmm": torch.bmm(z[0], w[0].mT),
            "cat": torch.cat([z, w], 1),
            "stack": torch.stack([z, w])[1],
            "sum": z.sum(2, keepdim=True),
            "mean": z.mean(1),
            "where": torch.where(x[..., :5] > 0, z, w),
            "exp": torch.exp(z * 0.3),
            "square": torch.square(z),
            "roll": z.roll(1, 2).permute(0, 2, 1, 3).reshape(2, 6, 10),
            "expand": z[:, :1].expand(2, 3, 6, 5).unsqueeze(1).squeeze(1),
            "select": z[:, 0, 1:3],
            "full": torch.full_like(z, 2.0) + torch.ones_like(z),
            "to": x.to(torch.cfloat) * z[..., :1],
            "adjoint": (z.mH * 2 + z.adjoint()).resolve_conj(),
            "hermitian": z[0, 0].H.resolve_conj(),
            "direction": torch.sgn(z * (x[..., :5] > 0)),
            "negative": torch.negative(z),
            "reciprocal": torch.reciprocal(z + 1),
            "log": torch.log(z),
            "sqrt": torch.sqrt(z),
            "resolve": torch.resolve_neg(torch.resolve_conj(w)).clone(),
        }
        return [
            filtered,
            torch.view_as_real(low),
            rotated,
            spectrum.real + spectrum.imag,
            spectrum.angle() + x[..., :5].angle(),
            torch.where((z == w) | (z != w * 2), 1.0, 2.0),
            *(torch.view_as_real(value) for value in several.values()),
        ]


def _upper(spd: Tensor) -> Results:
    """By the operator that PyTorch 2.14 no longer has."""
    if not hasattr(torch.ops.aten, "cholesky"):
        return {}
    return {"cholesky_upper": torch.cholesky(spd, upper=True)}


def algebra(x: Tensor, y: Tensor, v: Tensor) -> Results:  # [2, 4, 4], [2, 4, 3], [2, 3]
    la = torch.linalg
    a = x + 3 * torch.eye(4)
    spd = a @ a.mT + torch.eye(4)
    points = y[0]
    return {
        "inv": la.inv(a),
        "inverse": torch.inverse(x[0]),
        "det": torch.det(a) + la.det(x),
        "slogdet": torch.stack(list(la.slogdet(a))),
        "logdet": torch.logdet(spd) + torch.ops.aten.slogdet(spd)[1],
        "solve": la.solve(x, y) + la.solve_ex(a, y).result,
        "solve_vector": la.solve(a, y[:, :, 0]),
        "solve_left": la.solve(a, y.mT, left=False),
        "triangular": la.solve_triangular(a.triu(), y, upper=True),
        "triangular_unit": la.solve_triangular(
            a, y.mT, upper=False, left=False, unitriangular=True
        ),
        "triangular_old": torch.triangular_solve(y, a, transpose=True).solution,
        "cholesky": la.cholesky(spd),
        **_upper(spd[0]),
        "cholesky_solve": torch.cholesky_solve(y, la.cholesky(spd)),
        "cholesky_inverse": torch.cholesky_inverse(la.cholesky(spd[1])),
        "norm": la.norm(x),
        "norm_one": la.matrix_norm(x, 1),
        "norm_rows": la.matrix_norm(x, float("inf"), keepdim=True),
        "norm_fro": torch.norm(x, "fro", dim=(1, 2)),
        "norm_none": la.vector_norm(x.round(), 0, -1),
        "norm_three": la.norm(x, 3, dim=1),
        "cdist": torch.cdist(x, y.mT) + torch.cdist(x, y.mT, p=1),
        "pdist": F.pdist(points),
        "pairwise": F.pairwise_distance(x, x.flip(1), keepdim=True),
        "cross": la.cross(y, y.flip(1)),
        "cross_old": torch.cross(v, v.flip(0), dim=1),
        "vecdot": la.vecdot(x, x.flip(1)),
        "multi_dot": la.multi_dot([x[0], x[1], y[0]]),
        "chain": torch.chain_matmul(x[1], x[0]),
        "power": la.matrix_power(a * 0.3, 5) + torch.matrix_power(a, -2),
        "tensordot": torch.tensordot(x, y, ([1, 0], [1, 0])),
        "inner": torch.inner(x[0], x),
        "kron": torch.kron(v, x[0]),
        "addbmm": torch.addbmm(y[0], x, y, beta=0.5),
        "addr": torch.addr(y[0], x[0, 0], v[0], alpha=2),
        "bilinear": F.bilinear(
            x, y.mT[:, :1].expand(2, 4, 4), torch.ones(3, 4, 4), v[0]
        ),
        "trace": torch.trace(x[0]),
        "matmul": la.matmul(x, y),
        "diagonal": la.diagonal(x, offset=1),
        "diag": torch.diag(v[0], 1)[:3, 1:] + torch.diag(x[0], -1),
        "diagonal_scatter": torch.diagonal_scatter(x, v, 1, 1, 2),
        "ger": torch.ger(v[0], v[1]),
    }


def special(x: Tensor, y: Tensor, i: Tensor) -> Results:  # [3, 4], [3, 4]
    unit = torch.sigmoid(x)
    sp, aten = torch.special, torch.ops.aten
    infinite = torch.where(x > 1, float("inf"), torch.where(y > 1, float("nan"), x))
    aliases = "absolute negative fix sgn"
    result = {name: getattr(torch, name)(x) for name in aliases.split()}
    for name in ("arcsin", "arccos", "arctan", "arctanh", "arcsinh"):
        result[name] = getattr(aten, name)(x.tanh() * 0.9)
    result["arccosh"] = aten.arccosh(x.abs() + 1.5)
    for name in ("greater", "greater_equal", "less", "less_equal"):
        result[name] = getattr(aten, name)(x, y)
    for name in ("erf", "erfc", "exp2", "expit", "expm1", "round"):
        result[f"special_{name}"] = getattr(aten, f"special_{name}")(x)
    return {
        **result,
        "log1p": aten.special_log1p(unit),
        "special_softmax": aten.special_softmax(x, 1),
        "special_log_softmax": aten.special_log_softmax(x, 1),
        "special_logsumexp": aten.special_logsumexp(x, [1]),
        "logaddexp": torch.logaddexp(x, y) + torch.logaddexp2(x, y),
        "logaddexp_inf": torch.logaddexp(x * float("-inf"), y * float("-inf"))
        if x.dim() == 1
        else torch.logaddexp(torch.full_like(x, float("-inf")), y),
        "xlogy": torch.xlogy(i.clamp(min=0), unit) + aten.special_xlogy(x, unit),
        "xlog1py": sp.xlog1py(i.clamp(min=0), unit),
        "logit": torch.logit(unit) + aten.special_logit(unit, 0.2),
        "hypot": torch.hypot(x, y),
        "copysign": torch.copysign(x, -y),
        "signbit": torch.signbit(x * 0),
        "erfinv": torch.erfinv(torch.tensor([-1.0, -0.9999999, -0.6, 0, 1e-6, 0.97, 1]))
        + torch.special.erfinv(unit).flatten()[0],
        "ndtri": torch.special.ndtri(unit),
        "lgamma": torch.lgamma(x * 3) + torch.special.gammaln(x.abs() * 30),
        "lgamma_far": torch.lgamma(torch.tensor([1e-6, 1.0, 2.0, 7.5, 8.0, 1e5, -9.4])),
        "digamma": torch.digamma(x * 3) + torch.special.psi(unit + 7.5),
        "digamma_far": torch.special.digamma(torch.tensor([1e-3, 1.5, 8.0, 1e5])),
        "sinc": torch.sinc(x.round() / 2) + aten.special_sinc(x),
        "heaviside": torch.heaviside(x.round(), y),
        "degrees": torch.rad2deg(x) + torch.deg2rad(y),
        "ldexp": torch.ldexp(x, i),
        "isneginf": torch.isneginf(-infinite),
        "isposinf": torch.isposinf(infinite),
        "fmax": torch.fmax(infinite, y) + torch.fmin(x, infinite),
        "isclose": torch.isclose(x, x + y * 1e-5, equal_nan=True),
        "ndtr": sp.ndtr(x),
        "entr": sp.entr(x.round() + 1),
        "shift": (i << 3) + (i >> 1) + torch.bitwise_left_shift(i, 2),
        "shift_right": torch.bitwise_right_shift(i, 2),
        "round_decimals": torch.round(x, decimals=2),
        "mse": F.mse_loss(x, y) + F.l1_loss(x, y, reduction="sum"),
        "smooth": F.smooth_l1_loss(x, y, reduction="none", beta=0.5),
        "huber": F.huber_loss(x, y, delta=0.7),
        "lift": aten.native_dropout(x, 0.5, False)[0] + aten.lift(y),
        "prelu_kernel": aten._prelu_kernel(x, torch.full((1, 4), 0.2)),
        "item": torch.positive(x) * y.sum().item(),
    }


def ordered(x: Tensor, i: Tensor) -> Results:  # [3, 7], [3, 7] 0..
    middle = x.median(1)
    third = x.kthvalue(3, 1, keepdim=True)
    largest, smallest = x.round().cummax(1), i.cummin(0)
    holes = torch.where(x > 1, float("nan"), x)
    low, high = torch.aminmax(x, dim=1)
    both = torch.ops.aten._aminmax(x)
    return {
        "median": x.median(),
        "median_dim": middle.values,
        "median_places": middle.indices,
        "kth": third.values,
        "kth_places": third.indices,
        "quantile": torch.quantile(x, torch.tensor([0.1, 0.75]), 1),
        "quantile_one": torch.quantile(x, 0.3, interpolation="nearest"),
        "quantile_keep": torch.quantile(x, 0.3, 0, True, interpolation="midpoint"),
        "nansum": holes.nansum(1),
        "nanmean": holes.nanmean(),
        "count_nonzero": torch.count_nonzero(i, 1),
        "aminmax": low + high,
        "aminmax_all": both[0] - both[1],
        "cummax": largest.values,
        "cummax_places": largest.indices,
        "cummin": smallest.values,
        "cummin_places": smallest.indices,
        "logcumsumexp": x.logcumsumexp(1) + torch.ops.aten._logcumsumexp(x, 0),
        "histc": torch.histc(x, 5, -1, 1),
        "searchsorted": torch.searchsorted(x.sort(1).values, x[:, :2]),
        "searchsorted_right": torch.searchsorted(
            torch.tensor([1, 3, 5]), i, side="right"
        ),
        "isin": torch.isin(i, torch.tensor([2, 5])),
        "take": x.take(i),
        "put": x.put(i[0, :3], x[0, :3], accumulate=True),
        "index_fill": x.index_fill(1, i[0, :2], 0.5),
        "bag": F.embedding_bag(i, x.mT.repeat(2, 1)),
        "bag_core": torch.ops.aten._embedding_bag(x.mT, i[0], torch.tensor([0, 3]))[0],
        "bag_max": F.embedding_bag(i, x.mT.repeat(2, 1), mode="max"),
        "bag_uneven": F.embedding_bag(
            i.flatten(), x.mT.repeat(2, 1), torch.tensor([0, 4, 4, 9]), mode="sum"
        ),
        "bag_offsets": F.embedding_bag(
            i.flatten(),
            x.mT.repeat(2, 1),
            i[0].sort().values * 0 + torch.arange(7) * 2,
            mode="mean",
        ),
        "masked_scatter": x.masked_scatter(x > 0, x.flip(0)),
        "rot90": torch.rot90(x) + torch.rot90(x, 3),
        "rot180": torch.rot90(x, 2),
        "atleast": torch.atleast_3d(x[0]) + torch.atleast_2d(x[0, 0])[0],
        "atleast_one": torch.atleast_1d(x[0, 0]),
        "broadcast": torch.broadcast_tensors(x, x[:, :1])[1],
        "columns": torch.column_stack([x[0], x.mT]),
        "rows": torch.row_stack([x, x]),
        "hsplit": torch.hsplit(x, [2, 5])[1],
        "vsplit": torch.vsplit(x, 3)[2],
        "dsplit": torch.dsplit(x[None, :, :6], 2)[1],
        "unsafe": torch.unsafe_chunk(x, 2, 1)[1] + torch.unsafe_split(x, 3, 1)[0],
        "unsafe_sizes": torch.unsafe_split_with_sizes(x, [3, 4], 1)[0],
        "triangle": torch.triu_indices(3, 4, 1) + torch.tril_indices(3, 3).flip(0),
        "logspace": torch.logspace(0, 2, 7) * x,
        "windows": x[0] * torch.hamming_window(7)
        + torch.blackman_window(7, periodic=False)
        + torch.bartlett_window(7)
        + torch.kaiser_window(7, True, 5.0)
        + torch.hann_window(7),
        "each": x.repeat_interleave(torch.tensor([2, 0, 1]), 0),
    }


def unpooled(x: Tensor) -> Results:  # [2, 3, 6, 8]
    y, places = F.max_pool2d(x, 2, return_indices=True)
    return {
        "places": places,
        "unpooled": F.max_unpool2d(y * 2, places, 2),
        "mT": torch.adjoint(x[0]) + x[0].mH,
        "shuffle": torch.native_channel_shuffle(x[:, :2], 2),
        "stack": torch.ops.aten._stack([x, x]),
    }


def found(x: Tensor, mask: Tensor) -> Results:  # [4, 5], [4] of bool
    places = x.nonzero()
    rows, columns = torch.where(x > 0.2)
    kept = x[mask]
    written = x.clone()
    written[mask] = kept * 2
    values, inverse, counts = torch.unique(
        x.round(), return_inverse=True, return_counts=True
    )
    lines, back = torch.unique(x[:, :2].sign(), dim=0, return_inverse=True)
    runs = x.flatten().sign()
    return {
        "runs": torch.unique_consecutive(runs),
        "runs_inverse": torch.unique_consecutive(x.sign(), return_inverse=True)[1],
        "nonzero": places,
        "argwhere": torch.argwhere(x > 0.5),
        "where": rows + columns,
        "kept": kept,
        "kept_elements": x[x > 0] * 2,
        "masked_select": torch.masked_select(x, mask[:, None]),
        "sum": kept.sum(0),
        "mean": x[x > 0].mean(),
        "both": kept @ torch.ones(5, 2),
        "written": written,
        "like": torch.zeros_like(kept) + 1,
        "count": torch.full((2,), kept.shape[0]) + 1,
        "first": torch.cat([kept, x[:1]], 0),
        "static": torch.nonzero_static(x > 0.3, size=30, fill_value=-7),
        "static_few": torch.nonzero_static(x > 0.3, size=2),
        "numpy": torch.ops.aten.nonzero_numpy(x > 1)[1],
        "unique": values,
        "inverse": inverse,
        "counts": counts,
        "lines": lines,
        "back": back,
    }


def random(x: Tensor) -> Results:  # [3, 4]
    """What does not depend on the numbers that are drawn."""
    chances = torch.softmax(x, 1)
    perm = torch.randperm(9)
    drawn = torch.multinomial(chances, 4)
    return {
        "rand": (torch.rand(3, 4) >= 0) & (torch.rand_like(x) < 1),
        "randn": torch.randn(64, 64).abs().mean().sub(0.8).abs() < 0.1,
        "randn_like": torch.randn_like(x) * 0 + x,
        "normal": (torch.normal(x, 1e-6) - x).abs() < 1e-4,
        "normal_std": torch.normal(5.0, x.abs() * 0 + 1e-6).round(),
        "normal_in_place": torch.empty(3, 4).normal_(2, 1e-5).round(),
        "uniform": torch.empty(3, 4).uniform_(2.1, 2.4).round(),
        "randint": torch.randint(3, 4, (3, 4)) + torch.randint_like(x, 1).long(),
        "bernoulli": torch.bernoulli(torch.ones_like(x)) + x.bernoulli(0.0),
        "randperm": perm.sort().values,
        "multinomial": drawn.sort(1).values,
        "replacement": torch.multinomial(chances, 5, True) < 4,
        "functional": torch.ops.aten.normal_functional(x, 3.0, 1e-5).round(),
    }


class Projected(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(4, 5, 2, batch_first=True, bidirectional=True, proj_size=3)
        self.plain = nn.LSTM(4, 5, bias=False, proj_size=2)

    def forward(self, x: Tensor, h: Tensor, c: Tensor) -> list[Tensor]:
        a, (b, d) = self.lstm(x, (h, c))
        e, (f, g) = self.plain(x)
        return [a, b, d, e, f, g]
