# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Programs whose operators change tensors in place, in PyTorch as the reference."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.validate.frameworks import ReferenceRequest

torch = pytest.importorskip("torch", reason="it is the reference here")


def _through_a_view(x: Any) -> Any:
    y = x * 2
    y[..., 0] /= 4
    y[..., 1] += 3
    return y.exp()


def _through_a_view_of_a_view(x: Any) -> Any:
    y = x * 2
    part = y.view(2, 12)[:, 1:4]
    part.select(1, 1).mul_(0.25)
    return y.exp()


def _through_parts(x: Any) -> Any:
    y = x * 2
    first, second = y.split(2, 1)
    first.add_(1)
    second[0] = 5
    return y.exp()


def _of_the_source(x: Any) -> Any:
    y = x * 2
    part = y[:, 1:]
    y.add_(1)
    return part.exp()


def _copied(x: Any) -> Any:
    y = x * 2
    other = y.clone()
    other[:, 0] = 7
    return y.exp() + other


@pytest.mark.parametrize(
    "function",
    [
        _through_a_view,
        _through_a_view_of_a_view,
        _through_parts,
        _of_the_source,
        _copied,
    ],
)
@pytest.mark.parametrize("inner", [False, True])
def test_changes_in_place(
    function: Callable[[Any], Any], inner: bool, tmp_path: Path
) -> None:
    from mace.python.tools.validate.frameworks.torch_program import run

    module = torch.nn.Module()
    module.forward = function
    x = np.random.default_rng(3).standard_normal((2, 4, 3)).astype(np.float32)
    program = torch.export.export(module, (torch.from_numpy(x),))
    path = tmp_path / "net.pt2"
    torch.export.save(program, str(path))
    signature = program.graph_signature
    (given,), (output,) = signature.user_inputs, signature.user_outputs
    names = [n.name for n in program.graph.nodes if "exp" in n.name] if inner else []
    result = run(ReferenceRequest("torch", path, {given: x}, (output,), tuple(names)))
    wanted = function(torch.from_numpy(x)).numpy()
    np.testing.assert_allclose(result.tensors[output], wanted, 1e-6)
