# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Labels, masks, depth and transparency for each pixel, and larger images."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from kinds.family import Call, Example, family, image, open_family, opened

_IMAGES = [{0: "batch", 2: "height", 3: "width"}]
_SIZES = {"batch": (2, 1, 3), "height": (96, 64, 128), "width": (96, 160, 32)}


def _out(network: nn.Module, x: Tensor) -> Any:
    y = network(x)["out"]
    return y, y.argmax(1)


def _logits(network: nn.Module, x: Tensor) -> Any:
    return network(x).logits


def _depth(network: nn.Module, x: Tensor) -> Any:
    return network(x).predicted_depth


@open_family
def deeplabv3() -> Example:
    from torchvision.models.segmentation import deeplabv3_mobilenet_v3_large

    network = deeplabv3_mobilenet_v3_large(
        weights=None, weights_backbone=None, num_classes=5
    )
    found = Example(Call(network, _out), [image(1, 3, 96, 96)])
    return opened(found, _IMAGES, **_SIZES)


@open_family
def lraspp() -> Example:
    from torchvision.models.segmentation import lraspp_mobilenet_v3_large

    network = lraspp_mobilenet_v3_large(
        weights=None, weights_backbone=None, num_classes=5
    )
    found = Example(Call(network, _out), [image(1, 3, 96, 96)])
    return opened(found, _IMAGES, **_SIZES)


def _smp(name: str, **changes: Any) -> Example:
    import segmentation_models_pytorch as smp

    network = getattr(smp, name)("resnet18", encoder_weights=None, classes=3, **changes)
    return opened(Example(network, [image(1, 3, 64, 64)]), _IMAGES, **_SIZES)


@open_family
def unetplusplus() -> Example:
    return _smp("UnetPlusPlus")


@family
def pspnet() -> Example:
    return _smp("PSPNet")


@open_family
def manet() -> Example:
    return _smp("MAnet")


@open_family
def segformer() -> Example:
    from transformers import SegformerConfig, SegformerForSemanticSegmentation

    config = SegformerConfig(
        depths=[1, 1, 1, 1],
        hidden_sizes=[8, 16, 24, 32],
        num_attention_heads=[1, 2, 2, 4],
        decoder_hidden_size=32,
    )
    network = SegformerForSemanticSegmentation(config)
    found = Example(Call(network, _logits), [image(1, 3, 64, 64)])
    return opened(found, _IMAGES, **_SIZES)


def _masks(network: nn.Module, x: Tensor) -> Any:
    y = network(x)
    return y.class_queries_logits, y.masks_queries_logits


def _swin() -> Any:
    from transformers import SwinConfig

    return SwinConfig(
        image_size=64,
        embed_dim=16,
        depths=[1, 1, 1, 1],
        num_heads=[1, 2, 2, 4],
        window_size=2,
        out_features=["stage1", "stage2", "stage3", "stage4"],
    )


@family
def mask2former() -> Example:
    from transformers import Mask2FormerConfig, Mask2FormerForUniversalSegmentation

    config = Mask2FormerConfig(
        backbone_config=_swin(),
        feature_size=32,
        mask_feature_size=32,
        hidden_dim=32,
        encoder_feedforward_dim=64,
        encoder_layers=1,
        decoder_layers=2,
        num_attention_heads=4,
        dim_feedforward=64,
        num_queries=6,
    )
    return Example(
        Call(Mask2FormerForUniversalSegmentation(config), _masks),
        [image(1, 3, 64, 64)],
    )


@family
def maskformer() -> Example:
    from transformers import (
        DetrConfig,
        MaskFormerConfig,
        MaskFormerForInstanceSegmentation,
    )

    decoder = DetrConfig(
        d_model=32,
        decoder_layers=2,
        decoder_ffn_dim=64,
        decoder_attention_heads=4,
        num_queries=6,
    )
    config = MaskFormerConfig(
        backbone_config=_swin(),
        decoder_config=decoder,
        fpn_feature_size=32,
        mask_feature_size=32,
    )
    return Example(
        Call(MaskFormerForInstanceSegmentation(config), _masks), [image(1, 3, 64, 64)]
    )


@family
def upernet() -> Example:
    from transformers import (
        ConvNextConfig,
        UperNetConfig,
        UperNetForSemanticSegmentation,
    )

    backbone = ConvNextConfig(
        hidden_sizes=[8, 16, 24, 32],
        depths=[1, 1, 1, 1],
        out_features=["stage1", "stage2", "stage3", "stage4"],
    )
    config = UperNetConfig(
        backbone_config=backbone, hidden_size=16, auxiliary_in_channels=24
    )
    return Example(
        Call(UperNetForSemanticSegmentation(config), _logits), [image(1, 3, 64, 64)]
    )


def _sam() -> nn.Module:
    from transformers import SamConfig, SamModel

    config = SamConfig(
        vision_config={
            "hidden_size": 32,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "image_size": 64,
            "patch_size": 8,
            "output_channels": 16,
            "window_size": 3,
            "global_attn_indexes": [1],
            "mlp_dim": 64,
            "num_pos_feats": 8,
        },
        prompt_encoder_config={
            "hidden_size": 16,
            "image_size": 64,
            "patch_size": 8,
            "mask_input_channels": 8,
        },
        mask_decoder_config={
            "hidden_size": 16,
            "mlp_dim": 32,
            "num_attention_heads": 4,
            "iou_head_hidden_dim": 16,
        },
        initializer_range=0.2,
    )
    network: nn.Module = SamModel(config)
    return network


@family
def sam_encoder() -> Example:
    def call(model: nn.Module, x: Tensor) -> Any:
        return model.get_image_embeddings(x)

    return Example(Call(_sam(), call), [image(1, 3, 64, 64)])


@family
def sam_decoder() -> Example:
    def call(model: nn.Module, maps: Tensor, points: Tensor, labels: Tensor) -> Any:
        y = model(image_embeddings=maps, input_points=points, input_labels=labels)
        return y.pred_masks, y.iou_scores

    points = torch.tensor([[[[10.0, 20.0], [40.0, 30.0]]]])
    labels = torch.tensor([[[1, 0]]])
    return Example(Call(_sam(), call), [torch.randn(1, 16, 8, 8), points, labels])


@family
def clipseg() -> Example:
    from transformers import CLIPSegConfig, CLIPSegForImageSegmentation

    small = {
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 3,
        "num_attention_heads": 4,
    }
    config = CLIPSegConfig(
        text_config={**small, "vocab_size": 100, "eos_token_id": 99},
        vision_config={**small, "image_size": 64, "patch_size": 16},
        projection_dim=32,
        reduce_dim=16,
        extract_layers=[0, 1],
        decoder_num_attention_heads=4,
        decoder_intermediate_size=32,
    )

    def call(model: nn.Module, words: Tensor, x: Tensor) -> Any:
        return model(input_ids=words, pixel_values=x).logits

    words = torch.tensor([[5, 8, 9, 99]])
    return Example(
        Call(CLIPSegForImageSegmentation(config), call), [words, image(1, 3, 64, 64)]
    )


@family
def depth_anything() -> Example:
    from transformers import (
        DepthAnythingConfig,
        DepthAnythingForDepthEstimation,
        Dinov2Config,
    )

    backbone = Dinov2Config(
        hidden_size=32,
        num_hidden_layers=4,
        num_attention_heads=4,
        image_size=56,
        patch_size=14,
        out_features=["stage1", "stage2", "stage3", "stage4"],
        reshape_hidden_states=False,
    )
    config = DepthAnythingConfig(
        backbone_config=backbone,
        reassemble_hidden_size=32,
        neck_hidden_sizes=[8, 16, 24, 32],
        fusion_hidden_size=16,
        head_hidden_size=8,
    )
    return Example(
        Call(DepthAnythingForDepthEstimation(config), _depth), [image(1, 3, 70, 56)]
    )


@family
def glpn() -> Example:
    from transformers import GLPNConfig, GLPNForDepthEstimation

    config = GLPNConfig(
        depths=[1, 1, 1, 1],
        hidden_sizes=[8, 16, 24, 32],
        num_attention_heads=[1, 2, 2, 4],
        decoder_hidden_size=16,
    )
    return Example(Call(GLPNForDepthEstimation(config), _depth), [image(1, 3, 64, 64)])


@family
def vitmatte() -> Example:
    from transformers import VitDetConfig, VitMatteConfig, VitMatteForImageMatting

    backbone = VitDetConfig(
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        image_size=64,
        patch_size=16,
        num_channels=4,
        window_size=2,
        window_block_indices=[0],
        out_features=["stage2"],
        use_relative_position_embeddings=True,
    )
    config = VitMatteConfig(
        backbone_config=backbone,
        hidden_size=32,
        convstream_hidden_sizes=[8, 16, 24],
        fusion_hidden_sizes=[32, 16, 8, 4],
    )

    def call(model: nn.Module, x: Tensor) -> Any:
        return model(x).alphas

    return Example(Call(VitMatteForImageMatting(config), call), [image(1, 4, 64, 64)])


class _Gru(nn.Module):
    """A recurrent unit of convolutions, as in Robust Video Matting."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.gates = nn.Conv2d(2 * channels, 2 * channels, 3, padding=1)
        self.new = nn.Conv2d(2 * channels, channels, 3, padding=1)

    def forward(self, x: Tensor, h: Tensor) -> Tensor:
        r, z = self.gates(torch.cat([x, h], 1)).sigmoid().chunk(2, 1)
        c = self.new(torch.cat([x, r * h], 1)).tanh()
        result: Tensor = (1 - z) * h + z * c
        return result


class _Matting(nn.Module):
    """Transparency of a film, with a guided filter behind it."""

    def __init__(self) -> None:
        super().__init__()
        self.down = nn.Conv2d(3, 16, 3, 2, 1)
        self.memory = _Gru(16)
        self.up = nn.Conv2d(19, 8, 3, padding=1)
        self.head = nn.Conv2d(8, 1, 1)

    def forward(self, x: Tensor, state: Tensor) -> Any:
        small = nn.functional.interpolate(
            x, scale_factor=0.5, mode="bilinear", align_corners=False
        )
        y = nn.functional.hardswish(self.down(small))
        state = self.memory(y, state)
        y = nn.functional.interpolate(
            state, size=small.shape[2:], mode="bilinear", align_corners=False
        )
        alpha = self.head(self.up(torch.cat([y, small], 1)).relu())
        box = nn.functional.avg_pool2d
        gray = small.mean(1, keepdim=True)
        mean_x, mean_y = (
            box(t, 3, 1, 1, count_include_pad=False) for t in (gray, alpha)
        )
        cov = box(gray * alpha, 3, 1, 1) - mean_x * mean_y
        var = box(gray * gray, 3, 1, 1) - mean_x * mean_x
        a = cov / (var + 1e-3)
        b = mean_y - a * mean_x
        a, b = (
            nn.functional.interpolate(t, x.shape[2:], mode="bilinear") for t in (a, b)
        )
        return (a * x.mean(1, keepdim=True) + b).clamp(0, 1), state


@family
def video_matting() -> Example:
    return Example(_Matting(), [image(1, 3, 64, 64), torch.randn(1, 16, 16, 16)])


@family
def swin2sr() -> Example:
    from transformers import Swin2SRConfig, Swin2SRForImageSuperResolution

    config = Swin2SRConfig(
        image_size=32,
        embed_dim=16,
        depths=[2],
        num_heads=[2],
        window_size=4,
        upscale=2,
    )

    def call(model: nn.Module, x: Tensor) -> Any:
        return model(x).reconstruction

    return Example(
        Call(Swin2SRForImageSuperResolution(config), call), [image(1, 3, 32, 32)]
    )


class _Dense(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            nn.Conv2d(channels + i * 8, 8 if i < 3 else channels, 3, padding=1)
            for i in range(4)
        )

    def forward(self, x: Tensor) -> Tensor:
        parts = [x]
        for layer in self.layers:
            y = nn.functional.leaky_relu(layer(torch.cat(parts, 1)), 0.2)
            parts.append(y)
        result: Tensor = x + 0.2 * y
        return result


class _Esrgan(nn.Module):
    """Real-ESRGAN's generator."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(12, 16, 3, padding=1)
        self.body = nn.Sequential(_Dense(16), _Dense(16))
        self.up = nn.Conv2d(16, 16, 3, padding=1)
        self.last = nn.Conv2d(16, 3, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        y = self.first(nn.functional.pixel_unshuffle(x, 2))
        y = self.body(y) + y
        for _ in range(2):
            y = nn.functional.interpolate(y, scale_factor=2, mode="nearest")
            y = nn.functional.leaky_relu(self.up(y), 0.2)
        result: Tensor = self.last(y)
        return result


@family
def esrgan() -> Example:
    return Example(
        _Esrgan(),
        [image(1, 3, 32, 40)],
        [{0: "batch", 2: "height", 3: "width"}],
    )


class _Flow(nn.Module):
    """Optical flow: correlation, warping and a few refinements (PWC-Net)."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, 8, 3, 2, 1), nn.LeakyReLU(0.1), nn.Conv2d(8, 16, 3, 2, 1)
        )
        self.flow = nn.Conv2d(25 + 16 + 2, 2, 3, padding=1)

    def forward(self, one: Tensor, two: Tensor) -> Tensor:
        a, b = self.body(one), self.body(two)
        batch, _, rows, columns = a.shape
        ys, xs = torch.meshgrid(
            torch.arange(rows), torch.arange(columns), indexing="ij"
        )
        grid = torch.stack([xs, ys]).float()[None]
        flow = torch.zeros(batch, 2, rows, columns)
        for _ in range(3):
            place = grid + flow
            place = torch.stack(
                [
                    2 * place[:, 0] / (columns - 1) - 1,
                    2 * place[:, 1] / (rows - 1) - 1,
                ],
                -1,
            )
            warped = nn.functional.grid_sample(b, place, align_corners=True)
            around = nn.functional.pad(warped, (2, 2, 2, 2))
            costs = [
                (a * around[:, :, i : i + rows, j : j + columns]).mean(1)
                for i in range(5)
                for j in range(5)
            ]
            flow = flow + self.flow(torch.cat([torch.stack(costs, 1), a, flow], 1))
        return nn.functional.interpolate(flow, scale_factor=4, mode="bilinear")


@family
def optical_flow() -> Example:
    return Example(_Flow(), [image(1, 3, 32, 48), image(1, 3, 32, 48)])


@family
def raft() -> Example:
    from torchvision.models.optical_flow import raft_small

    def call(model: nn.Module, one: Tensor, two: Tensor) -> Any:
        return model(one, two, num_flow_updates=2)[-1]

    return Example(
        Call(raft_small(weights=None), call),
        [image(1, 3, 128, 128), image(1, 3, 128, 128)],
    )


class _Hypernetwork(nn.Module):
    """A siamese tracker: the template is the filter (SiamFC)."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, 8, 3, 2), nn.ReLU(), nn.Conv2d(8, 16, 3, 2)
        )

    def forward(self, template: Tensor, search: Tensor) -> Any:
        z, x = self.body(template), self.body(search)
        depth = nn.functional.conv2d(x, z.permute(1, 0, 2, 3), groups=16)
        whole = nn.functional.conv2d(x, z)
        return depth, whole


@family
def siamese_tracker() -> Example:
    return Example(_Hypernetwork(), [image(1, 3, 32, 32), image(1, 3, 64, 64)])


class _Stereo(nn.Module):
    """Disparity from a volume of costs (PSMNet)."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 8, 3, 4, 1), nn.ReLU())
        self.volume = nn.Sequential(
            nn.Conv3d(16, 8, 3, padding=1),
            nn.BatchNorm3d(8),
            nn.ReLU(),
            nn.Conv3d(8, 1, 3, padding=1),
        )

    def forward(self, left: Tensor, right: Tensor) -> Tensor:
        a, b = self.body(left), self.body(right)
        batch, channels, rows, columns = a.shape
        cost = a.new_zeros(batch, 2 * channels, 4, rows, columns)
        for shift in range(4):
            cost[:, :channels, shift, :, shift:] = a[:, :, :, shift:]
            cost[:, channels:, shift, :, shift:] = b[:, :, :, : columns - shift]
        y = self.volume(cost)
        y = nn.functional.interpolate(
            y, (16, left.shape[2], left.shape[3]), mode="trilinear", align_corners=False
        )
        share = (-y[:, 0]).softmax(1)
        return (share * torch.arange(16.0).view(1, 16, 1, 1)).sum(1)


@family
def stereo() -> Example:
    return Example(_Stereo(), [image(1, 3, 32, 48), image(1, 3, 32, 48)])
