#!/usr/bin/env bash
# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
#
# Installs what MACE needs on Debian 12, Ubuntu 24.04 and their relatives.
# Run it as often as you like: it installs only what is missing.

set -euo pipefail

usage() {
  cat <<'TEXT'
Usage: bash tools/setup.sh [--for TASK[,TASK...]] [--locked]
                           [--list | --dry-run]

Installs what is missing for a task: packages by apt (with sudo unless you are
root) and Python packages into .venv of this checkout.

TEXT
  show_tasks
  cat <<'TEXT'

Without --for: run.

  --locked      of Python packages, install the versions of setup/locked.txt with
                their checksums compared, as images and releases have them
  --list        print every package of the task, installed or not, and its use
  --dry-run     say what would be installed, and install nothing

Environment:
  MACE_PYTHON   the Python (3.9 or newer) that .venv is made of
  MACE_VENV     a folder in place of .venv, also for all other tools; several
                checkouts may share it
TEXT
}

# The tasks and the tasks that they include.
show_tasks() {
  local task word includes
  for task in "${task_names[@]}"; do
    includes=
    for word in ${task_needs[$task]}; do
      [[ $word == *:* ]] || includes+="${includes:+, }$word"
    done
    printf '  %-13s %s\n' "$task" "${task_use[$task]}${includes:+ ($includes)}"
  done
}

say() { printf 'setup: %s\n' "$*"; }

fail() {
  printf 'setup: %s\n' "$*" >&2
  exit 2
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly root
readonly venv=${MACE_VENV:-$root/.venv}

# The table of tasks: what each needs (its lists and other tasks), and its use.
task_names=()
declare -A task_needs task_use
while IFS= read -r line; do
  if [[ $line =~ ^([a-z]+)\ +([^#]*[^#\ ])\ +#\ (.+)$ ]]; then
    task_names+=("${BASH_REMATCH[1]}")
    task_needs[${BASH_REMATCH[1]}]=${BASH_REMATCH[2]}
    task_use[${BASH_REMATCH[1]}]=${BASH_REMATCH[3]}
  fi
done <"$root/setup/tasks.txt"

dry_run=false
list_only=false
locked=false
tasks=

while [[ $# -gt 0 ]]; do
  case $1 in
    --for)
      [[ $# -ge 2 ]] || fail "--for needs a task; see --help"
      tasks+=" ${2//,/ }"
      shift 2
      ;;
    --for=*)
      task_list=${1#--for=}
      tasks+=" ${task_list//,/ }"
      shift
      ;;
    --list)
      list_only=true
      shift
      ;;
    --locked)
      locked=true
      shift
      ;;
    --dry-run)
      dry_run=true
      shift
      ;;
    -h | --help)
      usage
      exit 0
      ;;
    *) fail "unknown argument '$1'; see --help" ;;
  esac
done

# --- Which lists a task needs. -----------------------------------------------

apt_lists=" "
pip_lists=" "

need_apt() { [[ $apt_lists == *" $1 "* ]] || apt_lists+="$1 "; }
need_pip() { [[ $pip_lists == *" $1 "* ]] || pip_lists+="$1 "; }

add_task() {
  local word known
  [[ -n ${task_needs[$1]-} ]] || {
    known="${task_names[*]}"
    fail "unknown task '$1'; choose from ${known// /, }"
  }
  for word in ${task_needs[$1]}; do
    case $word in
      apt:*) need_apt "${word#apt:}" ;;
      pip:*) need_pip "${word#pip:}" ;;
      *) add_task "$word" ;;
    esac
  done
}

for task in ${tasks:-run}; do add_task "$task"; done

# --- Packages of the distribution. -------------------------------------------

# The lines of a section, with their uses.
section() { sed -n "/^# \[$1]\$/,/^# \[/p"; }
apt_list() { section "$1" <"$root/setup/apt.txt"; }
pip_list() { cat "$root"/setup/{requirements,optionals,pip}.txt | section "$1"; }

# Lines of a list, "package  # its use", as "apt package use".
show_list() { sed -nE "s/^([^#[:space:]]+) +# (.*)/$1\t\1\t\2/p"; }

show_lists() {
  local list
  for list in $apt_lists; do apt_list "$list" | show_list apt; done
  for list in $pip_lists; do pip_list "$list" | show_list pip; done
}

apt_packages() {
  local list
  for list in $apt_lists; do apt_list "$list"; done |
    sed -e 's/#.*//' -e 's/[[:space:]]//g' -e '/^$/d' | sort -u
}

missing_apt() {
  local wanted installed package
  mapfile -t wanted < <(apt_packages)
  [[ ${#wanted[@]} -gt 0 ]] || return 0
  # dpkg-query fails when one is unknown, and still prints the others.
  # shellcheck disable=SC2016  # the fields are dpkg's
  installed=" $(dpkg-query -W -f '${db:Status-Status}:${Package} ' \
    "${wanted[@]}" 2>/dev/null || true) "
  for package in "${wanted[@]}"; do
    case $package in
      bazel-bootstrap)
        ! command -v bazel >/dev/null || continue
        ;;
    esac
    [[ $installed == *" installed:$package "* ]] || echo "$package"
  done
}

readonly policy=/usr/sbin/policy-rc.d

# Nobody's computer is to become a server by emulating boards: the farm starts
# the program by itself. policy-rc.d(8) forbids packages to start the service
# while they are installed; what it would start at boot is disabled afterwards.
forbid_ssh_service() {
  say "openssh-server: for its program alone; the service 'ssh' is kept off"
  [[ ! -e $policy ]] || return 0
  trap allow_services EXIT
  # shellcheck disable=SC2016  # for the shell that runs it
  printf '#!/bin/sh\n%s\n' '# By tools/setup.sh, while it installs packages.' \
    'case " $* " in *" ssh "* | *" ssh."*) exit 101 ;; esac' |
    "${as_root[@]}" install -m 755 /dev/stdin $policy
}

allow_services() {
  grep -qs 'By tools/setup.sh' $policy || return 0
  "${as_root[@]}" rm -f $policy
}

# By what the package's own scripts use (hence the variable), as it is there
# even where systemd is not, and remembered when the package is updated.
disable_ssh_service() {
  allow_services
  "${as_root[@]}" DPKG_MAINTSCRIPT_PACKAGE=openssh-server \
    deb-systemd-helper disable ssh.service ssh.socket >/dev/null || true
}

try_apt() {
  local log=$1
  shift
  "${as_root[@]}" apt-get -y -qq --no-install-recommends "$@" \
    </dev/null >"$log" 2>&1
}

install_apt() {
  command -v dpkg-query >/dev/null || {
    fail "this is not a Debian or Ubuntu system (no dpkg). Install by hand:" \
      "$(apt_packages | tr '\n' ' ')(LLVM 19, Bazel 4.2.3 to 7)"
  }
  local missing
  mapfile -t missing < <(missing_apt)
  if [[ ${#missing[@]} -eq 0 ]]; then
    return 0
  fi
  say "packages to install: ${missing[*]}"
  if $dry_run; then return 0; fi
  as_root=(env DEBIAN_FRONTEND=noninteractive)
  if [[ $(id -u) -ne 0 ]]; then
    command -v sudo >/dev/null || {
      fail "no sudo here; as root run: apt-get install ${missing[*]}"
    }
    as_root=(sudo "${as_root[@]}")
  fi
  local with_sshd=false
  [[ " ${missing[*]} " != *" openssh-server "* ]] || with_sshd=true
  if $with_sshd; then forbid_ssh_service; fi
  local log
  log=$(mktemp)
  say "installing (a few minutes the first time)"
  # The package lists may be missing, or name versions that are gone.
  if ! try_apt "$log" install "${missing[@]}"; then
    say "updating the package lists"
    try_apt "$log" update || {
      tail -5 "$log" >&2
      rm -f "$log"
      fail "apt-get update failed: is this computer online?"
    }
    try_apt "$log" install "${missing[@]}" || {
      grep -E '^E:' "$log" >&2 || tail -5 "$log" >&2
      rm -f "$log"
      fail "apt-get could not install: ${missing[*]}." \
        "Debian 12 and Ubuntu 24.04 have them (Ubuntu: in 'universe');" \
        "is this computer online?"
    }
  fi
  rm -f "$log"
  if $with_sshd; then disable_ssh_service; fi
}

# --- Python packages. --------------------------------------------------------

find_python() {
  local candidate
  for candidate in "${MACE_PYTHON:-}" python3 /usr/bin/python3; do
    [[ -n $candidate ]] || continue
    if "$candidate" -c 'import sys, ensurepip
sys.exit(sys.version_info < (3, 9))' 2>/dev/null; then
      echo "$candidate"
      return 0
    fi
    [[ $candidate != "${MACE_PYTHON:-}" ]] || {
      fail "MACE_PYTHON=$candidate is not a Python 3.9 or newer with ensurepip"
    }
  done
  fail "no Python 3.9 or newer with venv found (packages python3, python3-venv)"
}

stamp_of() { pip_list "$1" | sha256sum | cut -d' ' -f1; }

install_pip() {
  local list todo=()
  if [[ ! -x $venv/bin/python ]]; then
    if $dry_run; then
      say "would make the virtual environment $venv"
    else
      local python
      python=$(find_python)
      say "making the virtual environment $venv of $("$python" --version)"
      "$python" -m venv "$venv"
    fi
  fi
  for list in $pip_lists; do
    [[ $(cat "$venv/.mace/$list" 2>/dev/null) == "$(stamp_of "$list")" ]] ||
      todo+=("$list")
  done
  [[ ${#todo[@]} -gt 0 ]] || return 0
  say "Python packages to install: ${todo[*]}"
  if $dry_run; then return 0; fi
  local arguments=(-r /dev/stdin)
  if $locked; then
    for list in "${todo[@]}"; do
      grep -q "^# .*\<$list\>" "$root/setup/locked.txt" ||
        fail "--locked: setup/locked.txt has no packages of $list"
    done
    arguments=(--require-hashes --no-deps -r "$root/setup/locked.txt")
  fi
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check \
    --no-input "${arguments[@]}" < <(
      for list in "${todo[@]}"; do pip_list "$list"; done
    ) || {
    fail "pip could not install the packages of ${todo[*]}" \
      "(its message is above): is this computer online?"
  }
  mkdir -p "$venv/.mace"
  for list in "${todo[@]}"; do stamp_of "$list" >"$venv/.mace/$list"; done
}

# --- Work. -------------------------------------------------------------------

if $list_only; then
  show_lists | sort -u | while IFS=$'\t' read -r kind package use; do
    printf '%-4s %-25s %s\n' "$kind" "$package" "$use"
  done
  exit 0
fi
[[ $apt_lists == " " ]] || install_apt
[[ $pip_lists == " " ]] || install_pip
if [[ $apt_lists == *" build "* ]] && ! $dry_run; then
  # Build actions run the distribution's Python, see toolchains/python.
  /usr/bin/python3 -c 'import yaml' 2>/dev/null ||
    fail "/usr/bin/python3 cannot import yaml: install python3-yaml"
fi
if $dry_run; then
  say "nothing was installed (--dry-run)"
else
  say "ready for:${tasks:- run}"
fi
