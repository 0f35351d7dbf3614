# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""How close a network's outputs must be to those of its framework."""

from __future__ import annotations

import numpy as np

from mace.python.tools.ir.dtypes import Array
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
