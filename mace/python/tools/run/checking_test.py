# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Tensors that `check_tensors` names."""

from __future__ import annotations

import numpy as np
import pytest

from mace.python.tools.errors import UsageError
from mace.python.tools.run.testing.project import Project


def test_check_tensors_decide_like_outputs(project: Project) -> None:
    extra = "check_tensors: r0\ncheck_shapes: 1,6,5,12\n"
    report = project.convert_and_run(extra, validate=True)
    assert [c.name for c in report.runs[0].comparisons] == ["y", "r0"]
    assert report.passed
    # Layers are another question.
    assert report.runs[0].layers == ()
    strict = (
        extra + "validation_threshold: {CPU: 1.0}\nvalidation_outputs_data: y.npy\n"
    )
    np.save(project.folder / "y.npy", np.ones((1, 6, 5, 8), np.float32))
    assert not project.run(project.deployment(strict), validate=True).passed


@pytest.mark.parametrize(
    ("check", "shape", "message"),
    [
        ("r00", "1,6,5,12", r"r00: not in the converted model.*near names: r0"),
        ("c0", "1,6,5,12", "c0: not in the converted model"),
        ("r0", "1,6,5,8", r"check_shapes says \[1, 6, 5, 8\].*\[1, 6, 5, 12\]"),
    ],
)
def test_wrong_check_tensors(
    project: Project, check: str, shape: str, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        project.convert_and_run(
            f"check_tensors: {check}\ncheck_shapes: {shape}\n", validate=True
        )
