// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdlib>
#include <cstring>
#include <string>

#include "test/opencl/state.h"
#include "test/opencl/target.h"
#include "test/opencl/test_driver.h"

extern "C" __attribute__((visibility("default"))) const MaceTestOpenclControl *
mace_test_opencl_control();

namespace mace {
namespace test_opencl {
namespace {

using Lock = std::lock_guard<std::mutex>;

std::string FindTargetError() {
  if (!target().error.empty()) return target().error;
  cl_uint count = 0;
  const cl_int result = target().clGetPlatformIDs(0, nullptr, &count);
  if (result == CL_SUCCESS && count > 0) return "";
  const char *vendors = std::getenv("OCL_ICD_VENDORS");
  return std::string("there is no OpenCL driver in ") +
         (vendors == nullptr ? "/etc/OpenCL/vendors" : vendors) + kInstall;
}

const char *TargetError() {
  // A loader looks for drivers once.
  static const std::string *const error = new std::string(FindTargetError());
  return error->empty() ? nullptr : error->c_str();
}

void Reset() {
  State &state = State::Get();
  std::vector<std::function<void()>> kept;
  {
    const Lock lock(state.mutex);
    kept = state.TakeAllKept();
    state.account.Reset();
    state.failures = Failures();
    state.failed = 0;
    state.device_is_lost = false;
    state.family = nullptr;
    state.claim_all_extensions = false;
    state.matrix_units = false;
    state.nanos_per_group = 0;
    state.kernel_nanos = nullptr;
    state.counts.clear();
    state.calls = 0;
    state.log.clear();
  }
  for (const auto &release : kept) release();
}

int32_t SetFamily(const char *name) {
  const bool is_target = std::strcmp(name, "target") == 0;
  const Family *family = is_target ? nullptr : FindFamily(name);
  if (family == nullptr && !is_target) return 0;
  State &state = State::Get();
  const Lock lock(state.mutex);
  state.family = family;
  return 1;
}

const char *FamilyName(size_t index) {
  const Family *family = FamilyAt(index);
  return family == nullptr ? nullptr : family->name;
}

void ClaimAllExtensions(int32_t claim) {
  State &state = State::Get();
  const Lock lock(state.mutex);
  state.claim_all_extensions = claim != 0;
}

void EmulateMatrixUnits(int32_t emulate) {
  State &state = State::Get();
  const Lock lock(state.mutex);
  state.matrix_units = emulate != 0;
}

void SetKernelTimes(uint64_t nanos_per_group) {
  State &state = State::Get();
  const Lock lock(state.mutex);
  state.nanos_per_group = nanos_per_group;
}

void SetKernelNanos(MaceTestOpenclKernelNanos nanos) {
  State &state = State::Get();
  const Lock lock(state.mutex);
  state.kernel_nanos = nanos;
}

void FailCall(uint64_t n, int32_t error) {
  State &state = State::Get();
  const Lock lock(state.mutex);
  state.failures.call = n;
  state.failures.call_error = error;
}

void FailFunction(const char *function, uint64_t n, int32_t error) {
  State &state = State::Get();
  const Lock lock(state.mutex);
  state.failures.functions[function] = {n, error};
}

void Lose(uint64_t n, bool device) {
  State &state = State::Get();
  const Lock lock(state.mutex);
  state.failures.lose_at = n;
  state.failures.lose_device = device;
}

void LoseContexts(uint64_t n) { Lose(n, false); }
void LoseDevice(uint64_t n) { Lose(n, true); }

void StopFailing() {
  State &state = State::Get();
  const Lock lock(state.mutex);
  state.failures = Failures();
}

uint64_t FailureCount() {
  State &state = State::Get();
  const Lock lock(state.mutex);
  return state.failed;
}

uint64_t Calls(const char *function) {
  State &state = State::Get();
  const Lock lock(state.mutex);
  if (function == nullptr) return state.calls;
  const auto found = state.counts.find(function);
  return found == state.counts.end() ? 0 : found->second;
}

size_t LogSize() {
  State &state = State::Get();
  const Lock lock(state.mutex);
  return state.log.size();
}

int32_t GetLogEntry(size_t index, MaceTestOpenclCall *entry) {
  State &state = State::Get();
  const Lock lock(state.mutex);
  if (index >= state.log.size()) return 0;
  const LogEntry &found = state.log[index];
  *entry = {found.number, found.function, found.detail.c_str(), found.result,
            found.injected};
  return 1;
}

size_t Problems() {
  State &state = State::Get();
  const Lock lock(state.mutex);
  return state.account.problems().size();
}

const char *Problem(size_t index) {
  State &state = State::Get();
  const Lock lock(state.mutex);
  const std::deque<std::string> &problems = state.account.problems();
  return index < problems.size() ? problems[index].c_str() : nullptr;
}

size_t CheckLeaks() {
  State &state = State::Get();
  const Lock lock(state.mutex);
  return state.account.CheckLeaks();
}

size_t LiveObjects(const char *kind) {
  State &state = State::Get();
  const Lock lock(state.mutex);
  return state.account.CountLive(kind == nullptr ? "" : kind);
}

uint64_t MemoryBytes() {
  State &state = State::Get();
  const Lock lock(state.mutex);
  return state.account.bytes();
}

uint64_t PeakMemoryBytes() {
  State &state = State::Get();
  const Lock lock(state.mutex);
  return state.account.peak_bytes();
}

}  // namespace
}  // namespace test_opencl
}  // namespace mace

const MaceTestOpenclControl *mace_test_opencl_control() {
  using namespace mace::test_opencl;  // NOLINT(google-build-using-namespace)
  static const MaceTestOpenclControl control = {TargetError,
                                                Reset,
                                                SetFamily,
                                                FamilyName,
                                                ClaimAllExtensions,
                                                EmulateMatrixUnits,
                                                SetKernelTimes,
                                                SetKernelNanos,
                                                FailCall,
                                                FailFunction,
                                                LoseContexts,
                                                LoseDevice,
                                                StopFailing,
                                                FailureCount,
                                                PlausibleError,
                                                Calls,
                                                LogSize,
                                                GetLogEntry,
                                                Problems,
                                                Problem,
                                                CheckLeaks,
                                                LiveObjects,
                                                MemoryBytes,
                                                PeakMemoryBytes};
  return &control;
}
