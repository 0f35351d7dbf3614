// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// The DSP's part on a phone: a library that FastRPC loads into a process of the
// DSP, and calls by one function. It keeps nothing from one call to the next
// but its wishes for power, and its threads.

#include "mace/kernels/hexagon/executor/executor.h"
#include "mace/kernels/hexagon/executor/workers.h"
#include "mace/kernels/hexagon/fastrpc/dsp_system.h"
#include "mace/kernels/hexagon/fastrpc/interface.h"
#include "mace/kernels/hexagon/platform/memory.h"
#include "mace/kernels/hexagon/platform/threads.h"

namespace mace::hexagon {
namespace {

// The context of all requests for power: an address of this library.
char power_client;

uint32_t SetPower(const PowerRequest &wish) {
  HapPowerRequest request = {};
  request.type = kPowerClass;
  request.client_class = kComputeClass;
  int failed = HAP_power_set(&power_client, &request);
  const bool is_wish = wish.corner != 0;
  request = {};
  request.type = kPowerClocks;
  PowerClocks &clocks = request.clocks;
  clocks.dcvs_enable = !is_wish || wish.may_lower != 0;
  clocks.dcvs_option = is_wish ? kPerformance : kPowerSaver;
  clocks.set_latency = wish.latency_us != 0;
  clocks.latency = wish.latency_us;
  clocks.set_corners = 1;
  clocks.corners.target = static_cast<uint8_t>(wish.corner);
  if (is_wish && wish.may_lower == 0) {
    clocks.corners.least = clocks.corners.most = clocks.corners.target;
  }
  failed |= HAP_power_set(&power_client, &request);
  return static_cast<uint32_t>(failed);
}

// Vectors are off until somebody wants them.
uint32_t SetVectors(bool on) {
  HapPowerRequest request = {};
  request.type = kPowerVectors;
  request.vectors_on = on;
  return static_cast<uint32_t>(HAP_power_set(&power_client, &request));
}

uint64_t Cycles() { return HAP_perf_get_pcycles(); }

bool HasFast() {
  return HAP_request_VTCM != nullptr && HAP_release_VTCM != nullptr;
}

Memory TakeFast(uint32_t bytes) {
  auto *data = static_cast<uint8_t *>(HAP_request_VTCM(bytes, 0));
  if (data == nullptr) return {};
  return {data, bytes};
}

void ReturnFast(const Memory &memory) { HAP_release_VTCM(memory.data); }

uint32_t Describe(const RemoteArgument &output) {
  Description description = {kProgramVersion, 0};
  uint32_t page = 0;
  uint32_t pages = 0;
  if (HasFast() && HAP_query_total_VTCM != nullptr &&
      HAP_query_total_VTCM(&page, &pages) == 0) {
    description.fast_bytes = page * pages;
  }
  if (output.buffer.bytes < sizeof(description)) return kBadParameter;
  memcpy(output.buffer.data, &description, sizeof(description));
  return kSuccess;
}

Memory MemoryOf(const RemoteArgument &argument) {
  if (argument.buffer.bytes == 0) return {};
  return {static_cast<uint8_t *>(argument.buffer.data), argument.buffer.bytes};
}

template <typename T>
bool Read(const RemoteArgument &argument, T *value) {
  if (argument.buffer.bytes < sizeof(T)) return false;
  memcpy(value, argument.buffer.data, sizeof(T));
  return true;
}

uint32_t Run(const RemoteArgument *inputs, const RemoteArgument *outputs) {
  RunRequest request;
  if (!Read(inputs[0], &request)) return kBadParameter;
  RunReply reply = {kProgramVersion, {}};
  if (outputs[0].buffer.bytes < sizeof(reply)) return kBadParameter;
  if (request.version == kProgramVersion) {
    ProgramCall call;
    call.program = MemoryOf(inputs[1]);
    call.areas[static_cast<uint32_t>(Area::kConstants)] = MemoryOf(inputs[2]);
    call.areas[static_cast<uint32_t>(Area::kArena)] = MemoryOf(outputs[1]);
    const Memory border = MemoryOf(outputs[2]);
    call.areas[static_cast<uint32_t>(Area::kBorder)] = border;
    call.areas[static_cast<uint32_t>(Area::kCounters)] = MemoryOf(outputs[3]);
    call.counter = Cycles;
    if (HasFast()) {
      call.take_fast = TakeFast;
      call.return_fast = ReturnFast;
    }
    // The same memory, unless FastRPC had to copy it.
    const Memory given = MemoryOf(inputs[3]);
    if (given.bytes != border.bytes) return kBadParameter;
    if (given.data != border.data) {
      memcpy(border.data, given.data, given.bytes);
    }
    const bool has_workers = TakeWorkers();
    if (has_workers) {
      call.threads = StartWorkers(request.threads);
      if (call.threads > 1) call.divide = DivideWork;
    }
    const bool is_locked = LockVectors();
    reply.result = RunProgram(call);
    if (is_locked) UnlockVectors();
    if (has_workers) ReturnWorkers();
  } else {
    reply.result.status = static_cast<uint32_t>(ProgramStatus::kWrongVersion);
  }
  memcpy(outputs[0].buffer.data, &reply, sizeof(reply));
  return kSuccess;
}

bool Has(uint32_t call, uint32_t inputs, uint32_t outputs, uint32_t handles) {
  return InputsOf(call) == inputs && OutputsOf(call) == outputs &&
         HandlesOf(call) == handles;
}

uint32_t Invoke(uint32_t call, RemoteArgument *arguments) {
  switch (MethodOf(call)) {
    case kOpen:
      // in: the length of the address, and the address; out: a handle.
      if (!Has(call, 2, 0, 1)) return kBadParameter;
      arguments[2].handle = reinterpret_cast<uintptr_t>(&power_client);
      return SetVectors(true);
    case kClose:
      if (!Has(call, 0, 0, 0)) return kBadParameter;
      SetPower({});
      // The library may be unloaded now.
      if (TakeWorkers()) {
        StopWorkers();
        ReturnWorkers();
      }
      return SetVectors(false);
    case kSetPower: {
      PowerRequest request;
      if (!Has(call, 1, 0, 0) || !Read(arguments[0], &request)) {
        return kBadParameter;
      }
      if (request.version != kProgramVersion) return kVersionNotSupported;
      return SetPower(request);
    }
    case kRun:
      if (!Has(call, kRunInputs, kRunOutputs, 0)) return kBadParameter;
      return Run(arguments, arguments + kRunInputs);
    case kDescribe:
      if (!Has(call, 0, 1, 0)) return kBadParameter;
      return Describe(arguments[0]);
    default:
      return kUnsupported;
  }
}

}  // namespace
}  // namespace mace::hexagon

extern "C" __attribute__((visibility("default"))) int
mace_hexagon_skel_handle_invoke(uint64_t handle,
                                uint32_t call,
                                mace::hexagon::RemoteArgument *arguments) {
  return static_cast<int>(mace::hexagon::Invoke(call, arguments));
}
