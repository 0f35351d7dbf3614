# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Forms of operators that torch.export does not write, compared with NumPy."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mace.python.tools.importers.pytorch.testing import (
    Spec,
    import_spec,
    node,
    normal,
    tensor,
)
from mace.python.tools.ir.evaluate import run_graph


def test_split_by_a_list(tmp_path: Path) -> None:
    """The overload aten.split.sizes has it where others have one number."""
    x = normal(2, 6)
    parts = node(
        "aten.split.sizes",
        ["a", "b"],
        self=tensor("x"),
        split_size={"as_ints": [2, 4]},
        dim={"as_int": 1},
    )
    graph = import_spec(Spec({"x": x}, [parts], ["a", "b"]), tmp_path)
    found = run_graph(graph, {"x": x})
    np.testing.assert_array_equal(found["a"], x[:, :2])
    np.testing.assert_array_equal(found["b"], x[:, 2:])
