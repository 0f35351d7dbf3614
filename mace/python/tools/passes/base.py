# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The base class of passes."""

from __future__ import annotations

import abc
from typing import ClassVar

from mace.python.tools.ir import Graph


class Pass(abc.ABC):
    """A rewrite that keeps what the graph computes.

    A pass is in `passes/<name>.py`; the manager finds it there. Running it on
    its own result changes nothing.

    Attributes:
        name: of the file.
        requires: names of passes that must have run before.
        last: whether it runs once, after all others have come to rest. None of these
            runs on its result: it makes operators that they do not know.
        floats_only: whether it makes operators that have no quantized form. It runs on
            what stays in floats of a model that is being quantized.
        provides: names of invariants (`invariants.py`) that hold from then
            on; the manager checks them after every later pass.
    """

    name: ClassVar[str]
    requires: ClassVar[tuple[str, ...]] = ()
    provides: ClassVar[tuple[str, ...]] = ()
    last: ClassVar[bool] = False
    floats_only: ClassVar[bool] = False

    @abc.abstractmethod
    def run(self, graph: Graph) -> int:
        """Rewrites the graph in place.

        The graph is sorted before; the manager sorts and prunes it after.

        Returns:
            The number of rewrites.
        """
