# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Graphs, clouds of points, tables, time series, and other data that is no image."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from kinds.family import Call, Example, family, image


def _edges(nodes: int = 10, edges: int = 24) -> Tensor:
    return torch.randint(0, nodes, (2, edges))


class _Gcn(nn.Module):
    """Messages along edges, divided by the degrees."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(8, 16), nn.Linear(16, 4)])

    def forward(self, x: Tensor, edges: Tensor) -> Tensor:
        source, target = edges
        ones = torch.ones(source.shape[0])
        degree = torch.ones(x.shape[0]).scatter_add(0, target, ones)
        scale = degree.rsqrt()
        weight = scale[source] * scale[target]
        for layer in self.layers:
            y = layer(x)
            sums = torch.zeros_like(y).index_add(0, target, y[source] * weight[:, None])
            x = (sums + y / degree[:, None]).relu()
        return x.log_softmax(1)


@family
def gcn() -> Example:
    return Example(_Gcn(), [torch.randn(10, 8), _edges()])


class _Gat(nn.Module):
    """Attention over the edges that end at a node."""

    def __init__(self) -> None:
        super().__init__()
        self.project = nn.Linear(8, 32, bias=False)
        self.one, self.two = (nn.Parameter(torch.randn(1, 4, 8)) for _ in range(2))
        self.bias = nn.Parameter(torch.randn(32))

    def forward(self, x: Tensor, edges: Tensor) -> Tensor:
        nodes = x.shape[0]
        source, target = edges
        h = self.project(x).view(nodes, 4, 8)
        one, two = (h * self.one).sum(-1), (h * self.two).sum(-1)
        score = nn.functional.leaky_relu(one[source] + two[target], 0.2)
        place = target[:, None].expand_as(score)
        largest = torch.full((nodes, 4), float("-inf")).scatter_reduce(
            0, place, score, "amax"
        )
        score = (score - largest[target]).exp()
        sums = torch.zeros(nodes, 4).scatter_add(0, place, score)
        share = score / (sums[target] + 1e-16)
        y = torch.zeros(nodes, 4, 8).index_add(0, target, h[source] * share[..., None])
        return nn.functional.elu(y.flatten(1) + self.bias)


@family
def gat() -> Example:
    return Example(_Gat(), [torch.randn(10, 8), _edges()])


def _geometric(name: str, **changes: Any) -> Example:
    import torch_geometric.nn

    layer = getattr(torch_geometric.nn, name)
    return Example(layer(8, 16, **changes), [torch.randn(10, 8), _edges()])


@family
def geometric_gcn() -> Example:
    return _geometric("GCNConv")


@family
def geometric_gat() -> Example:
    return _geometric("GATConv", heads=2)


@family
def geometric_sage() -> Example:
    return _geometric("SAGEConv", aggr="max")


class _Egnn(nn.Module):
    """Distances between atoms, and energies summed for each molecule (SchNet)."""

    def __init__(self) -> None:
        super().__init__()
        self.kinds = nn.Embedding(10, 16)
        self.filter = nn.Sequential(nn.Linear(8, 16), nn.Softplus(), nn.Linear(16, 16))
        self.head = nn.Sequential(nn.Linear(16, 8), nn.Softplus(), nn.Linear(8, 1))

    def forward(
        self, kinds: Tensor, place: Tensor, edges: Tensor, group: Tensor
    ) -> Any:
        x = self.kinds(kinds)
        far = (place[edges[0]] - place[edges[1]]).norm(dim=1)
        basis = torch.exp(-((far[:, None] - torch.linspace(0, 4, 8)) ** 2))
        y = x[edges[0]] * self.filter(basis)
        x = x.index_add(0, edges[1], y)
        return torch.zeros(3, 1).index_add(0, group, self.head(x))


@family
def schnet() -> Example:
    group = torch.tensor([0, 0, 0, 1, 1, 1, 2, 2, 2, 2])
    return Example(
        _Egnn(), [torch.randint(0, 10, (10,)), torch.randn(10, 3), _edges(), group]
    )


class _PointNet(nn.Module):
    """Points moved by a learned matrix, and the maximum over them."""

    def __init__(self) -> None:
        super().__init__()
        self.turn = nn.Sequential(nn.Conv1d(3, 16, 1), nn.BatchNorm1d(16), nn.ReLU())
        self.matrix = nn.Linear(16, 9)
        self.body = nn.Sequential(nn.Conv1d(3, 32, 1), nn.BatchNorm1d(32), nn.ReLU())
        self.head = nn.Conv1d(64, 5, 1)

    def forward(self, x: Tensor) -> Any:
        y = self.matrix(self.turn(x).max(2)[0]).view(-1, 3, 3) + torch.eye(3)
        y = self.body(torch.bmm(x.transpose(1, 2), y).transpose(1, 2))
        whole = y.max(2, keepdim=True)[0].repeat(1, 1, x.shape[2])
        return self.head(torch.cat([y, whole], 1)).log_softmax(1)


@family
def pointnet() -> Example:
    return Example(_PointNet(), [torch.randn(1, 3, 64)])


class _PointNet2(nn.Module):
    """Farthest points, the points around them, and interpolation back."""

    def __init__(self) -> None:
        super().__init__()
        self.local = nn.Sequential(nn.Conv2d(3, 16, 1), nn.BatchNorm2d(16), nn.ReLU())
        self.head = nn.Conv1d(16, 5, 1)

    def forward(self, x: Tensor) -> Any:
        batch, count, _ = x.shape
        rows = torch.arange(batch)
        far = torch.full((batch, count), 1e10)
        last = torch.zeros(batch, dtype=torch.long)
        chosen = []
        for _ in range(8):
            chosen.append(last)
            center = x[rows, last][:, None]
            far = torch.minimum(far, ((x - center) ** 2).sum(-1))
            last = far.max(-1)[1]
        index = torch.stack(chosen, 1)
        centers = x.gather(1, index[..., None].expand(-1, -1, 3))
        apart = torch.cdist(centers, x)
        near = torch.arange(count).expand(batch, 8, count).clone()
        near[apart > 1.0] = count
        near = near.sort(-1)[0][:, :, :6]
        first = near[:, :, :1].expand(-1, -1, 6)
        near = torch.where(near == count, first, near)
        group = x[rows[:, None, None], near] - centers[:, :, None]
        y = self.local(group.permute(0, 3, 1, 2)).max(3)[0]
        back, three = torch.cdist(x, centers).topk(3, largest=False)
        weight = 1 / (back + 0.1)
        weight = weight / weight.sum(2, keepdim=True)
        y = y.transpose(1, 2)[rows[:, None, None], three]
        y = (y * weight[..., None]).sum(2)
        return self.head(y.transpose(1, 2))


@family
def pointnet2() -> Example:
    return Example(_PointNet2(), [torch.randn(2, 32, 3)])


class _Dgcnn(nn.Module):
    """Convolutions over the nearest points."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Sequential(
            nn.Conv2d(6, 16, 1), nn.BatchNorm2d(16), nn.LeakyReLU(0.2)
        )
        self.head = nn.Linear(32, 5)

    def forward(self, x: Tensor) -> Any:
        batch, width, count = x.shape
        inner = -2 * torch.matmul(x.transpose(2, 1), x)
        square = (x**2).sum(1, keepdim=True)
        near = (-square - inner - square.transpose(2, 1)).topk(k=5, dim=-1)[1]
        near = (near + torch.arange(batch).view(-1, 1, 1) * count).view(-1)
        flat = x.transpose(2, 1).contiguous().view(batch * count, -1)
        around = flat[near, :].view(batch, count, 5, width)
        own = flat.view(batch, count, 1, width).repeat(1, 1, 5, 1)
        y = self.layer(torch.cat([around - own, own], 3).permute(0, 3, 1, 2))
        y = y.max(dim=-1)[0]
        y = torch.cat(
            [
                nn.functional.adaptive_max_pool1d(y, 1).view(batch, -1),
                nn.functional.adaptive_avg_pool1d(y, 1).view(batch, -1),
            ],
            1,
        )
        return self.head(y)


@family
def dgcnn() -> Example:
    return Example(_Dgcnn(), [torch.randn(2, 3, 24)])


class _Pillars(nn.Module):
    """Points scattered into an image of pillars (PointPillars)."""

    def __init__(self) -> None:
        super().__init__()
        self.points = nn.Linear(9, 16, bias=False)
        self.norm = nn.BatchNorm1d(16)
        self.body = nn.Sequential(
            nn.Conv2d(16, 16, 3, 2, 1), nn.ReLU(), nn.ConvTranspose2d(16, 16, 2, 2)
        )
        self.head = nn.Conv2d(16, 7, 1)

    def forward(self, x: Tensor, place: Tensor) -> Any:
        y = self.norm(self.points(x).permute(0, 2, 1)).permute(0, 2, 1).relu()
        y = y.max(1)[0]
        canvas = torch.zeros(16, 16 * 16)
        index = place[:, 0] * 16 + place[:, 1]
        canvas[:, index] = y.t()
        return self.head(self.body(canvas.view(1, 16, 16, 16)))


@family
def pointpillars() -> Example:
    place = torch.randperm(256)[:12]
    place = torch.stack([place // 16, place % 16], 1)
    return Example(_Pillars(), [torch.randn(12, 5, 9), place])


class _Dlrm(nn.Module):
    """Sums of embeddings of several categories, and products between them."""

    def __init__(self) -> None:
        super().__init__()
        self.bags = nn.ModuleList(
            nn.EmbeddingBag(n, 8, mode="sum") for n in (20, 30, 40)
        )
        self.dense = nn.Sequential(nn.Linear(6, 8), nn.ReLU())
        self.head = nn.Sequential(nn.Linear(14, 8), nn.ReLU(), nn.Linear(8, 1))
        rows, columns = torch.tril_indices(4, 4, -1)
        self.register_buffer("rows", rows)
        self.register_buffer("columns", columns)

    def forward(self, x: Tensor, *words: Tensor) -> Any:
        y = self.dense(x)
        vectors = torch.stack([y, *(bag(w) for bag, w in zip(self.bags, words))], 1)
        products = torch.bmm(vectors, vectors.transpose(1, 2))
        flat = products[:, self.rows, self.columns]
        return self.head(torch.cat([y, flat], 1)).sigmoid()


@family
def dlrm() -> Example:
    words = [torch.randint(0, n, (3, 4)) for n in (20, 30, 40)]
    return Example(_Dlrm(), [torch.randn(3, 6), *words])


class _Bags(nn.Module):
    """Means of embeddings over pieces that offsets mark."""

    def __init__(self) -> None:
        super().__init__()
        self.bag = nn.EmbeddingBag(40, 8, mode="mean")
        self.head = nn.Linear(8, 3)

    def forward(self, words: Tensor, offsets: Tensor) -> Any:
        return self.head(self.bag(words, offsets))


@family
def embedding_bag() -> Example:
    return Example(_Bags(), [torch.randint(0, 40, (11,)), torch.tensor([0, 3, 4, 8])])


class _DeepFm(nn.Module):
    """Factorization machine, cross network, and layers beside it (DeepFM, DCN)."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("begins", torch.tensor([0, 10, 30, 35]))
        self.wide, self.words = nn.Embedding(60, 1), nn.Embedding(60, 8)
        self.deep = nn.Sequential(
            nn.Linear(32, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 1)
        )
        self.cross = nn.Linear(32, 32)
        self.last = nn.Linear(32, 1)

    def forward(self, x: Tensor) -> Any:
        x = x + self.begins
        y = self.words(x)
        square = y.sum(1) ** 2 - (y**2).sum(1)
        flat = y.flatten(1)
        crossed = flat * self.cross(flat) + flat
        total = self.wide(x).sum(1) + 0.5 * square.sum(1, keepdim=True)
        return (total + self.deep(flat) + self.last(crossed)).squeeze(1).sigmoid()


@family
def deepfm() -> Example:
    return Example(_DeepFm(), [torch.randint(0, 5, (3, 4))])


class _Din(nn.Module):
    """What someone clicked, weighed by a candidate (DIN), and scores of all items."""

    def __init__(self) -> None:
        super().__init__()
        self.items = nn.Embedding(50, 8, padding_idx=0)
        self.gate = nn.Sequential(nn.Linear(32, 8), nn.PReLU(), nn.Linear(8, 1))
        self.head = nn.Linear(16, 8)

    def forward(self, seen: Tensor, item: Tensor) -> Any:
        past, one = self.items(seen), self.items(item)
        other = one[:, None].expand_as(past)
        score = self.gate(torch.cat([past, other, past - other, past * other], -1))
        score = score.masked_fill((seen == 0)[..., None], -1e9).softmax(1)
        user = self.head(torch.cat([(score * past).sum(1), one], 1))
        user = nn.functional.normalize(user, dim=1)
        all_items = nn.functional.normalize(self.items.weight, dim=1)
        values, index = (user @ all_items.t()).topk(5)
        return values, index


@family
def din() -> Example:
    seen = torch.randint(1, 50, (2, 6))
    seen[0, 4:] = 0
    return Example(_Din(), [seen, torch.randint(1, 50, (2,))])


class _SasRec(nn.Module):
    """The next item, from those before (SASRec)."""

    def __init__(self) -> None:
        super().__init__()
        self.items = nn.Embedding(50, 16, padding_idx=0)
        self.places = nn.Embedding(10, 16)
        layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, norm_first=True)
        self.body = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)

    def forward(self, seen: Tensor) -> Any:
        length = seen.shape[1]
        mask = nn.Transformer.generate_square_subsequent_mask(length)
        x = self.items(seen) * 4 + self.places(torch.arange(length))
        y = self.body(x, mask=mask, is_causal=True)
        return y[:, -1] @ self.items.weight.t()


@family
def sasrec() -> Example:
    return Example(_SasRec(), [torch.randint(1, 50, (2, 10))])


class _Forecast(nn.Module):
    """A forecast step by step from an LSTM's own results (DeepAR)."""

    def __init__(self) -> None:
        super().__init__()
        self.memory = nn.LSTM(3, 16, 2, batch_first=True)
        self.cells = nn.ModuleList([nn.LSTMCell(3, 16)])
        self.mean, self.width = nn.Linear(16, 1), nn.Linear(16, 1)

    def forward(self, past: Tensor, future: Tensor) -> Any:
        scale = 1 + past[:, :, :1].abs().mean(1, keepdim=True)
        y, (h, c) = self.memory(torch.cat([past[:, :, :1] / scale, past[:, :, 1:]], 2))
        h, c, results = h[-1], c[-1], []
        mean = self.mean(y[:, -1])
        for step in range(future.shape[1]):
            h, c = self.cells[0](torch.cat([mean, future[:, step]], 1), (h, c))
            mean = self.mean(h)
            results.append(torch.cat([mean, nn.functional.softplus(self.width(h))], 1))
        return torch.stack(results, 1) * scale


@family
def deepar() -> Example:
    return Example(_Forecast(), [torch.randn(2, 12, 3), torch.randn(2, 5, 2)])


class _Tcn(nn.Module):
    """Causal dilated convolutions with normalised weights."""

    def __init__(self) -> None:
        super().__init__()
        from torch.nn.utils.parametrizations import weight_norm

        self.layers = nn.ModuleList(
            weight_norm(nn.Conv1d(8, 8, 3, dilation=2**i)) for i in range(3)
        )
        self.first, self.last = nn.Conv1d(2, 8, 1), nn.Conv1d(8, 1, 1)

    def forward(self, x: Tensor) -> Any:
        y = self.first(x)
        for index, layer in enumerate(self.layers):
            y = y + layer(nn.functional.pad(y, (2 * 2**index, 0))).relu()
        return self.last(y)[:, :, -1]


@family
def tcn() -> Example:
    return Example(_Tcn(), [torch.randn(2, 2, 20)])


class _NBeats(nn.Module):
    """Blocks that explain a part of the past, with trends and Fourier series."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.Linear(20, 16), nn.ReLU(), nn.Linear(16, 8))
            for _ in range(2)
        )
        place = torch.arange(25) / 20
        trend = torch.stack([place**i for i in range(4)])
        waves = torch.cat(
            [
                torch.stack([(2 * torch.pi * i * place).cos() for i in range(2)]),
                torch.stack([(2 * torch.pi * i * place).sin() for i in range(2)]),
            ]
        )
        self.register_buffer("trend", trend)
        self.register_buffer("waves", waves)

    def forward(self, x: Tensor) -> Any:
        total = torch.zeros(x.shape[0], 5)
        for block, basis in zip(self.blocks, (self.trend, self.waves)):
            back, ahead = block(x).chunk(2, 1)
            x = x - torch.einsum("bp,pt->bt", back, basis[:, :20])
            total = total + torch.einsum("bp,pt->bt", ahead, basis[:, 20:])
        return total


@family
def nbeats() -> Example:
    return Example(_NBeats(), [torch.randn(2, 20)])


class _TimesNet(nn.Module):
    """Periods found by a Fourier transform weigh the mean of the series (FEDformer)."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(2, 4, 8))

    def forward(self, x: Tensor) -> Any:
        y = torch.fft.rfft(x.transpose(1, 2), dim=-1)[:, :, :8]
        real = y.real * self.weight[0] - y.imag * self.weight[1]
        imaginary = y.real * self.weight[1] + y.imag * self.weight[0]
        strength, period = (y.real**2 + y.imag**2).mean(1).topk(2)
        full = torch.complex(
            nn.functional.pad(real, (0, 3)), nn.functional.pad(imaginary, (0, 3))
        )
        return torch.fft.irfft(full, n=20, dim=-1).transpose(1, 2), strength, period


@family
def fedformer() -> Example:
    return Example(_TimesNet(), [torch.randn(1, 20, 4)])


@family
def patchtst() -> Example:
    from transformers import PatchTSTConfig, PatchTSTForPrediction

    config = PatchTSTConfig(
        num_input_channels=2,
        context_length=32,
        patch_length=8,
        patch_stride=8,
        num_hidden_layers=1,
        d_model=16,
        num_attention_heads=2,
        ffn_dim=32,
        prediction_length=6,
        random_mask_ratio=0.0,
        loss="mse",
    )

    def call(model: nn.Module, x: Tensor) -> Any:
        return model(past_values=x).prediction_outputs

    return Example(Call(PatchTSTForPrediction(config), call), [torch.randn(1, 32, 2)])


@family
def patchtsmixer() -> Example:
    from transformers import PatchTSMixerConfig, PatchTSMixerForPrediction

    config = PatchTSMixerConfig(
        num_input_channels=2,
        context_length=32,
        patch_length=8,
        patch_stride=8,
        num_layers=1,
        d_model=16,
        prediction_length=6,
        loss="mse",
    )

    def call(model: nn.Module, x: Tensor) -> Any:
        return model(past_values=x).prediction_outputs

    return Example(
        Call(PatchTSMixerForPrediction(config), call), [torch.randn(1, 32, 2)]
    )


@family
def autoformer() -> Example:
    from transformers import AutoformerConfig, AutoformerModel

    config = AutoformerConfig(
        prediction_length=4,
        context_length=8,
        input_size=1,
        lags_sequence=[1, 2],
        num_time_features=1,
        d_model=16,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=32,
        decoder_ffn_dim=32,
        moving_average=3,
        autocorrelation_factor=1,
        label_length=4,
    )

    def call(model: nn.Module, past: Tensor, when: Tensor, later: Tensor) -> Any:
        return model(
            past_values=past,
            past_time_features=when,
            past_observed_mask=torch.ones_like(past),
            future_time_features=later,
            future_values=torch.zeros(1, 4),
        )[0]

    inputs = [torch.randn(1, 10), torch.randn(1, 10, 1), torch.randn(1, 4, 1)]
    return Example(Call(AutoformerModel(config), call), inputs)


class _Nerf(nn.Module):
    """Colours along rays from positions in sines, and their sum by transparency."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(39, 32), nn.ReLU(), nn.Linear(32, 4))

    def forward(self, origin: Tensor, way: Tensor) -> Any:
        depth = torch.linspace(2, 6, 12)
        place = origin[:, None] + way[:, None] * depth[:, None]
        parts = [place]
        for power in range(6):
            parts += [(2.0**power * place).sin(), (2.0**power * place).cos()]
        y = self.body(torch.cat(parts, -1))
        color, density = y[..., :3].sigmoid(), y[..., 3].relu()
        apart = torch.cat([depth[1:] - depth[:-1], torch.tensor([1e10])])
        alpha = 1 - torch.exp(-density * apart)
        clear = torch.cumprod(
            torch.cat([torch.ones(alpha.shape[0], 1), 1 - alpha + 1e-10], 1), 1
        )[:, :-1]
        weight = alpha * clear
        return (weight[..., None] * color).sum(1), (weight * depth).sum(1)


@family
def nerf() -> Example:
    return Example(_Nerf(), [torch.randn(5, 3), torch.randn(5, 3)])


class _Flow(nn.Module):
    """An invertible network: coupling layers and their determinant (RealNVP)."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 8))
            for _ in range(3)
        )
        self.weight = nn.Parameter(torch.randn(8, 8))

    def forward(self, x: Tensor) -> Any:
        total = torch.zeros(x.shape[0])
        for layer in self.layers:
            one, two = x.chunk(2, 1)
            scale, shift = layer(one).chunk(2, 1)
            scale = scale.tanh()
            x = torch.cat([two * scale.exp() + shift, one], 1)
            x = x @ self.weight
            total = total + scale.sum(1)
        return x, -0.5 * (x**2).sum(1) + total


@family
def normalizing_flow() -> Example:
    return Example(_Flow(), [torch.randn(3, 8)])


class _Policy(nn.Module):
    """A policy for a robot: a mean, a clipped spread, the likelihood of an action."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(10, 16), nn.ELU(), nn.Linear(16, 16))
        self.mean, self.spread = nn.Linear(16, 4), nn.Linear(16, 4)
        self.value = nn.Linear(16, 1)

    def forward(self, x: Tensor, action: Tensor) -> Any:
        y = self.body(x).relu()
        mean = self.mean(y)
        spread = self.spread(y).clamp(-5, 2).exp()
        chance = torch.distributions.Normal(mean, spread, validate_args=False)
        return mean.tanh(), chance.log_prob(action).sum(1), self.value(y)


@family
def policy() -> Example:
    return Example(_Policy(), [torch.randn(2, 10), torch.randn(2, 4)])


@family
def decision_transformer() -> Example:
    from transformers import DecisionTransformerConfig, DecisionTransformerModel

    config = DecisionTransformerConfig(
        state_dim=6,
        act_dim=3,
        hidden_size=32,
        max_ep_len=40,
        n_layer=1,
        n_head=2,
        n_positions=64,
    )

    def call(
        model: Any, state: Tensor, action: Tensor, gain: Tensor, step: Tensor
    ) -> Any:
        y = model(
            states=state,
            actions=action,
            rewards=gain,
            returns_to_go=gain,
            timesteps=step,
            attention_mask=torch.ones(1, 5, dtype=torch.long),
        )
        return y.action_preds, y.state_preds

    inputs = [
        torch.randn(1, 5, 6),
        torch.randn(1, 5, 3),
        torch.randn(1, 5, 1),
        torch.arange(5)[None],
    ]
    return Example(Call(DecisionTransformerModel(config), call), inputs)


class _Capsules(nn.Module):
    """Capsules that agree with each other."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(1, 16, 5, 2)
        self.weight = nn.Parameter(torch.randn(1, 36 * 4, 5, 6, 4) * 0.1)

    def forward(self, x: Tensor) -> Any:
        y = self.first(x)
        y = y.view(y.shape[0], 4, 4, -1).permute(0, 1, 3, 2).reshape(y.shape[0], -1, 4)
        votes = (self.weight @ y[:, :, None, :, None])[..., 0]
        b = torch.zeros(votes.shape[:3])
        for _ in range(2):
            share = b.softmax(2)
            s = (share[..., None] * votes).sum(1)
            size = (s**2).sum(-1, keepdim=True)
            v = size / (1 + size) * s / (size.sqrt() + 1e-8)
            b = b + torch.einsum("bnkd,bkd->bnk", votes, v)
        return v.norm(dim=-1)


@family
def capsules() -> Example:
    return Example(_Capsules(), [image(1, 1, 16, 16)])
