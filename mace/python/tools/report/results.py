# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The results of a run."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mace.python.tools.config.vocabulary import Abi, Runtime
from mace.python.tools.devices.memory import MemorySample
from mace.python.tools.validate import Comparison


@dataclass(frozen=True)
class Times:
    """The times of one start of the program, in ms."""

    capability: float
    init: float
    warmup: float
    run: float


@dataclass(frozen=True)
class LayerComparison:
    """A layer, compared with the framework's corresponding tensor."""

    index: int
    operator: str
    type: str
    comparison: Comparison


@dataclass(frozen=True)
class ModelRun:
    """One model on one device and runtime.

    Attributes:
        failure: why the run itself failed; empty when it did not.
        report: the last start's JSON report (mace/tools/README.md).
        reference: framework and version it was compared with.
        accuracy: what each accuracy script said, by its path.
        memory: samples of all starts, where they were asked for.
        files: reports written.
        first_wrong: what --bisect found, in words.
        in_python: the operators, if they were computed with NumPy, without kernels.
        not_native: why that was done.
    """

    model: str
    abi: Abi
    device: str
    runtime: Runtime
    failure: str = ""
    times: tuple[Times, ...] = ()
    report: dict[str, Any] = field(default_factory=dict)
    reference: str = ""
    comparisons: tuple[Comparison, ...] = ()
    layers: tuple[LayerComparison, ...] = ()
    accuracy: dict[str, str] = field(default_factory=dict)
    memory: tuple[MemorySample, ...] = ()
    files: tuple[Path, ...] = ()
    first_wrong: str = ""
    in_python: str = ""
    not_native: str = ""

    @property
    def headline(self) -> float | None:
        """The time of a run that stands for all, in ms: the median of the benchmark's
        runs without statistics, or of the runs without a benchmark.
        """
        series = self.series
        return float(series["median"]) if series else None

    @property
    def series(self) -> Mapping[str, Any]:
        """The run times behind `headline`: median, p90, values, ... in ms; or empty."""
        benchmark = self.report.get("benchmark")
        if benchmark:
            found: Mapping[str, Any] = benchmark["without_statistics_ms"]
            return found
        restarts = self.report.get("restarts")
        return restarts[-1]["run_ms"] if restarts else {}

    @property
    def stability(self) -> Mapping[str, Any]:
        """What `mace_run` says of the benchmark's run times; or empty."""
        found: Mapping[str, Any] = self.report.get("benchmark", {}).get("stability", {})
        return found

    @property
    def computed_by(self) -> str:
        """The runtime, or python."""
        return "python" if self.in_python else self.runtime.value

    @property
    def where(self) -> str:
        """Device and ABI; the host is both in one."""
        abi = self.abi.value
        return abi if self.device == abi else f"{self.device} ({abi})"

    @property
    def passed(self) -> bool:
        """Whether it ran and everything that was compared passes, layers too."""
        return not self.failure and not self.wrong

    @property
    def wrong(self) -> tuple[Comparison, ...]:
        """The outputs and layers that fail."""
        layers = (layer.comparison for layer in self.layers)
        return tuple(c for c in (*self.comparisons, *layers) if not c.passed)


@dataclass(frozen=True)
class RunReport:
    """All runs of a deployment."""

    runs: tuple[ModelRun, ...]

    @property
    def passed(self) -> bool:
        return all(run.passed for run in self.runs)


def worst_layer(layers: tuple[LayerComparison, ...]) -> LayerComparison | None:
    """The least similar layer; the first one with NaN or infinity, if any. Layers that
    could not be computed are ignored. The verdict depends on the similarity; but good
    layers differ only in its last digits, so here SQNR decides.
    """

    def badness(layer: LayerComparison) -> tuple[float, float]:
        m = layer.comparison.metrics
        if math.isnan(m.similarity):
            return (-math.inf, -math.inf)
        return (round(m.similarity, 6), m.sqnr)

    computed = (layer for layer in layers if layer.comparison.computed)
    return min(computed, key=badness, default=None)
