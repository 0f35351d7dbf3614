# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes a network of a PyTorch library as an ONNX file.

    build/exports-venv/bin/python benchmarks/torch_exports/export.py NAME FILE

`torch.onnx.export` exports the library's own code. Weights are random from a fixed
seed, not trained. The program runs in the environment that setup.sh creates, and
imports nothing from MACE. The inputs and outputs are called `input` and `output`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import vision
from operators import declare_torchvision
from torch import Tensor, nn

TOKENS = 48


class _FirstOutput(nn.Module):
    """Calls a network with one positional or named input; returns its first result."""

    def __init__(
        self, network: nn.Module, key: str = "", result: str | int = 0
    ) -> None:
        super().__init__()
        self.network, self._key, self._result = network, key, result

    def forward(self, x: Tensor) -> Tensor:
        y: Any = self.network(**{self._key: x}) if self._key else self.network(x)
        first: Tensor = y[self._result]
        return first


@dataclass(frozen=True)
class _Recipe:
    """How to create a network.

    Attributes:
        shape: the shape of its input.
        make: creates the network, before spread changes its weights.
    """

    shape: tuple[int, ...]
    make: Callable[[], nn.Module]


def _timm(name: str) -> Callable[[], nn.Module]:
    def make() -> nn.Module:
        import timm

        network: nn.Module = timm.create_model(name, pretrained=False)
        return network

    return make


def _deeplab() -> nn.Module:
    from torchvision.models.segmentation import deeplabv3_resnet50

    network = deeplabv3_resnet50(weights=None, weights_backbone=None)
    return _FirstOutput(network, result="out")


def _segformer() -> nn.Module:
    from transformers import SegformerConfig, SegformerForSemanticSegmentation

    network = SegformerForSemanticSegmentation(SegformerConfig())
    return _FirstOutput(network, "pixel_values", "logits")


def _gpt2() -> nn.Module:
    from transformers import GPT2Config, GPT2Model

    network = GPT2Model(GPT2Config(n_layer=2, use_cache=False, return_dict=False))
    return _FirstOutput(network, "inputs_embeds")


def _llama() -> nn.Module:
    from transformers import LlamaConfig, LlamaModel

    config = LlamaConfig(
        hidden_size=768,
        intermediate_size=2048,
        num_attention_heads=12,
        num_hidden_layers=2,
        vocab_size=100,
        use_cache=False,
        return_dict=False,
    )
    return _FirstOutput(LlamaModel(config), "inputs_embeds")


def _t5() -> nn.Module:
    from transformers import T5Config, T5EncoderModel

    config = T5Config(num_layers=2, vocab_size=100, return_dict=False)
    return _FirstOutput(T5EncoderModel(config), "inputs_embeds")


def _unet() -> nn.Module:
    from segmentation_models_pytorch import Unet

    network: nn.Module = Unet("resnet18", encoder_weights=None)
    return network


_PHOTO = (1, 3, 224, 224)
# DeepLabV3's feature maps have 1/8 of the size of its input, here 16x16, which is less
# than the reach of its dilated kernels (dilations 12 to 36). The blocks of language
# models are the first two of a network.
RECIPES = {
    "deeplabv3_resnet50": _Recipe((1, 3, 128, 128), _deeplab),
    "detector": _Recipe((1, 3, 320, 320), vision.Detector),
    "efficientformerv2_s0": _Recipe(_PHOTO, _timm("efficientformerv2_s0")),
    "efficientnet_b0": _Recipe(_PHOTO, _timm("efficientnet_b0")),
    "gpt2_blocks": _Recipe((1, TOKENS, 768), _gpt2),
    "llama_blocks": _Recipe((1, TOKENS, 768), _llama),
    "mobilenetv3_large": _Recipe(_PHOTO, _timm("mobilenetv3_large_100")),
    "mobilenetv3_small": _Recipe(_PHOTO, _timm("mobilenetv3_small_100")),
    "regnety_400mf": _Recipe(_PHOTO, _timm("regnety_004")),
    "resnext50_32x4d": _Recipe(_PHOTO, _timm("resnext50_32x4d")),
    "segformer_b0": _Recipe(_PHOTO, _segformer),
    "style_transfer": _Recipe((1, 3, 256, 256), vision.style_transfer),
    "super_resolution": _Recipe((1, 3, 128, 128), vision.super_resolution),
    "swin_tiny": _Recipe(_PHOTO, _timm("swin_tiny_patch4_window7_224")),
    "t5_blocks": _Recipe((1, TOKENS, 512), _t5),
    "unet_resnet18": _Recipe((1, 3, 256, 256), _unet),
    "vit_tiny": _Recipe(_PHOTO, _timm("vit_tiny_patch16_224")),
}


def spread(network: nn.Module) -> None:
    """Replaces tensors whose elements are all equal, which would hide mistakes.

    In a new network, scales and offsets of normalisations are 1 and 0, and scales of
    residual branches are 1e-5.
    """
    for name, value in [*network.named_parameters(), *network.named_buffers()]:
        if not value.is_floating_point() or value.numel() < 2:
            continue
        flat = value.data.reshape(-1)
        if float(flat.min()) != float(flat.max()):
            continue
        noise = torch.rand_like(value)
        if name.endswith("running_var") or float(flat[0]) > 0:
            value.data.copy_(0.5 + noise)
        else:
            value.data.copy_(0.2 * (noise - 0.5))


def make(name: str) -> tuple[nn.Module, Tensor]:
    """A network with seeded weights, and an input."""
    recipe = RECIPES[name]
    torch.manual_seed(0)
    network = recipe.make().eval()
    spread(network)
    return network, torch.randn(recipe.shape)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("name", choices=RECIPES)
    parser.add_argument("file", type=Path)
    parser.add_argument("--opset", type=int, default=None)
    args = parser.parse_args()
    declare_torchvision()
    network, example = make(args.name)
    with torch.no_grad():
        size = float(network(example).abs().max())
        if not 1e-3 < size < 1e6:
            sys.exit(f"{args.name}: the largest output is {size:g}")
        torch.onnx.export(
            network,
            (example,),
            str(args.file),
            input_names=["input"],
            output_names=["output"],
            opset_version=args.opset,
            dynamo=True,
            external_data=False,
        )


if __name__ == "__main__":
    main()
