# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Reads tensors that torch.save wrote, without running what the file says.

A pickle is a program that may call any function. This interpreter knows only what
builds dictionaries, lists and tensors; every other operation and name is refused.
"""

from __future__ import annotations

import pickletools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from mace.python.tools.errors import MaceError
from mace.python.tools.importers.frame.zip_file import DamagedZipError, ZipFile
from mace.python.tools.importers.pytorch.tensors import ELEMENT_TYPES, StoredTensor

# Element types by the storage classes of PyTorch, in the numbers of exported programs.
_STORAGES: Mapping[str, int] = {
    "ByteStorage": 1,
    "CharStorage": 2,
    "ShortStorage": 3,
    "IntStorage": 4,
    "LongStorage": 5,
    "HalfStorage": 6,
    "FloatStorage": 7,
    "DoubleStorage": 8,
    "ComplexFloatStorage": 10,
    "ComplexDoubleStorage": 11,
    "BoolStorage": 12,
    "BFloat16Storage": 13,
    "UntypedStorage": 0,
}
_DTYPES = {dtype.value: number for number, dtype in ELEMENT_TYPES.items()}


class PickleError(Exception):
    """The file cannot be read; the message says why."""


class ForeignObjectError(PickleError):
    """The file holds objects of other classes than tensors."""

    def __init__(self, name: str) -> None:
        super().__init__(f"it holds objects of {name}")
        self.name = name


@dataclass(frozen=True)
class _ElementType:
    number: int


@dataclass(frozen=True)
class _Storage:
    number: int
    content: memoryview


def load_tensors(archive: ZipFile) -> Any:
    """The object that an archive of torch.save holds, with StoredTensor for tensors.

    Raises:
        PickleError: it is damaged, or holds something else.
    """
    found = [name for name in archive.names if name.endswith("/data.pkl")]
    if len(found) != 1:
        raise PickleError("it has no data.pkl")
    prefix = found[0][: -len("data.pkl")]
    order = f"{prefix}byteorder"
    try:
        if order in archive.names and bytes(archive.read(order)) != b"little":
            raise PickleError("its numbers are big-endian")
        return _Interpreter(archive, prefix).load()
    except (PickleError, MaceError):
        raise
    except DamagedZipError as error:
        raise PickleError(str(error)) from error
    except Exception as error:  # damaged pickles raise whatever they hit
        reason = str(error) or type(error).__name__
        raise PickleError(f"data.pkl cannot be read: {reason}") from error


def _rebuild(
    storage: _Storage, offset: int, shape: Any, strides: Any, *_: object
) -> StoredTensor:
    if not isinstance(storage, _Storage):
        raise PickleError("a tensor has no storage")
    return StoredTensor(
        storage.number,
        storage.content,
        int(offset),
        tuple(map(int, shape)),
        tuple(map(int, strides)),
    )


def _rebuild_typed(
    storage: _Storage, offset: int, shape: Any, strides: Any, *more: Any
) -> StoredTensor:
    _grad, _hooks, dtype, *_ = more
    typed = _Storage(dtype.number, storage.content)
    return _rebuild(typed, offset, shape, strides)


def _first(value: Any, *_: object) -> Any:
    return value


def _nothing(*_: object) -> None:
    return None


def _dictionary(items: Iterable[Any] = (), *_: object) -> dict[Any, Any]:
    """A dictionary of pairs. Tuples in tuples that share their parts take exponential
    time to hash; what torch.save writes has names and numbers as keys.
    """
    found = {}
    for key, value in items:
        if not (key is None or isinstance(key, (str, int, float, bytes))):
            kind = "tuple" if isinstance(key, tuple) else type(key).__name__
            raise PickleError(f"data.pkl has a key of type {kind}")
        found[key] = value
    return found


_FUNCTIONS: Mapping[tuple[str, str], Callable[..., Any]] = {
    ("collections", "OrderedDict"): _dictionary,
    ("torch", "Size"): tuple,
    ("torch", "device"): _nothing,
    ("torch._utils", "_rebuild_parameter"): _first,
    ("torch._utils", "_rebuild_parameter_with_state"): _first,
    ("torch._utils", "_rebuild_tensor_v2"): _rebuild,
    ("torch._utils", "_rebuild_tensor_v3"): _rebuild_typed,
    ("torch.nn.parameter", "Parameter"): _first,
    ("torch.serialization", "_get_layout"): _nothing,
}


class _Mark:
    """Where the items of a list, tuple or dictionary begin on the stack."""


_MARK = _Mark()
_CONSTANTS: Mapping[str, Any] = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_NUMBERS_AND_TEXTS = frozenset(
    {
        *("BINFLOAT", "BININT", "BININT1", "BININT2", "LONG1", "LONG4"),
        *("BINUNICODE", "BINUNICODE8", "SHORT_BINUNICODE"),
        *("BINBYTES", "SHORT_BINBYTES", "BINSTRING", "SHORT_BINSTRING"),
    }
)
_TUPLES: Mapping[str, int] = {"EMPTY_TUPLE": 0, "TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
# Parts of lists in lists, and of tuples in tuples; torch.save writes a handful.
_DEEPEST = 100
# Objects that are not yet part of another one: torch.save adds 1000 pairs at a time.
_MOST_OPEN = 1 << 14


class _Tuple(tuple):  # type: ignore[type-arg]
    """A tuple that knows how many lie in each other."""

    depth: int


class _Interpreter:
    """Runs the operations that torch.save writes for tensors, and no others.

    `pickle.Unpickler` would do more than that: it makes a table as long as the largest
    number that the file gives an object, hashes whatever the file says is a key, which
    takes as long as the file likes, and sets attributes of functions.
    """

    def __init__(self, archive: ZipFile, prefix: str) -> None:
        self._archive = archive
        self._prefix = prefix
        self._stack: list[Any] = []
        self._memo: dict[int, Any] = {}
        self._marks = 0

    def load(self) -> Any:
        """The object of data.pkl."""
        text = bytes(self._archive.read(f"{self._prefix}data.pkl"))
        for opcode, argument, _ in pickletools.genops(text):
            if opcode.name == "STOP":
                return self._pop()
            self._run(opcode.name, argument)
        raise PickleError("data.pkl ends early")

    def _run(self, name: str, argument: Any) -> None:
        if name in _NUMBERS_AND_TEXTS:
            self._push(argument)
        elif name in _CONSTANTS:
            self._push(_CONSTANTS[name])
        elif name in _TUPLES:
            items = [self._pop() for _ in range(_TUPLES[name])]
            self._push_tuple(items[::-1])
        elif name in _OPERATIONS:
            _OPERATIONS[name](self, argument)
        else:
            raise PickleError(
                f"data.pkl has the operation {name}, which torch.save does not write "
                "for tensors"
            )

    def _push(self, value: Any) -> None:
        if len(self._stack) == _MOST_OPEN:
            raise PickleError(f"data.pkl has more than {_MOST_OPEN} open objects")
        self._stack.append(value)

    def _push_tuple(self, items: Iterable[Any]) -> None:
        found = _Tuple(items)
        found.depth = 1 + max(
            (item.depth for item in found if isinstance(item, _Tuple)), default=0
        )
        self._check_depth(found.depth)
        self._push(found)

    def _check_depth(self, depth: int) -> None:
        if depth > _DEEPEST:
            raise PickleError(f"data.pkl is nested more than {_DEEPEST} deep")

    def _pop(self) -> Any:
        value = self._stack.pop()
        if value is _MARK:
            raise PickleError("data.pkl has a list that begins nowhere")
        return value

    def _to_mark(self) -> list[Any]:
        at = len(self._stack) - 1
        while at >= 0 and self._stack[at] is not _MARK:
            at -= 1
        if at < 0:
            raise PickleError("data.pkl has a list that begins nowhere")
        items = self._stack[at + 1 :]
        del self._stack[at:]
        self._marks -= 1
        return items

    def _mark(self) -> None:
        self._marks += 1
        self._check_depth(self._marks)
        self._push(_MARK)

    def _extend(self, items: list[Any]) -> None:
        if not isinstance(self._stack[-1], list):
            raise PickleError("data.pkl adds to what is no list")
        self._stack[-1].extend(items)

    def _update(self, items: list[Any]) -> None:
        if not isinstance(self._stack[-1], dict):
            raise PickleError("data.pkl adds to what is no dictionary")
        self._stack[-1].update(_dictionary(zip(items[::2], items[1::2])))

    def _put(self, index: Any) -> None:
        self._memo[index] = self._stack[-1]

    def _global(self, module: Any, name: Any) -> None:
        self._push(_find(str(module), str(name)))

    def _reduce(self) -> None:
        arguments, function = self._pop(), self._pop()
        known = any(function is other for other in _FUNCTIONS.values())
        if not known or not isinstance(arguments, tuple):
            raise PickleError("data.pkl calls what is no function")
        self._push(function(*arguments))

    def _storage(self) -> None:
        kind, element_type, key, *_ = self._pop()
        if kind != "storage" or not isinstance(element_type, _ElementType):
            raise PickleError("a storage has no element type")
        name = f"{self._prefix}data/{key}"
        if name not in self._archive.names:
            raise PickleError(f"{name} is missing")
        self._push(_Storage(element_type.number, self._archive.read(name)))


# What the operations do, with their arguments.
_OPERATIONS: Mapping[str, Callable[[_Interpreter, Any], object]] = {
    "APPEND": lambda run, _: run._extend([run._pop()]),
    "APPENDS": lambda run, _: run._extend(run._to_mark()),
    "BINGET": lambda run, index: run._push(run._memo[index]),
    "BINPERSID": lambda run, _: run._storage(),
    "BINPUT": lambda run, index: run._put(index),
    # Attributes of a dictionary or parameter, which nothing needs.
    "BUILD": lambda run, _: run._pop(),
    "EMPTY_DICT": lambda run, _: run._push({}),
    "EMPTY_LIST": lambda run, _: run._push([]),
    "FRAME": _nothing,
    "GLOBAL": lambda run, name: run._global(*name.split(" ", 1)),
    "LONG_BINGET": lambda run, index: run._push(run._memo[index]),
    "LONG_BINPUT": lambda run, index: run._put(index),
    "MARK": lambda run, _: run._mark(),
    "MEMOIZE": lambda run, _: run._put(len(run._memo)),
    "PROTO": _nothing,
    "REDUCE": lambda run, _: run._reduce(),
    "SETITEM": lambda run, _: run._update([run._pop(), run._pop()][::-1]),
    "SETITEMS": lambda run, _: run._update(run._to_mark()),
    "STACK_GLOBAL": lambda run, _: run._global(*[run._pop(), run._pop()][::-1]),
    "TUPLE": lambda run, _: run._push_tuple(run._to_mark()),
}


def _find(module: str, name: str) -> Any:
    known = _FUNCTIONS.get((module, name))
    if known is not None:
        return known
    if module in ("torch", "torch.storage") and name in _STORAGES:
        return _ElementType(_STORAGES[name])
    if module == "torch" and name in _DTYPES:
        return _ElementType(_DTYPES[name])
    raise ForeignObjectError(f"{module}.{name}")
