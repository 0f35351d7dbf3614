// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Everything that the user can ask of the OpenCL runtime, from all sources:
//
//   GPUContext and hints of the engine's configuration     mace.h
//   settings of the process, for older applications        mace_runtime.h
//   hints of the deployment file, in the model             OpenclHints
//   environment variables, for experiments and tools:
//     MACE_INTERNAL_STORAGE_PATH    storage_path, if the application sets none
//     MACE_RUN_PARAMETER_PATH       tuned_parameter_path
//     MACE_TUNING                   1: tuning
//     MACE_TUNING_SECONDS           tuning_seconds
//     MACE_OPENCL_PROFILING         1: profiling
//     MACE_OPENCL_SELF_TEST         self_test
//     MACE_LIMIT_OPENCL_KERNEL_TIME   limit_kernel_time, instead of the model's
//     MACE_OPENCL_QUEUE_WINDOW_SIZE   queue_window_size, instead of the model's
//     MACE_OPENCL_COMMAND_BUFFERS   replay

#ifndef MACE_RUNTIMES_OPENCL_OPTIONS_OPENCL_OPTIONS_H_
#define MACE_RUNTIMES_OPENCL_OPTIONS_OPENCL_OPTIONS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mace/core/model/op.h"
#include "mace/public/mace_runtime.h"
#include "mace/runtimes/devices/device_options.h"

namespace mace {

// The OpenCL memory that holds activations; kAny: as the device prefers.
enum class ClMemoryType : uint8_t { kAny, kImage, kBuffer };

// What a model file asks of this runtime alone.
struct OpenclHints {
  // Split kernels so that each takes at most 1 ms.
  bool limit_kernel_time = false;
  // Most commands that wait in the queue; 0: no limit.
  uint32_t queue_window_size = 0;
  ClMemoryType memory = ClMemoryType::kAny;
};

// INVALID_ARGS for a damaged file.
Result<OpenclHints> ReadOpenclHints(const DeploymentHints &hints);

// The same for a model that OpenclDevice::CheckHints accepted.
inline OpenclHints AcceptedOpenclHints(const DeploymentHints &hints) {
  const Result<OpenclHints> read = ReadOpenclHints(hints);
  return read.ok() ? read.value() : OpenclHints();
}

struct OpenclOptions {
  // The context that the application gave; null if it gave none. Engines with
  // the same context may share what they make on the device.
  std::shared_ptr<const GPUContext> context;

  // An existing folder for files of the runtime; empty: none.
  std::string storage_path;
  // The file of compiled kernels that the runtime reads and writes; empty:
  // none.
  std::string cache_full_path;
  OpenCLCacheReusePolicy cache_reuse_policy =
      OpenCLCacheReusePolicy::REUSE_SAME_GPU;
  // Of the process; used instead of a folder if not null.
  std::shared_ptr<KVStorageFactory> storage_factory;

  // Kernels and parameters that the application ships. The bytes are used
  // instead of the paths if they are not empty.
  std::vector<std::string> binary_paths;
  std::vector<unsigned char> binary;
  std::string parameter_path;
  std::vector<unsigned char> parameter;

  // The cl_command_queue of the application; null: a queue of our own.
  void *queue = nullptr;

  GPUPerfHint perf_hint = PERF_DEFAULT;
  GPUPriorityHint priority_hint = PRIORITY_DEFAULT;

  // Longest time of one kernel, in milliseconds; 0: no limit. Longer kernels
  // are to be split, so that the GPU can draw the screen in between.
  double limit_kernel_time = 0;
  // Most commands that wait in the queue; 0: no limit.
  int queue_window_size = 0;

  // MaceEngineConfig::SetOutOfRangeCheck: stop at the first operator that
  // produces NaN or infinity.
  bool out_of_range_check = false;
  // Replay launches that the driver recorded: -1: where it is expected to pay;
  // 0: never; 1: wherever the driver can.
  int replay = -1;
  // Measure the kernels on the device's own clock.
  bool profiling = false;
  // Try parameters of kernels on this device and store the best.
  bool tuning = false;
  // The time that an engine may take for that.
  double tuning_seconds = 30;
  // Test the model's kernels before the first use: if there is storage for the
  // results, unless the environment says otherwise.
  bool self_test = false;
  // The file of the results; empty: none.
  std::string self_test_path;
  // The file that tuned parameters are written to and read from; empty: none.
  std::string tuned_parameter_path;
};

// The names of the files in the storage path.
constexpr char kKernelCacheName[] = "mace_cl_compiled_program.bin";
constexpr char kTunedParameterName[] = "mace_cl_tuned_parameter.bin";
constexpr char kSelfTestName[] = "mace_cl_self_test.bin";

// Reads the configuration, the process's settings and the environment. An
// environment variable with a value that is not valid is left out with a
// warning that names it.
OpenclOptions ReadOpenclOptions(const EngineOptions &options);
// The same with the hints of a model, which the environment overrides.
OpenclOptions WithModelHints(OpenclOptions options, const OpenclHints &hints);

// The tables below are read when they are opened; a file that is missing is an
// empty table, and one that can't be used is left out with a warning. The
// result is null only where said. Keys and values are the runtime's.

// Kernels that this or an earlier process compiled; call Flush after changes.
// Empty at first if the reuse policy says so. In memory if there is no storage.
std::unique_ptr<KVStorage> OpenKernelCache(const OpenclOptions &options);
// Parameters that were tuned on this device; call Flush after changes.
std::unique_ptr<KVStorage> OpenTunedParameters(const OpenclOptions &options);
// Results of the self-test; call Flush after changes. Null if there is no
// storage.
std::unique_ptr<KVStorage> OpenSelfTests(const OpenclOptions &options);
// What the application ships; not to be changed.
std::unique_ptr<KVStorage> OpenShippedKernels(const OpenclOptions &options);
std::unique_ptr<KVStorage> OpenShippedParameters(const OpenclOptions &options);

}  // namespace mace

#endif  // MACE_RUNTIMES_OPENCL_OPTIONS_OPENCL_OPTIONS_H_
