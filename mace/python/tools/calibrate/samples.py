# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What samples show of a network: histograms of its tensors, and its errors."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mace.python.tools.calibrate.network import Array, Network
from mace.python.tools.calibrate.statistics import seen_range
from mace.python.tools.quantize.histogram import Histogram
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
