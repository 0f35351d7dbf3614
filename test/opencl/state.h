// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef TEST_OPENCL_STATE_H_
#define TEST_OPENCL_STATE_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "test/opencl/account.h"
#include "test/opencl/families.h"
#include "test/opencl/test_driver.h"

namespace mace {
namespace test_opencl {

struct LogEntry {
  uint64_t number;
  const char *function;
  std::string detail;
  cl_int result;
  bool injected;
};

// What is to fail. Numbers count down to 1, the call that fails; 0: none.
struct Failures {
  uint64_t call = 0;
  cl_int call_error = 0;
  struct OfFunction {
    uint64_t call;
    cl_int error;
  };
  std::map<std::string, OfFunction> functions;
  uint64_t lose_at = 0;
  bool lose_device = false;
};

// All that the driver knows, and its lock. Functions of the target are called
// without it, because they may call back.
struct State {
  static State &Get();

  std::mutex mutex;
  Account account;
  Failures failures;
  uint64_t failed = 0;
  bool device_is_lost = false;

  const Family *family = nullptr;  // null: the target as it is
  bool claim_all_extensions = false;
  bool matrix_units = false;     // of NVIDIA GPUs, emulated
  uint64_t nanos_per_group = 0;  // emulated times; 0: none
  uint64_t clock_nanos = 0;

  MaceTestOpenclKernelNanos kernel_nanos = nullptr;

  std::map<std::string, uint64_t> counts;
  uint64_t calls = 0;
  std::deque<LogEntry> log;

  // Objects whose last reference callers have released. The target still has
  // them, so that it gives no new object the same handle, which would hide a
  // use after the release.
  struct Kept {
    uint64_t bytes;
    std::function<void()> release;
  };
  std::deque<Kept> kept;
  uint64_t kept_bytes = 0;

  // What has to be released now; to be called without the lock.
  std::vector<std::function<void()>> Keep(Kept object);
  std::vector<std::function<void()>> TakeAllKept();
};

// The emulated family; null: none.
const Family *CurrentFamily();
bool EmulatesMatrixUnits();
// A copy of what is known of an object; without a name or anything else if it
// was never made.
Object CopyOf(const void *handle);
// Whether callers still have a reference to an object.
bool IsLive(const void *handle);

constexpr size_t kLogLength = 65536;
constexpr size_t kMostKept = 512;
constexpr uint64_t kMostKeptBytes = uint64_t{64} << 20;

// Whether calls of the function count for Failures::call.
bool IsCounted(const char *function);
// Whether the function still works on objects of a lost context.
bool WorksWhenLost(const char *function);
cl_int LostError(const char *function);
// From the most to the least likely; 0 beyond the last.
cl_int PlausibleError(const char *function, size_t index);

}  // namespace test_opencl
}  // namespace mace

#endif  // TEST_OPENCL_STATE_H_
