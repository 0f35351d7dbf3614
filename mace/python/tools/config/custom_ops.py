# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The key `custom_ops`: folders with operators of the user's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Tuple

from pydantic import TypeAdapter, ValidationError

from mace.python.tools.config.values import FileRef, Location, OneOrMany
from mace.python.tools.errors import MaceError
from mace.python.tools.wording import listed

CustomOps = Annotated[
    Tuple[Location, ...], OneOrMany("path, or list of paths", separated=True)
]
_READER: TypeAdapter[Tuple[FileRef, ...]] = TypeAdapter(CustomOps)


def folders_of(refs: Sequence[FileRef] | None) -> list[Path]:
    """The folders that the key names.

    Raises:
        MaceError: one is not there.
    """
    folders = []
    for ref in refs or ():
        found = [path for path in ref.candidates if path.is_dir()]
        if not found or ref.is_url:
            looked = listed(str(path) for path in ref.candidates)
            raise MaceError(
                f"{ref.place or '--custom_ops'}: {ref.location} is no folder"
                + ("" if ref.is_url else f"; looked for {looked}")
            )
        folders.append(found[0])
    return folders


def folders_in(found: Any, context: Mapping[str, Any]) -> list[Path]:
    """The folders that the key names in a file that is not read as a whole yet; none if
    it has no value that can be read, as the reader tells.

    Raises:
        MaceError: one is not there.
    """
    if found is None:
        return []
    try:
        return folders_of(_READER.validate_python(found, context=dict(context)))
    except ValidationError:
        return []
