#!/usr/bin/env bash
# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
#
# Usage: bash tools/test.sh [--all | --changed [COMMIT] | --only STEP...] [--no-gaps]
#        bash tools/test.sh --list
#
# Installs what the tests need (tools/setup.sh), runs the steps that concern this
# computer, says what it left out and where the time went, and ends with "N passed,
# N failed". Exit status: 0 if none failed, else 1. A step takes as long as it takes:
# it is ended only if nothing moves any more. Skipped tests are counted, and named
# unless tools/quality/skips.py expects them. Logs stay in build/test.
#
#   --all        all steps, but for those that --list marks "by name alone": other
#                processors, devices and systems, sanitizers, packages, checks
#   --changed    only what a change can affect, on this computer: of all files that
#                differ from COMMIT, or from where the branch main was left
#   --only STEP  run this step, whole (repeatable)
#   --no-gaps    a skipped test that is not expected is a failure (also:
#                MACE_TEST_NO_GAPS=1)
#   --list       print the steps, and neither install nor run anything

set -euo pipefail

listing=false
for argument in "$@"; do
  case $argument in
    -h | --help)
      sed -n '5,24s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
      exit 0
      ;;
    --list) listing=true ;;
  esac
done

cd "$(dirname "${BASH_SOURCE[0]}")/.."
# Bazel and pip keep their caches at home; a CI job may not say where it is.
: "${HOME:=$(getent passwd "$(id -u)" | cut -d: -f6)}"
export HOME

# Wrong flags are told before minutes of set-up, by any Python that is here, which
# also says what the steps need: without one, all is installed.
tasks=all
readonly python=${MACE_VENV:-.venv}/bin/python
for early in "$python" "${MACE_PYTHON:-python3}"; do
  # One that is too old is for the set-up to tell.
  if "$early" -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null; then
    if $listing; then exec "$early" -m tools.quality.step_flags "$@"; fi
    tasks=$("$early" -m tools.quality.step_flags "$@")
    break
  fi
done

bash tools/setup.sh --for "$tasks" </dev/null
exec "$python" -m tools.quality.run_steps "$@"
