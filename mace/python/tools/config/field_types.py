# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The types a value in a deployment file can have.

Each is an annotated Python type made of a parser from YAML text, the words
that describe it in the reference table (`Accepts`) and its JSON Schema.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Annotated, Any, Optional

from pydantic import BeforeValidator, WithJsonSchema

from mace.python.tools.config import deployment as normal
from mace.python.tools.config.value_parsers import (
    ABI_ALIASES,
    FILE_STEM,
    SHA256,
    as_list,
    parse_abi,
    parse_count,
    parse_file_stem,
    parse_flag,
    parse_integer,
    parse_location,
    parse_name,
    parse_range,
    parse_runtime,
    parse_sha256,
    parse_shape,
    parse_soc,
    parse_thresholds,
    parse_winograd,
    split_list,
    word_parser,
)


@dataclass(frozen=True)
class Accepts:
    """What a type accepts, in the words of the reference table."""

    text: str


def _schema_of(enum_type: type[enum.Enum]) -> dict[str, Any]:
    return {"enum": [member.value for member in enum_type]}


_SCALAR = {"type": ["string", "number"]}
_NUMBERS: dict[str, Any] = {"type": "array", "items": {"type": "number"}}


def _one_or_list(item: dict[str, Any]) -> dict[str, Any]:
    array = {"type": "array", "items": item, "minItems": 1}
    return {"anyOf": [item, array]}


Flag = Annotated[
    bool,
    BeforeValidator(parse_flag),
    Accepts("`0` or `1`"),
    WithJsonSchema({"enum": [0, 1, True, False]}),
]
Count = Annotated[
    int,
    BeforeValidator(parse_count),
    Accepts("whole number"),
    WithJsonSchema({"type": "integer", "minimum": 0}),
]
OptionalInteger = Annotated[
    Optional[int],
    BeforeValidator(parse_integer),
    Accepts("whole number"),
    WithJsonSchema({"type": "integer"}),
]
Winograd = Annotated[
    int,
    BeforeValidator(parse_winograd),
    Accepts("`0`, `2` or `4`"),
    WithJsonSchema({"enum": [0, 2, 4]}),
]
OptionalWinograd = Annotated[
    Optional[int],
    BeforeValidator(parse_winograd),
    Accepts("`0`, `2` or `4`"),
    WithJsonSchema({"enum": [0, 2, 4]}),
]
OptionalName = Annotated[
    Optional[str],
    BeforeValidator(parse_name),
    Accepts("name"),
    WithJsonSchema(_SCALAR),
]
FileStem = Annotated[
    str,
    BeforeValidator(parse_file_stem),
    Accepts("name"),
    WithJsonSchema({"type": "string", "pattern": f"^{FILE_STEM.pattern}$"}),
]
Location = Annotated[
    str,
    BeforeValidator(parse_location),
    Accepts("path or http(s) address"),
    WithJsonSchema({"type": "string"}),
]
OptionalLocation = Annotated[
    Optional[str],
    BeforeValidator(parse_location),
    Accepts("path or http(s) address"),
    WithJsonSchema({"type": "string"}),
]
OptionalSha256 = Annotated[
    Optional[str],
    BeforeValidator(parse_sha256),
    Accepts("64 hexadecimal digits"),
    WithJsonSchema({"type": "string", "pattern": f"^{SHA256.pattern}$"}),
]
Names = Annotated[
    list[Annotated[str, BeforeValidator(parse_name)]],
    BeforeValidator(as_list),
    Accepts("name or list of names"),
    WithJsonSchema(_one_or_list(_SCALAR)),
]
Locations = Annotated[
    list[Annotated[str, BeforeValidator(parse_location)]],
    BeforeValidator(as_list),
    Accepts("path or http(s) address, or list of them"),
    WithJsonSchema(_one_or_list({"type": "string"})),
]
Shapes = Annotated[
    list[Annotated[list[int], BeforeValidator(parse_shape)]],
    BeforeValidator(as_list),
    Accepts("shape or list of shapes, each as `1,224,224,3`"),
    WithJsonSchema(
        _one_or_list({"anyOf": [{"type": ["string", "integer"]}, _NUMBERS]})
    ),
]
Ranges = Annotated[
    list[Annotated[tuple[float, float], BeforeValidator(parse_range)]],
    BeforeValidator(as_list),
    Accepts("range or list of ranges, each as `-1.0,1.0`"),
    WithJsonSchema(_one_or_list({"anyOf": [{"type": "string"}, _NUMBERS]})),
]
Abis = Annotated[
    list[Annotated[normal.Abi, BeforeValidator(parse_abi)]],
    BeforeValidator(split_list),
    Accepts("list of " + ", ".join(f"`{abi.value}`" for abi in normal.Abi)),
    WithJsonSchema(
        _one_or_list({"enum": [*(abi.value for abi in normal.Abi), *ABI_ALIASES]})
    ),
]
Socs = Annotated[
    list[Annotated[str, BeforeValidator(parse_soc)]],
    BeforeValidator(split_list),
    Accepts("SoC name, list of SoC names, or `all`"),
    WithJsonSchema(_one_or_list({"type": "string"})),
]
_FORMAT_SCHEMA = _schema_of(normal.ModelFormat)
ModelFormat = Annotated[
    normal.ModelFormat,
    BeforeValidator(word_parser(normal.ModelFormat)),
    Accepts("`file` or `code`"),
    WithJsonSchema(_FORMAT_SCHEMA),
]
Platform = Annotated[
    normal.Platform,
    BeforeValidator(word_parser(normal.Platform)),
    Accepts(", ".join(f"`{p.value}`" for p in normal.Platform)),
    WithJsonSchema(_schema_of(normal.Platform)),
]
OptionalRuntime = Annotated[
    Optional[normal.Runtime],
    BeforeValidator(parse_runtime),
    Accepts(", ".join(f"`{r.value}`" for r in normal.Runtime)),
    WithJsonSchema(_schema_of(normal.Runtime)),
]
OptionalDataType = Annotated[
    Optional[normal.DataType],
    BeforeValidator(word_parser(normal.DataType)),
    Accepts(
        "`fp16_fp32` or `fp32_fp32`; on the CPU also `bf16_fp32`, `bf16_bf16`, "
        "`fp16_fp16`"
    ),
    WithJsonSchema(_schema_of(normal.DataType)),
]
TensorTypes = Annotated[
    list[
        Annotated[
            normal.TensorType,
            BeforeValidator(word_parser(normal.TensorType)),
        ]
    ],
    BeforeValidator(split_list),
    Accepts(
        "one for all or a list of "
        + ", ".join(f"`{t.value}`" for t in normal.TensorType)
    ),
    WithJsonSchema(_one_or_list(_schema_of(normal.TensorType))),
]
DataFormats = Annotated[
    list[
        Annotated[
            normal.DataFormat,
            BeforeValidator(word_parser(normal.DataFormat)),
        ]
    ],
    BeforeValidator(split_list),
    Accepts("one for all or a list of `NHWC`, `NCHW`, `NONE`"),
    WithJsonSchema(_one_or_list(_schema_of(normal.DataFormat))),
]
OptionalBackend = Annotated[
    Optional[normal.OnnxBackend],
    BeforeValidator(word_parser(normal.OnnxBackend)),
    Accepts(", ".join(f"`{b.value}`" for b in normal.OnnxBackend)),
    WithJsonSchema(_schema_of(normal.OnnxBackend)),
]
OptionalClMemory = Annotated[
    Optional[normal.ClMemoryType],
    BeforeValidator(word_parser(normal.ClMemoryType)),
    Accepts("`image` or `buffer`"),
    WithJsonSchema(_schema_of(normal.ClMemoryType)),
]
OptionalQuantizeSchema = Annotated[
    Optional[normal.QuantizeSchema],
    BeforeValidator(word_parser(normal.QuantizeSchema)),
    Accepts(", ".join(f"`{q.value}`" for q in normal.QuantizeSchema)),
    WithJsonSchema(_schema_of(normal.QuantizeSchema)),
]
Thresholds = Annotated[
    dict[normal.Runtime, float],
    BeforeValidator(parse_thresholds),
    Accepts("mapping of `CPU`, `GPU`, `HEXAGON` to a number up to 1.0"),
    WithJsonSchema(
        {
            "type": "object",
            "additionalProperties": {
                "type": "number",
                "exclusiveMinimum": 0,
                "maximum": 1,
            },
        }
    ),
]
