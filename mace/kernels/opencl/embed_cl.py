# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

"""Makes a C++ header of an OpenCL C file.

    python -m mace.kernels.opencl.embed_cl --source mace/ops/softmax/softmax.cl \
        --out softmax_cl.h

The header defines ``kSoftmaxCl`` (of ``x.clh``: ``kXClh``), a ``ClSource`` with the
text, without comments and indentation. The files that the text includes are not
part of it: the runtime puts them in front, each of them once.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"\s*$')
# Wrong for a launch that the runtime divides by global offsets.
_OF_THE_PART = re.compile(
    r"\bget_(?:group_id|num_groups|global_size|global_linear_id)\b"
)
# What C++ compilers take in one string literal for sure.
_LITERAL_BYTES = 60000


def symbol(path: str) -> str:
    """``kSoftmaxCl`` of ``mace/ops/softmax/softmax.cl``."""
    stem, suffix = Path(path).stem, Path(path).suffix[1:]
    words = [*stem.split("_"), suffix]
    return "k" + "".join(word.capitalize() for word in words)


def header(path: str) -> str:
    """The generated header of a file: ``x.cl`` -> ``x_cl.h``."""
    return str(Path(path).with_suffix("")) + "_" + Path(path).suffix[1:] + ".h"


def embed(path: str, text: str) -> str:
    """The C++ header of the file ``path``, which holds ``text``."""
    includes = []
    lines = []
    for line in _COMMENT.sub(" ", text).splitlines():
        found = _INCLUDE.match(line)
        if found:
            includes.append(found.group(1))
        elif line.strip():
            lines.append(" ".join(line.split()))
    body = "\n".join(lines) + "\n"
    wrong = _OF_THE_PART.search(body)
    if wrong:
        raise SystemExit(
            f"{path}: {wrong.group()} counts only a part of a launch that the runtime"
            " divides; use GROUP_INDEX of tensor.clh, or pass the number"
        )
    if len(body.encode()) > _LITERAL_BYTES:
        raise SystemExit(f"{path}: longer than {_LITERAL_BYTES} bytes; divide it")
    name = symbol(path)
    guard = re.sub(r"\W", "_", header(path)).upper() + "_"
    out = [
        "// Copyright 2026 The MACE Authors",
        "// SPDX-License-Identifier: Apache-2.0",
        f"// Generated from {path}.",
        "",
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
        '#include "mace/kernels/opencl/cl_source.h"',
        *(f'#include "{header(include)}"' for include in includes),
        "",
        "namespace mace {",
        "",
    ]
    shared = "nullptr"
    if includes:
        shared = name + "Includes"
        listed = ", ".join("&" + symbol(include) for include in includes)
        out.append(f"inline constexpr const ClSource *{shared}[] = {{{listed}}};")
    out += [
        f"inline constexpr ClSource {name} = {{",
        f'    "{Path(path).stem}", R"cl({body})cl",',
        f"    {shared}, {len(includes)}}};",
        "",
        "}  // namespace mace",
        "",
        f"#endif  // {guard}",
        "",
    ]
    return "\n".join(out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", required=True)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    args.out.write_text(embed(args.source, Path(args.source).read_text()))


if __name__ == "__main__":
    main()
