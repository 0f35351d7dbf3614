# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""How TensorFlow runs in the child process."""

from __future__ import annotations

import os


def prepare_tensorflow() -> None:
    """Sets the environment, before TensorFlow or Keras is imported: no messages at
    start, no GPU, and no kernels whose rounding differs from run to run.
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
