# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Speech and sound: recognition, and sources of a mixture."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from kinds.family import Call, Example, family, open_family, opened, tokens

_SMALL = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "conv_dim": (16, 16, 16),
    "conv_stride": (5, 4, 2),
    "conv_kernel": (10, 8, 4),
    "num_feat_extract_layers": 3,
    "num_conv_pos_embeddings": 16,
    "num_conv_pos_embedding_groups": 4,
    "vocab_size": 30,
}


def _ctc(network: nn.Module, *inputs: Tensor) -> Any:
    y = network(*inputs).logits
    return y, y.argmax(-1)


def _wave(length: int = 4000) -> Tensor:
    return 0.1 * torch.randn(1, length)


def _waves(name: str, **changes: Any) -> Example:
    import transformers

    config = getattr(transformers, f"{name}Config")(**{**_SMALL, **changes})
    network = getattr(transformers, f"{name}ForCTC")(config)
    return opened(
        Example(Call(network, _ctc), [_wave()]),
        [{0: "batch", 1: "samples"}],
        batch=(2, 1, 3),
        samples=(4000, 1600, 5001),
    )


@open_family
def wav2vec2() -> Example:
    return _waves("Wav2Vec2", do_stable_layer_norm=True, feat_extract_norm="layer")


@open_family
def hubert() -> Example:
    return _waves("Hubert")


@open_family
def wavlm() -> Example:
    return _waves("WavLM", num_buckets=32, max_bucket_distance=80)


@open_family
def conformer_ctc() -> Example:
    return _waves("Wav2Vec2Conformer", position_embeddings_type="relative")


@open_family
def parakeet_ctc() -> Example:
    from transformers import ParakeetCTCConfig, ParakeetEncoderConfig, ParakeetForCTC

    encoder = ParakeetEncoderConfig(
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        subsampling_conv_channels=8,
        num_mel_bins=40,
    )
    config = ParakeetCTCConfig(vocab_size=30, encoder_config=encoder.to_dict())
    return opened(
        Example(Call(ParakeetForCTC(config), _ctc), [torch.randn(1, 80, 40)]),
        [{0: "batch", 1: "frames"}],
        batch=(2, 1, 3),
        frames=(80, 33, 120),
    )


def _whisper() -> nn.Module:
    from transformers import WhisperConfig, WhisperForConditionalGeneration

    config = WhisperConfig(
        vocab_size=100,
        num_mel_bins=40,
        d_model=32,
        encoder_layers=2,
        decoder_layers=2,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=64,
        decoder_ffn_dim=64,
        max_source_positions=50,
        max_target_positions=24,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=1,
        suppress_tokens=None,
        begin_suppress_tokens=None,
    )
    network: nn.Module = WhisperForConditionalGeneration(config)
    return network


@open_family
def whisper_encoder() -> Example:
    def call(model: nn.Module, x: Tensor) -> Any:
        return model.model.encoder(x).last_hidden_state

    found = Example(Call(_whisper(), call), [torch.randn(1, 40, 100)])
    return opened(found, [{0: "batch"}], batch=(2, 1, 3))


@open_family
def whisper_decoder() -> Example:
    def call(model: nn.Module, words: Tensor, sound: Tensor) -> Any:
        y = model.model.decoder(
            input_ids=words, encoder_hidden_states=sound, use_cache=False
        )
        return model.proj_out(y.last_hidden_state)

    return opened(
        Example(Call(_whisper(), call), [tokens(7), torch.randn(1, 50, 32)]),
        [{0: "batch", 1: "words"}, {0: "batch", 1: "frames"}],
        batch=(2, 1, 3),
        words=(7, 1, 20),
        frames=(50, 30, 61),
    )


@open_family
def whisper_decoder_step() -> Example:
    """One word, with the keys and values of the words before as tensors."""

    def call(model: nn.Module, word: Tensor, sound: Tensor, *past: Tensor) -> Any:
        from transformers.cache_utils import DynamicCache, EncoderDecoderCache

        own, cross = DynamicCache(), DynamicCache()
        for layer in range(2):
            own.update(past[2 * layer], past[2 * layer + 1], layer)
        cache = EncoderDecoderCache(own, cross)
        y = model.model.decoder(
            input_ids=word,
            encoder_hidden_states=sound,
            past_key_values=cache,
            use_cache=True,
            position_ids=torch.full((1, 1), 6),
        )
        kept = y.past_key_values.self_attention_cache
        states = [t for layer in kept.layers for t in (layer.keys, layer.values)]
        return (model.proj_out(y.last_hidden_state), *states)

    past = [torch.randn(1, 4, 6, 8) for _ in range(4)]
    found = Example(Call(_whisper(), call), [tokens(1), torch.randn(1, 50, 32), *past])
    kept = [{0: "batch", 2: "past"}] * 4
    return opened(
        found,
        [{0: "batch"}, {0: "batch"}, *kept],
        batch=(2, 1, 3),
        past=(6, 1, 12),
    )


class _Transducer(nn.Module):
    """A streaming encoder of an RNN transducer: frames are joined, states go on."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.LSTM(160, 32, 2, batch_first=True)
        self.second = nn.LSTM(64, 32, 1, batch_first=True)
        self.norm = nn.LayerNorm(32)

    def forward(self, x: Tensor, h: Tensor, c: Tensor, g: Tensor, d: Tensor) -> Any:
        batch, frames, width = x.shape
        y = x.reshape(batch, frames // 2, 2 * width)
        y, (h, c) = self.first(y, (h, c))
        y = y.reshape(batch, frames // 4, 64)
        y, (g, d) = self.second(y, (g, d))
        return self.norm(y), h, c, g, d


@family
def rnnt_encoder() -> Example:
    states = [torch.randn(n, 1, 32) for n in (2, 2, 1, 1)]
    return Example(_Transducer(), [torch.randn(1, 8, 80), *states])


class _Joint(nn.Module):
    """The prediction network and the joint network of an RNN transducer."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(30, 16, padding_idx=0)
        self.memory = nn.LSTM(16, 24)
        self.sound, self.text = nn.Linear(32, 20), nn.Linear(24, 20)
        self.head = nn.Linear(20, 30)

    def forward(self, word: Tensor, sound: Tensor, h: Tensor, c: Tensor) -> Any:
        y, (h, c) = self.memory(self.words(word).transpose(0, 1), (h, c))
        y = self.sound(sound)[:, :, None] + self.text(y.transpose(0, 1))[:, None]
        y = self.head(y.tanh()).log_softmax(-1)
        return y, y.argmax(-1), h, c


@family
def rnnt_joint() -> Example:
    states = [torch.randn(1, 1, 24) for _ in range(2)]
    return Example(_Joint(), [tokens(1, 30), torch.randn(1, 1, 32), *states])


class _Emformer(nn.Module):
    """Attention over a part of the sound with a cache of keys and convolutions."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(32)
        self.query, self.pair = nn.Linear(32, 32), nn.Linear(32, 64)
        self.out = nn.Linear(32, 32)
        self.wide = nn.Conv1d(32, 64, 1)
        self.deep = nn.Conv1d(32, 32, 5, groups=32)
        self.last = nn.Conv1d(32, 32, 1)

    def forward(self, x: Tensor, cache: Tensor, conv: Tensor, length: Tensor) -> Any:
        y = self.norm(x)
        whole = torch.cat([cache, y], 1)
        key, value = self.pair(whole).chunk(2, -1)

        def heads(t: Tensor) -> Tensor:
            return t.reshape(t.shape[0], t.shape[1], 4, 8).transpose(1, 2)

        place = torch.arange(whole.shape[1])
        mask = place[None] < cache.shape[1] - length[:, None]
        score = heads(self.query(y)) @ heads(key).transpose(2, 3) / 8**0.5
        score = score.masked_fill(mask[:, None, None], float("-inf"))
        y = (score.softmax(-1) @ heads(value)).transpose(1, 2).reshape(x.shape)
        x = x + self.out(y)
        y = nn.functional.glu(self.wide(x.transpose(1, 2)), 1)
        y = torch.cat([conv, y], 2)
        conv = y[:, :, -conv.shape[2] :]
        y = self.last(nn.functional.silu(self.deep(y)))
        return x + y.transpose(1, 2), whole[:, -cache.shape[1] :], conv, length + 8


@family
def streaming_conformer() -> Example:
    inputs = [
        torch.randn(1, 8, 32),
        torch.randn(1, 16, 32),
        torch.randn(1, 32, 4),
        torch.tensor([5]),
    ]
    return Example(_Emformer(), inputs)


class _Detector(nn.Module):
    """Whether someone speaks: a spectrum, convolutions and a memory (Silero)."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("window", torch.hann_window(128))
        self.body = nn.Sequential(nn.Conv1d(65, 32, 3, padding=1), nn.ReLU())
        self.memory = nn.LSTMCell(32, 32)
        self.head = nn.Linear(32, 1)

    def forward(self, x: Tensor, h: Tensor, c: Tensor) -> Any:
        y = torch.stft(x, 128, 64, window=self.window, return_complex=True)
        power = torch.view_as_real(y).pow(2).sum(-1).sqrt()
        y = self.body(power).mean(2)
        h, c = self.memory(y, (h, c))
        return self.head(h.relu()).sigmoid(), h, c


@family
def voice_activity() -> Example:
    return Example(_Detector(), [_wave(512), torch.randn(1, 32), torch.randn(1, 32)])


class _Mel(nn.Module):
    """A mel spectrum in decibels and a network for keywords (BC-ResNet-like)."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("window", torch.hann_window(256))
        self.register_buffer("filters", torch.rand(129, 40))
        self.body = nn.Sequential(
            nn.Conv2d(1, 16, 5, 2, 2), nn.BatchNorm2d(16), nn.SiLU()
        )
        self.head = nn.Linear(16, 10)

    def forward(self, x: Tensor) -> Any:
        y = torch.stft(
            x, 256, 128, window=self.window, center=True, return_complex=True
        )
        y = y.abs().pow(2).transpose(1, 2) @ self.filters
        y = 10 * torch.log10(y.clamp(min=1e-5))
        y = (y - y.mean()) / (y.std() + 1e-5)
        return self.head(self.body(y[:, None]).mean((2, 3)))


@family
def keyword_spotting() -> Example:
    return Example(_Mel(), [_wave(2048)])


class _Tdnn(nn.Module):
    """Who speaks: ECAPA-TDNN with attentive statistics."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv1d(40, 32, 5, padding=2)
        self.parts = nn.ModuleList(
            nn.Conv1d(8, 8, 3, dilation=2, padding=2) for _ in range(3)
        )
        self.squeeze, self.widen = nn.Conv1d(32, 8, 1), nn.Conv1d(8, 32, 1)
        self.attention = nn.Sequential(
            nn.Conv1d(96, 8, 1), nn.Tanh(), nn.Conv1d(8, 32, 1)
        )
        self.head = nn.Sequential(nn.BatchNorm1d(64), nn.Linear(64, 16))

    def forward(self, x: Tensor) -> Any:
        y = self.first(x - x.mean(2, keepdim=True)).relu()
        first, *others = y.chunk(4, 1)
        parts, last = [first], torch.zeros_like(first)
        for part, layer in zip(others, self.parts):
            last = layer(part + last).relu()
            parts.append(last)
        z = torch.cat(parts, 1)
        gate = self.widen(self.squeeze(z.mean(2, keepdim=True)).relu()).sigmoid()
        y = y + gate * z
        mean = y.mean(2, keepdim=True).expand_as(y)
        deviation = y.var(2, keepdim=True).clamp(min=1e-6).sqrt().expand_as(y)
        share = self.attention(torch.cat([y, mean, deviation], 1)).softmax(2)
        mean = (share * y).sum(2)
        deviation = ((share * y**2).sum(2) - mean**2).clamp(min=1e-6).sqrt()
        return nn.functional.normalize(self.head(torch.cat([mean, deviation], 1)))


@family
def speaker_embedding() -> Example:
    return Example(_Tdnn(), [torch.randn(1, 40, 50)])


@family
def audio_spectrogram_transformer() -> Example:
    from transformers import ASTConfig, ASTForAudioClassification

    config = ASTConfig(
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_length=64,
        num_mel_bins=32,
    )

    def call(model: nn.Module, x: Tensor) -> Any:
        return model(x).logits

    return Example(
        Call(ASTForAudioClassification(config), call), [torch.randn(1, 64, 32)]
    )


class _Demucs(nn.Module):
    """Sources of a mixture: gated convolutions around a bidirectional LSTM."""

    def __init__(self) -> None:
        super().__init__()
        self.down = nn.ModuleList(
            [nn.Conv1d(2, 16, 8, 4, 2), nn.Conv1d(16, 32, 8, 4, 2)]
        )
        self.gate = nn.ModuleList([nn.Conv1d(16, 32, 1), nn.Conv1d(32, 64, 1)])
        self.memory = nn.LSTM(32, 32, 2, bidirectional=True)
        self.join = nn.Linear(64, 32)
        self.up = nn.ModuleList(
            [nn.ConvTranspose1d(32, 16, 8, 4, 2), nn.ConvTranspose1d(16, 4, 8, 4, 2)]
        )

    def forward(self, x: Tensor) -> Any:
        mono = x.mean(1, keepdim=True)
        mean, deviation = mono.mean(-1, keepdim=True), mono.std(-1, keepdim=True)
        y, kept = (x - mean) / (1e-5 + deviation), []
        for down, gate in zip(self.down, self.gate):
            y = nn.functional.glu(gate(nn.functional.gelu(down(y))), 1)
            kept.append(y)
        y = self.join(self.memory(y.permute(2, 0, 1))[0]).permute(1, 2, 0)
        for up in self.up:
            skip = kept.pop()
            y = nn.functional.gelu(up(y + skip[..., : y.shape[-1]]))
        return (y * deviation + mean).reshape(x.shape[0], 2, 2, -1)


@family
def demucs() -> Example:
    return Example(_Demucs(), [torch.randn(1, 2, 640)])


@family
def speech_to_text() -> Example:
    from transformers import Speech2TextConfig, Speech2TextForConditionalGeneration

    config = Speech2TextConfig(
        vocab_size=60,
        d_model=32,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=64,
        decoder_ffn_dim=64,
        input_feat_per_channel=20,
        conv_channels=32,
        max_source_positions=100,
        max_target_positions=20,
    )

    def call(model: nn.Module, sound: Tensor, words: Tensor) -> Any:
        return model(
            input_features=sound, decoder_input_ids=words, use_cache=False
        ).logits

    return Example(
        Call(Speech2TextForConditionalGeneration(config), call),
        [torch.randn(1, 40, 20), tokens(5, 60)],
    )


@family
def moonshine() -> Example:
    from transformers import MoonshineConfig, MoonshineForConditionalGeneration

    config = MoonshineConfig(
        vocab_size=60,
        hidden_size=32,
        intermediate_size=64,
        encoder_num_hidden_layers=1,
        decoder_num_hidden_layers=1,
        encoder_num_attention_heads=4,
        decoder_num_attention_heads=4,
    )

    def call(model: nn.Module, sound: Tensor, words: Tensor) -> Any:
        return model(
            input_values=sound, decoder_input_ids=words, use_cache=False
        ).logits

    return Example(
        Call(MoonshineForConditionalGeneration(config), call),
        [_wave(4000), tokens(5, 60)],
    )
