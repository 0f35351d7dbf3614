# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime, whose outputs are the reference of the tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from mace.python.tools.ir.dtypes import Array


def run_onnxruntime(
    path: Path, outputs: Sequence[str], feeds: Mapping[str, Array]
) -> dict[str, Array]:
    """The outputs of a model by name; skips the test if onnxruntime is not
    installed.
    """
    ort = pytest.importorskip("onnxruntime", reason="it is the reference here")
    options = ort.SessionOptions()
    options.log_severity_level = 3
    # The machine is shared with the program under test.
    options.intra_op_num_threads = 1
    session = ort.InferenceSession(
        str(path), options, providers=["CPUExecutionProvider"]
    )
    return dict(zip(outputs, session.run(list(outputs), dict(feeds))))
