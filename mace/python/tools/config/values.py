# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The types of values in a deployment file.

pydantic reads them from YAML text; what stands beside a type here is how the
value is written, what the documentation says of it, and in which words it is
refused: what was found and what is accepted.
"""

from __future__ import annotations

import enum
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Dict, Literal, Optional, Tuple, TypeVar
from urllib.parse import urlsplit

from annotated_types import Ge, Gt, Le, MinLen
from pydantic import (
    AfterValidator,
    AllowInfNan,
    BeforeValidator,
    ConfigDict,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    PlainValidator,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    WithJsonSchema,
    WrapValidator,
)
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from mace.python.tools.config.vocabulary import (
    SINGLE_DEVICES,
    Arithmetic,
    MeasuredAs,
)
from mace.python.tools.config.yaml_source import Table, Text
from mace.python.tools.wording import listed, nearest, shown

# A dimension beyond this does not fit the model file's 32-bit dimensions.
MAX_DIMENSION = (1 << 31) - 1
# Longest shape the runtime takes (MACE_MAX_RANK of mace/public/mace_c.h).
MAX_RANK = 8

# What reads values is built when the first is read: of sections within others only the
# outermost one, and none by commands that read no deployment file.
WHEN_USED = ConfigDict(defer_build=True)

_TOLD = "told"
_ItemT = TypeVar("_ItemT")


def told(message: str) -> PydanticCustomError:
    """An error whose message is for the user as it is."""
    return PydanticCustomError(_TOLD, "{message}", {"message": message})


def unfit(found: object, accepted: str) -> PydanticCustomError:
    """The error for a value that was `found` where `accepted` is needed."""
    if isinstance(found, dict):
        what = "a mapping" if found else "an empty mapping"
    elif isinstance(found, list):
        what = "a list" if found else "an empty list"
    elif found is None:
        what = "an empty value"
    else:
        what = shown(found)
    return told(f"found {what}, accepted: {accepted}")


@dataclass(frozen=True)
class Accepts:
    """What to say of wrong values of a type, and in the reference table."""

    text: str
    cell: str

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        def read(value: Any, inner: Any) -> Any:
            try:
                return inner(value)
            except ValidationError as error:
                for part in error.errors(include_url=False):
                    lacks_key = part["type"] == "missing"
                    if part["type"] == _TOLD or (
                        lacks_key and isinstance(part["input"], Table)
                    ):
                        raise
                raise unfit(value, self.text) from None

        return core_schema.no_info_wrap_validator_function(read, handler(source))


class Words:
    """The value is one of these words, in any case.

    Words that the release cannot use are understood, and refused by the effect
    of their key; they are not offered.
    """

    def __init__(self, words: Iterable[enum.Enum], all_offered: bool = False) -> None:
        members = tuple(words)
        self._members = {
            str(word): member
            for member in members
            for word in (member.value, *getattr(member, "aliases", ()))
        }
        # What is said of words that are not accepted.
        self._answers: dict[str, str] = getattr(members[0], "answers", dict)()
        offered = [m for m in members if all_offered or getattr(m, "in_release", True)]
        self._offered = [str(member.value) for member in offered]
        later = [str(member.value) for member in members if member not in offered]
        # For the reference table.
        self.cell = _coded(self._offered)
        if later:
            self.cell += f"; not in this release: {_coded(later)}"

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        # The inner schema is there for editors.
        return core_schema.no_info_wrap_validator_function(
            self._read, core_schema.literal_schema(list(self._members))
        )

    def _read(self, value: Any, _: Any) -> enum.Enum:
        if isinstance(value, enum.Enum):
            return value
        if not isinstance(value, str):
            raise unfit(value, listed(self._offered))
        members = {word.lower(): member for word, member in self._members.items()}
        if value.lower() in members:
            return members[value.lower()]
        offered = [word for word, m in members.items() if m.value in self._offered]
        if value.lower() in self._answers:
            raise told(f"found {shown(value)}: {self._answers[value.lower()]}")
        near = nearest(value, offered)
        hint = f"; did you mean {members[near].value}?" if near else ""
        raise told(f"found {shown(value)}, accepted: {listed(self._offered)}{hint}")


def _coded(words: Iterable[str]) -> str:
    return ", ".join(f"`{item}`" for item in words)


@dataclass(frozen=True)
class OneOrMany:
    """The value is a list, or one value that stands for a list of it.

    Attributes:
        cell: for the reference table, around that of the items.
        separated: commas separate values within one text.
        one_for_all: one value stands for all tensors.
    """

    cell: str = "{} or list of them"
    separated: bool = False
    one_for_all: bool = False

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_before_validator_function(
            self._items, handler(source)
        )

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        array = {**handler(schema), "minItems": 1}
        return {"anyOf": [array["items"], array]}

    def advice(self, values: Sequence[Any]) -> str:
        """How to write as many values as there are tensors."""
        if self.one_for_all:
            return "give one for each, or one for all"
        dims = [str(InputShape(v) if isinstance(v, tuple) else v) for v in values]
        is_shape = isinstance(values[0], (tuple, InputShape))
        if is_shape and not any("," in dim for dim in dims):
            return f'if this is one shape, write "{",".join(dims)}" without [ ]'
        return "give one for each"

    def _items(self, value: Any) -> Any:
        items = [value] if isinstance(value, str) else value
        if not isinstance(items, (list, tuple)):
            raise unfit(value, "a value or a list of values")
        if not items:
            raise unfit(value, "at least one value")
        if not self.separated:
            return items
        return [part for item in items for part in _separated(item)]


def _separated(item: Any) -> list[Any]:
    if not isinstance(item, Text):
        return [item]
    return [Text(part.strip(), item.place) for part in item.split(",")]


def distinct(values: Tuple[_ItemT, ...]) -> Tuple[_ItemT, ...]:
    """Refuses a list in which something stands twice."""
    for problem in twice(values):
        raise told(problem)
    return values


def twice(values: Iterable[object]) -> list[str]:
    """What is wrong with a list in which something stands twice."""
    words = [str(getattr(value, "value", value)) for value in values]
    found = dict.fromkeys(word for word in words if words.count(word) > 1)
    return [f"names {', '.join(map(shown, found))} twice"] if found else []


Many = Annotated[Tuple[_ItemT, ...], OneOrMany()]
ManyApart = Annotated[Tuple[_ItemT, ...], OneOrMany(), AfterValidator(distinct)]
OneForAll = Annotated[
    Tuple[_ItemT, ...],
    OneOrMany("one for all or a list of {}", separated=True, one_for_all=True),
]

_TEXT_OR_NUMBER = WithJsonSchema({"type": ["string", "number"]})
_NUMBER = re.compile(r"[+-]?\d{1,18}")


def _whole(value: Any) -> Any:
    """A number as YAML has it; pydantic would take 1.0 and 1_0 as well."""
    is_number = isinstance(value, str) and _NUMBER.fullmatch(value)
    return int(value) if is_number else value


Name = Annotated[
    str,
    StringConstraints(pattern=r"^[^\x00-\x1f\x7f]+$"),
    _TEXT_OR_NUMBER,
    Accepts("a name", "name"),
]
FileStem = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.+-]{0,127}$"),
    Accepts(
        'a name of letters, digits, "_", "-", "+" and ".", as files are named after it',
        "name",
    ),
]
FILE_STEM = TypeAdapter(FileStem, config=WHEN_USED)
Soc = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$", to_lower=True),
    Accepts("a SoC name such as sdm845, or all", "SoC name"),
]
Flag = Annotated[
    bool, WithJsonSchema({"enum": [0, 1, True, False]}), Accepts("0 or 1", "`0` or `1`")
]
Integer = Annotated[
    int,
    Ge(-MAX_DIMENSION),
    Le(MAX_DIMENSION),
    BeforeValidator(_whole),
    Accepts("a whole number", "whole number"),
]
Count = Annotated[
    int,
    Ge(0),
    Le(MAX_DIMENSION),
    BeforeValidator(_whole),
    Accepts("a whole number, 0 or more", "whole number"),
]
WinogradTile = Annotated[
    Literal[0, 2, 4],
    BeforeValidator(_whole),
    Accepts("0 (off), 2 or 4", "`0`, `2` or `4`"),
]


def _checksum(value: Any) -> Any:
    if isinstance(value, str) and re.fullmatch("[0-9a-fA-F]+", value):
        if len(value) != 64:
            accepted = "64 hexadecimal digits, as sha256sum prints them"
            raise told(f"found {len(value)} hexadecimal digits, accepted: {accepted}")
        return value.lower()
    return value


Sha256 = Annotated[
    str,
    StringConstraints(pattern=r"^[0-9a-fA-F]{64}$"),
    BeforeValidator(_checksum),
    Accepts("64 hexadecimal digits, as sha256sum prints them", "64 hexadecimal digits"),
]


def _numbers(value: Any) -> Any:
    """The numbers of ``1,2`` or of a YAML list."""
    if isinstance(value, str):
        value = value.strip("[]() ").split(",")
    if not isinstance(value, (list, tuple)):
        raise ValueError
    return [_whole(item.strip()) if isinstance(item, str) else item for item in value]


def _dimension(size: int) -> int:
    if size != -1 and not 1 <= size <= MAX_DIMENSION:
        raise ValueError
    return size


SCALAR = "scalar"


def shape_text(dims: Iterable[int]) -> str:
    """A shape as a deployment file has it."""
    return ",".join(map(str, dims)) or SCALAR


def _shape(value: Any) -> Any:
    sizes = [] if value == SCALAR else _numbers(value)
    if len(sizes) > MAX_RANK:
        raise told(f"found {len(sizes)} dimensions, accepted: at most {MAX_RANK}")
    return sizes


def _ascending(ends: Tuple[float, float]) -> Tuple[float, float]:
    if not ends[0] < ends[1]:
        raise ValueError
    return ends


def _not_zero(numbers: Tuple[float, ...]) -> Tuple[float, ...]:
    if not all(numbers):
        raise ValueError
    return numbers


def _text_or(numbers: Mapping[str, Any]) -> WithJsonSchema:
    array = {"type": "array", "items": {"type": "number"}}
    return WithJsonSchema({"anyOf": [numbers, array]})


_Dims = Tuple[Annotated[int, AfterValidator(_dimension)], ...]
_SHAPE_SCHEMA = _text_or({"type": ["string", "integer"]})
Shape = Annotated[
    _Dims,
    BeforeValidator(_shape),
    _SHAPE_SCHEMA,
    Accepts(
        "dimensions such as 1,224,224,3, each 1 or more, "
        "or -1 where the size is decided at run time; or scalar",
        "shape, as `1,224,224,3` or `scalar`,",
    ),
]


@dataclass(frozen=True)
class InputShape:
    """The shape of an input.

    Attributes:
        dims: -1 for what is decided at run time.
        largest: the dimensions with their upper limits; empty if none has one.
    """

    dims: _Dims
    largest: _Dims = ()

    def __str__(self) -> str:
        """As the deployment file has it."""
        pairs = zip(self.dims, self.largest or self.dims)
        return (
            ",".join(str(d) if d == most else f"1..{most}" for d, most in pairs)
            or SCALAR
        )


def _limited(value: Any) -> Any:
    """The two shapes of ``1,1..512``, where a dimension has a limit."""
    if isinstance(value, InputShape):
        return value
    if value == SCALAR:
        return {"dims": ()}
    items = value.strip("[]() ").split(",") if isinstance(value, str) else value
    if not isinstance(items, (list, tuple)):
        raise ValueError
    limits = [
        re.fullmatch(r"1\.\.([0-9]+)", item.strip()) if isinstance(item, str) else None
        for item in items
    ]
    dims = _shape([-1 if limit else item for item, limit in zip(items, limits)])
    if not any(limits):
        return {"dims": dims}
    largest = [int(limit[1]) if limit else dim for dim, limit in zip(dims, limits)]
    if -1 in largest:
        raise told(
            f"found {shown(value)}, where a dimension of -1 stands beside one with a "
            "limit; give every open dimension a limit"
        )
    return {"dims": dims, "largest": largest}


LimitedShape = Annotated[
    InputShape,
    BeforeValidator(_limited),
    _SHAPE_SCHEMA,
    Accepts(
        "dimensions such as 1,224,224,3, each 1 or more, or where the size is decided "
        "at run time -1, or 1..512 with an upper limit; or scalar",
        "shape, as `1,224,224,3`, `1,1..512` or `scalar`,",
    ),
]
_Finite = Annotated[float, AllowInfNan(False)]
Range = Annotated[
    Tuple[_Finite, _Finite],
    BeforeValidator(_numbers),
    AfterValidator(_ascending),
    _text_or({"type": "string"}),
    Accepts("two numbers, lowest first, such as -1.0,1.0", "range, as `-1.0,1.0`,"),
]
_FOR_CHANNELS = "one for all channels, or one for each, as `123.7,116.8,103.9`,"
Numbers = Annotated[
    Tuple[_Finite, ...],
    MinLen(1),
    BeforeValidator(_numbers),
    _text_or({"type": ["string", "number"]}),
    Accepts("a number, or one per channel such as 123.7,116.8,103.9", _FOR_CHANNELS),
]
Factors = Annotated[
    Tuple[_Finite, ...],
    MinLen(1),
    BeforeValidator(_numbers),
    AfterValidator(_not_zero),
    _text_or({"type": ["string", "number"]}),
    Accepts(
        "a number other than 0, or one per channel such as 0.017,0.0175,0.0174",
        _FOR_CHANNELS,
    ),
]
Renamings = Annotated[
    Dict[Name, Name],
    MinLen(1),
    Accepts("a mapping such as {state_in: state_out}", "mapping from name to name"),
]


def _each_once(value: Any, read: Any) -> Any:
    thresholds = read(value)
    if len(thresholds) < len(value):
        raise told("names one of its keys twice")
    return thresholds


Thresholds = Annotated[
    Dict[
        Annotated[MeasuredAs, Words((*SINGLE_DEVICES, *Arithmetic), all_offered=True)],
        Annotated[
            float, Gt(0), Le(1), Accepts("a number above 0 and not above 1.0", "")
        ],
    ],
    MinLen(1),
    WrapValidator(_each_once),
    Accepts(
        "a mapping such as {CPU: 0.999, GPU: 0.995, HEXAGON: 0.98, quantize: 0.98}",
        "mapping of `CPU`, `GPU`, `HEXAGON`, `quantize` to a number up to 1.0",
    ),
]


@dataclass(frozen=True)
class FileRef:
    """A file a deployment names: a local path or an http(s) address.

    Local paths are looked for in `search_dirs`, in order: the working
    directory, then the folder of the deployment file.
    """

    location: str
    # Where it was named, for messages: 'models.m.model_file_path'.
    key: str
    # Lower-case hex, or None when the deployment gives no checksum.
    sha256: Optional[str] = None
    # Key that gives (or would give) the checksum.
    sha256_key: Optional[str] = None
    search_dirs: tuple[Path, ...] = ()
    # Whether it may also be a folder (a SavedModel).
    may_be_folder: bool = False
    # The line where it was named, 'net.yml:12'; empty if it was on no line.
    origin: str = field(default="", compare=False)

    @property
    def place(self) -> str:
        """Where it was named, for messages."""
        return f"{self.origin}: {self.key}" if self.origin else self.key

    @property
    def is_url(self) -> bool:
        return self.location.lower().startswith(("http://", "https://"))

    @property
    def candidates(self) -> tuple[Path, ...]:
        """The local paths this may mean, most preferred first."""
        path = Path(self.location).expanduser()
        if path.is_absolute():
            return (path,)
        return tuple(dict.fromkeys(d / path for d in self.search_dirs))


def is_http_address(word: str) -> bool:
    """Whether this is an http(s) address with a host."""
    try:
        parts = urlsplit(word)
        # Reading the port checks it.
        return parts.scheme in ("http", "https") and bool(
            parts.hostname and parts.port != 0
        )
    except ValueError:
        return False


@dataclass(frozen=True)
class Constant:
    """What an input of a model holds in every run.

    Attributes:
        value: a number, a truth value, lists of these in each other, or an array;
            None: `file` has it.
        key: of the deployment file, or the option, that gives it, for messages.
    """

    value: Any = None
    file: Optional[FileRef] = None
    key: str = "constants"

    def __str__(self) -> str:
        """As a deployment file has it, a long one cut short."""
        if self.file is not None:
            return self.file.location
        value = self.value
        text = _plain(value.tolist() if hasattr(value, "tolist") else value)
        return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}..."


# The characters of a constant that are shown.
_MOST_SHOWN = 60
_CONSTANT = "a number, true or false, a list of these as [1,2], or a .npy file"
_WORDS = {"true": True, "false": False}


def _plain(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_plain, value))}]"
    return str(value).lower() if isinstance(value, bool) else str(value)


def constant(text: str, key: str, folders: tuple[Path, ...] = ()) -> Constant:
    """The constant that a text stands for.

    Args:
        key: see `Constant`.
        folders: where a file is looked for.

    Raises:
        ValueError: it is none.
    """
    text = text.strip()
    if text.lower().endswith(".npy"):
        return Constant(file=FileRef(text, key, search_dirs=folders), key=key)
    if "," in text or text.startswith("["):
        is_list = text.startswith("[") and text.endswith("]")
        value = json.loads(text if is_list else f"[{text}]")
    else:
        value = text
    return Constant(_read_numbers(value), key=key)


def _read_numbers(value: Any) -> Any:
    """Numbers, truth values and lists of these; ValueError: it is something else."""
    if isinstance(value, list):
        items = [_read_numbers(item) for item in value]
        if len({_lengths(item) for item in items}) > 1:
            raise ValueError
        return items
    if isinstance(value, (bool, int, float)):
        return value
    if not isinstance(value, str) or "_" in value:
        raise ValueError
    word = value.strip().lower()
    if word in _WORDS:
        return _WORDS[word]
    try:
        return int(word)
    except ValueError:
        # YAML writes infinity and NaN with a dot.
        return float(re.sub(r"^([+-]?)\.(?=inf|nan)", r"\1", word))


def _lengths(value: Any) -> tuple[int, ...]:
    """The shape of lists in each other, of which all have the same."""
    if not isinstance(value, list):
        return ()
    return (len(value), *(_lengths(value[0]) if value else ()))


def _constant(value: Any, info: ValidationInfo) -> Constant:
    if isinstance(value, Constant):
        return value
    try:
        if isinstance(value, list):
            return Constant(_read_numbers(value))
        made = constant(value if isinstance(value, str) else "", "constants")
    except (ValueError, RecursionError):
        raise unfit(value, _CONSTANT) from None
    if made.file is not None:
        return Constant(file=_location(value, info))
    return made


def _location(value: Any, info: ValidationInfo) -> FileRef:
    if isinstance(value, FileRef):
        return value
    scheme = r"[A-Za-z][A-Za-z0-9+.-]*://"
    if (
        not isinstance(value, Text)
        or not re.fullmatch("[^\x00-\x1f\x7f]+", value)
        or (re.match(scheme, value) and not is_http_address(value))
    ):
        raise unfit(value, "a path, or an address beginning with http:// or https://")
    folders = (info.context or {}).get("search_dirs", ())
    # Of a model that stands for a deployment file, no key was written.
    written = value.place.line > 0
    origin, key = (value.place.origin, value.place.path) if written else ("", "")
    return FileRef(str(value), key, search_dirs=folders, origin=origin)


Location = Annotated[
    FileRef,
    PlainValidator(_location),
    WithJsonSchema({"type": "string"}),
    Accepts("", "path or http(s) address"),
]
Constants = Annotated[
    Dict[
        Name,
        Annotated[
            Constant,
            PlainValidator(_constant),
            WithJsonSchema({"type": ["number", "boolean", "array", "string"]}),
        ],
    ],
    MinLen(1),
    Accepts(
        f"a mapping such as {{sr: 16000}} from name to {_CONSTANT}",
        f"mapping from name to {_CONSTANT}",
    ),
]
