#!/usr/bin/env bash
# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
#
# Usage: bash tools/build-aar.sh [FLAG...]
#
# Builds the Android library build/aar/RUNTIMES/mace.aar: the Java interface, libmace.so
# for arm64-v8a and armeabi-v7a, headers, and with `-runtimes=cpu,gpu,dsp` the code of
# the DSP. The flags are those of tools/build-standalone-lib.sh, which it calls.

exec bash "$(dirname "${BASH_SOURCE[0]}")/build-standalone-lib.sh" -aar "$@"
