# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Torchvision's operators in Python, since its compiled ones need CUDA.

A package index has torchvision's libraries for CUDA only; importing torchvision fails
if the operators below are not declared. Exporters know them by name.
"""

from __future__ import annotations

import inspect
import sys

import torch
from torch import Tensor

_SCHEMAS = {
    "nms": "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms": "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "roi_align": "(Tensor input, Tensor rois, float spatial_scale, "
    "SymInt pooled_height, SymInt pooled_width, int sampling_ratio, bool aligned) "
    "-> Tensor",
    "deform_conv2d": "(Tensor input, Tensor weight, Tensor offset, Tensor mask, "
    "Tensor bias, SymInt stride_h, SymInt stride_w, SymInt pad_h, SymInt pad_w, "
    "SymInt dilation_h, SymInt dilation_w, SymInt groups, SymInt offset_groups, "
    "bool use_mask) -> Tensor",
}
# A definition exists as long as its library object.
_LIBRARIES: list[torch.library.Library] = []


def _nms(boxes: Tensor, scores: Tensor, limit: float) -> Tensor:
    order = scores.sort(descending=True, stable=True).indices.tolist()
    area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    kept: list[int] = []
    for index in order:
        if kept:
            others = boxes[kept]
            low = torch.maximum(boxes[index, :2], others[:, :2])
            high = torch.minimum(boxes[index, 2:], others[:, 2:])
            shared = (high - low).clamp(min=0).prod(1)
            if bool((shared / (area[index] + area[kept] - shared) > limit).any()):
                continue
        kept.append(index)
    return torch.tensor(kept, dtype=torch.int64)


def _roi_align(
    x: Tensor,
    rois: Tensor,
    scale: float,
    height: int,
    width: int,
    ratio: int,
    half: bool,
) -> Tensor:
    from torchvision.ops.roi_align import _roi_align as compiled

    compute = inspect.unwrap(compiled)
    result: Tensor = compute(x, rois, scale, height, width, ratio, half)
    return result


def _has_operators() -> bool:
    return True


def declare_torchvision() -> None:
    """Lets torchvision be imported without its compiled operators."""
    library = torch.library.Library("torchvision", "DEF")
    for name, schema in _SCHEMAS.items():
        library.define(name + schema)
    library.impl("nms", _nms, "CPU")
    library.impl("roi_align", _roi_align, "CPU")
    _LIBRARIES.append(library)
    from torchvision import extension
    from torchvision.ops import roi_align

    extension._has_ops = _has_operators
    sys.modules[roi_align.__module__]._has_ops = _has_operators  # type: ignore
