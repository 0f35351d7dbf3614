# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Adds keys to the tree of a deployment file."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from mace.python.tools.config.yaml_source import Items, Table, Text


def add(table: Table, key: str, *texts: str) -> None:
    """Adds one text, or a list of several, where the key has no value."""
    place = table.place.key(key)
    items = [Text(text, place) for text in texts]
    put(table, key, items[0] if len(items) == 1 else Items(items, place))


def put(table: Table, key: str, value: Any) -> None:
    """Adds what a tree is made of where the key has no value."""
    if table.get(key) is None:
        table.places.pop(key, None)
        table.add(key, value, replace(table.place.key(key), of_model=True))
