# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The intermediate graph between a framework's file and a MACE model; see README.md."""

from mace.python.tools.ir.builder import GraphBuilder
from mace.python.tools.ir.constant import Constant, multiplied, scaled
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.evaluate import ShapeError, infer_op
from mace.python.tools.ir.graph import DataFormat, Graph, GraphError, Op, Value
from mace.python.tools.ir.quantization import Quantization
from mace.python.tools.ir.shapes import Dim, Shape
from mace.python.tools.ir.subgraphs import SubgraphSpec, assign_subgraphs

__all__ = [
    "Constant",
    "DataFormat",
    "DataType",
    "Dim",
    "Graph",
    "GraphBuilder",
    "GraphError",
    "Op",
    "Quantization",
    "Shape",
    "ShapeError",
    "SubgraphSpec",
    "Value",
    "assign_subgraphs",
    "infer_op",
    "multiplied",
    "scaled",
]
