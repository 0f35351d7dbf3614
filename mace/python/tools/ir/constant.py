# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Constants that are computed only when they are written.

A converted model is as large as its weights. If folding a batch normalisation into
a filter created the new filter at once, every filter would be in memory twice until
the export. Therefore a `Constant` keeps the importer's array (usually a view of the
mapped file) and a list of operations; `numpy()` applies the operations, and the
caller frees the result after use.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from mace.python.tools.ir.dtypes import Array, DataType

# A recipe for up to this many elements is run immediately: passes read small constants
# often, and keeping them costs little.
_EAGER_ELEMENTS = 1 << 16


@dataclass(frozen=True, eq=False)
class Integers:
    """What floats were made of: each is scale * (number - zero).

    Attributes:
        numbers: of integers.
        scale: of float32, of the same shape.
        zero: of the type of the numbers, of the same shape.
        simulated: the model has floats, which training rounded so (FakeQuant): numbers
            of other scales that are about as close may stand for them. Otherwise, the
            model has the numbers.
    """

    numbers: Constant
    scale: Constant
    zero: Constant
    simulated: bool = False

    def moved(
        self,
        function: Callable[[Array], Array],
        shape: tuple[int, ...] | None,
    ) -> Integers:
        """Those of the floats that `function` moves."""
        return replace(
            self,
            numbers=self.numbers.map(function, shape),
            scale=self.scale.map(function, shape),
            zero=self.zero.map(function, shape),
        )

    def with_zero(self, floats: Array) -> Integers | None:
        """Those of the floats minus these; None unless they are a zero point.

        Args:
            floats: broadcasts to the shape of the numbers.
        """
        kind = self.numbers.dtype.numpy
        zero = self.zero.numpy()
        if zero.any() or (self.scale.numpy() != 1).any():
            return None
        range_ = np.iinfo(kind)
        found = np.clip(np.nan_to_num(floats), range_.min, range_.max).astype(kind)
        if (found != floats).any():
            return None
        return replace(
            self, zero=Constant.of(np.broadcast_to(found, self.numbers.shape))
        )

    def multiplied(self, factor: Array) -> Integers | None:
        """Those of the floats times `factor`; None if there are none.

        Args:
            factor: float64, broadcasts to the shape of the numbers.
        """
        if not np.isfinite(factor).all():
            return None
        result = replace(
            self, scale=multiplied(self.scale, np.where(factor == 0, 1, abs(factor)))
        )
        signs = np.sign(factor).astype(np.int32)
        if (signs == 1).all():
            return result
        mirrored = self.zero.numpy() + signs * (
            self.numbers.numpy().astype(np.int32) - self.zero.numpy()
        )
        range_ = np.iinfo(self.numbers.dtype.numpy)
        if mirrored.size and not (
            range_.min <= mirrored.min() and mirrored.max() <= range_.max
        ):
            return None
        return replace(
            result, numbers=Constant.of(mirrored.astype(self.numbers.dtype.numpy))
        )


# Elements of a range along the first axis, from the first and the last plus one.
Rows = Callable[[int, int], Array]


@dataclass(frozen=True, eq=False)
class Constant:
    """An array, or the recipe for one. Equality is identity."""

    shape: tuple[int, ...]
    dtype: DataType
    make: Callable[[], Array]
    # The factors of `multiplied`.
    product: tuple[Constant, Array] | None = None
    # Of a constant that was dequantized, as long as its elements are only moved, or
    # multiplied by `multiplied`.
    integers: Integers | None = None
    # The type that the framework's model stores, if it is another one.
    narrowed_from: DataType | None = None
    # Whether integers that 32 bits cannot hold became the largest or the smallest.
    saturated: bool = False
    # See `rows`; None: all elements are made at once.
    make_rows: Callable[[], Rows] | None = None

    @classmethod
    def of(cls, array: Array | Constant) -> Constant:
        """Wraps an array without copying it."""
        if isinstance(array, Constant):
            return array
        view = np.asarray(array)
        return cls(view.shape, DataType.of(view.dtype), lambda: view)

    def numpy(self) -> Array:
        """The elements; do not write into the result."""
        return self.make()

    def rows(self) -> Rows:
        """The elements in parts, so that they need not all be in memory.

        The axes after the first may be split: a part of a [4096, 25088] may be
        [16, 7, 7, 512]. Do not write into the results.
        """
        if self.make_rows is not None:
            return self.make_rows()
        whole = self.numpy()
        return lambda start, stop: whole[start:stop]

    @property
    def size(self) -> int:
        """Number of elements."""
        return int(np.prod(self.shape, dtype=np.int64))

    def map(
        self,
        function: Callable[[Array], Array],
        shape: tuple[int, ...] | None = None,
        dtype: DataType | None = None,
    ) -> Constant:
        """A constant that is `function` of this one.

        Args:
            function: called with this constant's elements whenever the result
                is asked for; must not change them.
            shape, dtype: of the result, where they differ.
        """
        source = self.make
        result = Constant(
            self.shape if shape is None else shape,
            self.dtype if dtype is None else dtype,
            lambda: function(source()),
        )
        if result.size <= _EAGER_ELEMENTS:
            return Constant.of(np.asarray(result.numpy(), order="C"))
        return result

    def moved(
        self,
        function: Callable[[Array], Array],
        shape: tuple[int, ...] | None = None,
    ) -> Constant:
        """`map` by a function that does not change elements, but only moves them."""
        result = self.map(function, shape)
        if self.integers is None:
            return result
        return replace(result, integers=self.integers.moved(function, shape))

    def moved_rows(
        self, function: Callable[[Array], Array], shape: tuple[int, ...]
    ) -> Constant:
        """`moved` by a function that moves elements inside of each row alone.

        Args:
            function: takes the rows of any range, and may split axes as `rows` does.
            shape: of the result, with the same first axis.
        """
        result = self.moved(
            lambda array: function(array).reshape(len(array), *shape[1:]), shape
        )
        if result.size <= _EAGER_ELEMENTS:
            return result

        def make_rows() -> Rows:
            read = self.rows()
            return lambda start, stop: function(read(start, stop))

        return replace(result, make_rows=make_rows)


def multiplied(constant: Constant, factor: Array) -> Constant:
    """`constant * factor`, computed in float64 and rounded once.

    Products of products are computed from the first operand, so that a chain
    of normalisation and scale costs one rounding and not one each.

    Args:
        constant: of floating point type.
        factor: float64, broadcasts to the shape of the constant.
    """
    base = constant
    if constant.product is not None:
        base, before = constant.product
        factor = before * factor
    target = constant.dtype.numpy
    result = base.map(lambda array: (array * factor).astype(target))
    integers = base.integers and base.integers.multiplied(factor)
    return replace(result, product=(base, factor), integers=integers)


def scaled(constant: Constant, factor: Array, axis: int) -> Constant:
    """`constant` with each slice along `axis` multiplied by its factor."""
    shape = [-1 if i == axis else 1 for i in range(len(constant.shape))]
    return multiplied(constant, np.asarray(factor, np.float64).reshape(shape))
