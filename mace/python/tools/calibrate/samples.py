# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What samples show of a network: histograms of its tensors, and its errors."""

from __future__ import annotations

import logging
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import numpy as np
import numpy.typing as npt

from mace.python.tools.calibrate.network import Array, Network, host
from mace.python.tools.command_line.options import CommandOptions
from mace.python.tools.config.deployment import Deployment
from mace.python.tools.convert.source import fetch_sources, graph_at_rest
from mace.python.tools.errors import CheckFailedError
from mace.python.tools.importers.frame.opened import OpenedModels
from mace.python.tools.quantize.calibration import Histogram
from mace.python.tools.quantize.quantizer import float_tensors
from mace.python.tools.quantize.ranges import Range, log_line
from mace.python.tools.run.samples import find_samples, read_sample


@dataclass
class Noise:
    """The signal of a tensor and its noise, over samples."""

    signal: float = 0.0
    noise: float = 0.0
    product: float = 0.0
    power: float = 0.0

    def add(self, expected: Array, found: Array) -> None:
        """Adds a sample."""
        x = expected.astype(np.float64).reshape(-1)
        y = found.astype(np.float64).reshape(-1)
        self.signal += float(x @ x)
        self.noise += float((x - y) @ (x - y))
        self.product += float(x @ y)
        self.power += float(y @ y)

    @property
    def sqnr_db(self) -> float:
        """Infinite without noise."""
        if not self.noise:
            return math.inf
        return 10 * math.log10(self.signal / self.noise) if self.signal else -math.inf

    @property
    def similarity(self) -> float:
        """The cosine of all samples together."""
        both = math.sqrt(self.signal * self.power)
        return self.product / both if both else float(self.signal == self.power)


class Samples:
    """A folder of samples.

    Args:
        most: how many to take, evenly spread over all; None: all.
    """

    def __init__(self, folder: Path, most: int | None = None) -> None:
        self._folder = folder
        self._most = most

    def names(self, network: Network) -> Sequence[str]:
        """Of the samples that are taken.

        Raises:
            MaceError: there are none, or a file is no such tensor.
        """
        found = find_samples(self._folder, network.file)
        if self._most is None or len(found) <= self._most:
            return found
        index = np.linspace(0, len(found) - 1, self._most)
        return [found[i] for i in np.rint(index).astype(int)]

    def least_ms(self, network: Network) -> float:
        """The least time of a run, in milliseconds, with the first sample."""
        first = self.names(network)[0]
        return network.least_ms(read_sample(self._folder, first, network.file))

    def tensors(
        self, network: Network, names: Sequence[str]
    ) -> Iterator[tuple[str, dict[str, Array]]]:
        """Each sample with some tensors of the network."""
        for sample in self.names(network):
            inputs = read_sample(self._folder, sample, network.file)
            yield sample, dict(network.tensors(inputs, names))

    def histograms(
        self, network: Network, names: Sequence[str]
    ) -> dict[str, Histogram]:
        """Of tensors, over all samples.

        Raises:
            CheckFailedError: a tensor is not finite.
        """
        found = {name: Histogram() for name in names}
        for sample in self.names(network):
            inputs = read_sample(self._folder, sample, network.file)
            for name, array in network.tensors(inputs, names):
                if array.size:
                    seen_range(name, array, sample)
                    found[name].add(array)
        return found

    def shadow_noise(
        self,
        network: Network,
        shadows: Mapping[str, str],
    ) -> dict[str, Noise]:
        """The noise of tensors in a network that has them twice.

        Args:
            shadows: by a tensor, the name of the other one.
        """
        found = {name: Noise() for name in shadows}
        wanted = [*shadows, *shadows.values()]
        for _, tensors in self.tensors(network, wanted):
            for name, other in shadows.items():
                found[name].add(tensors[name], tensors[other])
        return found


_LOG = logging.getLogger(__name__)


def print_ranges(
    deployment: Deployment,
    folder: Path,
    options: CommandOptions,
    stream: TextIO | None = None,
    opened: OpenedModels | None = None,
) -> None:
    """Prints a line for each tensor and sample of all models of a deployment.

    The tensors are those that a conversion with `quantize: 1` needs to know, computed
    in floats.

    Args:
        folder: of samples, see `find_samples`.
        stream: None: standard output.
        opened: models that the command has opened already; None: none.

    Raises:
        MaceError: a model cannot be converted or run, or a sample is no such tensor.
    """
    out = stream or sys.stdout
    models = tuple(deployment.models.values())
    with host(options) as place:
        for model, source in zip(models, fetch_sources(models, opened)):
            graph = graph_at_rest(model, source)
            network = place.network(model, graph)
            names = float_tensors(graph)
            samples = find_samples(folder, network.file)
            for sample in samples:
                inputs = read_sample(folder, sample, network.file)
                for name, array in network.tensors(inputs, list(names)):
                    if array.size:
                        seen = seen_range(names[name], array, sample)
                        out.write(f"{log_line(names[name], seen)}\n")
            _LOG.info(
                "%s: ranges of %d tensors for %d samples",
                model.name,
                len(names),
                len(samples),
            )
    out.flush()


def seen_range(name: str, array: npt.NDArray[np.float32], sample: str) -> Range:
    """The range of a tensor's elements.

    Raises:
        CheckFailedError: one of them is not finite.
    """
    low, high = float(array.min()), float(array.max())
    if not (np.isfinite(low) and np.isfinite(high)):
        raise CheckFailedError(
            f"{name} has NaN or infinity for sample {sample!r}; look for the cause "
            "with run --validate --layers=:"
        )
    return Range(low, high)
