# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Random numbers; no two frameworks draw the same ones."""

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
        name = context.output_name(index)
        context.results[index] = context.builder.alias(context.input(0), name)


@HANDLERS.register("StatelessRandomGetAlg")
def algorithm(context: Context) -> None:
    """There is only one: Philox."""
    one = context.constant(np.array(1, np.int32))
    context.results[0] = context.builder.alias(one, context.output_name())


def _draw(context: Context, seed: random_numbers.Seed) -> None:
    drawn = random_numbers.draw(
        context.builder,
        context.node.name,
        "Normal" in context.node.op,
        context.input(0),
        seed,
    )
    context.results[0] = context.builder.alias(drawn, context.output_name())
