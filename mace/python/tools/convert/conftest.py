# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import pytest

from mace.python.tools.convert.testing import open_converted_models


@pytest.fixture(autouse=True)
def engine_opens_every_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the models that these tests convert."""
    open_converted_models(monkeypatch)
