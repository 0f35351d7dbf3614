# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Figures of the GPU's convolution kernels, from their compiled code.

    python -m benchmarks.gpu_static.figures [--write]

clang compiles each kernel for an AMD GPU (gfx1030), for which it has a complete back
end; no phone's compiler can be had. The figures are not those of a phone, but a change
that makes them worse is one to look at. For each kernel: multiply-adds of four lanes
(`mads`) and reads from memory in the loop that has most of the former, or, without a
loop, in all of the kernel; vector registers, bytes of local memory, and bytes of
registers that did not fit (`spilled`).

--write records them in figures.json, to which figures_test.py holds the kernels.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console

from benchmarks.tables import Table, show
from tools.quality.model import find_program

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(__file__).resolve().parent
RECORD = FOLDER / "figures.json"
COMPILER = "clang-19"
_TILES = ROOT / "mace/ops/opencl_op/conv_tile.cc"
_INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"\s*$')
_LABEL = re.compile(r"^(\.LBB\d+_\d+):")
_BRANCH = re.compile(r"^\s+s_c?branch\S*\s+(\.LBB\d+_\d+)")
# Of float, of two halfs, and of mixed precision.
_FMA = re.compile(
    r"^\s+v_(?:pk_)?(?:fma|fmac|mac|mad)_(?:mix_?(?:lo|hi)?_?)?(?:f32|f16)"
)
_PACKED = re.compile(r"^\s+v_pk_fma_f16")
_READ = re.compile(r"^\s+(?:global|buffer|flat)_load_")
# Scalar loads serve all items of a wave.
_SCALAR_READ = re.compile(r"^\s+s_load_")
_LANES = 4
# One unit in which gfx1030 gives registers to a wave.
MORE_REGISTERS = 8


@dataclass(frozen=True)
class Figures:
    """Of one kernel.

    Attributes:
        mads: multiply-adds of vectors of four in the loop that has most of them.
        reads: loads from memory in that loop, of one vector each.
        registers: vector registers of one item.
        local_bytes: local memory that the kernel declares.
        spilled: bytes of registers in memory, of one item.
    """

    mads: float
    reads: int
    registers: int
    local_bytes: int
    spilled: int

    @property
    def mads_per_read(self) -> float:
        """How often a vector that was read is used."""
        return self.mads / max(self.reads, 1)


@dataclass(frozen=True)
class Variant:
    """A kernel with its macros."""

    source: str
    kernel: str
    macros: Mapping[str, object]


Tile = tuple[int, int, int]


def tiles(text: str) -> tuple[list[Tile], list[Tile]]:
    """The tiles of conv_tile.cc, pixels, blocks, split: of a desktop, of a phone."""
    body = text[text.index("std::vector<ConvTile> ConvTiles(") :]
    body = body[: body.index("\n}\n")]
    desktop, phone = body.split("} else {", 1)

    def found(part: str) -> list[Tile]:
        rows = re.findall(r"\{(\d+), (\d+), (\d+)\}", part)
        return [(int(p), int(b), int(s)) for p, b, s in rows]

    return found(desktop), found(phone)


def _storage(tensors: Sequence[str], code: str) -> dict[str, object]:
    return {f"T_{name}": code for name in tensors}


def _convolutions(
    tile: Tile, kind: str, macros: Mapping[str, object], lanes: int
) -> dict[str, Variant]:
    """The kernels of a tile, for 1x1 windows and for any."""
    pixels, blocks, split = tile
    name = f"{pixels}x{blocks}" + (f" split {split}" if split > 1 else "")
    shape: dict[str, object] = {"PIXELS": pixels, "BLOCKS": blocks, "TAIL": 0}
    if split > 1 or macros["T_input"] == "BF":
        shape.update(LANES=lanes, SPLIT=split)
    source = "mace/ops/conv2d/conv2d.cl"
    return {
        f"conv2d 1x1, {name}, {kind}": Variant(
            source, "conv2d", {**macros, **shape, "POINTWISE": 1}
        ),
        f"conv2d any, {name}, {kind}": Variant(source, "conv2d", {**macros, **shape}),
    }


def variants() -> dict[str, Variant]:
    """All kernels that are watched, by name."""
    phone = {
        **_storage(("input", "output", "residual", "points"), "IM"),
        **_storage(("filter",), "CW"),
        **_storage(("bias",), "CH"),
        "ACT": "LINEAR",
        "HAS_BIAS": 1,
    }
    desktop = {
        **phone,
        **_storage(("input", "output", "residual", "points"), "BF"),
        **_storage(("filter", "bias"), "CF"),
    }
    found: dict[str, Variant] = {}
    of_desktop, of_phone = tiles(_TILES.read_text())
    for tile in of_phone:
        found.update(_convolutions(tile, "images, half", phone, 16))
        found.update(
            _convolutions(tile, "half arithmetic", {**phone, "REAL_HALF": 1}, 16)
        )
    for tile in of_desktop:
        found.update(_convolutions(tile, "buffers, float", desktop, 32))
    depthwise = "mace/ops/conv2d/depthwise_conv2d.cl"
    for stride in (1, 2):
        window = {
            "KERNEL_Y": 3,
            "KERNEL_X": 3,
            "STRIDE_Y": stride,
            "STRIDE_X": stride,
            "ALIGNED": 1,
            "COLUMNS": 4 // stride,
        }
        for rows, kind, base in (
            (1, "images, half", phone),
            (2, "images, half", phone),
            (1, "buffers, float", desktop),
        ):
            name = f"depthwise 3x3 stride {stride}, {rows} row(s), {kind}"
            found[name] = Variant(
                depthwise,
                "depthwise_unrolled",
                {**base, "T_filter": base["T_bias"], **window, "ROWS": rows},
            )
    for size in (2, 4):
        for part in ("input", "output"):
            found[f"winograd{size} {part}, images, half"] = Variant(
                "mace/ops/conv2d/winograd.cl",
                f"winograd{size}_{part}",
                {**phone, "CHANNEL_AXIS": 1},
            )
    return found


def text_of(path: str, seen: set[str]) -> str:
    """A source with what it includes, each file once, as the runtime does."""
    lines = []
    for line in (ROOT / path).read_text().splitlines():
        include = _INCLUDE.match(line)
        if not include:
            lines.append(line)
        elif include[1] not in seen:
            seen.add(include[1])
            lines.append(text_of(include[1], seen))
    return "\n".join(lines)


def compile_kernel(program: str, variant: Variant) -> str:
    """The assembly of a kernel."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "kernel.cl"
        source.write_text(
            (FOLDER / "builtins.h").read_text() + text_of(variant.source, set())
        )
        command = [
            *(program, "-x", "cl", "-cl-std=CL1.2", "-O2", "-S", "-o", "-"),
            *("--target=amdgcn-amd-amdhsa", "-mcpu=gfx1030", "-nogpulib"),
            *("-cl-no-stdinc", "-include", "opencl-c.h"),
            f"-DKERNEL_{variant.kernel}",
            *(f"-D{name}={value}" for name, value in variant.macros.items()),
            str(source),
        ]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        raise SystemExit(f"{variant.kernel}: {run.stderr[-2000:]}")
    return run.stdout


def _loops(lines: Sequence[str]) -> Iterator[Sequence[str]]:
    """The innermost loops: from a label to the branch back to it."""
    at = {m[1]: i for i, line in enumerate(lines) if (m := _LABEL.match(line))}
    spans = []
    for end, line in enumerate(lines):
        branch = _BRANCH.match(line)
        if branch and at.get(branch[1], end) < end:
            spans.append((at[branch[1]], end))
    for begin, end in spans:
        if not any(
            (b, e) != (begin, end) and b >= begin and e <= end for b, e in spans
        ):
            yield lines[begin:end]


def _mads(lines: Sequence[str]) -> float:
    found = sum(1 for line in lines if _FMA.match(line))
    return (found + sum(1 for line in lines if _PACKED.match(line))) / _LANES


def _reads(lines: Sequence[str]) -> int:
    return sum(1 for line in lines if _READ.match(line) or _SCALAR_READ.match(line))


def figures_of(assembly: str, kernel: str) -> Figures:
    """What the assembly of a kernel says; without a loop, of all of its code."""
    text = assembly[assembly.index(f"\n{kernel}:") :]

    def number(name: str) -> int:
        found = re.search(rf"; {name}: (\d+)", text)
        if found is None:
            raise ValueError(f"the compiler does not tell {name} of {kernel}")
        return int(found[1])

    code = text[: text.index(".Lfunc_end")].splitlines()
    body = max([*_loops(code)], key=_mads, default=code)
    if _mads(body) == 0:
        body = code
    return Figures(
        mads=_mads(body),
        reads=_reads(body),
        registers=number("NumVgprs"),
        local_bytes=number("LDSByteSize"),
        spilled=number("ScratchSize"),
    )


def measure(program: str) -> dict[str, Figures]:
    """The figures of all kernels."""
    return {
        name: figures_of(compile_kernel(program, variant), variant.kernel)
        for name, variant in variants().items()
    }


def recorded() -> dict[str, Figures]:
    """The figures of figures.json."""
    return {
        name: Figures(**entry) for name, entry in json.loads(RECORD.read_text()).items()
    }


def table_of(found: Mapping[str, Figures]) -> Table:
    """What is printed."""
    table = Table(
        "gpu_static",
        "Innermost loops of GPU kernels, compiled for gfx1030",
        (
            "kernel",
            "mads",
            "reads",
            "ratio",
            "registers",
            "local",
            "spilled",
        ),
    )
    for name, figures in found.items():
        table.add(
            name,
            f"{figures.mads:.0f}",
            str(figures.reads),
            f"{figures.mads_per_read:.2f}",
            str(figures.registers),
            str(figures.local_bytes),
            str(figures.spilled),
        )
    return table


def worse(figures: Figures, before: Figures) -> list[str]:
    """How a kernel is worse than it was; registers may grow by a few."""
    found = []
    if figures.mads_per_read < 0.99 * before.mads_per_read:
        found.append(
            f"{figures.mads_per_read:.2f} multiply-adds per read, "
            f"were {before.mads_per_read:.2f}"
        )
    if before.mads == 0 and figures.reads > before.reads:
        found.append(f"{figures.reads} reads, were {before.reads}")
    if figures.registers > before.registers + MORE_REGISTERS:
        found.append(f"{figures.registers} registers, were {before.registers}")
    if figures.local_bytes > before.local_bytes:
        found.append(f"{figures.local_bytes} local bytes, were {before.local_bytes}")
    if figures.spilled > before.spilled:
        found.append(f"{figures.spilled} spilled bytes, were {before.spilled}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    program = find_program(COMPILER)
    if program is None:
        print(f"{COMPILER} is not installed", file=sys.stderr)
        return 1
    found = measure(program)
    show([table_of(found)], Console())
    if arguments.write:
        entries = {name: asdict(figures) for name, figures in found.items()}
        RECORD.write_text(json.dumps(entries, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
