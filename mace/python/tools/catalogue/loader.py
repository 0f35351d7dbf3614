# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Reads the operator declarations into their typed form.

This is the only reader: the converter's catalogue, the documentation and the generator
of C++ headers (`mace/ops/op_schema_gen.py`) all use it. Bazel runs the generator with
only PyYAML installed.
"""

from __future__ import annotations

import enum
import functools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import yaml

from mace.python.tools.catalogue.check import attribute_problem
from mace.python.tools.catalogue.schema import (
    Attribute,
    AttributeKind,
    AttributeValue,
    Catalogue,
    ControlFlow,
    Enumeration,
    OpSchema,
    Packing,
    Port,
    SharedCode,
    Signedness,
)
from mace.python.tools.catalogue.signatures import DEVICES, read_signatures
from mace.python.tools.custom_ops import (
    call_on_change,
    custom_folders,
    folder_problems,
    rooms_in,
    use_custom_ops,
)
from mace.python.tools.data_type import DataType
from mace.python.tools.errors import MaceError

# mace/ops, relative to mace/python/tools/catalogue.
OPS_DIR = Path(__file__).resolve().parents[3] / "ops"

# Of an installed package, in its OPS_DIR.
DEVICES_FILE = "devices.json"

# libyaml's, where PyYAML has it: seven times as fast as the one in Python.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_DATA_TYPES = {dtype.value: dtype for dtype in DataType if dtype.in_models}
_OPTIONAL_OP_KEYS = frozenset(
    [
        "doc",
        "signatures",
        "depends_on_shapes_only",
        "cpu_kernels",
        "computes",
        "signedness",
        "control",
    ]
)
_OP_KEYS = _OPTIONAL_OP_KEYS | {"op", "summary", "inputs", "outputs", "attributes"}
_PORT_KEYS = frozenset(
    ["name", "types", "quantized", "doc", "optional", "constant", "packed", "variadic"]
)
_ATTRIBUTE_KEYS = frozenset(
    ["type", "default", "required", "min", "max", "size", "enum", "values", "doc"]
)
_ENUM_KEYS = frozenset(["doc", "values"])

Enumerations = Mapping[str, Enumeration]
_Word = TypeVar("_Word", bound=enum.Enum)
_Value = TypeVar("_Value")
# The operator that a declaration is of.
_TYPE = re.compile(rb"^op: *(\w+) *$", re.MULTILINE)


class CatalogueError(MaceError):
    """Operator declarations are missing or wrong; lists every mistake."""


@functools.lru_cache(maxsize=1)
def default_catalogue() -> Catalogue:
    """The catalogue of this source tree and of the folders of users' own operators,
    read once.
    """
    own = _own_catalogue()
    return with_custom(own, custom_folders()) if custom_folders() else own


@functools.lru_cache(maxsize=1)
def _own_catalogue() -> Catalogue:
    """MACE's own operators, which are the same in any folders. Each declaration is read
    when its operator is asked for, as a model has few of them.
    """
    paths = sorted(OPS_DIR.glob("*/*.op.yaml"))
    named = [_TYPE.search(path.read_bytes()) for path in paths]
    files = {found[1].decode(): path for found, path in zip(named, paths) if found}
    if not files or len(files) < len(paths):
        return load_catalogue(OPS_DIR)  # which says what is wrong
    enums = functools.cache(lambda: load_enums(OPS_DIR / "op_enums.yaml"))

    def read(kind: str) -> OpSchema:
        try:
            return load_op(files[kind], enums())
        except CatalogueError:
            load_catalogue(OPS_DIR)  # lists the mistakes of all declarations
            raise

    ops = _WhenAsked(files, read)
    return Catalogue(
        ops,
        MappingProxyType({kind: path.parent.name for kind, path in files.items()}),
        MappingProxyType({kind: _name(path) for kind, path in files.items()}),
        _WhenAsked(files, lambda kind: _devices(ops[kind], files[kind])),
    )


class _WhenAsked(Mapping[str, _Value]):
    """Makes the value of each key when it is first asked for."""

    def __init__(self, keys: Iterable[str], make: Callable[[str], _Value]) -> None:
        self._keys = dict.fromkeys(keys)
        self._make = make
        self._made: dict[str, _Value] = {}

    def __getitem__(self, key: str) -> _Value:
        if key not in self._made:
            if key not in self._keys:
                raise KeyError(key)
            self._made[key] = self._make(key)
        return self._made[key]

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)


call_on_change(default_catalogue.cache_clear)


def use_operators(folders: Sequence[Path]) -> None:
    """Makes the operators in folders of users' own known; without folders, those in the
    folders that are in use.

    Raises:
        MaceError: with all that is wrong with the folders.
    """
    wanted = folders or custom_folders()
    if wanted:
        use_custom_ops(wanted)
        # Refuses names that MACE itself has.
        default_catalogue()


def with_custom(catalogue: Catalogue, folders: Iterable[Path]) -> Catalogue:
    """Adds the operators of users' own folders to those of MACE.

    Raises:
        CatalogueError: with all mistakes of all folders and their declarations.
    """
    problems: list[str] = []
    enums = load_enums(OPS_DIR / "op_enums.yaml")
    ops = dict(catalogue.ops)
    rooms, names = dict(catalogue.rooms), dict(catalogue.names)
    devices, custom = dict(catalogue.devices), dict(catalogue.custom)
    for folder in folders:
        wrong = folder_problems(folder)
        problems += wrong
        for room in [] if wrong else rooms_in(folder):
            path = room / f"{room.name}.op.yaml"
            try:
                schema = load_op(path, enums)
            except CatalogueError as error:
                problems.append(str(error))
                continue
            taken = _taken(schema.type, room, ops, rooms, custom)
            if taken:
                problems.append(f"custom_ops: {room}: {taken}; choose another name")
                continue
            ops[schema.type] = schema
            rooms[schema.type] = names[schema.type] = room.name
            devices[schema.type] = _devices(schema, path)
            custom[schema.type] = room
    if problems:
        raise CatalogueError("\n".join(problems))
    return Catalogue(
        MappingProxyType(ops),
        MappingProxyType(rooms),
        MappingProxyType(names),
        MappingProxyType(devices),
        MappingProxyType(custom),
    )


def _taken(
    op_type: str,
    room: Path,
    ops: Mapping[str, OpSchema],
    rooms: Mapping[str, str],
    custom: Mapping[str, Path],
) -> str:
    """What has a name already that an operator of a user's own has; '' for nothing."""
    if op_type in custom:
        return f"{custom[op_type]} declares {op_type}, too"
    if op_type in ops:
        return f"MACE itself has an operator {op_type} (mace/ops/{rooms[op_type]})"
    for path in custom.values():
        if path.name == room.name:
            return f"{path} is a room of the same name"
    if (OPS_DIR / room.name).exists():
        return f"MACE itself has mace/ops/{room.name}"
    return ""


def load_catalogue(ops_dir: Path) -> Catalogue:
    """Reads `ops_dir/*/*.op.yaml` and `ops_dir/op_enums.yaml`.

    Raises:
        CatalogueError: with all mistakes of all files.
    """
    problems: list[str] = []
    enums: Enumerations = {}
    try:
        enums = load_enums(ops_dir / "op_enums.yaml")
    except CatalogueError as error:
        problems.append(str(error))
    ops: dict[str, OpSchema] = {}
    rooms: dict[str, str] = {}
    names: dict[str, str] = {}
    devices: dict[str, tuple[str, ...]] = {}
    files = sorted(ops_dir.glob("*/*.op.yaml"))
    for path in files:
        try:
            schema = load_op(path, enums)
        except CatalogueError as error:
            problems.append(str(error))
            continue
        if schema.type in ops:
            problems.append(f"{path}: operator {schema.type} is declared twice")
            continue
        ops[schema.type] = schema
        rooms[schema.type] = path.parent.name
        names[schema.type] = _name(path)
        devices[schema.type] = _devices(schema, path)
    if not files:
        problems.append(f"{ops_dir}: no operator declarations (*/*.op.yaml)")
    if problems:
        raise CatalogueError("\n".join(problems))
    return Catalogue(
        MappingProxyType(ops),
        MappingProxyType(rooms),
        MappingProxyType(names),
        MappingProxyType(devices),
    )


def _name(declaration: Path) -> str:
    return declaration.name.removesuffix(".op.yaml")


def _devices(schema: OpSchema, declaration: Path) -> tuple[str, ...]:
    """Those whose file is in a room, or, in an installed package, was; every device
    for code that operators share."""
    if schema.computes is not None:
        return tuple(DEVICES.values())
    room, name = declaration.parent, _name(declaration)
    known = _packaged_devices(room.parent).get(name)
    if known is not None:
        return known
    return tuple(
        device
        for suffix, device in DEVICES.items()
        if (room / f"{name}_{suffix}.cc").exists()
    )


@functools.cache
def _packaged_devices(ops_dir: Path) -> Mapping[str, tuple[str, ...]]:
    """What tools/build-wheel.sh noted of the operators whose sources it leaves out."""
    path = ops_dir / DEVICES_FILE
    if not path.exists():
        return {}
    return {
        name: tuple(devices)
        for name, devices in json.loads(path.read_text(encoding="utf-8")).items()
    }


def load_op(path: Path, enums: Enumerations) -> OpSchema:
    """Reads the declaration of one operator.

    Raises:
        CatalogueError: with all its mistakes, a line for each.
    """
    problems: list[str] = []
    raw = _read(path, problems)
    schema = None
    try:
        schema = None if problems else _op(raw, enums, problems)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        problems.append(f"has a value of the wrong kind: {error}")
    if schema is None or problems:
        raise CatalogueError("\n".join(f"{path}: {text}" for text in problems))
    return schema


def load_enums(path: Path) -> Enumerations:
    """Reads the enumerations that operators share; none if there is no file.

    Raises:
        CatalogueError: with all its mistakes, a line for each.
    """
    if not path.exists():
        return MappingProxyType({})
    problems: list[str] = []
    enums: dict[str, Enumeration] = {}
    for name, raw in _read(path, problems).items():
        if not isinstance(raw, dict) or raw.keys() != _ENUM_KEYS or not raw["values"]:
            problems.append(f"{name}: needs doc and values, and nothing else")
            continue
        values = {str(word): str(doc) for word, doc in raw["values"].items()}
        enums[name] = Enumeration(name, str(raw["doc"]), MappingProxyType(values))
    if problems:
        raise CatalogueError("\n".join(f"{path}: {text}" for text in problems))
    return MappingProxyType(enums)


def _read(path: Path, problems: list[str]) -> dict[str, Any]:
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), _LOADER)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        problems.append(f"cannot be read: {error}")
        return {}
    if not isinstance(content, dict):
        problems.append("must be a mapping")
        return {}
    return content


def _op(
    raw: dict[str, Any], enums: Enumerations, problems: list[str]
) -> OpSchema | None:
    before = len(problems)
    problems += [f"unknown key {key!r}" for key in sorted(raw.keys() - _OP_KEYS)]
    needed = _OP_KEYS - _OPTIONAL_OP_KEYS
    problems += [f"missing key {key!r}" for key in sorted(needed - raw.keys())]
    if len(problems) > before:
        return None
    ports = {
        side: tuple(
            _port(entry, f"{side}[{index}]", problems)
            for index, entry in enumerate(raw[side])
        )
        for side in ("inputs", "outputs")
    }
    for side, entries in ports.items():
        if any(port.variadic for port in entries[:-1]):
            problems.append(f"{side}: only the last port may be variadic")
    attributes = {
        name: _attribute(name, entry, enums, problems)
        for name, entry in raw["attributes"].items()
    }
    return OpSchema(
        type=str(raw["op"]),
        summary=str(raw["summary"]),
        inputs=ports["inputs"],
        outputs=ports["outputs"],
        attributes=MappingProxyType(attributes),
        doc=str(raw.get("doc", "")),
        signatures=read_signatures(
            raw.get("signatures", {}), ports["inputs"], attributes, problems
        ),
        depends_on_shapes_only=bool(raw.get("depends_on_shapes_only", False)),
        cpu_kernels=_families(raw.get("cpu_kernels", []), problems),
        computes=_word(SharedCode, "computes", raw, problems),
        signedness=_word(Signedness, "signedness", raw, problems)
        or Signedness.OF_MODEL,
        control=_word(ControlFlow, "control", raw, problems) or ControlFlow.NONE,
    )


def _word(
    words: type[_Word],
    key: str,
    raw: Mapping[str, Any],
    problems: list[str],
    where: str = "",
) -> _Word | None:
    """The value of an optional key that is one of these words."""
    known = [word.value for word in words]
    if key not in raw or raw[key] in known:
        return words(raw[key]) if key in raw else None
    problems.append(f"{where}{key}: unknown {raw[key]!r}; known: {', '.join(known)}")
    return None


def _families(raw: Any, problems: list[str]) -> tuple[str, ...]:
    if not isinstance(raw, list) or not all(isinstance(name, str) for name in raw):
        problems.append(f"cpu_kernels: must be a list of names, not {raw!r}")
        return ()
    return tuple(raw)


def _port(raw: dict[str, Any], where: str, problems: list[str]) -> Port:
    unknown = sorted(raw.keys() - _PORT_KEYS)
    problems += [f"{where}: unknown key {key!r}" for key in unknown]
    types, quantized = raw.get("types", ()), raw.get("quantized", ())
    if not raw.get("name") or not types:
        problems.append(f"{where}: needs name and types")
    for wrong in sorted({*types, *quantized} - _DATA_TYPES.keys()):
        problems.append(f"{where}: unknown type {wrong!r}")
    if quantized and DataType.FLOAT32.value not in types:
        problems.append(f"{where}: takes no float32 that could be quantized")
    return Port(
        name=str(raw.get("name", "")),
        types=tuple(_DATA_TYPES[name] for name in types if name in _DATA_TYPES),
        quantized=tuple(_DATA_TYPES[name] for name in quantized if name in _DATA_TYPES),
        optional=bool(raw.get("optional", False)),
        constant=bool(raw.get("constant", False)),
        packed=_word(Packing, "packed", raw, problems, f"{where}: "),
        variadic=bool(raw.get("variadic", False)),
        doc=str(raw.get("doc", "")),
    )


def _attribute(
    name: str,
    raw: dict[str, Any],
    enums: Enumerations,
    problems: list[str],
) -> Attribute:
    where = f"attributes.{name}"
    unknown = sorted(raw.keys() - _ATTRIBUTE_KEYS)
    problems += [f"{where}: unknown key {key!r}" for key in unknown]
    try:
        kind = AttributeKind(raw.get("type"))
    except ValueError:
        problems.append(f"{where}: unknown type {raw.get('type')!r}")
        return Attribute(name, AttributeKind.STRING)
    required = bool(raw.get("required", False))
    if required == ("default" in raw):
        problems.append(f"{where}: needs either default or required")
    attribute = Attribute(
        name=name,
        kind=kind,
        required=required,
        default=_default(kind, raw.get("default")),
        min=raw.get("min"),
        max=raw.get("max"),
        size=raw.get("size"),
        values=_enum_values(kind, raw, enums, where, problems),
        enum=str(raw.get("enum", "")),
        doc=str(raw.get("doc", "")),
    )
    if attribute.default is not None:
        problem = attribute_problem(attribute, attribute.default)
        if problem:
            problems.append(f"{where}: default {problem}")
    return attribute


def _default(kind: AttributeKind, raw: Any) -> AttributeValue | None:
    if isinstance(raw, list):
        return tuple(raw)
    if kind is AttributeKind.FLOAT and isinstance(raw, (int, float)):
        return float(raw)
    return raw  # type: ignore[no-any-return]


def _enum_values(
    kind: AttributeKind,
    raw: dict[str, Any],
    enums: Enumerations,
    where: str,
    problems: list[str],
) -> Mapping[str, str]:
    if kind is not AttributeKind.ENUM:
        return MappingProxyType({})
    if "enum" in raw:
        shared = enums.get(raw["enum"])
        if shared is None:
            problems.append(f"{where}: unknown enum {raw['enum']!r}")
            return MappingProxyType({})
        return shared.values
    if not raw.get("values"):
        problems.append(f"{where}: needs values or enum")
        return MappingProxyType({})
    return MappingProxyType({str(word): "" for word in raw["values"]})
