# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Fetch, import, rewrite, export: every model of a deployment."""

from __future__ import annotations

import contextlib
import logging
import os
import resource
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mace.python.installation import CHECKOUT
from mace.python.tools.config.deployment import Deployment, ModelConfig
from mace.python.tools.config.effect import Command, check_effects
from mace.python.tools.config.limits import check_for_dsp
from mace.python.tools.config.problems import cited
from mace.python.tools.config.vocabulary import ModelFormat
from mace.python.tools.convert.memory import MemoryBound, memory_bound
from mace.python.tools.convert.options import ConvertOptions
from mace.python.tools.convert.quantization import quantizer_of, range_file_problem
from mace.python.tools.convert.requests import export_options
from mace.python.tools.convert.source import Source, fetch_each, import_model
from mace.python.tools.convert.staging import Staging
from mace.python.tools.errors import MaceError
from mace.python.tools.export import Exported, export_model
from mace.python.tools.export.graph_page import graph_page, graph_text
from mace.python.tools.export.places import ModelPlaces, linked_package, model_places
from mace.python.tools.export.sources import (
    LinkedModel,
    check_names,
    write_archives,
    write_binary_code,
    write_sources,
)
from mace.python.tools.export.storage import StoredInEightBits
from mace.python.tools.importers.frame.opened import OpenedModels
from mace.python.tools.ir import DataType, Graph
from mace.python.tools.passes.manager import all_passes
from mace.python.tools.quantize.dynamic import (
    DynamicallyQuantized,
    quantize_dynamically,
)
from mace.python.tools.quantize.quantizer import Quantizer


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


_LOG = logging.getLogger(__name__)


def convert_deployment(
    deployment: Deployment,
    options: ConvertOptions,
    opened: OpenedModels | None = None,
    quantizer_for: Callable[[ModelConfig, Source], Quantizer | None] = quantizer_of,
) -> ConvertResult:
    """Converts all models, or none.

    Writes `<build_dir>/<library_name>/model/<model>.pb` and `.data`, and beside them
    for people `<model>.pb_txt` and `<model>_index.html`. Models that are wanted as code
    go to `<build_dir>/<library_name>/model/<abi>/<library_name>.a` instead, with
    headers in `<build_dir>/<library_name>/include/mace/public`. On any error,
    Ctrl-C included, the files of an earlier conversion stay as they were.

    Args:
        opened: models that the command has opened already; None: none.
        quantizer_for: how to quantize a model, None: not at all. Called when all that
            can be checked before has been checked.

    Raises:
        MaceError: what is wrong with the deployment, a model file, or the
            place to write.
    """
    names = sorted(item.name for item in all_passes())
    known = {"graph_optimize_options": names}
    check_effects(Command.CONVERT, deployment, options, known)
    _check_links(deployment)
    library_dir = options.build_dir / deployment.library_name
    as_code = deployment.model_graph_format is ModelFormat.CODE
    if as_code:
        check_names([model.name for model in deployment.models.values()])
    # Download first: a dead address shall not cost a conversion.
    sources = _sources(tuple(deployment.models.values()), opened)
    package = linked_package(deployment, options.build_dir)
    archives: list[Path] = []
    with Staging() as outputs:
        converted = [
            _convert(
                model,
                source,
                _Places.of(deployment, model, options),
                options,
                outputs.path,
                quantizer_for,
            )
            for model, source in zip(deployment.models.values(), sources)
        ]
        if as_code:
            headers = library_dir / "include" / "mace" / "public"
            linked = [item.linked for item in converted]
            library = deployment.library_name
            write_sources(library, package, headers, linked, outputs.path)
            archives = write_archives(
                deployment, library_dir / "model", linked, outputs.path
            )
    if CHECKOUT is not None:
        _link_old_name(options.build_dir)
    if options.cl_binary_to_code:
        _opencl_as_code(library_dir / "opencl")
    for item in converted:
        _LOG.info(item.result.summary())
    for path in archives:
        _LOG.info("models as code: %s", path)
    return ConvertResult(
        deployment.library_name,
        tuple(item.result for item in converted),
        tuple(archives),
    )


def _check_links(deployment: Deployment) -> None:
    """Whether the models have what `links` joins.

    Raises:
        MaceError: one has no such output or input.
    """
    for writer, reader in deployment.chain:
        for end, kind in ((writer, "output"), (reader, "input")):
            model = deployment.models[end.model].whole
            ports = model.outputs if end == writer else model.inputs
            names = [info.name for info in ports]
            if end.tensor not in names:
                raise MaceError(
                    f"links: {end}: model {end.model!r} has no {kind} "
                    f"{end.tensor!r}; it has: {', '.join(names)}"
                )


def _sources(
    models: Sequence[ModelConfig], opened: OpenedModels | None
) -> list[Source]:
    """The files of all models.

    Raises:
        MaceError: some cannot be had; says what else is wrong with the models.
    """
    found = fetch_each(models, opened)
    sources = [source for source in found if isinstance(source, Source)]
    if len(sources) == len(found):
        return sources
    problems: list[MaceError] = []
    for model, source in zip(models, found):
        if isinstance(source, MaceError):
            problems.append(source)
        else:
            try:
                import_model(model, source)
            except MaceError as error:
                problems.append(error)
        more = range_file_problem(model)
        problems += [MaceError(more)] if more else []
    if len(problems) == 1:
        raise problems[0]
    raise MaceError(
        f"{len(problems)} problems:\n" + "\n".join(str(each) for each in problems)
    )


def _opencl_as_code(folder: Path) -> None:
    binaries = sorted(folder.glob("*/*.bin"))
    for path in binaries:
        _LOG.info("OpenCL binary as code: %s", write_binary_code(path))
    if not binaries:
        _LOG.warning(
            "--cl_binary_to_code: there are no OpenCL binaries in %s yet; run --tuning "
            "makes them",
            folder,
        )


@dataclass(frozen=True)
class _Places:
    """Where the files of one model go."""

    model: ModelPlaces
    text: Path
    page: Path

    @classmethod
    def of(
        cls,
        deployment: Deployment,
        model: ModelConfig,
        options: ConvertOptions,
    ) -> _Places:
        folder = options.build_dir / deployment.library_name / "model"
        return cls(
            model=model_places(deployment, model.name, options.build_dir),
            text=folder / f"{model.name}.pb_txt",
            page=folder / f"{model.name}_index.html",
        )


@dataclass(frozen=True)
class _Converted:
    """A model whose files are written."""

    result: ModelResult
    linked: LinkedModel


def _convert(
    model: ModelConfig,
    source: Source,
    places: _Places,
    options: ConvertOptions,
    stage: Callable[[Path], Path],
    quantizer_for: Callable[[ModelConfig, Source], Quantizer | None],
) -> _Converted:
    start = time.perf_counter()
    # Fails now, where a place cannot be written, rather than after the work.
    graph_path, data_path = stage(places.model.graph), stage(places.model.data)
    text_path, page_path = stage(places.text), stage(places.page)
    quantizer = quantizer_for(model, source)
    graph, before = import_model(model, source, options.dump_passes, quantizer)
    source.opened.close()
    if quantizer is not None:
        _LOG.info(quantizer.summary())
    with cited(model):
        check_for_dsp(model, _quantized_types(graph))
    dynamic = quantize_dynamically(graph) if model.quantize_dynamic else None
    if dynamic is not None and not dynamic.names:
        _LOG.warning(
            "%s: quantize_dynamic: this model has no fully connected layer that is "
            "large enough",
            model.name,
        )
    with data_path.open("wb") as stream:
        how = export_options(
            model,
            source.checksums(model),
            source.external_checksums(model, graph.external_files),
        )
        exported = export_model(graph, how, stream)
    _tell_of_eight_bits(model, exported)
    message = exported.model
    graph_path.write_bytes(message.SerializeToString(deterministic=True))
    text_path.write_text(graph_text(message), encoding="utf-8")
    page_path.write_text(graph_page(message), encoding="utf-8")
    result = ModelResult(
        name=model.name,
        graph_path=places.model.graph,
        data_path=places.model.data,
        text_path=places.text,
        page_path=places.page,
        source_bytes=source.size(graph.external_files),
        ops_before=before,
        ops_after=len(graph.ops),
        weight_bytes=exported.data_size,
        seconds=time.perf_counter() - start,
        peak_bytes=peak_memory(),
        memory=memory_bound(graph, model),
        eight_bit=exported.eight_bit,
        dynamic=dynamic,
    )
    linked = LinkedModel(model.name, places.model, message, graph_path, data_path)
    return _Converted(result, linked)


def _quantized_types(graph: Graph) -> Iterator[DataType]:
    outputs = (value for op in graph.ops for value in op.outputs)
    return (v.dtype for v in outputs if v.quantization)


def _tell_of_eight_bits(model: ModelConfig, exported: Exported) -> None:
    if not model.quantize_large_weights:
        return
    where = f"{model.name}: quantize_large_weights"
    if exported.eight_bit is None:
        _LOG.warning("%s: no weights of this model are large", where)
        return
    data_type = model.whole.data_type
    if data_type.computes_in_half:
        _LOG.warning(
            "%s: these layers compute in float32, the others as data_type: %s says",
            where,
            data_type.value,
        )


def _link_old_name(build_dir: Path) -> None:
    """`builds`, as the first versions called it, leads to `build`."""
    if build_dir.name != "build":
        return
    old = build_dir.with_name("builds")
    # A convenience: what lies there already, or cannot be made, is no error.
    with contextlib.suppress(OSError):
        if not old.is_symlink() and not old.exists():
            os.symlink(build_dir.name, old)
