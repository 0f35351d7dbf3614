# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What handlers must know before the run: elements and shapes."""

from __future__ import annotations

from collections.abc import Sequence

from mace.python.tools.importers.frame.errors import UnsupportedNodeError, static_hint
from mace.python.tools.ir.constant import Constant
from mace.python.tools.ir.dims import Dim
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.shapes import Shape

STATIC_HINT = "give fixed input_shapes"


def known_elements(value: Value, what: str, hint: str = STATIC_HINT) -> Constant:
    """The elements of a value.

    Args:
        what: they are, for the message.
        hint: what to do, unless small inputs alone decide them.

    Raises:
        UnsupportedNodeError: only a run computes them.
    """
    if value.constant is None:
        reason = f"{what} ({value.name}) is computed at run time"
        raise UnsupportedNodeError(reason, static_hint(value, hint))
    return value.constant


def known_dims(
    dims: Sequence[Dim], what: str, hint: str = STATIC_HINT
) -> tuple[int, ...]:
    """Dimensions, in integers.

    Args:
        what: they are, with its verb: "the shape of x is".

    Raises:
        UnsupportedNodeError: only a run determines one of them.
    """
    known = tuple(dim for dim in dims if isinstance(dim, int))
    if len(known) < len(dims):
        raise UnsupportedNodeError(f"{what} not known before the run", hint)
    return known


class KnownShapes:
    """The questions about shapes of the arguments of handlers.

    Attributes:
        static_hint: what the user can do where a shape is not known.
    """

    static_hint = STATIC_HINT

    def shape(self, value: Value) -> Shape:
        """A shape whose rank must be known."""
        if value.shape is None:
            reason = f"the rank of {value.name} is not known before the run"
            raise UnsupportedNodeError(reason, self.static_hint)
        return value.shape

    def static_shape(self, value: Value) -> tuple[int, ...]:
        """A shape whose dimensions must all be known."""
        return self.known_dims(self.shape(value), f"the shape of {value.name} is")

    def length(self, value: Value, axis: int) -> int:
        """A dimension that must be known."""
        shape = self.shape(value)
        what = f"dimension {axis % len(shape)} of {value.name} is"
        return self.known_dims([shape[axis]], what)[0]

    def known_dims(self, dims: Sequence[Dim], what: str) -> tuple[int, ...]:
        """Dimensions that must all be known; see `known_dims`."""
        return known_dims(dims, what, self.static_hint)
