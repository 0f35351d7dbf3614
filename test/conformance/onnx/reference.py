# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime, whose outputs are the reference of the tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from mace.python.tools.ir.dtypes import Array
from mace.python.tools.validate.frameworks.onnx_session import open_session


def run_onnxruntime(
    path: Path, outputs: Sequence[str], feeds: Mapping[str, Array]
) -> dict[str, Array]:
    """The outputs of a model by name; skips the test if onnxruntime is not
    installed.
    """
    pytest.importorskip("onnxruntime", reason="it is the reference here")
    # The machine is shared with the program under test.
    session = open_session(str(path), threads=1)
    return dict(zip(outputs, session.run(list(outputs), dict(feeds))))
