# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Text: encoders, translation, language models and their caches, text in images."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from kinds.family import Call, Example, family, image, open_family, opened, tokens

_TEXT = {0: "batch", 1: "length"}
_TEXTS = {"batch": (2, 1, 3), "length": (12, 5, 20)}
_ENCODER = {
    "vocab_size": 100,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "max_position_embeddings": 40,
    "pad_token_id": 1,
}
_TRANSLATOR = {
    "vocab_size": 100,
    "d_model": 32,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 64,
    "decoder_ffn_dim": 64,
    "max_position_embeddings": 40,
    "pad_token_id": 1,
    "eos_token_id": 2,
    "bos_token_id": 0,
    "decoder_start_token_id": 2,
    "forced_eos_token_id": 2,
}


def _mask(length: int, padded: int) -> Tensor:
    mask = torch.ones(1, length, dtype=torch.long)
    mask[:, length - padded :] = 0
    return mask


def _encoder(
    name: str, head: str = "ForSequenceClassification", **changes: Any
) -> Example:
    import transformers

    config = getattr(transformers, f"{name}Config")(**{**_ENCODER, **changes})
    network = getattr(transformers, f"{name}{head}")(config)

    def call(model: nn.Module, words: Tensor, mask: Tensor) -> Any:
        return model(input_ids=words, attention_mask=mask)[0]

    return Example(Call(network, call), [tokens(12), _mask(12, 3)])


@open_family
def bert() -> Example:
    found = _encoder("Bert")
    return Example(found.network, found.inputs, [_TEXT, _TEXT], _TEXTS)


@open_family
def distilbert() -> Example:
    found = _encoder(
        "DistilBert",
        "ForQuestionAnswering",
        dim=32,
        n_layers=2,
        n_heads=4,
        hidden_dim=64,
    )
    return opened(found, [_TEXT, _TEXT], **_TEXTS)


@open_family
def roberta() -> Example:
    found = _encoder("Roberta", "ForTokenClassification")
    return opened(found, [_TEXT, _TEXT], **_TEXTS)


@family
def deberta_v2() -> Example:
    return _encoder(
        "DebertaV2",
        relative_attention=True,
        position_buckets=8,
        pos_att_type=["p2c", "c2p"],
        share_att_key=True,
        norm_rel_ebd="layer_norm",
        position_biased_input=False,
    )


@family
def albert() -> Example:
    return _encoder("Albert", embedding_size=16)


@family
def modernbert() -> Example:
    return _encoder(
        "ModernBert",
        "ForMaskedLM",
        local_attention=4,
        global_attn_every_n_layers=2,
        cls_token_id=2,
        sep_token_id=3,
        bos_token_id=2,
        eos_token_id=3,
    )


@family
def xlnet() -> Example:
    from transformers import XLNetConfig, XLNetModel

    config = XLNetConfig(vocab_size=100, d_model=32, n_layer=2, n_head=4, d_inner=64)

    def call(model: nn.Module, words: Tensor, mask: Tensor) -> Any:
        return model(input_ids=words, attention_mask=mask, use_mems=False)[0]

    return Example(Call(XLNetModel(config), call), [tokens(12), _mask(12, 3)])


@family
def longformer() -> Example:
    from transformers import LongformerConfig, LongformerModel

    config = LongformerConfig(**_ENCODER, attention_window=4, type_vocab_size=1)

    def call(model: nn.Module, words: Tensor, mask: Tensor) -> Any:
        return model(input_ids=words, attention_mask=mask)[0]

    return Example(Call(LongformerModel(config), call), [tokens(16), _mask(16, 3)])


@family
def fnet() -> Example:
    from transformers import FNetConfig, FNetModel

    config = FNetConfig(
        vocab_size=100,
        hidden_size=32,
        num_hidden_layers=2,
        intermediate_size=64,
        max_position_embeddings=40,
        use_tpu_fourier_optimizations=False,
    )

    def call(model: nn.Module, words: Tensor) -> Any:
        return model(words)[0]

    return Example(Call(FNetModel(config), call), [tokens(16)])


@family
def layoutlmv3() -> Example:
    from transformers import LayoutLMv3Config, LayoutLMv3ForTokenClassification

    config = LayoutLMv3Config(
        **{**_ENCODER, "max_position_embeddings": 64},
        coordinate_size=4,
        shape_size=8,
        max_2d_position_embeddings=128,
        input_size=32,
        patch_size=16,
        visual_embed=True,
    )

    def call(model: nn.Module, words: Tensor, boxes: Tensor, x: Tensor) -> Any:
        mask = torch.ones_like(words)
        return model(
            input_ids=words, bbox=boxes, attention_mask=mask, pixel_values=x
        ).logits

    low = torch.randint(0, 50, (1, 12, 2))
    boxes = torch.cat([low, low + torch.randint(1, 50, (1, 12, 2))], 2)
    return Example(
        Call(LayoutLMv3ForTokenClassification(config), call),
        [tokens(12), boxes, image(1, 3, 32, 32)],
    )


@family
def perceiver() -> Example:
    from transformers import PerceiverConfig, PerceiverForMaskedLM

    config = PerceiverConfig(
        num_latents=8,
        d_latents=32,
        d_model=32,
        num_blocks=1,
        num_self_attends_per_block=2,
        num_self_attention_heads=4,
        num_cross_attention_heads=4,
        vocab_size=100,
        max_position_embeddings=16,
        qk_channels=32,
        v_channels=32,
    )

    def call(model: nn.Module, words: Tensor) -> Any:
        return model(inputs=words).logits

    return Example(Call(PerceiverForMaskedLM(config), call), [tokens(16)])


def _translate(model: nn.Module, words: Tensor, mask: Tensor, begun: Tensor) -> Any:
    return model(
        input_ids=words, attention_mask=mask, decoder_input_ids=begun, use_cache=False
    ).logits


def _opened_translator(network: nn.Module) -> Example:
    found = Example(Call(network, _translate), [tokens(9), _mask(9, 2), tokens(5)])
    words = {0: "batch", 1: "words"}
    return opened(
        found,
        [words, words, {0: "batch", 1: "begun"}],
        batch=(2, 1, 3),
        words=(9, 4, 17),
        begun=(5, 2, 8),
    )


@open_family
def marian() -> Example:
    from transformers import MarianConfig, MarianMTModel

    network = MarianMTModel(MarianConfig(**_TRANSLATOR))
    return _opened_translator(network)


@family
def m2m_100() -> Example:
    from transformers import M2M100Config, M2M100ForConditionalGeneration

    network = M2M100ForConditionalGeneration(M2M100Config(**_TRANSLATOR))
    return Example(Call(network, _translate), [tokens(9), _mask(9, 2), tokens(5)])


@open_family
def bart() -> Example:
    from transformers import BartConfig, BartForConditionalGeneration

    network = BartForConditionalGeneration(BartConfig(**_TRANSLATOR))
    axes = {1: "words"}
    return Example(
        Call(network, _translate),
        [tokens(9), _mask(9, 2), tokens(5)],
        [axes, axes, {1: "begun"}],
        {"words": (9, 4, 17), "begun": (5, 1, 8)},
    )


@open_family
def t5() -> Example:
    from transformers import T5Config, T5ForConditionalGeneration

    config = T5Config(
        vocab_size=100, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4
    )
    return _opened_translator(T5ForConditionalGeneration(config))


@family
def t5_step() -> Example:
    """One word of a translation, with caches of both attentions."""
    from transformers import T5Config, T5ForConditionalGeneration

    config = T5Config(
        vocab_size=100, d_model=32, d_kv=8, d_ff=64, num_layers=1, num_heads=4
    )

    def call(model: Any, word: Tensor, hidden: Tensor, *past: Tensor) -> Any:
        from transformers.cache_utils import DynamicCache, EncoderDecoderCache

        own, cross = DynamicCache(), DynamicCache()
        own.update(past[0], past[1], 0)
        y = model.decoder(
            input_ids=word,
            encoder_hidden_states=hidden,
            past_key_values=EncoderDecoderCache(own, cross),
            use_cache=True,
        )
        kept = y.past_key_values.self_attention_cache.layers[0]
        return model.lm_head(y.last_hidden_state), kept.keys, kept.values

    past = [torch.randn(1, 4, 6, 8) for _ in range(2)]
    network = T5ForConditionalGeneration(config)
    return Example(Call(network, call), [tokens(1), torch.randn(1, 9, 32), *past])


_DECODER = {
    "vocab_size": 100,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}


def _cached(model: Any, words: Tensor, place: Tensor, *past: Tensor) -> Any:
    from transformers.cache_utils import DynamicCache

    cache = DynamicCache()
    for layer in range(len(past) // 2):
        cache.update(past[2 * layer], past[2 * layer + 1], layer)
    y = model(
        input_ids=words, position_ids=place, past_key_values=cache, use_cache=True
    )
    states = [
        t for layer in y.past_key_values.layers for t in (layer.keys, layer.values)
    ]
    return (y.logits, *states)


def _decoder(
    name: str, length: int = 1, is_open: bool = False, **changes: Any
) -> Example:
    import transformers

    options = {**_DECODER, **changes}
    config = getattr(transformers, f"{name}Config")(**options)
    network = getattr(transformers, f"{name}ForCausalLM")(config)
    heads = options["num_key_value_heads"]
    past = [torch.randn(1, heads, 6, options["head_dim"]) for _ in range(4)]
    place = torch.arange(6, 6 + length)[None]
    axes = [{1: "new"}, {1: "new"}, *({2: "past"} for _ in past)] if is_open else []
    lengths = {"new": (3, 1, 7), "past": (6, 9, 1)} if is_open else {}
    inputs = [tokens(length), place, *past]
    return Example(Call(network, _cached), inputs, axes, lengths)


def _prompt(name: str, **changes: Any) -> Example:
    import transformers

    config = getattr(transformers, f"{name}Config")(**{**_DECODER, **changes})
    network = getattr(transformers, f"{name}ForCausalLM")(config)
    return _opened_prompt(network)


def _opened_prompt(network: nn.Module) -> Example:
    found = Example(Call(network, _logits_of), [tokens(8), _mask(8, 0)])
    return opened(found, [_TEXT, _TEXT], batch=(2, 1, 3), length=(8, 3, 15))


def _logits_of(model: nn.Module, words: Tensor, mask: Tensor) -> Any:
    return model(input_ids=words, attention_mask=mask, use_cache=False).logits


@family
def llama_step() -> Example:
    return _decoder("Llama")


@open_family
def llama_open() -> Example:
    """Any number of new words after any number of cached ones."""
    return _decoder("Llama", length=3, is_open=True)


@open_family
def llama_masked() -> Example:
    """As Optimum exports it: a mask of old and new words, several texts at once."""
    from transformers import LlamaConfig, LlamaForCausalLM

    def call(model: Any, words: Tensor, mask: Tensor, *past: Tensor) -> Any:
        from transformers.cache_utils import DynamicCache

        cache = DynamicCache()
        for layer in range(len(past) // 2):
            cache.update(past[2 * layer], past[2 * layer + 1], layer)
        y = model(
            input_ids=words, attention_mask=mask, past_key_values=cache, use_cache=True
        )
        states = [
            t for layer in y.past_key_values.layers for t in (layer.keys, layer.values)
        ]
        return (y.logits, *states)

    mask = torch.ones(1, 9, dtype=torch.long)
    past = [torch.randn(1, 2, 6, 8) for _ in range(4)]
    found = Example(
        Call(LlamaForCausalLM(LlamaConfig(**_DECODER)), call), [tokens(3), mask, *past]
    )
    kept = [{0: "batch", 2: "past"}] * 4
    return opened(
        found,
        [{0: "batch", 1: "new"}, {0: "batch", 1: "total"}, *kept],
        batch=(2, 1, 3),
        new=(3, 1, 7),
        past=(6, 9, 1),
        total=(9, 10, 8),
    )


@family
def qwen3_step() -> Example:
    return _decoder("Qwen3")


@open_family
def gemma3() -> Example:
    from transformers import Gemma3ForCausalLM, Gemma3TextConfig

    config = Gemma3TextConfig(**_DECODER, sliding_window=4)
    return _opened_prompt(Gemma3ForCausalLM(config))


@open_family
def phi3() -> Example:
    return _prompt("Phi3")


@open_family
def mixtral() -> Example:
    return _prompt(
        "Mixtral",
        num_local_experts=4,
        num_experts_per_tok=2,
        experts_implementation="batched_mm",
    )


@open_family
def qwen3_moe() -> Example:
    return _prompt(
        "Qwen3Moe",
        num_experts=4,
        num_experts_per_tok=2,
        moe_intermediate_size=16,
        experts_implementation="batched_mm",
    )


@open_family
def deepseek_v3() -> Example:
    return _prompt(
        "DeepseekV3",
        num_key_value_heads=4,
        q_lora_rank=16,
        kv_lora_rank=16,
        qk_rope_head_dim=8,
        qk_nope_head_dim=8,
        v_head_dim=8,
        first_k_dense_replace=2,
        n_group=1,
        topk_group=1,
        head_dim=8,
    )


@open_family
def gpt2() -> Example:
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(vocab_size=100, n_embd=32, n_layer=2, n_head=4, n_positions=40)
    past = [torch.randn(1, 4, 6, 8) for _ in range(4)]
    place = torch.tensor([[6]])
    found = Example(Call(GPT2LMHeadModel(config), _cached), [tokens(1), place, *past])
    kept = [{0: "batch", 2: "past"}] * 4
    return opened(
        found,
        [{0: "batch"}, {0: "batch"}, *kept],
        batch=(2, 1, 3),
        past=(6, 1, 12),
    )


@open_family
def bloom() -> Example:
    from transformers import BloomConfig, BloomForCausalLM

    config = BloomConfig(vocab_size=100, hidden_size=32, n_layer=2, n_head=4)
    return _opened_prompt(BloomForCausalLM(config))


@family
def mamba() -> Example:
    from transformers import MambaConfig, MambaForCausalLM

    config = MambaConfig(
        vocab_size=100,
        hidden_size=16,
        num_hidden_layers=1,
        state_size=4,
        use_cache=False,
    )

    def call(model: nn.Module, words: Tensor) -> Any:
        return model(input_ids=words, use_cache=False).logits

    return Example(Call(MambaForCausalLM(config), call), [tokens(6)])


class _Crnn(nn.Module):
    """Text of a line: convolutions, a bidirectional LSTM, CTC."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1),
            nn.BatchNorm2d(32),
            nn.ReLU(),
            nn.MaxPool2d((2, 2), (2, 1), (0, 1)),
            nn.Conv2d(32, 32, (8, 2)),
        )
        self.memory = nn.LSTM(32, 24, 2, bidirectional=True)
        self.head = nn.Linear(48, 37)

    def forward(self, x: Tensor) -> Any:
        y = self.body(x).squeeze(2).permute(2, 0, 1)
        y, _ = self.memory(y)
        y = self.head(y).log_softmax(2)
        return y, y.argmax(2)


@family
def crnn() -> Example:
    return Example(_Crnn(), [image(1, 1, 32, 64)])


@open_family
def crnn_open() -> Example:
    """Lines of any length."""
    axes, lengths = [{3: "width"}], {"width": (64, 48, 100)}
    return Example(_Crnn(), [image(1, 1, 32, 64)], axes, lengths)


@family
def trocr() -> Example:
    from transformers import (
        TrOCRConfig,
        TrOCRForCausalLM,
        VisionEncoderDecoderModel,
        ViTConfig,
        ViTModel,
    )

    encoder = ViTModel(
        ViTConfig(
            hidden_size=32,
            num_hidden_layers=2,
            num_attention_heads=4,
            intermediate_size=64,
            image_size=32,
            patch_size=8,
        ),
        add_pooling_layer=False,
    )
    decoder = TrOCRForCausalLM(
        TrOCRConfig(
            vocab_size=100,
            d_model=32,
            decoder_layers=1,
            decoder_attention_heads=4,
            decoder_ffn_dim=64,
            max_position_embeddings=20,
            cross_attention_hidden_size=32,
            is_decoder=True,
            add_cross_attention=True,
        )
    )
    network = VisionEncoderDecoderModel(encoder=encoder, decoder=decoder)

    def call(model: nn.Module, x: Tensor, words: Tensor) -> Any:
        return model(pixel_values=x, decoder_input_ids=words, use_cache=False).logits

    return Example(Call(network, call), [image(1, 3, 32, 32), tokens(5)])


@family
def mgp_str() -> Example:
    from transformers import MgpstrConfig, MgpstrForSceneTextRecognition

    config = MgpstrConfig(
        image_size=[32, 64],
        patch_size=8,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_token_length=8,
        num_character_labels=20,
        num_bpe_labels=30,
        num_wordpiece_labels=30,
    )

    def call(model: nn.Module, x: Tensor) -> Any:
        return tuple(model(x).logits)

    return Example(
        Call(MgpstrForSceneTextRecognition(config), call), [image(1, 3, 32, 64)]
    )


def _text_and_image(name: str, **changes: Any) -> Example:
    import transformers

    small = {
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
    }
    words = {**small, "vocab_size": 100, "max_position_embeddings": 16}
    config = getattr(transformers, f"{name}Config")(
        text_config={**words, "eos_token_id": 99},
        vision_config={**small, "image_size": 32, "patch_size": 8},
        **changes,
    )
    network = getattr(transformers, f"{name}Model")(config)

    def call(model: nn.Module, text: Tensor, x: Tensor) -> Any:
        y = model(input_ids=text, pixel_values=x)
        return y.logits_per_image, y.text_embeds, y.image_embeds

    text = tokens(8, batch=2)
    text[:, 5] = 99
    return Example(Call(network, call), [text, image(1, 3, 32, 32)])


@family
def clip() -> Example:
    return _text_and_image("CLIP", projection_dim=16)


@family
def siglip() -> Example:
    return _text_and_image("Siglip")


@family
def owlvit() -> Example:
    from transformers import OwlViTConfig, OwlViTForObjectDetection

    small = {
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
    }
    config = OwlViTConfig(
        text_config={**small, "vocab_size": 100, "max_position_embeddings": 16},
        vision_config={**small, "image_size": 32, "patch_size": 8},
        projection_dim=32,
    )

    def call(model: nn.Module, text: Tensor, mask: Tensor, x: Tensor) -> Any:
        y = model(input_ids=text, attention_mask=mask, pixel_values=x)
        return y.logits, y.pred_boxes

    text = tokens(8, batch=2)
    return Example(
        Call(OwlViTForObjectDetection(config), call),
        [text, torch.ones_like(text), image(1, 3, 32, 32)],
    )


class _Attention(nn.Module):
    """PyTorch's own encoder and decoder with masks."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(50, 32)
        self.body = nn.Transformer(32, 4, 1, 1, 64, batch_first=True)
        self.head = nn.Linear(32, 50)

    def forward(self, text: Tensor, begun: Tensor) -> Any:
        length = begun.shape[1]
        later = torch.full((length, length), float("-inf")).triu(1)
        y = self.body(
            self.words(text),
            self.words(begun),
            tgt_mask=later,
            src_key_padding_mask=text == 0,
            memory_key_padding_mask=text == 0,
        )
        return self.head(y)


@family
def torch_transformer() -> Example:
    text = tokens(9, 50)
    text[:, 7:] = 0
    return Example(_Attention(), [text, tokens(5, 50)])


class _Seq2Seq(nn.Module):
    """Attention of Luong over packed lengths of an LSTM."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(50, 16)
        self.encoder = nn.GRU(16, 24, batch_first=True, bidirectional=True)
        self.decoder = nn.GRU(16, 48, batch_first=True)
        self.head = nn.Linear(96, 50)

    def forward(self, text: Tensor, begun: Tensor) -> Any:
        memory, state = self.encoder(self.words(text))
        state = torch.cat([state[0], state[1]], 1)[None]
        y, state = self.decoder(self.words(begun), state)
        score = torch.einsum("bqd,bkd->bqk", y, memory)
        score = score.masked_fill((text == 0)[:, None], -1e9)
        context = torch.einsum("bqk,bkd->bqd", score.softmax(-1), memory)
        return self.head(torch.cat([y, context], 2)), state


@family
def seq2seq_gru() -> Example:
    text = tokens(9, 50)
    text[:, 7:] = 0
    return Example(_Seq2Seq(), [text, tokens(5, 50)])


class _Crf(nn.Module):
    """Tags by a bidirectional LSTM and Viterbi's search (BiLSTM-CRF)."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(50, 16)
        self.memory = nn.LSTM(16, 12, bidirectional=True, batch_first=True)
        self.head = nn.Linear(24, 5)
        self.change = nn.Parameter(torch.randn(5, 5))

    def forward(self, text: Tensor) -> Any:
        y = self.head(self.memory(self.words(text))[0])
        score, back = y[:, 0], []
        for step in range(1, y.shape[1]):
            whole = score[:, :, None] + self.change + y[:, step][:, None]
            score, best = whole.max(1)
            back.append(best)
        total, tag = score.max(1)
        tags = [tag]
        for best in reversed(back):
            tag = best.gather(1, tag[:, None])[:, 0]
            tags.append(tag)
        return total, torch.stack(tags[::-1], 1)


@family
def bilstm_crf() -> Example:
    return Example(_Crf(), [tokens(7, 50)])


class _TextCnn(nn.Module):
    """Classes of text by convolutions of several widths."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(50, 16, padding_idx=0)
        self.layers = nn.ModuleList(nn.Conv1d(16, 8, size) for size in (2, 3, 4))
        self.head = nn.Linear(24, 3)

    def forward(self, text: Tensor) -> Any:
        y = self.words(text).transpose(1, 2)
        return self.head(torch.cat([f(y).relu().amax(2) for f in self.layers], 1))


@family
def text_cnn() -> Example:
    return Example(_TextCnn(), [tokens(12, 50)])
