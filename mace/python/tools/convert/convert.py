# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Fetch, import, rewrite, export: every model of a deployment."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mace.python.tools.cli.options import ConvertOptions
from mace.python.tools.config import Deployment, ModelConfig
from mace.python.tools.convert.requests import (
    check_output_shapes,
    export_options,
    import_request,
)
from mace.python.tools.convert.result import (
    ConvertResult,
    ModelResult,
    peak_memory,
)
from mace.python.tools.convert.staging import Staging
from mace.python.tools.effects import Command, check_effects
from mace.python.tools.export import export_model
from mace.python.tools.export.graph_page import graph_page
from mace.python.tools.export.graph_text import graph_text
from mace.python.tools.fetch import fetch_files
from mace.python.tools.importers.base import ImportRequest, load_importer
from mace.python.tools.passes import optimize

_LOG = logging.getLogger(__name__)

# Where the text and the drawing of each graph go.
CODEGEN_DIR = Path(__file__).resolve().parents[4] / "mace" / "codegen"


def convert_deployment(
    deployment: Deployment,
    options: ConvertOptions,
    codegen_dir: Path = CODEGEN_DIR,
) -> ConvertResult:
    """Converts all models, or none.

    Writes `<build_dir>/<library_name>/model/<model>.pb` and `.data`, and for
    people `<codegen_dir>/models/<model>/<model>.pb_txt` and
    `<model>_index.html`. On any error, Ctrl-C included, the files of an
    earlier conversion stay as they were.

    Raises:
        MaceError: what is wrong with the deployment, a model file, or the
            place to write.
    """
    check_effects(Command.CONVERT, deployment, options)
    # Download first: a dead address shall not cost a conversion.
    sources = _fetch(deployment.models)
    with Staging() as staging:
        results = [
            _convert(
                model,
                source,
                _Places.of(deployment, model, options, codegen_dir),
                options,
                staging,
            )
            for model, source in zip(deployment.models, sources)
        ]
    _link_old_name(options.build_dir)
    for result in results:
        _LOG.info(result.summary())
    return ConvertResult(deployment.library_name, tuple(results))


@dataclass(frozen=True)
class _Source:
    model: Path
    weights: Path | None

    @property
    def size(self) -> int:
        files = (self.model, self.weights)
        return sum(path.stat().st_size for path in files if path)


@dataclass(frozen=True)
class _Places:
    """Where the files of one model go."""

    graph: Path
    data: Path
    text: Path
    page: Path

    @classmethod
    def of(
        cls,
        deployment: Deployment,
        model: ModelConfig,
        options: ConvertOptions,
        codegen_dir: Path,
    ) -> _Places:
        build = options.build_dir / deployment.library_name / "model"
        codegen = codegen_dir / "models" / model.name
        return cls(
            graph=build / f"{model.name}.pb",
            data=build / f"{model.name}.data",
            text=codegen / f"{model.name}.pb_txt",
            page=codegen / f"{model.name}_index.html",
        )


def _fetch(models: Sequence[ModelConfig]) -> list[_Source]:
    refs = [ref for m in models for ref in (m.model_file, m.weight_file) if ref]
    paths = dict(zip(refs, fetch_files(refs)))
    return [
        _Source(paths[m.model_file], paths[m.weight_file] if m.weight_file else None)
        for m in models
    ]


def _convert(
    model: ModelConfig,
    source: _Source,
    places: _Places,
    options: ConvertOptions,
    staging: Staging,
) -> ModelResult:
    start = time.perf_counter()
    staged = _Places(
        *(staging.path(getattr(places, f.name)) for f in dataclasses.fields(places))
    )
    request = import_request(model, source.model, source.weights)
    before, after, weights = _run(model, request, staged, options)
    return ModelResult(
        name=model.name,
        graph_path=places.graph,
        data_path=places.data,
        text_path=places.text,
        page_path=places.page,
        source_bytes=source.size,
        ops_before=before,
        ops_after=after,
        weight_bytes=weights,
        seconds=time.perf_counter() - start,
        peak_bytes=peak_memory(),
    )


def _run(
    model: ModelConfig,
    request: ImportRequest,
    staged: _Places,
    options: ConvertOptions,
) -> tuple[int, int, int]:
    """Writes the four files; returns operators before and after, and bytes."""
    _LOG.info("%s: importing %s", model.name, request.model_path)
    graph = load_importer(model.platform.value)(request)
    before = len(graph.ops)
    dump = options.dump_passes_dir
    optimize(
        graph,
        None if dump is None else dump / model.name,
        model.graph_optimize_options,
    )
    check_output_shapes(model, graph)
    with staged.data.open("wb") as stream:
        exported = export_model(graph, export_options(model), stream)
    message = exported.model
    staged.graph.write_bytes(message.SerializeToString(deterministic=True))
    staged.text.write_text(graph_text(message), encoding="utf-8")
    staged.page.write_text(graph_page(message), encoding="utf-8")
    return before, len(graph.ops), exported.data_size


def _link_old_name(build_dir: Path) -> None:
    """`builds`, as the first versions called it, leads to `build`."""
    if build_dir.name != "build":
        return
    old = build_dir.with_name("builds")
    # A convenience: what lies there already, or cannot be made, is no error.
    with contextlib.suppress(OSError):
        if not old.is_symlink() and not old.exists():
            os.symlink(build_dir.name, old)
