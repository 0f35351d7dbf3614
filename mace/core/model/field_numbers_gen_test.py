# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Compares the generated field numbers with protobuf's own reading of mace.proto."""

from __future__ import annotations

from pathlib import Path

import pytest

from mace.core.model.field_numbers_gen import field_numbers, main
from mace.python.tools.proto import load_proto

_PROTO = Path(__file__).parents[2] / "proto/mace.proto"


def test_every_field_of_every_message_has_its_number() -> None:
    numbers = field_numbers(_PROTO.read_text(encoding="utf-8"))
    proto = load_proto("mace/proto/mace.proto")
    assert numbers
    described = proto.Model.DESCRIPTOR.file.message_types_by_name
    assert numbers == {
        name: {field.name: field.number for field in message.fields}
        for name, message in described.items()
    }


@pytest.mark.parametrize(
    "line",
    [
        "struct ValueInfoField {",
        "    kDataType = 3,",
        "    kLargestShape = 8,",
        "#ifndef MACE_CORE_MODEL_FIELD_NUMBERS_H_",
    ],
)
def test_the_header_has_a_name_for_each(line: str, tmp_path: Path) -> None:
    out = tmp_path / "field_numbers.h"
    assert main(["--proto", str(_PROTO), "--out", str(out)]) == 0
    assert line in out.read_text(encoding="utf-8").splitlines()
