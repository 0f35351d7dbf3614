# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What the tests compare with: ONNX Runtime, and how close a network's outputs must be
to those of its framework.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from mace.python.tools.ir.dtypes import Array
from mace.python.tools.validate.frameworks.onnx_session import open_session
from mace.python.tools.validate.metrics import compute_metrics

MIN_SIMILARITY = 0.99999
MAX_RELATIVE_ERROR = 1e-3


def assert_close(found: Array, wanted: Array) -> None:
    """The error bounds for all networks on all ABIs. The relative error refers to the
    largest value of the tensor; for probabilities, which are never 0, the bound also
    holds for each element.
    """
    assert found.shape == wanted.shape
    metrics = compute_metrics(wanted, found)
    print(f"similarity {metrics.similarity:.9f} error {metrics.max_rel_error:.2e}")
    assert metrics.non_finite == 0
    assert metrics.similarity >= MIN_SIMILARITY
    assert metrics.max_rel_error <= MAX_RELATIVE_ERROR
    if np.all(wanted > 0) and np.isclose(np.sum(wanted), 1, atol=1e-4):
        error = np.max(np.abs(found - wanted) / wanted)
        print(f"error element by element {error:.2e}")
        assert error <= MAX_RELATIVE_ERROR


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
