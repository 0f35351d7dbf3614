# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Random numbers that each run draws, or that a seed repeats."""

from __future__ import annotations

import numpy as np

from mace.python.tools.importers.emit import random_numbers
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.tf_operators.context import HANDLERS, Context
from mace.python.tools.ir.shapes import compatible


@HANDLERS.register("RandomUniform", "RandomStandardNormal")
def random(context: Context) -> None:
    """Every run draws others."""
    seeds = [context.node.integer(name, 0) for name in ("seed", "seed2")]
    if not any(seeds):
        seeds = [*random_numbers.seed_of(context.node.name, None)]
    _draw(context, seeds)


@HANDLERS.register(
    "StatelessRandomUniform",
    "StatelessRandomUniformV2",
    "StatelessRandomNormal",
    "StatelessRandomNormalV2",
)
def stateless(context: Context) -> None:
    """A seed gives the same numbers in every run."""
    seed = context.input(1)
    if not compatible(seed.shape, (2,)):
        raise UnsupportedNodeError(f"the key {seed.name} comes from no seed")
    _draw(context, seed)


@HANDLERS.register("StatelessRandomGetKeyCounter")
def key_and_counter(context: Context) -> None:
    """The key is the seed, and every counter begins at 0."""
    for index in range(2):
        context.pass_on(context.input(0), index)


@HANDLERS.register("StatelessRandomGetAlg")
def algorithm(context: Context) -> None:
    """There is only one: Philox."""
    context.give(np.array(1, np.int32))


def _draw(context: Context, seed: random_numbers.Seed) -> None:
    """No two frameworks draw the same numbers."""
    name, is_normal = context.node.name, "Normal" in context.node.op
    shape = context.input(0)
    context.pass_on(random_numbers.draw(context.builder, name, is_normal, shape, seed))
