# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""From the files of a model to the graph that the passes make of it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mace.python.tools.config.deployment import ModelConfig
from mace.python.tools.config.problems import cited
from mace.python.tools.convert.constants import constants_sha256
from mace.python.tools.convert.requests import (
    check_border_types,
    check_input_shapes,
    check_output_shapes,
    check_states,
    import_request,
    subgraph_specs,
    target_of,
)
from mace.python.tools.convert.scaled_inputs import scale_inputs
from mace.python.tools.errors import MaceError
from mace.python.tools.fetch import fetch_files, file_sha256
from mace.python.tools.importers.frame.description import TensorDescription
from mace.python.tools.importers.frame.errors import (
    ImportModelError,
    UnknownTensorError,
    UnsupportedNodesError,
)
from mace.python.tools.importers.frame.journal import Journal
from mace.python.tools.importers.frame.opened import OpenedModel, OpenedModels
from mace.python.tools.ir import Graph, GraphError, assign_subgraphs
from mace.python.tools.ir.shapes import format_shape
from mace.python.tools.passes import optimize

# The inputs or outputs of a model that an error lists.
_MOST_SHOWN = 10

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Source:
    """The files of a model, here."""

    model: Path
    weights: Path | None
    opened: OpenedModel

    def size(self, external: Sequence[str]) -> int:
        """Bytes, together with those of the files that the model names."""
        files = (self.model, self.weights, *map(self._beside, external))
        return sum(_size(path) for path in files if path)

    def external_checksums(
        self, model: ModelConfig, external: Sequence[str]
    ) -> list[tuple[str, str]]:
        return [
            (name, file_sha256(model.model_file_path, self._beside(name)))
            for name in external
        ]

    def _beside(self, name: str) -> Path:
        return self.model.parent / name

    def checksums(self, model: ModelConfig) -> list[str]:
        """Of the model, its weights, and the constants for its inputs. What the
        deployment file states was compared with the files when they were fetched."""
        pairs = (
            (model.model_file_path, self.model),
            (model.weight_file_path, self.weights),
        )
        files = [
            ref.sha256 or file_sha256(ref, path) for ref, path in pairs if ref and path
        ]
        return [*files, *filter(None, [constants_sha256(model)])]


def _size(path: Path) -> int:
    if not path.is_dir():
        return path.stat().st_size
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())


def fetch_each(
    models: Sequence[ModelConfig], opened: OpenedModels | None = None
) -> list[Source | MaceError]:
    """As `fetch_sources`; where files cannot be had, why not."""
    found: list[Source | MaceError] = []
    for model in models:
        try:
            found += fetch_sources((model,), opened)
        except MaceError as error:
            found.append(error)
    return found


def fetch_sources(
    models: Sequence[ModelConfig], opened: OpenedModels | None = None
) -> list[Source]:
    """Downloads what is not here, of all models.

    Args:
        opened: models that the command has opened already; None: none.

    Raises:
        MaceError: files cannot be had, or MACE does not read such models.
    """
    opened = opened or OpenedModels()
    files = [(m.model_file_path, m.weight_file_path) for m in models]
    refs = [ref for pair in files for ref in pair if ref]
    paths = dict(zip(refs, fetch_files(refs)))
    sources = []
    for config, (model, weights) in zip(models, files):
        here = (paths[model], paths[weights] if weights else None)
        sources.append(Source(*here, opened.open(config.platform, *here)))
    return sources


def import_model(
    model: ModelConfig,
    source: Source,
    dump_passes: Path | None = None,
    quantize: Callable[[Graph], int] | None = None,
    journal: Journal | None = None,
) -> tuple[Graph, int]:
    """The optimized graph, and how many operators it had before.

    Args:
        dump_passes: where to write the graph after every pass; None: nowhere.
        quantize: as in PassManager.
        journal: is told what becomes of every node, those behind refused ones included
            as far as their inputs' shapes are known.

    Raises:
        MaceError: the model cannot be converted.
    """
    with cited(model):
        return _import(model, source, dump_passes, quantize, journal)


def _import(
    model: ModelConfig,
    source: Source,
    dump_passes: Path | None,
    quantize: Callable[[Graph], int] | None,
    journal: Journal | None,
) -> tuple[Graph, int]:
    request = import_request(model, source.model, source.weights)
    if journal is not None:
        request = replace(request, journal=journal, check_all=True)
    _LOG.info("%s: importing %s", model.name, request.model_path)
    try:
        graph = source.opened.import_graph(request)
    except UnsupportedNodesError as error:
        raise in_words_for(model, error) from error
    except UnknownTensorError as error:
        raise ImportModelError(f"{error}{_borders(source)}") from error
    graph.target = target_of(model)
    before = len(graph.ops)
    scale_inputs(graph, model.whole.inputs, model.name)
    if len(model.subgraphs) > 1:
        try:
            assign_subgraphs(graph, subgraph_specs(model))
        except GraphError as error:
            raise ImportModelError(f"{model.name}: {error}") from error
    optimize(
        graph,
        None if dump_passes is None else dump_passes / model.name,
        model.graph_optimize_options or (),
        quantize,
    )
    check_input_shapes(model, graph)
    check_output_shapes(model, graph)
    check_border_types(model, graph)
    check_states(model, graph)
    return graph, before


def _borders(source: Source) -> str:
    """The inputs and outputs that the model has, for the error for wrong names."""
    try:
        about = source.opened.describe()
    except MaceError:
        return ""
    return (
        f"\ninputs of the model: {_listed(about.inputs)}; "
        f"outputs: {_listed(about.outputs)}"
    )


def _listed(tensors: Sequence[TensorDescription]) -> str:
    shown = [
        tensor.name
        if tensor.shape is None
        else f"{tensor.name} {format_shape(tensor.shape)}"
        for tensor in tensors[:_MOST_SHOWN]
    ]
    more = ["..."] if len(tensors) > _MOST_SHOWN else []
    return ", ".join([*shown, *more]) or "none"


def graph_at_rest(model: ModelConfig, source: Source) -> Graph:
    """The graph in floats as it is before it is quantized.

    Raises:
        MaceError: the model cannot be converted.
    """
    found: list[Graph] = []

    def keep(graph: Graph) -> int:
        found.append(graph.copy())
        return 0

    import_model(model, source, quantize=keep)
    return found[0]


# Importers advise fixed lengths where an operator cannot have open ones, in the words
# of a deployment file. Who gave the model alone has no such file; and who gave every
# length cannot follow the advice.
_FIXED = "give fixed input_shapes"
_NUMBERS = "give the open dimensions numbers (--dims, or dims of mace.load)"
_OTHER = (
    "end the model before it with output_tensors of a deployment file, and do this "
    "step in the application"
)


def in_words_for(
    model: ModelConfig, error: UnsupportedNodesError
) -> UnsupportedNodesError:
    """The error with hints that can be followed."""
    nodes = [replace(node, hint=_hint(model, node.hint)) for node in error.nodes]
    return UnsupportedNodesError(error.model, nodes)


def _hint(model: ModelConfig, hint: str) -> str:
    if _FIXED not in hint:
        return hint
    if not any(dim < 0 for info in model.whole.inputs for dim in info.shape):
        rest = hint.replace(_FIXED, "").lstrip(",; ").removeprefix("or ")
        return rest or _OTHER
    alone = any(
        key.name == "input_shapes" and place.of_model
        for part in model.subgraphs
        for key, _, place in part.given
    )
    return hint.replace(_FIXED, _NUMBERS) if alone else hint
