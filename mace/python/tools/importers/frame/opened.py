# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Models whose files are read once, whatever is asked of them, and whose they are.

The contents of a file tell which framework's model it is, if it is one. Names of files
say little: SavedModel, frozen graphs and MACE's own models all end in `.pb`, and a
failed download has the name of the model. Only what is certain is told; of all else the
importer says what is wrong with it.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from mace.python.tools.config.vocabulary import Platform
from mace.python.tools.errors import UnsupportedError
from mace.python.tools.importers.frame.budget import Budget, one_budget
from mace.python.tools.importers.frame.constants import with_constants
from mace.python.tools.importers.frame.description import ModelDescription
from mace.python.tools.importers.frame.errors import ImportModelError
from mace.python.tools.importers.frame.model_file import Buffer, map_file, other_format
from mace.python.tools.importers.frame.request import ImportRequest
from mace.python.tools.importers.frame.zip_file import DamagedZipError, ZipFile
from mace.python.tools.ir.graph import Graph

_PACKAGE = "mace.python.tools.importers"

_Files = TypeVar("_Files")


@dataclass(frozen=True)
class Framework(Generic[_Files]):
    """How the models of a framework are imported: `FRAMEWORK` of its package.

    Attributes:
        read: the contents of the files of a model, and of its weights where they are
            apart (Caffe). Raises ImportModelError: they cannot be read.
        describe: what the contents say of themselves; they stay as they are.
        build: the graph of what a request wants of them; they stay as they are. Raises
            ImportModelError: wrong tensor name or shape; UnsupportedNodesError: lists
            every node that cannot be converted.
    """

    read: Callable[[Path, Path | None], _Files]
    describe: Callable[[_Files], ModelDescription]
    build: Callable[[ImportRequest, _Files], Graph]

    def open(self, model: Path, weights: Path | None = None) -> OpenedModel:
        """The model of these files, which are not read yet."""
        return OpenedModel(self, model, weights)

    def import_model(self, request: ImportRequest) -> Graph:
        """Reads a model for one import."""
        opened = self.open(request.model_path, request.weight_path)
        return opened.import_graph(request)


def of_one_file(read: Callable[[Path], _Files]) -> Callable[[Path, Any], _Files]:
    """`Framework.read` where weights are in the model's own file or folder."""
    return lambda model, _: read(model)


class OpenedModel:
    """The files of a model, read when they are first needed.

    Args:
        check: whether the file may be of this framework, asked before it is read.
    """

    def __init__(
        self,
        framework: Framework[Any],
        model: Path,
        weights: Path | None = None,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        self._framework = framework
        self._model = model
        self._weights = weights
        self._check = check
        self._files: Any = None
        self._spent = Budget()
        self._about: ModelDescription | None = None

    def describe(self) -> ModelDescription:
        """What the model says of itself.

        Raises:
            ImportModelError: a file cannot be read.
        """
        if self._about is None:
            with self._read() as files:
                self._about = self._framework.describe(files)
        return self._about

    def described(self) -> ModelDescription | None:
        """As `describe`; None: its files do not say it, or `import_graph` says what is
        wrong with them.
        """
        try:
            return self.describe()
        except ImportModelError:
            return None

    def import_graph(self, request: ImportRequest) -> Graph:
        """What a request wants of the model, for MACE's operators.

        Raises:
            ImportModelError: unreadable file, wrong tensor name or shape.
            UnsupportedNodesError: lists every node that cannot be converted.
        """
        if request.constants:
            request = with_constants(request, self.described())
        with self._read() as files:
            return self._framework.build(request, files)

    def close(self) -> None:
        """Forgets what was read; who goes on reads it again."""
        self._files = None

    @contextlib.contextmanager
    def _read(self) -> Iterator[Any]:
        """The contents of the files, and while this lasts the budget that reading them
        has left.
        """
        if self._files is None:
            self._check()
            with one_budget() as spent:
                self._files = self._framework.read(self._model, self._weights)
            self._spent = spent
        with one_budget(self._spent.copy()):
            yield self._files


class OpenedModels:
    """The models that a command has opened so far."""

    def __init__(self) -> None:
        self._recognised: dict[Path, Recognised | None] = {}
        self._opened: dict[tuple[Platform, Path, Path | None], OpenedModel] = {}

    def recognise(self, path: Path) -> Recognised | None:
        """What a file is, by its contents; None if that is not certain."""
        if path not in self._recognised:
            self._recognised[path] = recognise(path)
        return self._recognised[path]

    def open(
        self, platform: Platform, model: Path, weights: Path | None = None
    ) -> OpenedModel:
        """The model of these files.

        Raises:
            UnsupportedError: models of this framework cannot be read.
        """
        key = (platform, model, weights)
        if key not in self._opened:
            self._opened[key] = OpenedModel(
                load_framework(platform.value),
                model,
                weights,
                lambda: check_recognised(model, platform, self.recognise),
            )
        return self._opened[key]


def load_framework(name: str) -> Framework[Any]:
    """The importer of a framework ('onnx', 'tensorflow', ...).

    Raises:
        UnsupportedError: MACE does not read models of this framework.
    """
    package = f"{_PACKAGE}.{name}"
    if importlib.util.find_spec(package) is None:
        raise UnsupportedError(
            f"platform {name!r} cannot be imported yet; "
            f"available: {', '.join(available_importers())}"
        )
    framework: Framework[Any] = importlib.import_module(package).FRAMEWORK
    return framework


def available_importers() -> list[str]:
    """The frameworks that have an importer."""
    folders = Path(__file__).parents[1]
    return sorted(path.parent.name for path in folders.glob("*/importer.py"))


# Whose model a file is ---------------------------------------------------------------

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
# A model has few fields of its own, except for the nodes of a GraphDef and the layers
# of a Caffe model: some of those are enough.
_MOST_FIELDS = 64
# The text at the beginning that is searched.
_TEXT = 4096


@dataclass(frozen=True)
class Recognised:
    """What a file is.

    Attributes:
        what: for messages, ``an ONNX model``.
        platform: whose models are such files; None: it is not a model.
        advice: what to do with a file that is not a model.
        is_converted: it is the graph of a model that MACE has converted.
    """

    what: str
    platform: Platform | None = None
    advice: str = ""
    is_converted: bool = False


_FRAMEWORKS = {
    Platform.ONNX: "an ONNX model",
    Platform.TENSORFLOW: "a TensorFlow graph",
    Platform.TFLITE: "a TensorFlow Lite model",
    Platform.KERAS: "a Keras model",
    Platform.PYTORCH: "a file of PyTorch",
    Platform.CAFFE: "a Caffe network",
}
_NO_GRAPH = "export the model from its framework, for example to ONNX"


def check_recognised(
    path: Path, platform: Platform, find: Callable[[Path], Recognised | None]
) -> None:
    """Whether a file may be a model of a framework.

    Args:
        find: `recognise`, or what remembers its answers.

    Raises:
        ImportModelError: it is something else; says what to write or to do.
    """
    if not path.is_file():
        return
    found = find(path)
    if found is None or found.platform is platform:
        return
    text = f"model_file_path: {path} is {found.what}"
    if found.platform is not None:
        raise ImportModelError(
            f"{text}: say platform: {found.platform.value} instead of {platform.value}"
        )
    raise ImportModelError(f"{text}: {found.advice}")


def recognise(path: Path) -> Recognised | None:
    """What a regular file is; None if that is not certain."""
    try:
        buffer = map_file(path)
    except OSError:
        return None  # Whoever opens it to read says why it cannot be read.
    if not len(buffer):
        return Recognised("empty", advice="is the download complete?")
    head = bytes(buffer[:_TEXT])
    if head.startswith(b"PK\x03\x04"):
        return _zip(buffer)
    if head[4:8] == b"TFL3":
        return _of(Platform.TFLITE)
    if head.startswith(b"\x89HDF\r\n"):
        return _of(Platform.KERAS)
    known = other_format(path)
    if known:
        what, _, advice = known.partition(": ")
        return Recognised(what, advice=advice)
    if head[:1] == b"\x80" and head[1] in (2, 3, 4, 5):
        return Recognised("a pickle (of PyTorch?)", Platform.PYTORCH)
    if _is_safetensors(head):
        return Recognised("weights without a graph (safetensors)", advice=_NO_GRAPH)
    return _text(head) or _message(buffer)


def _of(platform: Platform) -> Recognised:
    return Recognised(_FRAMEWORKS[platform], platform)


def _zip(buffer: Buffer) -> Recognised | None:
    try:
        names = ZipFile(memoryview(buffer)).names
    except DamagedZipError:
        return Recognised("a damaged zip archive", advice="download it again")
    if {"config.json", "model.weights.h5"} <= set(names):
        return _of(Platform.KERAS)
    ends = ("models/model.json", "serialized_exported_program.json", "/data.pkl")
    if any(name.endswith(ends) for name in names):
        return _of(Platform.PYTORCH)
    what = "a zip archive"
    models = [name for name in names if name.endswith((".onnx", ".tflite", ".pb"))]
    if models:
        return Recognised(what, advice=f"unpack it and name {models[0]}")
    return Recognised(what, advice="unpack it and name the model in it")


def _is_safetensors(head: bytes) -> bool:
    """The length of a header in JSON, and the header."""
    return head[8:10] == b'{"' and 2 <= int.from_bytes(head[:8], "little") < 1 << 27


def _text(head: bytes) -> Recognised | None:
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if text.startswith((b"<!doctype html", b"<html")) or (
        text.startswith((b"<?xml", b"<!--")) and b"<html" in text
    ):
        advice = "the download failed; download the file itself"
        return Recognised("a web page", advice=advice)
    if text.startswith(b"<?xml") and b"<net " in text:
        return Recognised("a model of OpenVINO", advice="name the original model")
    if text.startswith(b"7767517"):
        return Recognised("a model of ncnn", advice="name the original model")
    if text.startswith((b"library_name:", b"models:")):
        return Recognised(
            "a deployment file", advice="name the model here, and this by --config"
        )
    if text.startswith((b"node {", b"node{")):
        return _of(Platform.TENSORFLOW)
    if re.match(rb"(?:#[^\n]*\n\s*|name\s*:[^\n]*\n\s*)*layers?\s*\{", text):
        return _of(Platform.CAFFE)
    return None


def _message(buffer: Buffer) -> Recognised | None:
    """A message of protocol buffers, by the numbers and types of its fields."""
    fields = _fields(buffer)
    if fields is None:
        return None
    kinds = {(number, kind) for number, kind, _ in fields}
    first, kind, body = fields[0]
    if (1, _VARINT) in kinds and (7, _BYTES) in kinds and (8, _BYTES) in kinds:
        # ir_version, graph and opset_import.
        return _of(Platform.ONNX)
    if any(f[:2] == (3, _BYTES) and f[2].startswith(b"mace-converter") for f in fields):
        # producer; a size of the data, or any operator, it may lack.
        return Recognised(
            "a model that MACE has converted",
            advice="name the original model",
            is_converted=True,
        )
    if kinds == {(1, _VARINT), (2, _BYTES)}:
        return _of(Platform.TENSORFLOW)  # the graph of a SavedModel
    if (first, kind) == (1, _BYTES):
        # A NodeDef begins with its name and operator; the name of a Caffe network is
        # not a message.
        node = _fields(body)
        if node and [(n, k) for n, k, _ in node[:2]] == [(1, _BYTES), (2, _BYTES)]:
            return _of(Platform.TENSORFLOW)
        if (100, _BYTES) in kinds:
            return Recognised("the weights of a Caffe model", Platform.CAFFE)
    return None


def _fields(buffer: Buffer) -> list[tuple[int, int, bytes]] | None:
    """Numbers, types and (of short ones) bytes of a message's first fields; None if it
    is not a message.
    """
    found: list[tuple[int, int, bytes]] = []
    at = 0
    while at < len(buffer) and len(found) < _MOST_FIELDS:
        tag, at = _number(buffer, at)
        number, kind = tag >> 3, tag & 7
        if not number:
            return None
        if kind == _VARINT:
            value, end = _number(buffer, at)
            if value < 0:
                return None
        elif kind == _BYTES:
            size, at = _number(buffer, at)
            end = at + size if size >= 0 else len(buffer) + 1
        elif kind in (_FIXED32, _FIXED64):
            end = at + (4 if kind == _FIXED32 else 8)
        else:
            return None
        if end > len(buffer):
            return None
        found.append((number, kind, bytes(buffer[at : min(end, at + _TEXT)])))
        at = end
    return found or None


def _number(buffer: Buffer, at: int) -> tuple[int, int]:
    """A varint and the offset after it; -1 if there is none."""
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(buffer):
            break
        byte = buffer[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
    return -1, at
