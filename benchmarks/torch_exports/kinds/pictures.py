# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Volumes, films, diffusion, and classes of images."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from kinds.family import Call, Example, family, image


@family
def r3d_18() -> Example:
    from torchvision.models.video import r3d_18

    return Example(r3d_18(weights=None, num_classes=5), [image(1, 3, 8, 32, 32)])


@family
def mvit() -> Example:
    from torchvision.models.video.mvit import MSBlockConfig, MViT

    blocks = [
        MSBlockConfig(1, 16, 16, [3, 3, 3], [1, 2, 2], [1, 1, 1], [3, 3, 3]),
        MSBlockConfig(2, 16, 32, [3, 3, 3], [1, 1, 1], [1, 2, 2], [3, 3, 3]),
    ]
    network = MViT(
        (32, 32),
        4,
        blocks,
        True,
        True,
        True,
        True,
        num_classes=5,
        patch_embed_kernel=(3, 7, 7),
        patch_embed_stride=(2, 4, 4),
    )
    return Example(network, [image(1, 3, 4, 32, 32)])


@family
def swin3d() -> Example:
    from torchvision.models.video.swin_transformer import SwinTransformer3d

    network = SwinTransformer3d([2, 4, 4], 16, [2, 2], [2, 4], [4, 4, 4], num_classes=5)
    return Example(network, [image(1, 3, 8, 32, 32)])


class _Unet3d(nn.Module):
    """Segmentation of volumes."""

    def __init__(self) -> None:
        super().__init__()

        def twice(before: int, after: int) -> nn.Module:
            return nn.Sequential(
                nn.Conv3d(before, after, 3, padding=1),
                nn.InstanceNorm3d(after, affine=True),
                nn.LeakyReLU(0.01),
                nn.Conv3d(after, after, 3, padding=1),
                nn.GroupNorm(2, after),
                nn.ReLU(),
            )

        self.first, self.second = twice(1, 8), twice(8, 16)
        self.up = nn.ConvTranspose3d(16, 8, 2, 2)
        self.third, self.head = twice(16, 8), nn.Conv3d(8, 3, 1)

    def forward(self, x: Tensor) -> Any:
        one = self.first(x)
        two = self.second(nn.functional.max_pool3d(one, 2))
        y = self.head(self.third(torch.cat([self.up(two), one], 1)))
        return y.softmax(1), y.argmax(1)


@family
def unet3d() -> Example:
    return Example(_Unet3d(), [torch.randn(1, 1, 8, 16, 16)])


@family
def videomae() -> Example:
    from transformers import VideoMAEConfig, VideoMAEForVideoClassification

    config = VideoMAEConfig(
        image_size=32,
        patch_size=8,
        num_frames=4,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
    )

    def call(model: nn.Module, x: Tensor) -> Any:
        return model(x).logits

    return Example(
        Call(VideoMAEForVideoClassification(config), call), [image(1, 4, 3, 32, 32)]
    )


class _Shift(nn.Module):
    """Temporal shift of channels (TSM)."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(8, 8, 3, padding=1)
        self.first, self.head = nn.Conv2d(3, 8, 3, 2, 1), nn.Linear(8, 5)

    def forward(self, x: Tensor) -> Any:
        y = self.first(x)
        frames = y.view(-1, 4, *y.shape[1:])
        out = torch.zeros_like(frames)
        out[:, :-1, :2] = frames[:, 1:, :2]
        out[:, 1:, 2:4] = frames[:, :-1, 2:4]
        out[:, :, 4:] = frames[:, :, 4:]
        y = (y + self.conv(out.view_as(y))).relu().mean((2, 3))
        return self.head(y).view(-1, 4, 5).mean(1)


@family
def temporal_shift() -> Example:
    return Example(_Shift(), [image(4, 3, 32, 32)])


def _sample(network: nn.Module, *inputs: Tensor) -> Any:
    return network(*inputs).sample


def _unet() -> Any:
    from diffusers import UNet2DConditionModel

    return UNet2DConditionModel(
        sample_size=16,
        block_out_channels=(16, 32),
        layers_per_block=1,
        down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"),
        up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"),
        cross_attention_dim=24,
        attention_head_dim=4,
        norm_num_groups=4,
    )


@family
def diffusion_unet() -> Example:
    inputs = [torch.randn(1, 4, 16, 16), torch.tensor([17]), torch.randn(1, 7, 24)]
    return Example(Call(_unet(), _sample), inputs)


@family
def diffusion_vae() -> Example:
    from diffusers import AutoencoderKL

    network = AutoencoderKL(
        block_out_channels=(8, 16),
        down_block_types=("DownEncoderBlock2D",) * 2,
        up_block_types=("UpDecoderBlock2D",) * 2,
        norm_num_groups=4,
        latent_channels=4,
    )

    def call(model: Any, x: Tensor) -> Any:
        return model.decode(x).sample

    return Example(Call(network, call), [torch.randn(1, 4, 8, 8)])


@family
def diffusion_dit() -> Example:
    from diffusers import DiTTransformer2DModel

    network = DiTTransformer2DModel(
        num_attention_heads=2,
        attention_head_dim=8,
        num_layers=2,
        sample_size=8,
        in_channels=4,
        out_channels=8,
        norm_num_groups=4,
        num_embeds_ada_norm=100,
    )

    def call(model: Any, x: Tensor, step: Tensor, kind: Tensor) -> Any:
        return model(x, timestep=step, class_labels=kind).sample

    inputs = [torch.randn(1, 4, 8, 8), torch.tensor([17]), torch.tensor([3])]
    return Example(Call(network, call), inputs)


@family
def diffusion_flux() -> Example:
    from diffusers import FluxTransformer2DModel

    network = FluxTransformer2DModel(
        in_channels=8,
        num_layers=1,
        num_single_layers=1,
        attention_head_dim=8,
        num_attention_heads=2,
        joint_attention_dim=16,
        pooled_projection_dim=16,
        axes_dims_rope=(4, 2, 2),
    )

    def call(model: Any, x: Tensor, text: Tensor, pooled: Tensor, step: Tensor) -> Any:
        return model(
            hidden_states=x,
            encoder_hidden_states=text,
            pooled_projections=pooled,
            timestep=step,
            img_ids=torch.stack([torch.arange(16) % 4] * 3, 1).float(),
            txt_ids=torch.zeros(5, 3),
        ).sample

    inputs = [
        torch.randn(1, 16, 8),
        torch.randn(1, 5, 16),
        torch.randn(1, 16),
        torch.tensor([0.5]),
    ]
    return Example(Call(network, call), inputs)


def _timm(name: str, size: int = 64, **changes: Any) -> Example:
    import timm

    network = timm.create_model(name, pretrained=False, num_classes=7, **changes)
    return Example(network, [image(1, 3, size, size)])


@family
def convnextv2() -> Example:
    return _timm("convnextv2_atto")


@family
def swinv2() -> Example:
    return _timm(
        "swinv2_tiny_window8_256",
        64,
        img_size=64,
        embed_dim=24,
        depths=(2, 2),
        num_heads=(2, 4),
        window_size=4,
    )


@family
def maxvit() -> Example:
    return _timm("maxvit_pico_rw_256", 64, img_size=64)


@family
def mobilevitv2() -> Example:
    return _timm("mobilevitv2_050")


@family
def efficientvit() -> Example:
    return _timm("efficientvit_b0")


@family
def xcit() -> Example:
    return _timm("xcit_nano_12_p16_224", img_size=64, depth=2)


@family
def eva02() -> Example:
    return _timm("eva02_tiny_patch14_224", 56, img_size=56, depth=2)


@family
def hiera() -> Example:
    return _timm("hiera_tiny_224", 64, img_size=64)


@family
def mobilenetv4() -> Example:
    return _timm("mobilenetv4_hybrid_medium")


@family
def fastvit() -> Example:
    return _timm("fastvit_t8")


@family
def ghostnetv2() -> Example:
    return _timm("ghostnetv2_100")


@family
def edgenext() -> Example:
    return _timm("edgenext_xx_small")


@family
def volo() -> Example:
    return _timm("volo_d1_224", 64, img_size=64)


@family
def nfnet() -> Example:
    return _timm("nf_resnet26")


@family
def crossvit() -> Example:
    return _timm("crossvit_tiny_240", 240)


@family
def levit() -> Example:
    return _timm("levit_128s", 224)


@family
def davit() -> Example:
    return _timm(
        "davit_tiny",
        depths=(1, 1, 1, 1),
        embed_dims=(16, 32, 48, 64),
        num_heads=(2, 2, 4, 4),
    )
