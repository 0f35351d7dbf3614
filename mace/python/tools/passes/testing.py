# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests that a pass does not change the graph's outputs.

A test gives a function that builds a graph. It is built twice; one copy is
rewritten; both run on the same random inputs in the reference executor.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

import numpy as np

from mace.python.tools.ir import DataFormat, Graph, GraphBuilder
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.evaluate import run_graph
from mace.python.tools.ir.shapes import NCHW_TO_NHWC, static
from mace.python.tools.passes.base import Pass
from mace.python.tools.passes.manager import PassManager

Build = Callable[[GraphBuilder, np.random.Generator], None]

# Weights are rounded to float32 once more than before; sums of a few hundred products
# keep five digits.
_TOLERANCE = 2e-5


def rewrite(build: Build, passes: Iterable[Pass] | None = None, seed: int = 0) -> Graph:
    """Builds, rewrites and compares; returns the rewritten graph.

    Also checks that a second run changes nothing.
    """
    before, after = _build(build, seed), _build(build, seed)
    manager = PassManager(None if passes is None else list(passes))
    manager.run(after)
    again = manager.run(after)
    assert not any(report.rewrites for report in again), "not idempotent"
    _compare(before, after, seed)
    return after


def types(graph: Graph) -> Counter[str]:
    """How many operators of each type the graph has."""
    return Counter(op.type for op in graph.ops)


def random(rng: np.random.Generator, *shape: int) -> Array:
    """Weights around zero."""
    return rng.standard_normal(shape).astype(np.float32)


def _build(build: Build, seed: int) -> Graph:
    builder = GraphBuilder("test", "test")
    build(builder, np.random.default_rng(seed))
    builder.graph.prune()
    builder.graph.sort()
    return builder.graph


def _compare(before: Graph, after: Graph, seed: int) -> None:
    rng = np.random.default_rng(seed + 1)
    inputs = {}
    for value in before.inputs:
        # An unknown dimension is 2.
        shape = [d if isinstance(d, int) else 2 for d in value.shape or ()]
        array = rng.standard_normal(shape) * 3
        inputs[value.name] = array.astype(value.dtype.numpy)
    turned = {
        name: array.transpose(NCHW_TO_NHWC) if _turned(before, after, name) else array
        for name, array in inputs.items()
    }
    expected, found = run_graph(before, inputs), run_graph(after, turned)
    for value in after.outputs:
        want, have = expected[value.name], found[value.name]
        if _turned(before, after, value.name):
            want = want.transpose(NCHW_TO_NHWC)
        assert want.dtype == have.dtype and want.shape == have.shape
        known = static(value.shape)
        assert known is None or known == have.shape
        # Infinities and NaN are valid results too.
        scale = max(float(np.abs(want[np.isfinite(want)]).max(initial=0)), 1e-3)
        np.testing.assert_allclose(
            have, want, rtol=0, atol=_TOLERANCE * scale, err_msg=f"seed {seed}"
        )


def _turned(before: Graph, after: Graph, name: str) -> bool:
    formats = before.formats[name], after.formats[name]
    return formats == (DataFormat.NCHW, DataFormat.NHWC)
