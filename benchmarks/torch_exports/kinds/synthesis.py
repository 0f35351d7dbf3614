# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Synthesis of speech, and codecs of sound."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from kinds.family import Call, Example, family, tokens


def _encodec() -> nn.Module:
    from transformers import EncodecConfig, EncodecModel

    config = EncodecConfig(
        num_filters=4,
        hidden_size=16,
        codebook_dim=16,
        codebook_size=32,
        upsampling_ratios=[4, 2],
        num_lstm_layers=2,
        target_bandwidths=[24.0],
        sampling_rate=8000,
    )
    network: nn.Module = EncodecModel(config)
    return network


@family
def encodec_encoder() -> Example:
    def call(model: nn.Module, x: Tensor) -> Any:
        return model.quantizer.encode(model.encoder(x), 24.0)

    return Example(Call(_encodec(), call), [torch.randn(1, 1, 320)])


@family
def encodec_decoder() -> Example:
    def call(model: nn.Module, codes: Tensor) -> Any:
        return model.decoder(model.quantizer.decode(codes))

    return Example(Call(_encodec(), call), [torch.randint(0, 32, (4, 1, 20))])


def _dac() -> nn.Module:
    from transformers import DacConfig, DacModel

    config = DacConfig(
        encoder_hidden_size=8,
        downsampling_ratios=[2, 4],
        decoder_hidden_size=32,
        n_codebooks=3,
        codebook_size=32,
        codebook_dim=4,
        hidden_size=32,
    )
    network: nn.Module = DacModel(config)
    return network


@family
def dac_encoder() -> Example:
    def call(model: nn.Module, x: Tensor) -> Any:
        return model.encode(x).audio_codes

    return Example(Call(_dac(), call), [torch.randn(1, 1, 320)])


@family
def dac_decoder() -> Example:
    def call(model: nn.Module, codes: Tensor) -> Any:
        return model.decode(audio_codes=codes).audio_values

    return Example(Call(_dac(), call), [torch.randint(0, 32, (1, 3, 20))])


@family
def mimi_encoder() -> Example:
    from transformers import MimiConfig, MimiModel

    config = MimiConfig(
        num_filters=4,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=1,
        num_attention_heads=4,
        num_key_value_heads=4,
        head_dim=8,
        upsampling_ratios=[4, 2],
        codebook_size=32,
        codebook_dim=16,
        vector_quantization_hidden_dimension=16,
        num_quantizers=3,
        num_semantic_quantizers=1,
        upsample_groups=32,
    )

    def call(model: nn.Module, x: Tensor) -> Any:
        return model.encode(x, num_quantizers=3).audio_codes

    return Example(Call(MimiModel(config), call), [torch.randn(1, 1, 640)])


@family
def hifigan() -> Example:
    from transformers import SpeechT5HifiGan, SpeechT5HifiGanConfig

    config = SpeechT5HifiGanConfig(
        model_in_dim=20,
        upsample_initial_channel=32,
        upsample_rates=[4, 2],
        upsample_kernel_sizes=[8, 4],
        resblock_kernel_sizes=[3, 5],
        resblock_dilation_sizes=[[1, 3], [1, 3]],
    )
    return Example(Call(SpeechT5HifiGan(config)), [torch.randn(1, 12, 20)])


class _Vocos(nn.Module):
    """A waveform from a spectrum that a network makes (Vocos, iSTFTNet)."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("window", torch.hann_window(64))
        self.body = nn.Sequential(nn.Conv1d(20, 32, 7, padding=3), nn.GELU())
        self.head = nn.Conv1d(32, 66, 1)

    def forward(self, x: Tensor) -> Any:
        size, angle = self.head(self.body(x)).chunk(2, 1)
        size = size.exp().clamp(max=100)
        spectrum = torch.complex(size * angle.cos(), size * angle.sin())
        return torch.istft(spectrum, 64, 16, window=self.window, center=True)


@family
def vocos() -> Example:
    return Example(_Vocos(), [torch.randn(1, 20, 16)])


class _IStft(nn.Module):
    """The same as products and overlapping sums by a transposed convolution."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Conv1d(20, 32, 7, padding=3), nn.GELU())
        self.head = nn.Conv1d(32, 66, 1)
        self.back = nn.ConvTranspose1d(66, 1, 64, 16, bias=False)

    def forward(self, x: Tensor) -> Any:
        size, angle = self.head(self.body(x)).chunk(2, 1)
        size = size.exp().clamp(max=100)
        y = self.back(torch.cat([size * angle.cos(), size * angle.sin()], 1))
        return y[..., 32:-32]


@family
def istft_net() -> Example:
    return Example(_IStft(), [torch.randn(1, 20, 16)])


@family
def fastspeech2() -> Example:
    """Text to a spectrum; the durations are given."""
    from transformers import FastSpeech2ConformerConfig, FastSpeech2ConformerModel

    config = FastSpeech2ConformerConfig(
        hidden_size=16,
        vocab_size=30,
        num_mel_bins=20,
        encoder_num_attention_heads=2,
        encoder_layers=1,
        encoder_linear_units=32,
        decoder_layers=1,
        decoder_num_attention_heads=2,
        decoder_linear_units=32,
        speech_decoder_postnet_layers=2,
        speech_decoder_postnet_units=16,
        duration_predictor_channels=16,
        pitch_predictor_channels=16,
        energy_predictor_channels=16,
    )

    def call(model: nn.Module, words: Tensor) -> Any:
        mask = torch.ones(1, 8, dtype=torch.long)
        hidden = model.encoder(words, mask[:, None])[0]
        nothing = torch.zeros(1, 8, 1, dtype=torch.bool)
        duration = model.duration_predictor(hidden)
        pitch = model.pitch_predictor(hidden, nothing)
        energy = model.energy_predictor(hidden, nothing)
        hidden = hidden + model.energy_embed(energy) + model.pitch_embed(pitch)
        decoded = model.decoder(hidden, mask[:, None])[0]
        before, after = model.speech_decoder_postnet(decoded)
        return duration, before, after

    return Example(Call(FastSpeech2ConformerModel(config), call), [tokens(8, 30)])


class _Regulator(nn.Module):
    """Repeats each sound as long as predicted, up to a length (by a matrix)."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(30, 16)
        self.length = nn.Conv1d(16, 1, 3, padding=1)
        self.head = nn.Linear(16, 20)

    def forward(self, words: Tensor) -> Any:
        x = self.words(words)
        count = self.length(x.transpose(1, 2))[:, 0].exp().round().clamp(1, 4)
        ends = torch.cumsum(count, 1)
        begins = ends - count
        place = torch.arange(32.0)[None, :, None]
        path = (place >= begins[:, None]) & (place < ends[:, None])
        return self.head(path.float() @ x), count.long()


@family
def length_regulator() -> Example:
    return Example(_Regulator(), [tokens(8, 30)])


def _vits() -> Any:
    from transformers import VitsConfig, VitsModel

    config = VitsConfig(
        vocab_size=30,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        window_size=4,
        ffn_dim=32,
        flow_size=16,
        spectrogram_bins=33,
        upsample_initial_channel=32,
        upsample_rates=[4, 2],
        upsample_kernel_sizes=[8, 4],
        resblock_kernel_sizes=[3],
        resblock_dilation_sizes=[[1, 3]],
        prior_encoder_num_flows=2,
        prior_encoder_num_wavenet_layers=2,
        posterior_encoder_num_wavenet_layers=2,
        duration_predictor_num_flows=2,
        duration_predictor_filter_channels=16,
        use_stochastic_duration_prediction=False,
    )
    return VitsModel(config)


@family
def vits_text() -> Example:
    def call(model: Any, words: Tensor) -> Any:
        mask = torch.ones(1, 9, 1)
        y = model.text_encoder(input_ids=words, padding_mask=mask)
        hidden = y.last_hidden_state.transpose(1, 2)
        length = model.duration_predictor(hidden, mask.transpose(1, 2), None)
        return length.exp().ceil(), y.prior_means, y.prior_log_variances

    return Example(Call(_vits(), call), [tokens(9, 30)])


@family
def vits_flow_decoder() -> Example:
    def call(model: Any, hidden: Tensor) -> Any:
        mask = torch.ones(1, 1, 20)
        return model.decoder(model.flow(hidden, mask, None, reverse=True) * mask)

    return Example(Call(_vits(), call), [torch.randn(1, 16, 20)])


class _Tacotron(nn.Module):
    """One step of Tacotron 2's decoder: attention to places, two memories."""

    def __init__(self) -> None:
        super().__init__()
        self.before = nn.Sequential(nn.Linear(20, 16), nn.ReLU(), nn.Linear(16, 16))
        self.first, self.second = nn.LSTMCell(40, 24), nn.LSTMCell(48, 24)
        self.query, self.memory = nn.Linear(24, 16), nn.Linear(24, 16)
        self.place = nn.Conv1d(2, 8, 7, padding=3)
        self.dense, self.score = nn.Linear(8, 16), nn.Linear(16, 1)
        self.head, self.stop = nn.Linear(48, 20), nn.Linear(48, 1)

    def forward(
        self,
        frame: Tensor,
        text: Tensor,
        weights: Tensor,
        context: Tensor,
        h: Tensor,
        c: Tensor,
        g: Tensor,
        d: Tensor,
    ) -> Any:
        h, c = self.first(torch.cat([self.before(frame), context], 1), (h, c))
        where = self.dense(self.place(weights).transpose(1, 2))
        score = self.score(
            torch.tanh(self.query(h)[:, None] + where + self.memory(text))
        )
        share = score[..., 0].softmax(1)
        context = torch.bmm(share[:, None], text)[:, 0]
        g, d = self.second(torch.cat([h, context], 1), (g, d))
        y = torch.cat([g, context], 1)
        weights = torch.stack([share, weights[:, 1] + share], 1)
        return self.head(y), self.stop(y).sigmoid(), weights, context, h, c, g, d


@family
def tacotron_step() -> Example:
    inputs = [torch.randn(1, 20), torch.randn(1, 9, 24), torch.rand(1, 2, 9)]
    return Example(_Tacotron(), inputs + [torch.randn(1, 24) for _ in range(5)])
