# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import pytest

from mace.python.tools.run.tensor_files import tensor_file_name


# tensor_io_test.cc has the same names.
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "MobilenetV1/Predictions/Reshape_1:0",
            "MobilenetV1_Predictions_Reshape_1_0",
        ),
        ("\u8f93\u5165:0", "\u8f93\u5165_0"),
        ("/" * 128, "_" * 128),
        ("/" * 129, "_" * 100 + "_632e22de"),
        ("xx" + "\u8f93" * 60, "xx" + "\u8f93" * 32 + "_8abb9799"),
    ],
    ids=["ascii", "other alphabet", "longest", "too long", "cut between characters"],
)
def test_names(name: str, expected: str) -> None:
    assert tensor_file_name(name) == expected


# tensor_io_test.cc has the same names.
@pytest.mark.parametrize(
    ("name", "expected"),
    [("x_1", "x_1"), ("x/1", "x_1_0accdaeb"), ("x:1", "x_1_87017982"), ("y/1", "y_1")],
)
def test_names_that_differ_only_in_what_files_cannot_have(
    name: str, expected: str
) -> None:
    assert tensor_file_name(name, ["x/1", "x:1", "x_1", "y/1"]) == expected
