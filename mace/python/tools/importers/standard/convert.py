# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""From a node to operators of MACE: by its handler; where there is none, or it cannot,
by computing what is known already; or as the simpler nodes that it consists of.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

import numpy as np
import onnx

from mace.python.tools.errors import MaceError
from mace.python.tools.importers.frame.errors import (
    MALFORMED_NODE_ERRORS,
    UnsupportedNodeError,
    malformed_node,
)
from mace.python.tools.importers.standard.bodies import Body, standard_body
from mace.python.tools.importers.standard.counts import settle
from mace.python.tools.importers.standard.folding import fold_node
from mace.python.tools.importers.standard.node import Handler, Node
from mace.python.tools.ir.graph import Value

# What nodes of a body may have besides tensors.
_Result = TypeVar("_Result")


def convert(
    node: Node,
    handler: Handler | None,
    lacking: UnsupportedNodeError,
    proto: Callable[[], onnx.NodeProto],
    expand: Callable[[onnx.NodeProto, Body], Mapping[str, _Result]],
) -> Mapping[str, Value | _Result]:
    """The results of a node by the names of its outputs.

    Args:
        handler: of its type; None if there is none.
        lacking: what to say then.
        proto: makes the node as ONNX's own packages take it.
        expand: converts the nodes that it, as `proto` made it, consists of.

    Raises:
        UnsupportedNodeError: MACE cannot compute it.
    """
    reason = lacking
    if handler is not None:
        try:
            # Infinities and NaN are allowed in a model.
            with np.errstate(all="ignore"):
                settle(node)
                with node.builder.counted.require_reads(node.inputs):
                    handler(node)
            return {**node.results}
        except UnsupportedNodeError as error:
            reason = error
        except MaceError:
            raise
        except MALFORMED_NODE_ERRORS as error:
            raise malformed_node(error) from error
        node.discard_outputs()
    form = proto()
    folded = fold_node(form, node.opset, node.inputs, node.builder)
    if folded is not None:
        return {**folded}
    body = standard_body(form, node.opset, node.inputs, node.label)
    if body is None:
        raise reason
    try:
        return {**expand(form, body)}
    except UnsupportedNodeError as error:
        # The reason of the operator's own handler says more to the user.
        raise (error if handler is None else reason) from error
