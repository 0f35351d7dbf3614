# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Reports of a run: JSON, HTML, Chrome trace; and of all runs: CSV, JSON, HTML."""

from __future__ import annotations

from mace.python.tools.report.overview import write_overview
from mace.python.tools.report.write import report_json, write_reports

__all__ = ["report_json", "write_overview", "write_reports"]
