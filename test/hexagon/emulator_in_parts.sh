#!/bin/sh
# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
#
# An emulated DSP that computes each instruction in parts, the last one first.
set -eu
exec qemu-hexagon "$@" parts
