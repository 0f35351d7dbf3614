# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Detectors with the steps behind the network, and keypoints."""

from __future__ import annotations

from typing import Any

import torch
import vision
from torch import Tensor, nn

from kinds.family import Call, Example, family, image, open_family, opened

_SIZES = {"min_size": 96, "max_size": 128}
_FEW = {
    "rpn_pre_nms_top_n_test": 60,
    "rpn_post_nms_top_n_test": 20,
    "box_detections_per_img": 10,
    "box_score_thresh": 0.01,
}


def _pyramid() -> nn.Module:
    from torchvision.models.detection.backbone_utils import resnet_fpn_backbone

    found: nn.Module = resnet_fpn_backbone(backbone_name="resnet18", weights=None)
    return found


def _lists(network: nn.Module, x: Tensor) -> Any:
    """Torchvision's detectors take a list of images and return a list of results."""
    return tuple(network([x])[0].values())


def _torchvision(network: nn.Module) -> Example:
    return Example(Call(network, _lists), [image(3, 96, 128)])


@family
def fasterrcnn() -> Example:
    from torchvision.models.detection import FasterRCNN

    return _torchvision(FasterRCNN(_pyramid(), 5, **_SIZES, **_FEW))


@family
def maskrcnn() -> Example:
    from torchvision.models.detection import MaskRCNN

    return _torchvision(MaskRCNN(_pyramid(), 5, **_SIZES, **_FEW))


@family
def keypointrcnn() -> Example:
    from torchvision.models.detection import KeypointRCNN

    return _torchvision(KeypointRCNN(_pyramid(), 2, num_keypoints=5, **_SIZES, **_FEW))


@family
def retinanet() -> Example:
    from torchvision.models.detection import RetinaNet

    few = {"topk_candidates": 50, "detections_per_img": 10, "score_thresh": 0.01}
    return _torchvision(RetinaNet(_pyramid(), 5, **_SIZES, **few))


@family
def fcos() -> Example:
    from torchvision.models.detection import FCOS

    few = {"topk_candidates": 50, "detections_per_img": 10, "score_thresh": 0.01}
    return _torchvision(FCOS(_pyramid(), 5, **_SIZES, **few))


@family
def ssdlite() -> Example:
    from torchvision.models.detection import ssdlite320_mobilenet_v3_large

    network = ssdlite320_mobilenet_v3_large(
        weights=None,
        weights_backbone=None,
        num_classes=5,
        topk_candidates=40,
        detections_per_img=10,
    )
    return Example(Call(network, _lists), [image(3, 320, 320)])


@family
def ssd() -> Example:
    from torchvision.models.detection.anchor_utils import DefaultBoxGenerator
    from torchvision.models.detection.ssd import SSD

    class _Backbone(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.out_channels = [16, 32]
            self.first = nn.Conv2d(3, 16, 3, 8, 1)
            self.second = nn.Conv2d(16, 32, 3, 2, 1)

        def forward(self, x: Tensor) -> dict[str, Tensor]:
            one = self.first(x).relu()
            return {"0": one, "1": self.second(one).relu()}

    boxes = DefaultBoxGenerator([[2], [2, 3]])
    network = SSD(
        _Backbone(), boxes, (96, 96), 5, topk_candidates=30, detections_per_img=10
    )
    return Example(Call(network, _lists), [image(3, 96, 96)])


def _chosen(network: nn.Module, x: Tensor) -> Any:
    """The best boxes of a detector like YOLO's, by one suppression for all classes."""
    from torchvision.ops import nms

    rows = network(x)[0]
    rows = rows.reshape(rows.shape[0], -1)
    rows = rows.T if rows.shape[0] < rows.shape[1] else rows
    center, size = rows[:, :2], rows[:, 2:4]
    boxes = torch.cat([center - size / 2, center + size / 2], 1)
    scores, classes = rows[:, 4:].sigmoid().max(1)
    kept = nms(boxes, scores, 0.5)[:20]
    return boxes[kept], scores[kept], classes[kept]


@open_family
def yolo_heads() -> Example:
    """The boxes of every place, without suppression."""
    axes = [{0: "batch", 2: "height", 3: "width"}]
    return opened(
        Example(vision.Detector(), [image(1, 3, 64, 64)]),
        axes,
        batch=(2, 1, 3),
        height=(64, 96, 32),
        width=(64, 32, 128),
    )


@family
def yolo_nms() -> Example:
    return Example(Call(vision.Detector(), _chosen), [image(1, 3, 64, 64)])


def _batched(network: nn.Module, x: Tensor) -> Any:
    """Boxes above a threshold, suppressed within their class, as in Ultralytics."""
    from torchvision.ops import batched_nms

    rows = network(x)[0]
    rows = rows.reshape(rows.shape[0], -1)
    rows = rows.T if rows.shape[0] < rows.shape[1] else rows
    center, size = rows[:, :2], rows[:, 2:4]
    boxes = torch.cat([center - size / 2, center + size / 2], 1)
    scores, classes = rows[:, 4:].sigmoid().max(1)
    above = scores > 0.5
    boxes, scores, classes = boxes[above], scores[above], classes[above]
    kept = batched_nms(boxes, scores, classes, 0.5)
    return torch.cat(
        [boxes[kept], scores[kept][:, None], classes[kept][:, None].float()], 1
    )


@family
def yolo_batched_nms() -> Example:
    return Example(Call(vision.Detector(), _batched), [image(1, 3, 64, 64)])


class _CenterNet(nn.Module):
    """Objects as points: maxima of heat maps (Zhou et al. 2019)."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, 16, 3, 2, 1),
            nn.ReLU(),
            nn.Conv2d(16, 32, 3, 2, 1),
            nn.ReLU(),
            nn.ConvTranspose2d(32, 16, 4, 2, 1),
            nn.ReLU(),
        )
        self.heat, self.size = nn.Conv2d(16, 4, 1), nn.Conv2d(16, 2, 1)

    def forward(self, x: Tensor) -> Any:
        y = self.body(x)
        heat = self.heat(y).sigmoid()
        peak = nn.functional.max_pool2d(heat, 3, 1, 1)
        heat = heat * (peak == heat).float()
        batch, _, rows, columns = heat.shape
        scores, index = heat.reshape(batch, -1).topk(10)
        kinds = index // (rows * columns)
        place = index % (rows * columns)
        ys, xs = place // columns, place % columns
        size = self.size(y).flatten(2).transpose(1, 2)
        size = size.gather(1, place[:, :, None].expand(-1, -1, 2))
        boxes = torch.stack(
            [xs - size[..., 0] / 2, ys - size[..., 1] / 2, xs + 0.5, ys + 0.5], -1
        )
        return boxes, scores, kinds


@family
def centernet() -> Example:
    return Example(_CenterNet(), [image(1, 3, 64, 64)])


def _detr_like(name: str, **changes: Any) -> Example:
    import transformers

    config = getattr(transformers, f"{name}Config")(**changes)
    network = getattr(transformers, f"{name}ForObjectDetection")(config)

    def call(model: nn.Module, x: Tensor) -> Any:
        found = model(pixel_values=x)
        return found.logits, found.pred_boxes

    return Example(Call(network, call), [image(1, 3, 64, 64)])


def _resnet() -> Any:
    from transformers import ResNetConfig

    return ResNetConfig(
        embedding_size=8,
        hidden_sizes=[8, 16, 24, 32],
        depths=[1, 1, 1, 1],
        layer_type="basic",
        out_features=["stage2", "stage3", "stage4"],
    )


_SMALL = {
    "d_model": 32,
    "encoder_layers": 1,
    "decoder_layers": 2,
    "encoder_ffn_dim": 64,
    "decoder_ffn_dim": 64,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "num_queries": 10,
}


@family
def detr() -> Example:
    from transformers import ResNetConfig

    backbone = ResNetConfig(
        embedding_size=8,
        hidden_sizes=[8, 16, 24, 32],
        depths=[1, 1, 1, 1],
        layer_type="basic",
        out_features=["stage4"],
    )
    return _detr_like("Detr", backbone_config=backbone, **_SMALL)


@family
def deformable_detr() -> Example:
    return _detr_like(
        "DeformableDetr",
        backbone_config=_resnet(),
        num_feature_levels=3,
        two_stage=True,
        with_box_refine=True,
        two_stage_num_proposals=10,
        **_SMALL,
    )


@family
def rt_detr() -> Example:
    from transformers import RTDetrResNetConfig

    backbone = RTDetrResNetConfig(
        embedding_size=8,
        hidden_sizes=[8, 16, 24, 32],
        depths=[1, 1, 1, 1],
        layer_type="basic",
        out_features=["stage2", "stage3", "stage4"],
    )
    return _detr_like(
        "RTDetr",
        backbone_config=backbone,
        encoder_in_channels=[16, 24, 32],
        encoder_hidden_dim=32,
        d_model=32,
        encoder_ffn_dim=64,
        decoder_ffn_dim=64,
        decoder_in_channels=[32, 32, 32],
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        decoder_layers=2,
        num_queries=10,
        num_denoising=0,
        anchor_image_size=None,
        initializer_range=0.3,
    )


@family
def yolos() -> Example:
    return _detr_like(
        "Yolos",
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        image_size=[64, 64],
        num_detection_tokens=10,
    )


class _Heatmaps(nn.Module):
    """Keypoints from heat maps: the maximum, and a step to the larger neighbour."""

    def __init__(self) -> None:
        super().__init__()
        import timm

        self.body = timm.create_model(
            "hrnet_w18_small", pretrained=False, features_only=True
        )
        self.head = nn.Conv2d(64, 5, 1)

    def forward(self, x: Tensor) -> Any:
        maps = self.head(self.body(x)[0])
        batch, points, _, columns = maps.shape
        flat = maps.reshape(batch, points, -1)
        score, index = flat.max(-1)
        ys, xs = index // columns, index % columns
        around = nn.functional.pad(maps, (1, 1, 1, 1))
        width = columns + 2
        place = (ys + 1) * width + xs + 1
        flat = around.reshape(batch, points, -1)
        right = flat.gather(2, (place + 1)[..., None])[..., 0]
        left = flat.gather(2, (place - 1)[..., None])[..., 0]
        exact = xs + 0.25 * torch.sign(right - left)
        return torch.stack([exact, ys.float()], -1), score


@family
def hrnet_keypoints() -> Example:
    return Example(_Heatmaps(), [image(1, 3, 64, 64)])


@family
def vitpose() -> Example:
    from transformers import (
        VitPoseBackboneConfig,
        VitPoseConfig,
        VitPoseForPoseEstimation,
    )

    backbone = VitPoseBackboneConfig(
        image_size=[64, 48],
        patch_size=[16, 16],
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        out_features=["stage2"],
    )
    network = VitPoseForPoseEstimation(VitPoseConfig(backbone_config=backbone))

    def call(model: nn.Module, x: Tensor) -> Any:
        return model(x).heatmaps

    return Example(Call(network, call), [image(1, 3, 64, 48)])


class _SoftArgmax(nn.Module):
    """A pose of three dimensions: expected positions in heat maps of volumes."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, 16, 3, 2, 1), nn.BatchNorm2d(16), nn.ReLU()
        )
        self.head = nn.Conv2d(16, 4 * 8, 1)

    def forward(self, x: Tensor) -> Any:
        maps = self.head(self.body(x))
        batch, _, rows, columns = maps.shape
        share = maps.reshape(batch, 4, -1).softmax(-1)
        share = share.reshape(batch, 4, 8, rows, columns)
        depth = (share.sum((3, 4)) * torch.arange(8.0)).sum(-1)
        height = (share.sum((2, 4)) * torch.arange(float(rows))).sum(-1)
        width = (share.sum((2, 3)) * torch.arange(float(columns))).sum(-1)
        return torch.stack([width, height, depth], -1)


@family
def pose_soft_argmax() -> Example:
    return Example(_SoftArgmax(), [image(1, 3, 32, 32)])


class _HeadPose(nn.Module):
    """Rotation matrices from six numbers, and the angles of these (6DRepNet)."""

    def __init__(self) -> None:
        super().__init__()
        import timm

        self.body = timm.create_model("repvgg_a0", pretrained=False, num_classes=6)

    def forward(self, x: Tensor) -> Any:
        y = self.body(x)
        one = nn.functional.normalize(y[:, :3], dim=1)
        three = nn.functional.normalize(torch.cross(one, y[:, 3:], dim=1), dim=1)
        two = torch.cross(three, one, dim=1)
        turn = torch.stack([one, two, three], 2)
        flat = torch.sqrt(turn[:, 0, 0] ** 2 + turn[:, 1, 0] ** 2)
        pitch = torch.atan2(turn[:, 2, 1], turn[:, 2, 2])
        yaw = torch.atan2(-turn[:, 2, 0], flat)
        roll = torch.atan2(turn[:, 1, 0], turn[:, 0, 0])
        return turn, torch.stack([pitch, yaw, roll], 1)


@family
def head_pose() -> Example:
    return Example(_HeadPose(), [image(1, 3, 64, 64)])


class _Gaze(nn.Module):
    """The direction of gaze over a few images (Gaze360)."""

    def __init__(self) -> None:
        super().__init__()
        from torchvision.models import shufflenet_v2_x0_5

        self.body = shufflenet_v2_x0_5(weights=None, num_classes=32)
        self.memory = nn.LSTM(32, 16, 2, bidirectional=True, batch_first=True)
        self.head = nn.Linear(32, 3)

    def forward(self, x: Tensor) -> Any:
        batch, frames = x.shape[:2]
        y = self.body(x.flatten(0, 1)).reshape(batch, frames, -1)
        y, _ = self.memory(y)
        y = self.head(y[:, frames // 2])
        angles = torch.stack([torch.tanh(y[:, 0]) * torch.pi, y[:, 1].tanh() * 1.5], 1)
        return angles, y[:, 2].sigmoid() * torch.pi


@family
def gaze() -> Example:
    return Example(_Gaze(), [image(1, 3, 3, 64, 64)])


@family
def superpoint() -> Example:
    from transformers import SuperPointConfig, SuperPointForKeypointDetection

    config = SuperPointConfig(
        encoder_hidden_sizes=[8, 8, 16, 16],
        decoder_hidden_size=16,
        keypoint_decoder_dim=65,
        descriptor_decoder_dim=16,
        keypoint_threshold=0.001,
        max_keypoints=20,
    )

    def call(model: nn.Module, x: Tensor) -> Any:
        last = model.encoder(x)[0]
        scores = model.keypoint_decoder._get_pixel_scores(last)
        return scores, model.descriptor_decoder.conv_descriptor_b(
            model.descriptor_decoder.relu(
                model.descriptor_decoder.conv_descriptor_a(last)
            )
        )

    return Example(
        Call(SuperPointForKeypointDetection(config), call), [image(1, 1, 64, 64)]
    )
