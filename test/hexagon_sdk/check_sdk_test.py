# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""check_sdk.sh, with folders that have the form of Qualcomm's SDK.

The headers declare what MACE uses, by the public documentation; no part of the SDK is
here.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

_SCRIPT = "mace/kernels/hexagon/fastrpc/check_sdk.sh"
_ROOT = Path(__file__).resolve().parents[2]

_HEADERS = {
    "incs/stddef/AEEStdDef.h": """
#include <stddef.h>
#include <stdint.h>
typedef unsigned char boolean;
typedef uint32_t uint32;
""",
    "incs/AEEStdErr.h": """
#ifdef __hexagon__
#define AEE_EOFFSET 0x80000400
#else
#define AEE_EOFFSET 0
#endif
#define AEE_EVERSIONNOTSUPPORT (AEE_EOFFSET + 0x004)
#define AEE_EBADPARM (AEE_EOFFSET + 0x00E)
#define AEE_EUNSUPPORTED (AEE_EOFFSET + 0x014)
#define AEE_ENOSUCH 39
#define AEE_ECONNRESET 104
""",
    "incs/remote.h": """
#include <AEEStdDef.h>
#define REMOTE_SCALARS_MAKEX(attr, method, in, out, hin, hout)                   \\
  ((((uint32_t)(attr) & 7) << 29) | (((uint32_t)(method) & 0x1f) << 24) |        \\
   (((uint32_t)(in) & 0xff) << 16) | (((uint32_t)(out) & 0xff) << 8) |           \\
   (((uint32_t)(hin) & 0xf) << 4) | ((uint32_t)(hout) & 0xf))
#define REMOTE_SCALARS_MAKE(method, in, out) \\
  REMOTE_SCALARS_MAKEX(0, method, in, out, 0, 0)
#define ADSP_DOMAIN_ID 0
#define CDSP_DOMAIN_ID 3
typedef uint64_t remote_handle64;
typedef struct { void *pv; size_t nLen; } remote_buf;
typedef struct { int32_t fd; uint32_t offset; } remote_dma_handle;
typedef union {
  remote_buf buf;
  uint32_t h;
  uint64_t h64;
  remote_dma_handle dma;
} remote_arg;
enum { DSPRPC_CONTROL_UNSIGNED_MODULE = 2 };
struct remote_rpc_control_unsigned_module { int domain; int enable; };
enum { DSPRPC_RESERVED, DSPRPC_CONTROL_LATENCY, DSPRPC_GET_DSP_INFO };
struct remote_dsp_capability { uint32_t domain, attribute_ID, capability; };
enum remote_dsp_attributes {
  DOMAIN_SUPPORT, UNSIGNED_PD_SUPPORT, HVX_SUPPORT_64B, HVX_SUPPORT_128B, VTCM_PAGE,
  VTCM_COUNT, ARCH_VER
};
int remote_handle64_close(remote_handle64 h);
int remote_session_control(uint32_t req, void *data, uint32_t datalen);
int remote_handle_control(uint32_t req, void *data, uint32_t datalen);
""",
    "ipc/fastrpc/rpcmem/inc/rpcmem.h": """
#define RPCMEM_HEAP_ID_SYSTEM 25
#define RPCMEM_DEFAULT_FLAGS 1
void *rpcmem_alloc(int heapid, uint32_t flags, int size);
void rpcmem_free(void *po);
int rpcmem_to_fd(void *po);
""",
    "rtos/qurt/computev66/include/qurt/qurt_thread.h": """
typedef unsigned int qurt_thread_t;
typedef struct _qurt_thread_attr {
  char name[16];
  unsigned char tcb_partition, stid;
  unsigned short priority;
  unsigned char asid, bus_priority;
  unsigned short timetest_id;
  unsigned int stack_size;
  void *stack_addr;
  unsigned short detach_state;
} qurt_thread_attr_t;
int qurt_thread_create(qurt_thread_t *thread_id, qurt_thread_attr_t *attr,
                       void (*entrypoint)(void *), void *arg);
int qurt_thread_join(unsigned int tid, int *status);
""",
    "incs/HAP_power.h": """
#include <AEEStdDef.h>
typedef enum { HAP_POWER_COMPUTE_CLIENT_CLASS = 4 } HAP_power_app_type_payload;
typedef struct { boolean power_up; } HAP_power_hvx_payload;
typedef enum {
  HAP_DCVS_VCORNER_DISABLE, HAP_DCVS_VCORNER_SVS2, HAP_DCVS_VCORNER_SVS,
  HAP_DCVS_VCORNER_SVS_PLUS, HAP_DCVS_VCORNER_NOM, HAP_DCVS_VCORNER_NOM_PLUS,
  HAP_DCVS_VCORNER_TURBO, HAP_DCVS_VCORNER_TURBO_PLUS, HAP_DCVS_VCORNER_MAX = 255
} HAP_dcvs_voltage_corner_t;
typedef struct {
  HAP_dcvs_voltage_corner_t target_corner, min_corner, max_corner;
  uint32 param1, param2, param3;
} HAP_dcvs_params_t;
typedef enum {
  HAP_DCVS_V2_POWER_SAVER_MODE = 0x4, HAP_DCVS_V2_PERFORMANCE_MODE = 0x10,
  HAP_DCVS_V2_DUTY_CYCLE_MODE = 0x20
} HAP_power_dcvs_v2_payload_option;
typedef struct {
  boolean dcvs_enable;
  HAP_power_dcvs_v2_payload_option dcvs_option;
  boolean set_latency;
  uint32 latency;
  boolean set_dcvs_params;
  HAP_dcvs_params_t dcvs_params;
} HAP_power_dcvs_v2_payload;
typedef enum {
  HAP_power_set_mips_bw = 1, HAP_power_set_HVX, HAP_power_set_apptype,
  HAP_power_set_DCVS_v2 = 7
} HAP_Power_request_type;
typedef struct {
  HAP_Power_request_type type;
  union {
    uint64_t mips_bw[4];
    HAP_power_hvx_payload hvx;
    HAP_power_app_type_payload apptype;
    HAP_power_dcvs_v2_payload dcvs_v2;
  };
} HAP_power_request_t;
int HAP_power_set(void *context, HAP_power_request_t *request);
""",
}


def _check(sdk: Path) -> tuple[int, str]:
    done = subprocess.run(
        ["bash", _SCRIPT],
        cwd=_ROOT,
        env={**os.environ, "HEXAGON_SDK_ROOT": str(sdk)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


@pytest.fixture
def sdk(tmp_path: Path) -> Path:
    for name, text in _HEADERS.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_an_sdk_that_agrees(sdk: Path) -> None:
    status, told = _check(sdk)
    assert (status, told) == (0, f"MACE's declarations for FastRPC agree with {sdk}\n")


@pytest.mark.parametrize(
    ("header", "line", "other", "named"),
    [
        ("HAP_power.h", "set_DCVS_v2 = 7", "set_DCVS_v2 = 8", "kPowerClocks"),
        (
            "HAP_power.h",
            "  boolean set_latency;",
            "  uint32 set_latency;",
            "set_latency",
        ),
        ("remote.h", "CDSP_DOMAIN_ID 3", "CDSP_DOMAIN_ID 4", "kComputeDsp"),
        ("AEEStdErr.h", "0x00E", "0x00F", "kBadParameter"),
        (
            "../rtos/qurt/computev66/include/qurt/qurt_thread.h",
            "unsigned short priority;",
            "unsigned int priority;",
            "priority",
        ),
    ],
)
def test_an_sdk_that_differs(
    sdk: Path, header: str, line: str, other: str, named: str
) -> None:
    path = sdk / "incs" / header
    text = path.read_text()
    assert line in text
    path.write_text(text.replace(line, other))
    status, told = _check(sdk)
    assert status == 1
    assert named in told


def test_no_sdk(tmp_path: Path) -> None:
    status, told = _check(tmp_path)
    assert status == 2
    assert f"HEXAGON_SDK_ROOT ('{tmp_path}') names no Hexagon SDK" in told
