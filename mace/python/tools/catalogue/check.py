# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Checks attribute values against their declaration."""

from __future__ import annotations

import math
from collections.abc import Mapping

from mace.python.tools.catalogue.schema import (
    Attribute,
    AttributeKind,
    AttributeValue,
    OpSchema,
)
from mace.python.tools.wording import nearest


def attribute_problems(
    schema: OpSchema, values: Mapping[str, AttributeValue]
) -> list[str]:
    """Everything wrong with the attributes of one operator."""
    problems = []
    for name, value in values.items():
        attribute = schema.attributes.get(name)
        if attribute is None:
            near = nearest(name, schema.attributes)
            hint = f"; did you mean {near!r}?" if near else ""
            problems.append(f"has no attribute {name!r}{hint}")
            continue
        problem = attribute_problem(attribute, value)
        if problem:
            problems.append(f"attribute {name!r} {problem}")
    problems += [
        f"lacks attribute {name!r}"
        for name, attribute in schema.attributes.items()
        if attribute.required and name not in values
    ]
    return problems


def attribute_problem(attribute: Attribute, value: AttributeValue) -> str:
    """The error in one value, '' if there is none."""
    if not _right_kind(attribute.kind, value):
        return f"must be {attribute.kind.value}, not {value!r}"
    if attribute.kind is AttributeKind.ENUM:
        if value not in attribute.values:
            accepted = ", ".join(attribute.values)
            return f"is {value!r}; accepted: {accepted}"
        return ""
    if isinstance(value, str):
        return ""
    numbers = value if isinstance(value, tuple) else (value,)
    if attribute.size is not None and len(numbers) != attribute.size:
        return f"has {len(numbers)} numbers, needs {attribute.size}"
    for number in numbers:
        if isinstance(number, float) and not math.isfinite(number):
            return f"is {number}, needs a finite number"
        if attribute.min is not None and number < attribute.min:
            return f"is {value}, needs at least {attribute.min}"
        if attribute.max is not None and number > attribute.max:
            return f"is {value}, needs at most {attribute.max}"
    return ""


def _right_kind(kind: AttributeKind, value: AttributeValue) -> bool:
    if kind is AttributeKind.BOOL:
        return isinstance(value, bool)
    if kind is AttributeKind.INT:
        return _is_int(value)
    if kind is AttributeKind.FLOAT:
        return isinstance(value, float)
    if kind is AttributeKind.INTS:
        return isinstance(value, tuple) and all(_is_int(v) for v in value)
    if kind is AttributeKind.FLOATS:
        return isinstance(value, tuple) and all(isinstance(v, float) for v in value)
    return isinstance(value, str)


def _is_int(value: object) -> bool:
    # bool is a subclass of int, but true is not a number.
    return isinstance(value, int) and not isinstance(value, bool)
