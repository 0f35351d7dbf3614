# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Layers that are known and cannot be converted: why, and what to do."""

from __future__ import annotations

_CUT = "cut the model before it with output_tensors"
_COUNT = "the number of results depends on the data"
_TRAINING = "a loss or a measure, which Caffe computes in training"
_UNTIL_LOSS = "name the tensor that it reads in output_tensors"
_STATE = "recurrent layers are not supported"

_LOSSES = [
    "Accuracy",
    "ContrastiveLoss",
    "CenterLoss",
    "DetectionEvaluate",
    "EuclideanLoss",
    "HingeLoss",
    "InfogainLoss",
    "MultiBoxLoss",
    "MultinomialLogisticLoss",
    "SigmoidCrossEntropyLoss",
    "SmoothL1Loss",
    "SmoothL1LossOHEM",
    "SoftmaxWithLossOHEM",
]

REFUSED = {
    "Filter": (_COUNT, _CUT),
    "Python": (
        "the layer is a Python program",
        f'{_CUT}; a ProposalLayer can be written as a layer of type "Proposal" with '
        "proposal_param",
    ),
    "HDF5Output": ("the layer writes a file", "leave it out"),
    "Im2col": ("MACE has no such operator", _CUT),
    "LSTM": (_STATE, _CUT),
    "RNN": (_STATE, _CUT),
    "Recurrent": (_STATE, _CUT),
    **dict.fromkeys(_LOSSES, (_TRAINING, _UNTIL_LOSS)),
}
