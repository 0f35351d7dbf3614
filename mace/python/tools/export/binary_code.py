# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""A binary file as an array in C++, for applications that ship no files."""

from __future__ import annotations

import re
from pathlib import Path

from mace.python.tools.atomic import atomic_write

_BYTES_PER_LINE = 16

_TEXT = """\
// Written by converter.py from {file}.
//
// Declare in the application:
//   namespace mace {{
//   extern const unsigned char {name}[];
//   extern const unsigned long {name}_size;
//   }}

namespace mace {{

extern const unsigned char {name}[];
extern const unsigned long {name}_size;

alignas(8) const unsigned char {name}[] = {{
{rows}
}};
const unsigned long {name}_size = {size};

}}  // namespace mace
"""


def write_binary_code(path: Path) -> Path:
    """Writes `<path>.cc` with the bytes of a file; returns its path.

    The array is `mace::<name>`, its size in bytes `mace::<name>_size`, where <name>
    is the file's name without `.bin` and with `_` for all that C++ forbids.

    Raises:
        OutputError: it cannot be written.
    """
    data = path.read_bytes()
    rows = [
        "    " + " ".join(f"{byte:#04x}," for byte in data[at : at + _BYTES_PER_LINE])
        for at in range(0, len(data), _BYTES_PER_LINE)
    ]
    # An array must have an element.
    text = _TEXT.format(
        file=path.name,
        name=array_name(path),
        rows="\n".join(rows) or "    0",
        size=len(data),
    )
    target = path.with_name(f"{path.name}.cc")
    with atomic_write(target, "w") as stream:
        stream.write(text)
    return target


def array_name(path: Path) -> str:
    """The name of the array with the bytes of a file."""
    name = re.sub(r"[^0-9A-Za-z]+", "_", path.name.removesuffix(".bin"))
    return f"_{name}" if name[0].isdigit() else name
