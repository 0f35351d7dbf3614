# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Einsum of any framework, as transposes, sums and matrix products of two operands at a
time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.frame.known import KnownShapes
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.op_rules import Make
from mace.python.tools.ir.op_rules.volumes import Product, reshaped
from mace.python.tools.ir.shapes import END

_KNOWN = KnownShapes()
# The dimensions of an ellipsis, the last one first: no letters.
_ELLIPSIS = "0123456789"


@dataclass(frozen=True)
class _Term:
    """A tensor with one letter for each dimension."""

    value: Value
    letters: str


def einsum(make: Make, equation: str, values: Sequence[Value]) -> Value:
    """The result of an equation.

    Args:
        make: adds operators.
        equation: with letters, commas, "..." and "->".
        values: the operands.

    Raises:
        UnsupportedNodeError: the equation is none, or does not fit the operands.
    """
    equation = equation.replace(" ", "")
    terms, result = _terms(equation, values)
    kinds = {value.dtype for value in values}
    if kinds not in ({DataType.FLOAT32}, {DataType.INT32}):
        shown = ", ".join(sorted(kind.value for kind in kinds))
        raise UnsupportedNodeError(
            f"its operands are {shown}; floats and integers of 32 bits are computed",
            "cast the operands to one of these types",
        )
    terms = [_without_repeats(make, term) for term in terms]
    while len(terms) > 1:
        later = result + "".join(term.letters for term in terms[2:])
        terms = [_product(make, terms[0], terms[1], later), *terms[2:]]
    term = _reduced(make, terms[0], result)
    missing = [letter for letter in result if letter not in term.letters]
    if missing or len(set(result)) < len(result):
        raise UnsupportedNodeError(
            f"equation {equation!r}: each letter of the result needs to be that of an "
            "operand, once"
        )
    return _ordered(make, term, result).value


def _terms(equation: str, values: Sequence[Value]) -> tuple[list[_Term], str]:
    """The operands and the letters of the result."""
    left, arrow, right = equation.partition("->")
    inputs = left.split(",")
    if len(inputs) != len(values):
        raise UnsupportedNodeError(
            f"equation {equation!r} has {len(inputs)} operands, the node {len(values)}"
        )
    terms, extra = [], 0
    for text, value in zip(inputs, values):
        rank = len(_KNOWN.shape(value))
        more = rank - len(text.replace("...", ""))
        letters = text.replace("...", _dots(more))
        if len(letters) != rank or not _are_letters(text):
            raise UnsupportedNodeError(
                f"equation {equation!r}: {text!r} does not fit {rank} dimensions"
            )
        if "..." in text:
            extra = max(extra, more)
        terms.append(_Term(value, letters))
    if not arrow:
        # The letters that occur once, in alphabetical order.
        every = "".join(text.replace("...", "") for text in inputs)
        right = "..." if "..." in left else ""
        right += "".join(sorted(x for x in set(every) if every.count(x) == 1))
    result = right.replace("...", _dots(extra))
    if not _are_letters(right):
        raise UnsupportedNodeError(f"equation {equation!r} has the result {right!r}")
    return terms, result


def _dots(count: int) -> str:
    return _ELLIPSIS[:count][::-1] if count > 0 else ""


def _are_letters(text: str) -> bool:
    letters = text.replace("...", "", 1)
    return all(x.isascii() and x.isalpha() for x in letters)


def _without_repeats(make: Make, term: _Term) -> _Term:
    """Takes the diagonal of dimensions that have the same letter."""
    for letter in dict.fromkeys(term.letters):
        while term.letters.count(letter) > 1:
            first = term.letters.index(letter)
            second = term.letters.index(letter, first + 1)
            term = _diagonal(make, term, first, second)
    return term


def _diagonal(make: Make, term: _Term, first: int, second: int) -> _Term:
    shape = _KNOWN.static_shape(term.value)
    length = shape[first]
    if shape[second] != length:
        raise UnsupportedNodeError(
            f"{term.letters[first]!r} is {length} and {shape[second]}"
        )
    others = [axis for axis in range(len(shape)) if axis not in (first, second)]
    value = make("Transpose", [term.value], {"perm": [*others, first, second]})
    sizes = [shape[axis] for axis in others]
    value = make("Reshape", [value], {"shape": [*sizes, length * length]})
    cut = {"begins": [0], "ends": [length * length], "strides": [length + 1]}
    value = make("StridedSlice", [value], {"axes": [len(others)], **cut})
    letters = "".join(term.letters[axis] for axis in others)
    return _Term(value, letters + term.letters[first])


def _reduced(make: Make, term: _Term, wanted: str) -> _Term:
    """Adds the elements along the dimensions that nobody wants."""
    axes = [i for i, letter in enumerate(term.letters) if letter not in wanted]
    if not axes:
        return term
    kept = "".join(letter for letter in term.letters if letter in wanted)
    if term.value.dtype is DataType.INT32:
        return _Term(_sums_of_integers(make, term.value, axes), kept)
    attrs = {"mode": "SUM", "axes": axes, "keep_dims": False}
    return _Term(make("Reduce", [term.value], attrs), kept)


def _sums_of_integers(make: Make, value: Value, axes: Sequence[int]) -> Value:
    """Exact ones, which Reduce lacks."""
    last = {"begins": [-1], "ends": [END], "strides": [1]}
    for axis in axes:
        value = make("CumSum", [value], {"axis": axis})
        value = make("StridedSlice", [value], {"axes": [axis], **last})
    return make("Squeeze", [value], {"axes": axes})


def _ordered(make: Make, term: _Term, letters: str) -> _Term:
    """Changes the order of the dimensions."""
    if term.letters == letters:
        return term
    perm = [term.letters.index(letter) for letter in letters]
    return _Term(make("Transpose", [term.value], {"perm": perm}), letters)


def _product(make: Make, a: _Term, b: _Term, later: str) -> _Term:
    """The product of two operands, summed over what nobody needs later."""
    a, b = _narrowed(make, a, b), _narrowed(make, b, a)
    a = _reduced(make, a, later + b.letters)
    b = _reduced(make, b, later + a.letters)
    shared = [letter for letter in a.letters if letter in b.letters]
    summed = "".join(letter for letter in shared if letter not in later)
    batch = "".join(letter for letter in shared if letter in later)
    rows = "".join(letter for letter in a.letters if letter not in shared)
    columns = "".join(letter for letter in b.letters if letter not in shared)
    if summed and a.value.dtype is DataType.INT32:
        # MatMul has no integers of 32 bits.
        return _reduced(make, _product(make, a, b, later + summed), later)
    if _comes_first(columns, rows, later):
        a, b, rows, columns = b, a, columns, rows
    a = _ordered(make, a, batch + rows + summed)
    b = _ordered(make, b, batch + columns + summed)
    if not summed:
        # An outer product: the dimensions of each are 1 in the other.
        left = _expanded(make, a.value, len(a.letters), len(columns))
        right = _expanded(make, b.value, len(batch), len(rows))
        value = make("Eltwise", [left, right], {"mode": "MUL"})
        return _Term(value, batch + rows + columns)
    left = _matrices(make, a, batch, rows, summed)
    right = _matrices(make, b, batch, columns, summed)
    value = make("MatMul", [left, right], {"transpose_b": True})
    if len(rows) != 1 or len(columns) != 1:
        groups = [_Group(a, letter) for letter in batch + rows]
        groups += [_Group(b, letter) for letter in columns]
        value = _reshaped(make, value, groups)
    return _Term(value, batch + rows + columns)


def _comes_first(letters: str, others: str, result: str) -> bool:
    """Whether all of `letters` are before all of `others` in the result."""
    order = [letter for letter in result if letter in letters + others]
    return bool(letters and others) and "".join(order) == letters + others


def _narrowed(make: Make, term: _Term, other: _Term) -> _Term:
    """Removes the dimensions of length 1 that broadcast to those of the other."""
    own, others = _KNOWN.shape(term.value), _KNOWN.shape(other.value)
    axes = [
        axis
        for axis, letter in enumerate(term.letters)
        if own[axis] == 1
        and letter in other.letters
        and others[other.letters.index(letter)] != 1
    ]
    if not axes:
        return term
    value = make("Squeeze", [term.value], {"axes": axes})
    kept = "".join(x for axis, x in enumerate(term.letters) if axis not in axes)
    return _Term(value, kept)


def _expanded(make: Make, value: Value, at: int, count: int) -> Value:
    if count == 0:
        return value
    return make("ExpandDims", [value], {"axes": range(at, at + count)})


@dataclass(frozen=True)
class _Group:
    """Letters of a tensor that become one dimension."""

    term: _Term
    letters: str

    def axes(self) -> list[int]:
        """The dimensions of the tensor."""
        return [self.term.letters.index(letter) for letter in self.letters]

    def size(self) -> int | None:
        """How long the dimension is; None if a run decides."""
        shape = _KNOWN.shape(self.term.value)
        sizes = [shape[axis] for axis in self.axes()]
        known = [size for size in sizes if isinstance(size, int)]
        return math.prod(known) if len(known) == len(sizes) else None

    def length(self) -> Product:
        """The axes whose lengths it multiplies."""
        return [(self.term.value, axis) for axis in self.axes()]


def _reshaped(make: Make, value: Value, groups: Sequence[_Group]) -> Value:
    """A value with one dimension for each group."""
    sizes = [group.size() for group in groups]
    if all(size is not None for size in sizes):
        return make("Reshape", [value], {"shape": sizes})
    # Groups without letters have the length 1, and are added at the end.
    filled = [axis for axis, group in enumerate(groups) if group.letters]
    value = reshaped(make, value, [groups[axis].length() for axis in filled])
    single = [axis for axis, group in enumerate(groups) if not group.letters]
    return make("ExpandDims", [value], {"axes": single}) if single else value


def _matrices(make: Make, term: _Term, batch: str, rows: str, summed: str) -> Value:
    """The operand with one dimension for rows and one for sums."""
    if len(rows) == 1 and len(summed) == 1:
        return term.value
    groups = [_Group(term, letters) for letters in (*batch, rows, summed)]
    return _reshaped(make, term.value, groups)
