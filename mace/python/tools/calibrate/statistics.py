# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Prints the range of every tensor for each sample of a folder (`--quantize_stat`)."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import TextIO

import numpy as np
import numpy.typing as npt

from mace.python.tools.calibrate.network import host
from mace.python.tools.command_line.options import CommandOptions
from mace.python.tools.config.deployment import Deployment
from mace.python.tools.convert.source import fetch_sources, graph_at_rest
from mace.python.tools.errors import CheckFailedError
from mace.python.tools.importers.frame.opened import OpenedModels
from mace.python.tools.quantize.quantizer import float_tensors
from mace.python.tools.quantize.range_file import log_line
from mace.python.tools.quantize.ranges import Range
from mace.python.tools.run.samples import find_samples, read_sample

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
