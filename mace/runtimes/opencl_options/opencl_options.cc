// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl_options/opencl_options.h"

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "mace/core/base/logging.h"
#include "mace/core/base/status.h"
#include "mace/core/model/field_numbers.h"
#include "mace/core/model/message_fields.h"
#include "mace/runtimes/opencl_options/file_storage.h"

namespace mace {

struct OpenclContextAccess {
  static void Read(const OpenclContext &context, OpenclOptions *options) {
    options->storage_path = context.storage_path_;
    options->cache_full_path = context.cache_full_path_;
    options->cache_reuse_policy = context.cache_reuse_policy_;
    options->binary_paths = context.binary_paths_;
    options->binary = context.binary_;
    options->parameter_path = context.parameter_path_;
    options->parameter = context.parameter_;
    options->queue = context.queue_;
  }
};

namespace {

struct ProcessSettings {
  std::mutex mutex;
  std::shared_ptr<KVStorageFactory> storage;
  std::vector<std::string> binary_paths;
};

// Never destroyed: engines of other threads may outlive static objects.
ProcessSettings &Process() {
  static auto *settings = new ProcessSettings;
  return *settings;
}

// Empty if it is not set.
std::string FromEnvironment(const char *variable) {
  const char *value = std::getenv(variable);
  return value == nullptr ? std::string() : std::string(value);
}

// -1 if it is not set, or if the value is none of 0 to `most`.
double NumberFromEnvironment(const char *variable, int most, bool whole) {
  const std::string text = FromEnvironment(variable);
  if (text.empty()) return -1;
  char *end = nullptr;
  errno = 0;
  const double value = std::strtod(text.c_str(), &end);
  if (*end == '\0' && errno == 0 && value >= 0 && value <= most &&
      (!whole || value == std::floor(value))) {
    return value;
  }
  LOG(WARNING) << variable << "=" << text << " has no effect; give a "
               << (whole ? "whole " : "") << "number from 0 to " << most;
  return -1;
}

int CountFromEnvironment(const char *variable, int most) {
  return static_cast<int>(NumberFromEnvironment(variable, most, true));
}

constexpr int kMostMilliseconds = 10000;
constexpr int kMostTuningSeconds = 86400;
constexpr int kMostCommands = 1000000;

std::string InFolder(const std::string &folder, const char *name) {
  if (folder.empty()) return std::string();
  return folder.back() == '/' ? folder + name : folder + "/" + name;
}

std::unique_ptr<KVStorage> Loaded(std::unique_ptr<KVStorage> storage) {
  storage->Load();
  return storage;
}

// From bytes, or else from the first of the files that can be read.
std::unique_ptr<KVStorage> OpenShipped(const char *what,
                                       const std::vector<unsigned char> &bytes,
                                       const std::vector<std::string> &paths) {
  const auto parsed = [what](const std::vector<unsigned char> &contents,
                             const std::string &origin) {
    Result<KVTable> table = ParseTable(contents.data(), contents.size());
    if (table.ok()) return CreateMemoryStorage(std::move(table.value()));
    LOG(WARNING) << what << " are not used: " << origin << " "
                 << StatusMessage(table.status());
    return CreateMemoryStorage({});
  };
  if (!bytes.empty()) return parsed(bytes, "the array in memory");
  std::string problems;
  for (const std::string &path : paths) {
    if (path.empty()) continue;
    Result<std::vector<unsigned char>> contents = ReadWholeFile(path);
    if (contents.ok()) return parsed(contents.value(), "file '" + path + "'");
    problems += (problems.empty() ? "" : "; ");
    problems += StatusMessage(contents.status());
  }
  if (!problems.empty()) LOG(WARNING) << what << " are not used: " << problems;
  return CreateMemoryStorage({});
}

}  // namespace

namespace opencl {

void SetProcessStorage(std::shared_ptr<KVStorageFactory> factory) {
  ProcessSettings &process = Process();
  const std::lock_guard<std::mutex> lock(process.mutex);
  process.storage = std::move(factory);
}

void SetProcessBinaryPaths(const std::vector<std::string> &paths) {
  ProcessSettings &process = Process();
  const std::lock_guard<std::mutex> lock(process.mutex);
  process.binary_paths = paths;
}

}  // namespace opencl

std::shared_ptr<GPUContext> MakeGpuContext(const mace_gpu &gpu) {
  const auto text = [](const char *path) {
    return path == nullptr ? "" : path;
  };
  GPUContextBuilder builder;
  builder.SetStoragePath(text(gpu.storage_path))
      .SetOpenCLCacheFullPath(text(gpu.cache_full_path))
      .SetOpenCLBinaryPaths({text(gpu.binary_path)})
      .SetOpenCLBinary(static_cast<const unsigned char *>(gpu.binary),
                       gpu.binary_size)
      .SetOpenCLParameterPath(text(gpu.parameter_path))
      .SetOpenCLParameter(static_cast<const unsigned char *>(gpu.parameter),
                          gpu.parameter_size)
      .SetOpenCLQueue(gpu.queue);
  if (gpu.reuse_none != 0) {
    builder.SetOpenCLCacheReusePolicy(OpenCLCacheReusePolicy::REUSE_NONE);
  }
  return builder.Finalize();
}

OpenclOptions ReadOpenclOptions(const EngineOptions &options) {
  OpenclOptions result;
  result.context = options.device_options.Get(kGpuContext);
  if (result.context != nullptr) {
    OpenclContextAccess::Read(*result.context, &result);
  }
  {
    ProcessSettings &process = Process();
    const std::lock_guard<std::mutex> lock(process.mutex);
    if (result.storage_path.empty()) result.storage_factory = process.storage;
    if (result.binary.empty() && result.binary_paths.empty()) {
      result.binary_paths = process.binary_paths;
    }
  }
  if (result.storage_path.empty() && result.storage_factory == nullptr) {
    result.storage_path = FromEnvironment("MACE_INTERNAL_STORAGE_PATH");
  }
  if (result.cache_full_path.empty()) {
    result.cache_full_path = InFolder(result.storage_path, kKernelCacheName);
  }
  if (!result.storage_path.empty()) {
    result.self_test_path = InFolder(result.storage_path, kSelfTestName);
  } else if (!result.cache_full_path.empty()) {
    result.self_test_path = result.cache_full_path + ".self_test";
  }
  const int self_test = CountFromEnvironment("MACE_OPENCL_SELF_TEST", 1);
  result.self_test = self_test < 0 ? !result.self_test_path.empty() ||
                                         result.storage_factory != nullptr
                                   : self_test == 1;
  result.tuned_parameter_path = FromEnvironment("MACE_RUN_PARAMETER_PATH");
  if (result.tuned_parameter_path.empty()) {
    result.tuned_parameter_path =
        InFolder(result.storage_path, kTunedParameterName);
  }
  result.out_of_range_check = options.check_numerics;
  const GpuOptions hints = options.device_options.Get(kGpuOptions);
  result.perf_hint = hints.perf;
  result.priority_hint = hints.priority;
  result.profiling = CountFromEnvironment("MACE_OPENCL_PROFILING", 1) == 1;
  result.replay = CountFromEnvironment("MACE_OPENCL_COMMAND_BUFFERS", 1);
  result.tuning = CountFromEnvironment("MACE_TUNING", 1) == 1;
  const int tuning_seconds =
      CountFromEnvironment("MACE_TUNING_SECONDS", kMostTuningSeconds);
  if (tuning_seconds >= 0) result.tuning_seconds = tuning_seconds;
  return WithModelHints(std::move(result), OpenclHints());
}

Result<OpenclHints> ReadOpenclHints(const DeploymentHints &hints) {
  OpenclHints result;
  // The reader of the model has been through the fields: none ends early, so
  // that protozero throws nothing here.
  MessageFields fields(protozero::pbf_reader(hints.encoded), {"hints"});
  while (fields.Next()) {
    switch (fields.tag()) {
      case DeploymentHintsField::kLimitOpenclKernelTime: {
        uint32_t limited = 0;
        MACE_RETURN_IF_ERROR(fields.Uint32(&limited));
        result.limit_kernel_time = limited != 0;
        break;
      }
      case DeploymentHintsField::kOpenclQueueWindowSize:
        MACE_RETURN_IF_ERROR(fields.Uint32(&result.queue_window_size));
        break;
      case DeploymentHintsField::kClMemType: {
        std::string memory;
        MACE_RETURN_IF_ERROR(fields.Bytes(&memory));
        if (memory == "image") result.memory = ClMemoryType::kImage;
        if (memory == "buffer") result.memory = ClMemoryType::kBuffer;
        break;
      }
      default:
        fields.Skip();
    }
  }
  return result;
}

OpenclOptions WithModelHints(OpenclOptions options, const OpenclHints &hints) {
  options.limit_kernel_time = NumberFromEnvironment(
      "MACE_LIMIT_OPENCL_KERNEL_TIME", kMostMilliseconds, false);
  if (options.limit_kernel_time < 0) {
    options.limit_kernel_time = hints.limit_kernel_time ? 1 : 0;
  }
  options.queue_window_size =
      CountFromEnvironment("MACE_OPENCL_QUEUE_WINDOW_SIZE", kMostCommands);
  if (options.queue_window_size < 0) {
    options.queue_window_size = static_cast<int>(hints.queue_window_size);
  }
  return options;
}

std::unique_ptr<KVStorage> OpenKernelCache(const OpenclOptions &options) {
  std::unique_ptr<KVStorage> storage;
  if (!options.cache_full_path.empty()) {
    storage = opencl::CreateFileStorage(options.cache_full_path);
  } else if (options.storage_factory != nullptr) {
    storage = options.storage_factory->CreateStorage(kKernelCacheName);
  }
  if (storage == nullptr) return CreateMemoryStorage({});
  if (options.cache_reuse_policy == OpenCLCacheReusePolicy::REUSE_NONE) {
    return storage;
  }
  return Loaded(std::move(storage));
}

std::unique_ptr<KVStorage> OpenTunedParameters(const OpenclOptions &options) {
  std::unique_ptr<KVStorage> storage;
  if (!options.tuned_parameter_path.empty()) {
    storage = opencl::CreateFileStorage(options.tuned_parameter_path);
  } else if (options.storage_factory != nullptr) {
    storage = options.storage_factory->CreateStorage(kTunedParameterName);
  }
  if (storage == nullptr) return CreateMemoryStorage({});
  return Loaded(std::move(storage));
}

std::unique_ptr<KVStorage> OpenSelfTests(const OpenclOptions &options) {
  std::unique_ptr<KVStorage> storage;
  if (!options.self_test_path.empty()) {
    storage = opencl::CreateFileStorage(options.self_test_path);
  } else if (options.storage_factory != nullptr) {
    storage = options.storage_factory->CreateStorage(kSelfTestName);
  }
  return storage == nullptr ? nullptr : Loaded(std::move(storage));
}

std::unique_ptr<KVStorage> OpenShippedKernels(const OpenclOptions &options) {
  return OpenShipped("precompiled OpenCL kernels", options.binary,
                     options.binary_paths);
}

std::unique_ptr<KVStorage> OpenShippedParameters(const OpenclOptions &options) {
  return OpenShipped("tuned OpenCL parameters", options.parameter,
                     {options.parameter_path});
}

}  // namespace mace
