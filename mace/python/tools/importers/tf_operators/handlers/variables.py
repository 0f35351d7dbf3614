# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Variables, whose values a SavedModel has: in inference they are constants."""

from __future__ import annotations

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.tf_operators.context import (
    HANDLERS,
    Context,
    Variable,
    variable_id,
)


def _value(context: Context) -> Variable:
    array = context.variable()
    if array is None:
        raise UnsupportedNodeError(
            "a variable",
            "name the folder of a SavedModel as model_file_path, or freeze the model "
            "(variables to constants)",
        )
    value = context.builder.constant(context.output_name(), array)
    return Variable(value, variable_id(context.node))


@HANDLERS.register("VarHandleOp")
def handle(context: Context) -> None:
    """What other nodes read the variable by."""
    context.results[0] = _value(context)


@HANDLERS.register("VariableV2", "Variable")
def variable(context: Context) -> None:
    """A variable of TensorFlow 1, which is read without a node."""
    found = _value(context)
    context.reads.add(found.name)
    context.results[0] = found.value


@HANDLERS.register("ReadVariableOp")
def read(context: Context) -> None:
    """The value."""
    context.results[0] = context.read_variable(0)


@HANDLERS.register("VarIsInitializedOp", "IsVariableInitialized")
def is_initialized(context: Context) -> None:
    """True: there are no others here."""
    if context.node.op == "VarIsInitializedOp":
        context.expect_variable(0)
    context.results[0] = context.builder.constant(
        context.output_name(), np.asarray(True)
    )


@HANDLERS.register("ResourceGather")
def gather(context: Context) -> None:
    """Slices of a variable along axis 0, as an embedding reads them."""
    if context.node.integer("batch_dims"):
        raise UnsupportedNodeError("batch_dims is not 0")
    context.emit("Gather", [context.read_variable(0), context.input(1)], axis=0)


@HANDLERS.register("ResourceGatherNd")
def gather_nd(context: Context) -> None:
    """Elements or slices of a variable."""
    context.emit("GatherNd", [context.read_variable(0), context.input(1)])
