#!/bin/sh
# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
#
# The --run_under of the arm configuration. Started by Bazel inside the
# runfiles of the test.
set -eu
here=$(dirname "$(readlink -f "$0")")
exec "$here/run_qemu.sh" qemu-arm /usr/arm-linux-gnueabihf "$@"
