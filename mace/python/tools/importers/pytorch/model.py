# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Opens a file of PyTorch; says what it holds, and what it is if it is no exported
program.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from mace.python.tools.importers.frame.description import (
    ModelDescription,
    TensorDescription,
)
from mace.python.tools.importers.frame.errors import ImportModelError
from mace.python.tools.importers.frame.model_file import map_file, other_format
from mace.python.tools.importers.frame.zip_file import DamagedZipError, ZipFile
from mace.python.tools.importers.pytorch.functional import (
    Flat,
    base_name,
    flatten_program,
)
from mace.python.tools.importers.pytorch.pickled import (
    ForeignObjectError,
    PickleError,
    load_tensors,
)
from mace.python.tools.importers.pytorch.program import (
    BadProgramError,
    Program,
    TensorMeta,
    parse_program,
)
from mace.python.tools.importers.pytorch.tensors import (
    StoredTensor,
    contiguous,
    element_type,
)
from mace.python.tools.ir.graph import DataFormat

_EXPORT = (
    "export it: torch.export.save(torch.export.export(model.eval(), (x,)), 'model.pt2')"
)
_ZIP = b"PK\x03\x04"
_PICKLE = b"\x80"
# PyTorch up to 2.7 put everything into files of these names.
_OLD_PROGRAM = "serialized_exported_program.json"
_OLD_WEIGHTS = ("serialized_state_dict.pt", "serialized_state_dict.json")
_OLD_CONSTANTS = ("serialized_constants.pt", "serialized_constants.json")


@dataclass(frozen=True)
class Model:
    """An exported program with its tensors.

    Attributes:
        tensors: by names in the program's graph.
        names: further names of its inputs and outputs.
    """

    path: Path
    program: Program
    tensors: Mapping[str, StoredTensor]
    names: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def flat(self) -> Flat:
        """The program as a list of nodes that only compute."""
        return flatten_program(self.program)


@dataclass(frozen=True)
class ScriptFile:
    """A file of TorchScript, of which PyTorch makes a program for given inputs."""

    path: Path


class ScriptFileError(ImportModelError):
    """The file is TorchScript."""


def read(path: Path) -> Model | ScriptFile:
    """Maps and parses a file of PyTorch.

    Raises:
        ImportModelError: it is none, or damaged; the message says what it is.
    """
    try:
        return read_model(path)
    except ScriptFileError:
        return ScriptFile(path)


def read_model(path: Path) -> Model:
    """Maps and parses a file of torch.export.save.

    Raises:
        ScriptFileError: it is TorchScript.
        ImportModelError: it is none, or damaged; the message says what it is.
    """
    try:
        data = memoryview(map_file(path))
    except OSError as error:
        raise ImportModelError(
            f"model_file_path: cannot read {path}: {error.strerror or error}"
        ) from error
    if bytes(data[:4]) != _ZIP:
        raise ImportModelError(_no_archive(path, bytes(data[:1])))
    try:
        return _read(path, ZipFile(data))
    except (BadProgramError, DamagedZipError, PickleError) as error:
        raise ImportModelError(
            f"model_file_path: {path} cannot be read: {error}; export the model again"
        ) from error


def _no_archive(path: Path, first: bytes) -> str:
    if first == _PICKLE:
        return (
            f"model_file_path: {path} is a pickle of PyTorch, which holds no graph; "
            f"{_EXPORT}"
        )
    what = other_format(path) or "no file of PyTorch"
    return f"model_file_path: {path} is {what}"


def _read(path: Path, archive: ZipFile) -> Model:
    names = archive.names
    if _OLD_PROGRAM in names:
        return _read_old(path, archive)
    graphs = [name for name in names if "/models/" in f"/{name}"]
    graphs = [name for name in graphs if name.endswith(".json")]
    if not graphs:
        raise _other_archive(path, archive)
    if len(graphs) > 1:
        models = ", ".join(name.rpartition("/")[2] for name in graphs)
        raise ImportModelError(
            f"model_file_path: {path} holds several programs ({models}); save one in "
            "each file"
        )
    root, _, name = graphs[0].rpartition("models/")
    model = name.removesuffix(".json")
    program = parse_program(archive.read_text(graphs[0]))
    weights = _payload(archive, f"{root}data/weights/", model, "weights")
    constants = _payload(archive, f"{root}data/constants/", model, "constants")
    return _model(path, program, weights, constants)


def _read_old(path: Path, archive: ZipFile) -> Model:
    program = parse_program(archive.read_text(_OLD_PROGRAM))
    weights, constants = (
        next((_pickled(archive, name) for name in names if name in archive.names), {})
        for names in (_OLD_WEIGHTS, _OLD_CONSTANTS)
    )
    return _model(path, program, weights, constants)


def _model(
    path: Path,
    program: Program,
    weights: Mapping[str, StoredTensor],
    constants: Mapping[str, StoredTensor],
) -> Model:
    found: dict[str, StoredTensor] = {}
    for names, first, second in (
        (program.weights, weights, constants),
        (program.constants, constants, weights),
    ):
        for name, key in names.items():
            tensor = first.get(key) or second.get(key)
            if tensor is not None:
                found[name] = tensor
    return Model(path, program, found, program.keys)


def _pickled(archive: ZipFile, name: str) -> dict[str, StoredTensor]:
    """The tensors in an archive of torch.save in the archive."""
    content = archive.read(name)
    if not len(content):
        return {}
    state = load_tensors(ZipFile(content))
    if not isinstance(state, dict):
        raise PickleError(f"{name} holds no dictionary")
    return {key: v for key, v in state.items() if isinstance(v, StoredTensor)}


def _payload(
    archive: ZipFile, folder: str, model: str, kind: str
) -> dict[str, StoredTensor]:
    """The weights or constants of the newer layout."""
    pickled = f"{folder}{model}.pt"
    if pickled in archive.names:  # PyTorch 2.8
        return _pickled(archive, pickled)
    index = f"{folder}{model}_{kind}_config.json"
    if index not in archive.names:
        return {}
    try:
        config = json.loads(archive.read_text(index))["config"]
        return {
            str(name): tensor
            for name, entry in config.items()
            for tensor in [_payload_tensor(archive, folder, entry)]
            if tensor is not None
        }
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as bad:
        raise BadProgramError(f"{index} is damaged") from bad


def _payload_tensor(archive: ZipFile, folder: str, entry: Any) -> StoredTensor | None:
    name = f"{folder}{entry['path_name']}"
    if entry["use_pickle"]:
        return None  # an object of a class of its own
    if name not in archive.names:
        raise BadProgramError(f"{name} is missing")
    meta = entry["tensor_meta"]
    shape = tuple(int(size["as_int"]) for size in meta["sizes"])
    strides = tuple(int(step["as_int"]) for step in meta["strides"])
    if len(strides) != len(shape):
        strides = contiguous(shape)
    offset = int(meta["storage_offset"]["as_int"])
    content = archive.read(name)
    return StoredTensor(int(meta["dtype"]), content, offset, shape, strides)


def _other_archive(path: Path, archive: ZipFile) -> ImportModelError:
    names = [f"/{name}" for name in archive.names]
    if any("/code/" in name for name in names):
        archive.take_all()  # PyTorch itself reads it
        return ScriptFileError(str(path))
    if not any(name.endswith("/data.pkl") for name in names):
        return ImportModelError(
            f"model_file_path: {path} is a zip archive, but no exported program: "
            f"{_EXPORT}"
        )
    try:
        state = load_tensors(archive)
        what = "weights without a graph (a state_dict)"
        if isinstance(state, StoredTensor):
            what = "a tensor"
    except ForeignObjectError as error:
        what = f"a pickled object ({error.name})"
    return ImportModelError(
        f"model_file_path: {path} holds {what}; load it in PyTorch and {_EXPORT}"
    )


def describe(found: Model | ScriptFile) -> ModelDescription:
    """See `importers.frame.opened.Framework`."""
    if isinstance(found, ScriptFile):
        raise ImportModelError(
            f"{found.path} is TorchScript, which does not say the shapes of its "
            "inputs; name inputs and outputs in a deployment file, or save the model "
            "by torch.export.save as .pt2"
        )
    program = found.program
    tensors = program.graph.tensors
    keys = {name: key for key, name in found.names.items()}
    version = f" {program.version}" if program.version else ""
    return ModelDescription(
        framework=f"PyTorch{version}, exported program",
        image_order=DataFormat.NCHW,
        inputs=tuple(_describe(n, tensors.get(n)) for n in program.inputs),
        outputs=tuple(
            _describe(keys.get(n, n), tensors.get(n))
            for n in dict.fromkeys(program.outputs)
        ),
        operators=Counter(base_name(node.target) for node in found.flat.nodes),
    )


def _describe(name: str, meta: TensorMeta | None) -> TensorDescription:
    if meta is None:
        return TensorDescription(name)
    return TensorDescription(name, meta.sizes, element_type(meta))
