# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Names in the model file."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

# With this many digits, a collision in a thousand names happens once in a million
# models.
_DIGITS = 8


class Names:
    """Maps names of the graph to names in the file.

    Args:
        obfuscate: replace names by the start of their MD5 sum, so that a
            shipped model does not tell how it was built. No protection of
            the weights.
        keep: names an application uses: inputs and outputs of the model.
    """

    def __init__(self, obfuscate: bool, keep: Iterable[str]) -> None:
        self._obfuscate = obfuscate
        self._names = {name: name for name in keep}
        self._taken = set(self._names)

    def __call__(self, name: str) -> str:
        """The name in the file; '' stays ''."""
        if not self._obfuscate or not name:
            return name
        if name not in self._names:
            digest = hashlib.md5(name.encode("utf-8")).hexdigest()
            length = _DIGITS
            while digest[:length] in self._taken:
                length += 1
            self._names[name] = digest[:length]
            self._taken.add(digest[:length])
        return self._names[name]
