# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The result of a conversion."""

from __future__ import annotations

import contextlib
import resource
import sys
from dataclasses import dataclass
from pathlib import Path

from mace.python.tools.convert.memory import MemoryBound
from mace.python.tools.export.eight_bit import StoredInEightBits
from mace.python.tools.quantize.dynamic import DynamicallyQuantized


@dataclass(frozen=True)
class ModelResult:
    """One converted model.

    Attributes:
        name: its tag in the deployment file.
        graph_path, data_path: the model's two files.
        text_path, page_path: the graph as text and as a page, for people.
        source_bytes: size of the framework's file and of those with its weights.
        ops_before, ops_after: operators as imported and as written.
        weight_bytes: size of the data file.
        eight_bit: the weights stored in 8 bits, if there are any.
        dynamic: the products that each run quantizes, if that was asked for.
        seconds: from reading to the last byte written.
        peak_bytes: most memory that the process had in use until then.
        memory: what a run takes, as far as the graph tells.
    """

    name: str
    graph_path: Path
    data_path: Path
    text_path: Path
    page_path: Path
    source_bytes: int
    ops_before: int
    ops_after: int
    weight_bytes: int
    seconds: float
    peak_bytes: int
    memory: MemoryBound
    eight_bit: StoredInEightBits | None = None
    dynamic: DynamicallyQuantized | None = None

    def summary(self) -> str:
        """For people: what it was, the 8-bit weights if any, the memory of a run."""
        lines = [
            f"{self.ops_before} operators became {self.ops_after}, "
            f"weights {_megabytes(self.source_bytes)} became "
            f"{_megabytes(self.weight_bytes)}, {self.seconds:.1f} s, "
            f"peak memory {_megabytes(self.peak_bytes)}; {self.graph_path}; "
            f"as a page: {self.page_path}"
        ]
        if self.eight_bit is not None:
            lines.append(self.eight_bit.summary())
        if self.dynamic is not None:
            lines.append(self.dynamic.summary())
        lines.append(self.memory.summary(self.weight_bytes))
        return "\n".join(f"{self.name}: {line}" for line in lines)


@dataclass(frozen=True)
class ConvertResult:
    """Every model of a deployment.

    Attributes:
        archives: of models that are delivered as code, one for each ABI.
    """

    library_name: str
    models: tuple[ModelResult, ...]
    archives: tuple[Path, ...] = ()

    def model(self, name: str) -> ModelResult:
        """The model of that name; KeyError when there is none."""
        for model in self.models:
            if model.name == name:
                return model
        raise KeyError(name)


def peak_memory() -> int:
    """Most bytes of memory that this process has had in use so far."""
    # getrusage on Linux also counts what the parent had in use when it started
    # this process; the high-water mark of the memory map does not.
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # Linux counts in KiB, macOS in bytes.
    return peak if sys.platform == "darwin" else peak * 1024


def _megabytes(count: int) -> str:
    return f"{count / 1e6:.1f} MB"
