# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""XNNPACK's kernels for HVX: programs that compute a layer with one of them.

Only an object with compiled kernels is needed, see README.md.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.hexagon.layers import Layer
from benchmarks.record import ROOT

_SOURCE = Path(__file__).with_name("peer.cc")
_PLATFORM_SOURCES = tuple(
    ROOT / "mace/kernels/hexagon/platform" / name
    for name in ("emulated.cc", "memory.cc", "divide.cc", "start.S")
)
_FLAGS = (
    *("--target=hexagon-unknown-none-elf", "-ffreestanding", "-nostdlibinc"),
    *("-O2", "-fno-exceptions", "-fno-rtti", "-fno-stack-protector"),
    *("-fno-threadsafe-statics", "-ffunction-sections", "-mhvx-length=128B"),
)
_KERNEL = re.compile(
    r"xnn_qs8_qc8w_(?P<kind>i?gemm)_minmax_fp32_ukernel_(?P<mr>\d+)x(?P<nr>\d+)c4__hvx"
)
# Where kernels compute in vectors of floats, which QEMU does not emulate (README.md).
_UNCHECKED = ("v73",)


@dataclass(frozen=True)
class Kernel:
    """One kernel of the object.

    Attributes:
        name: its symbol.
        is_plain: a product of matrices, for filters of one tap; else one that gets
            pointers to windows.
        pixels: of a tile.
        channels: of a tile.
    """

    name: str
    is_plain: bool
    pixels: int
    channels: int

    @property
    def tile(self) -> str:
        """As tables have it: "4x128"."""
        return f"{self.pixels}x{self.channels}"

    def takes(self, layer: Layer) -> bool:
        """Whether it is one that XNNPACK would use for such a layer."""
        if layer.depthwise:
            return False
        is_plain = layer.filter == 1 and layer.stride == 1
        # Of one pixel, tiles of more compute nothing else.
        return self.is_plain == is_plain and (layer.side > 1 or self.pixels == 1)


class Peer:
    """Kernels of an object.

    Args:
        compiled: the object.
        version: of the DSP, as "v67".
        folder: for programs.
    """

    def __init__(self, compiled: Path, version: str, folder: Path) -> None:
        self._object = compiled
        self._version = version
        self._folder = folder
        self.kernels = [
            Kernel(
                found[0], found["kind"] == "gemm", int(found["mr"]), int(found["nr"])
            )
            for found in _KERNEL.finditer(
                _output("llvm-nm-19", "--defined-only", str(compiled))
            )
        ]
        if not self.kernels:
            sys.exit(f"{compiled} has no kernel whose name is like {_KERNEL.pattern}")

    def program(self, kernel: Kernel) -> Path:
        """A program for that kernel; compiled when it is first needed."""
        path = self._folder / f"{self._version}_{kernel.name}"
        if path.exists():
            return path
        macros = {
            "MACE_PEER": kernel.name,
            "MACE_PEER_PIXELS": kernel.pixels,
            "MACE_PEER_CHANNELS": kernel.channels,
            "MACE_PEER_IS_PLAIN": int(kernel.is_plain),
            "MACE_PEER_IS_CHECKED": int(self._version not in _UNCHECKED),
        }
        flags = [f"-D{name}={value}" for name, value in macros.items()]
        objects = [self._compiled(_SOURCE, flags, kernel.name)]
        objects += [self._compiled(source) for source in _PLATFORM_SOURCES]
        linker = ["ld.lld-19", "-static", "--gc-sections", "-o", str(path)]
        subprocess.run([*linker, *map(str, [*objects, self._object])], check=True)
        return path

    def _compiled(
        self, source: Path, flags: Sequence[str] = (), prefix: str = "platform"
    ) -> Path:
        path = self._folder / f"{self._version}_{prefix}_{source.stem}.o"
        if not path.exists():
            standard = ["-std=c++17"] if source.suffix == ".cc" else []
            version = (f"-mcpu=hexagon{self._version}", f"-mhvx={self._version}")
            command = ["clang-19", *_FLAGS, *standard, *version, f"-I{ROOT}", *flags]
            subprocess.run([*command, "-c", source, "-o", path], check=True)
        return path


def _output(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout
