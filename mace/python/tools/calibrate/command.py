# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Converts the models of a deployment to integers by samples."""

from __future__ import annotations

import contextlib
import logging
from pathlib import Path
from typing import Any

from mace.python.tools.atomic import atomic_write
from mace.python.tools.calibrate.calibrate import Calibration, Settings
from mace.python.tools.calibrate.network import Host, host
from mace.python.tools.calibrate.options import CalibrateOptions
from mace.python.tools.calibrate.report import html_page, report, report_json
from mace.python.tools.calibrate.samples import Samples
from mace.python.tools.command_line.options import CommandOptions
from mace.python.tools.config.deployment import (
    CalibrationConfig,
    Deployment,
    ModelConfig,
)
from mace.python.tools.convert.convert import ConvertResult, convert_deployment
from mace.python.tools.convert.options import ConvertOptions
from mace.python.tools.convert.quantization import has_calibration, quantizer_of
from mace.python.tools.convert.source import Source, graph_at_rest
from mace.python.tools.errors import UsageError
from mace.python.tools.importers.frame.opened import OpenedModels
from mace.python.tools.quantize.quantizer import Quantizer

_LOG = logging.getLogger(__name__)


def quantize_deployment(
    deployment: Deployment,
    options: CalibrateOptions,
    opened: OpenedModels | None = None,
) -> ConvertResult:
    """Quantizes all models by samples, whether or not the file says `quantize: 1`.

    Raises:
        MaceError: as `convert_with_samples` does.
    """
    models = {
        name: model.model_copy(
            update={
                "quantize": True,
                "quantize_range_file": None,
                "calibration": model.calibration or CalibrationConfig(),
            }
        )
        for name, model in deployment.models.items()
    }
    changed = deployment.model_copy(update={"models": models})
    return convert_with_samples(
        changed, options.convert_options(), options.input_dir, opened
    )


def convert_with_samples(
    deployment: Deployment,
    options: ConvertOptions,
    input_dir: Path | None = None,
    opened: OpenedModels | None = None,
) -> ConvertResult:
    """Converts all models; quantizes those by samples that ask for it.

    Also writes a report to `<build_dir>/<library_name>/model/`:
    `<model>_quantization.json` and `.html`.

    Args:
        input_dir: of samples; None: each model says.
        opened: models that the command has opened already; None: none.

    Raises:
        MaceError: as `convert_deployment` does; or samples cannot be used.
    """
    with _Calibrator(options, input_dir) as calibrator:
        for model in deployment.models.values():
            if has_calibration(model):
                calibrator.folder(model)
        result = convert_deployment(deployment, options, opened, calibrator)
    folder = options.build_dir / deployment.library_name / "model"
    for name, found in calibrator.reports.items():
        for suffix, text in (("json", report_json(found)), ("html", html_page(found))):
            path = folder / f"{name}_quantization.{suffix}"
            with atomic_write(path, "w") as stream:
                stream.write(text)
            _LOG.info("%s: report of the quantization: %s", name, path)
    return result


class _Calibrator:
    """Finds the quantizers of models.

    Args:
        input_dir: of samples; None: each model says.

    Attributes:
        reports: of the models that were calibrated, by name.
    """

    def __init__(self, options: CommandOptions, input_dir: Path | None) -> None:
        self._options = options
        self._input_dir = input_dir
        self._places = contextlib.ExitStack()
        self._place: Host | None = None
        self.reports: dict[str, dict[str, Any]] = {}

    def __enter__(self) -> _Calibrator:
        return self

    def __exit__(self, *_: object) -> None:
        self._places.close()

    def __call__(self, model: ModelConfig, source: Source) -> Quantizer | None:
        """As `convert_deployment` asks for it."""
        config = model.calibration
        if config is None or not has_calibration(model):
            return quantizer_of(model, source)
        if self._place is None:
            self._place = self._places.enter_context(host(self._options))
        graph = graph_at_rest(model, source)
        samples = Samples(self.folder(model), config.samples or None)
        settings = _settings(config)
        done = Calibration(self._place, model, graph, samples, settings).run()
        self.reports[model.name] = report(done, graph)
        for name, noise in done.trials[-1].outputs.items():
            _LOG.info(
                "%s: %s of %d samples: SQNR %.2f dB, cosine similarity %.6f",
                model.name,
                name,
                done.samples,
                noise.sqnr_db,
                noise.similarity,
            )
        return done.quantizer

    def folder(self, model: ModelConfig) -> Path:
        """The samples of a model.

        Raises:
            UsageError: there is no such folder.
        """
        return _folder(model, self._input_dir)


def _settings(config: CalibrationConfig) -> Settings:
    return Settings(
        config.method,
        config.percentile,
        config.equalise,
        config.correct_bias,
        config.min_sqnr,
    )


def _folder(model: ModelConfig, input_dir: Path | None) -> Path:
    if input_dir is not None:
        return input_dir
    named = model.calibration.input_dir if model.calibration else None
    if named is None:
        raise UsageError(
            f"models.{model.name}: no folder of samples is given; write "
            "--input_dir=DIR, or input_dir below calibration"
        )
    found = [path for path in named.candidates if path.is_dir()]
    if not found or named.is_url:
        raise UsageError(f"{named.place}: {named.location} is no folder")
    return found[0]
