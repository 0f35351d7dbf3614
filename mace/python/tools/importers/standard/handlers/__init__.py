# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Handlers of operators, one file per family; found by `HandlerTable`."""
