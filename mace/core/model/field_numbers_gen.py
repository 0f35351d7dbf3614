# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
r"""Generates the C++ header with the field numbers of mace.proto.

    python mace/core/model/field_numbers_gen.py \
        --proto mace/proto/mace.proto --out field_numbers.h

Field `data_type` of message `ValueInfo` is `ValueInfoField::kDataType`. The file is
read as text, so that a build needs no compiler of protobuf; field_numbers_gen_test.py
compares the result with protobuf's own reading.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

_MESSAGE = re.compile(r"^message (\w+) \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r"^ +(?:repeated )?\w+ (\w+) = (\d+);", re.MULTILINE)
_LICENCE = (
    "// Copyright 2026 The MACE Authors\n// SPDX-License-Identifier: Apache-2.0\n"
)


def field_numbers(proto: str) -> dict[str, dict[str, int]]:
    """The numbers of the fields of each message, by their names, in the file's
    order.
    """
    return {
        message: {name: int(number) for name, number in _FIELD.findall(body)}
        for message, body in _MESSAGE.findall(proto)
    }


def generate(proto: str) -> str:
    """The header for the text of mace.proto."""
    guard = "MACE_CORE_MODEL_FIELD_NUMBERS_H_"
    lines = [f"{_LICENCE}// Generated from mace.proto.", ""]
    lines += [f"#ifndef {guard}", f"#define {guard}", "", "#include <cstdint>"]
    lines += ["", "namespace mace {", ""]
    for message, fields in field_numbers(proto).items():
        lines += [f"struct {message}Field {{", "  enum : uint32_t {"]
        for name, number in fields.items():
            camel = "".join(word.capitalize() for word in name.split("_"))
            lines.append(f"    k{camel} = {number},")
        lines += ["  };", "};", ""]
    lines += ["}  // namespace mace", "", f"#endif  // {guard}", ""]
    return "\n".join(lines)


def main(argv: list[str] | None = None) -> int:
    """Entry point; returns the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--proto", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args(argv)
    args.out.write_text(
        generate(args.proto.read_text(encoding="utf-8")), encoding="utf-8"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
