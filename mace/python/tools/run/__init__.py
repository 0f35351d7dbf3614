# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Running a converted deployment: `converter.py run`."""

from __future__ import annotations

from mace.python.tools.run.deployment_run import run_deployment
from mace.python.tools.run.results import ModelRun, RunReport

__all__ = ["ModelRun", "RunReport", "run_deployment"]
