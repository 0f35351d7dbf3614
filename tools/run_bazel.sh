# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Sourced by the scripts that call Bazel: which one, and with which flags of the
# user. mace/python/tools/build_tools.py is the same for Python.
#
#   BAZEL                the program; "bazel" by default
#   BAZEL_STARTUP_FLAGS  flags before the command, split at blanks
#   BAZEL_FLAGS          flags after it

bazel_program=${BAZEL:-bazel}
read -r -a bazel_startup_flags <<<"${BAZEL_STARTUP_FLAGS:-}"
read -r -a bazel_user_flags <<<"${BAZEL_FLAGS:-}"

# run_bazel COMMAND ARGUMENT...
run_bazel() {
  local command=$1
  shift
  "$bazel_program" ${bazel_startup_flags[@]+"${bazel_startup_flags[@]}"} \
    "$command" --color=no ${bazel_user_flags[@]+"${bazel_user_flags[@]}"} "$@"
}
