# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The root folder of a phone: Android's layout, shell and properties."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Dict, Tuple

from test.device_farm.container import Storage
from test.device_farm.profile import Profile
from test.device_farm.root_folder import make_root, write_program

SHELL_USER = 2000
SHELL_GROUPS = "1004,1007,1011,1015,1028,3001,3002,3003,3006"
WORK_DIR = "/data/local/tmp"

ENVIRONMENT = {
    "PATH": "/system/bin:/system/xbin:/vendor/bin",
    "HOME": "/",
    "TMPDIR": WORK_DIR,
    "ANDROID_ROOT": "/system",
    "ANDROID_DATA": "/data",
    "EXTERNAL_STORAGE": "/sdcard",
}

_GETPROP = r"""#!/system/bin/sh
set_ones=/data/property/set
[ -f $set_ones ] || set_ones=
if [ $# = 0 ]; then
  sed 's/^\([^=]*\)=\(.*\)$/[\1]: [\2]/' /system/build.prop $set_ones
else
  value=$(cat /system/build.prop $set_ones |
    awk -v key="$1" 'index($0, key "=") == 1 {v = substr($0, length(key) + 2)}
      END {print v}')
  echo "${value:-$2}"
fi
"""
_SETPROP = """#!/system/bin/sh
[ $# = 2 ] || { echo "usage: setprop NAME VALUE" >&2; exit 1; }
echo "$1=$2" >>/data/property/set
"""
_LOG = """#!/system/bin/sh
tag=shell level=I
while getopts p:t: flag; do
  case $flag in p) level=$OPTARG ;; t) tag=$OPTARG ;; *) exit 1 ;; esac
done
shift $((OPTIND - 1))
printf '%s %5d %5d %s %s: %s\\n' "$(date '+%m-%d %H:%M:%S.000')" $PPID $PPID \
  "$level" "$tag" "$*" >>/data/misc/logd/main
"""
_LOGCAT = """#!/system/bin/sh
log=/data/misc/logd/main dump=no lines=+1
while [ $# -gt 0 ]; do
  case $1 in
    -d) dump=yes ;;
    -c) : >$log; exit 0 ;;
    -t) dump=yes; lines=$2; shift ;;
    -T) lines=$2; shift ;;
    -b | -v) shift ;;
    -*) echo "logcat: this phone knows -d -c -t -T -b -v, not $1" >&2; exit 1 ;;
    *) filters="$filters ${1%%:*}" ;;
  esac
  shift
done
echo '--------- beginning of main'
[ $dump = yes ] && exec tail -n $lines $log
exec tail -n $lines -f $log
"""
# The memory of a process, and its share of common memory. It includes the emulator.
_DUMPSYS = r"""#!/system/bin/sh
[ "$1" = meminfo ] || { echo "Can't find service: $1" >&2; exit 1; }
pss() { awk '/^Pss:/ {print $2}' /proc/$1/smaps_rollup 2>/dev/null; }
name() { cat /proc/$1/comm 2>/dev/null; }
if [ -n "$2" ]; then
  case $2 in *[!0-9]*) pid=$(pidof "$2" | cut -d' ' -f1) ;; *) pid=$2 ;; esac
  kib=$(pss "$pid")
  [ -n "$kib" ] || { echo "No process found for: $2"; exit 0; }
  echo "Applications Memory Usage (in Kilobytes):"
  echo "** MEMINFO in pid $pid [$(name "$pid")] **"
  printf '           TOTAL PSS: %8d\n' "$kib"
  exit 0
fi
echo "Applications Memory Usage (in Kilobytes):"
echo
echo "Total PSS by process:"
for folder in /proc/[0-9]*; do
  pid=${folder#/proc/}
  kib=$(pss "$pid")
  [ -n "$kib" ] && echo "$kib $(name "$pid") $pid"
done | sort -rn | awk '{
  text = $1
  n = length(text) - 3
  if (n > 0) text = substr(text, 1, n) "," substr(text, n + 1)
  printf "%12sK: %s (pid %s)\n", text, $2, $3
}'
echo
awk '/MemTotal/ {printf "Total RAM: %dK\n", $2}' /proc/meminfo
"""
# The message of Android's shell.
_REFUSAL = """#!/system/bin/sh
bits=64
[ "$(od -An -tu1 -j4 -N1 "$1" | tr -d ' ')" = 2 ] || bits=32
echo "/system/bin/sh: $1: not executable: $bits-bit ELF file" >&2
exit 126
"""
_FOLDERS = (
    *("data", "cache", "mnt", "system/etc", "system/lib", "system/lib64"),
    *("vendor/bin", "vendor/lib", "vendor/lib64"),
)
_GETENFORCE = "#!/system/bin/sh\necho Enforcing\n"
_PROGRAMS = {
    "getprop": _GETPROP,
    "setprop": _SETPROP,
    "log": _LOG,
    "logcat": _LOGCAT,
    "dumpsys": _DUMPSYS,
    "getenforce": _GETENFORCE,
}


# Linked statically: it runs on this computer's processor, in the phone's folders.
DSP_EMULATOR = "qemu-hexagon-static"
# The name under which systems show a DSP that programs may use.
_DSP_NODE = "fastrpc-cdsp"


def _own_program(name: str) -> str:
    found = shutil.which(name)
    # `requirements.py` has looked for it.
    assert found is not None
    return found


def properties(profile: Profile, serial: str) -> Dict[str, str]:
    """All properties of a phone."""
    narrow = [abi for abi in profile.abis if abi != "arm64-v8a"]
    wide = [abi for abi in profile.abis if abi == "arm64-v8a"]
    return {
        "ro.product.model": profile.model,
        "ro.product.name": profile.properties.get("ro.product.device", profile.name),
        "ro.product.device": profile.name,
        "ro.product.board": profile.soc,
        "ro.board.platform": profile.soc,
        "ro.product.cpu.abi": profile.abis[0],
        "ro.product.cpu.abilist": ",".join(profile.abis),
        "ro.product.cpu.abilist32": ",".join(narrow),
        "ro.product.cpu.abilist64": ",".join(wide),
        "ro.build.type": "user",
        "ro.debuggable": "0",
        "ro.secure": "1",
        "ro.serialno": serial,
        "sys.boot_completed": "1",
        "ro.kernel.qemu": "1",
        **profile.properties,
    }


def make_android_root(root: Path, profile: Profile, values: Dict[str, str]) -> None:
    """Makes the root folder of a phone; `root` must not exist."""
    make_root(root, profile, "system/bin", _FOLDERS, _REFUSAL)
    if profile.dsp:
        shutil.copy(_own_program(DSP_EMULATOR), root / "vendor/bin/qemu-hexagon")
    os.symlink("system/bin", root / "bin")
    os.symlink("system/etc", root / "etc")
    os.symlink("/data/media/0", root / "sdcard")
    for name, text in _PROGRAMS.items():
        write_program(root / "system/bin" / name, text)
    (root / "system/build.prop").write_text(
        "".join(f"{key}={value}\n" for key, value in values.items()), encoding="utf-8"
    )
    (root / "system/etc/passwd").write_text(
        "root:x:0:0::/:/system/bin/sh\nshell:x:2000:2000::/:/system/bin/sh\n"
    )
    (root / "system/etc/group").write_text(
        "root:x:0:\nlog:x:1007:\nsdcard_rw:x:1015:\nshell:x:2000:\n"
    )


def android_storage(profile: Profile) -> Tuple[Storage, ...]:
    """Where a phone may write."""
    return (Storage("/data", profile.storage_mb, mode=0o771),)


def android_setup(profile: Profile, all_ids: bool) -> str:
    """Shell commands that fill /data and /dev of a phone that boots."""
    owner = SHELL_USER if all_ids else 0
    node = f'"$R/dev/{_DSP_NODE}"'
    dsp = f": >{node} && chmod 666 {node}" if profile.dsp else ""
    return f"""{dsp}
mkdir -p "$R/data/local/tmp" "$R/data/misc/logd" "$R/data/property" "$R/data/media/0"
chmod 751 "$R/data/local" "$R/data/misc"
chmod 771 "$R/data/local/tmp" "$R/data/media/0"
chmod 777 "$R/data/misc/logd" "$R/data/property"
chown {owner}:{owner} "$R/data/local/tmp" "$R/data/media/0"
: >"$R/data/misc/logd/main"
chmod 666 "$R/data/misc/logd/main"
"""
