# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Converts models for `mace.load`, and keeps the results."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import platform
import re
import shutil
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional

import numpy as np

from mace.python.installation import cache_dir, converter_state
from mace.python.runtime.tensors import read_graph
from mace.python.tools.atomic import OutputError, atomic_dir
from mace.python.tools.checksum import sha256_of
from mace.python.tools.errors import MaceError, UsageError

if TYPE_CHECKING:
    from mace.python.tools.load.deployments import Loaded

LIMIT_VARIABLE = "MACE_CACHE_LIMIT"
_USUAL_LIMIT_MB = 4000
_IN_USE_S = 3600

# The converter works for one caller at a time.
_CONVERTING = threading.Lock()

_GRAPH, _DATA, _SOURCE = "model.pb", "model.data", "source.json"
_VARIABLE = re.compile(r"\$\{(\w+)\}")
DEPLOYMENTS = (".yml", ".yaml")


@dataclass(frozen=True)
class Request:
    """What is to be converted, and how.

    Attributes:
        source, weights: absolute paths.
        dims: sorted by name.
        model: of a deployment file.
        precision: None: as the deployment file says, else floats of 32 bits.
        for_gpu: it has to be one that the GPU can run.
        constants: what inputs hold in every run, as `numpy.save` writes it, sorted by
            name.
    """

    source: Path
    weights: Optional[Path]
    dims: tuple[tuple[str, int], ...]
    model: Optional[str]
    precision: Optional[str]
    for_gpu: bool
    constants: tuple[tuple[str, bytes], ...] = ()

    @property
    def is_deployment(self) -> bool:
        """Whether the source is a deployment file."""
        return self.source.suffix.lower() in DEPLOYMENTS


def cached(request: Request) -> tuple[Path, Path]:
    """Graph and weights of a converted model, from the cache or converted now.

    Raises:
        MaceError: a file cannot be read or converted, or the cache not be written.
    """
    parts: list[Any] = [request.dims, request.model, request.precision]
    parts += [request.for_gpu, request.constants, converter_state(), platform.machine()]
    parts += [_digest(path) for path in _files(request)]
    if request.is_deployment:
        # What names in it mean.
        names = _VARIABLE.findall(request.source.read_text("utf-8", "replace"))
        parts += [request.source, request.weights]
        parts += [os.getcwd(), *(os.environ.get(name) for name in names)]
    key = hashlib.sha256(json.dumps(parts, default=str).encode()).hexdigest()[:32]
    folder = cache_dir() / "models" / f"{request.source.stem}-{key}"
    graph, data = folder / _GRAPH, folder / _DATA
    beside = request.source.parent
    if not _is_current(folder, beside):
        with _alone(folder):
            # Another thread or process may have converted it meanwhile.
            if not _is_current(folder, beside):
                with atomic_dir(folder) as stage:
                    convert(request, stage)
                _prune(folder)
    with contextlib.suppress(OSError):
        os.utime(folder)  # when it was used, for the limit
    return graph, data


def _limit() -> int:
    """The most bytes of conversions that are kept.

    Raises:
        UsageError: the variable is no number.
    """
    text = os.environ.get(LIMIT_VARIABLE) or str(_USUAL_LIMIT_MB)
    try:
        return int(float(text) * 1e6)
    except (OverflowError, ValueError) as error:
        raise UsageError(
            f"{LIMIT_VARIABLE}={text}: accepted is a number of megabytes; unset, it is "
            f"{_USUAL_LIMIT_MB}"
        ) from error


def _prune(newest: Path) -> None:
    """Removes conversions that were not used for the longest time, as far as all of
    them are more than the limit.

    Those of the last hour stay: another process may be about to map them. Programs that
    run a model do not need its files any more.
    """
    limit, whole = _limit(), 0
    entries = []
    for folder in newest.parent.iterdir():
        with contextlib.suppress(OSError):
            if folder.is_dir() and not folder.name.startswith("."):
                size = sum(path.lstat().st_size for path in folder.iterdir())
                entries.append((folder.stat().st_mtime, size, folder))
                whole += size
    for used, size, folder in sorted(entries):
        if whole <= limit or used > time.time() - _IN_USE_S:
            break
        if folder != newest:
            shutil.rmtree(folder, ignore_errors=True)
            whole -= size


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Lets one process at a time write a folder.

    Raises:
        OutputError: the cache cannot be written.
    """
    from filelock import FileLock

    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder.with_name(f".{folder.name}.lock"))
        lock.acquire()
    except OSError as error:
        raise OutputError(folder, error) from error
    try:
        yield
    finally:
        lock.release()


def convert(
    request: Request, folder: Path, samples: Optional[Path] = None
) -> tuple[Path, Path]:
    """Converts a model into a folder; returns its graph and its weights.

    Args:
        samples: a folder of samples by which it is quantized; None: as the deployment
            file says.

    Raises:
        MaceError: it cannot be converted.
    """
    with _CONVERTING:
        return _convert(request, folder, samples)


def _convert(
    request: Request, folder: Path, samples: Optional[Path]
) -> tuple[Path, Path]:
    from mace.python.tools.convert.quantization import has_calibration

    left_open: dict[str, None] = {}
    loaded = _loaded(request, left_open)
    deployment = loaded.deployment
    (name,) = deployment.models
    model = deployment.models[name]
    build = folder / "build"
    try:
        _write(loaded, build, samples)
    except MaceError as error:
        if not left_open:
            raise
        raise UsageError(
            f"{error}\nThat is with open dimensions, which each run decides; if the "
            "model converts with numbers, give them: mace.load(..., "
            f"dims={dict.fromkeys(left_open, 1)})"
        ) from error
    made = build / deployment.library_name / "model"
    graph, data = folder / _GRAPH, folder / _DATA
    os.replace(made / f"{name}.pb", graph)
    os.replace(made / f"{name}.data", data)
    shutil.rmtree(build)
    # Its former name, a link to it.
    (folder / "builds").unlink(missing_ok=True)
    if has_calibration(model) or deployment.custom_ops:
        # Not kept: it depends on samples, or on code.
        return graph, data
    # What else the result depends on.
    others = [model.quantize_range_file, model.model_file_path, model.weight_file_path]
    others += [item.file for item in (model.whole.constants or {}).values()]
    paths = {str(path) for ref in others if ref for path in ref.candidates}
    # Files of the model's own are named relative to it, which may be moved with them.
    named = dict(read_graph(graph).external_sources)
    named.update({path: _digest(Path(path)) for path in paths if Path(path).exists()})
    if not request.is_deployment:
        named.pop(str(request.source), None)
        named.pop(str(request.weights), None)
    (folder / _SOURCE).write_text(json.dumps(named, indent=1), encoding="utf-8")
    return graph, data


def _files(request: Request) -> list[Path]:
    """The files that the result certainly depends on."""
    files = [request.source]
    weights = request.weights or request.source.with_suffix(".caffemodel")
    if request.source.suffix == ".prototxt" and weights.exists():
        files.append(weights)
    return files


def _digest(path: Path) -> str:
    try:
        return sha256_of(path)
    except OSError as error:
        reason = error.strerror or str(error)
        raise MaceError(f"{path} cannot be read: {reason}") from error


def _is_current(folder: Path, beside: Path) -> bool:
    """Whether a whole conversion is there, of files that are as they were.

    Args:
        beside: the folder of the model, where other files of it are.
    """
    try:
        named = json.loads((folder / _SOURCE).read_text(encoding="utf-8"))
    except OSError:
        return False
    return all(
        (beside / path).exists() and _digest(beside / path) == sha256
        for path, sha256 in named.items()
    )


def _loaded(request: Request, left_open: dict[str, None]) -> Loaded:
    """The deployment of the one model that is asked for.

    Args:
        left_open: gets the names of dimensions that each run decides because nobody
            gave them numbers.
    """
    # Late: reading deployments and models takes half a second of imports.
    from mace.python.tools.config.values import Constant
    from mace.python.tools.data_type import Precision
    from mace.python.tools.load.complete import Completion
    from mace.python.tools.load.deployments import Loaded, of_config, of_files

    constants = {
        name: Constant(np.load(io.BytesIO(data))) for name, data in request.constants
    }
    completion = Completion(
        dict(request.dims),
        keep_open=True,
        in_python=True,
        constants=constants,
        left_open=left_open,
    )
    if not request.is_deployment:
        if request.model is not None:
            raise UsageError("model: only a deployment file has several; leave it out")
        return of_files(
            [str(path) for path in (request.source, request.weights) if path],
            completion,
            runtime="gpu" if request.for_gpu else "cpu",
            precision=Precision(request.precision or Precision.FP32_FP32.value),
        )
    if request.precision is not None:
        raise UsageError(
            f"precision: leave it out, {request.source} has data_type for it"
        )
    loaded = of_config(request.source, completion)
    models = loaded.deployment.models
    if request.model is None and len(models) > 1:
        raise UsageError(
            f"{request.source} has several models; name one: "
            f"mace.load(..., model={next(iter(models))!r}), accepted: "
            f"{', '.join(models)}"
        )
    wanted = request.model or next(iter(models))
    if wanted not in models:
        raise UsageError(
            f"{request.source} has no model {wanted!r}; it has {', '.join(models)}"
        )
    only = {"models": {wanted: models[wanted]}, "links": None}
    return Loaded(loaded.deployment.model_copy(update=only), loaded.opened)


def _write(loaded: Loaded, build_dir: Path, samples: Optional[Path]) -> None:
    from mace.python.tools.config.vocabulary import ModelFormat
    from mace.python.tools.convert.convert import convert_deployment
    from mace.python.tools.convert.options import ConvertOptions
    from mace.python.tools.convert.quantization import has_calibration

    files: dict[str, Any] = {
        "model_graph_format": ModelFormat.FILE,
        "model_data_format": ModelFormat.FILE,
    }
    deployment = loaded.deployment.model_copy(update=files)
    options = ConvertOptions(build_dir=build_dir)
    if samples is not None:
        from mace.python.tools.calibrate.command import quantize_deployment
        from mace.python.tools.calibrate.options import CalibrateOptions

        asked = CalibrateOptions(build_dir=build_dir, input_dir=samples)
        quantize_deployment(deployment, asked, loaded.opened)
    elif any(has_calibration(model) for model in deployment.models.values()):
        from mace.python.tools.calibrate.command import convert_with_samples

        convert_with_samples(deployment, options, opened=loaded.opened)
    else:
        convert_deployment(deployment, options, loaded.opened)
