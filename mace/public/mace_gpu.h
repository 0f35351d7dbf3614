// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// The settings of engines on the GPU, which MaceEngineConfig::SetGPUContext and
// SetGPUHints take: compiled kernels that are stored, tuned parameters, the
// application's OpenCL queue, clock and priority. See docs/user/gpu.md.

#ifndef MACE_PUBLIC_MACE_GPU_H_
#define MACE_PUBLIC_MACE_GPU_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace mace {

// How fast the GPU's clock should run: MaceEngineConfig::SetGPUHints.
enum GPUPerfHint : int {
  PERF_DEFAULT = 0,
  PERF_LOW = 1,
  PERF_NORMAL = 2,
  PERF_HIGH = 3,
};

// How urgent an engine's work on the GPU is compared with other programs':
// MaceEngineConfig::SetGPUHints.
enum GPUPriorityHint : int {
  PRIORITY_DEFAULT = 0,
  PRIORITY_LOW = 1,
  PRIORITY_NORMAL = 2,
  PRIORITY_HIGH = 3,
};

// What an engine does with OpenCL kernels that an earlier engine compiled and
// stored.
enum class OpenCLCacheReusePolicy : int {
  REUSE_NONE = 0,      // compile them again
  REUSE_SAME_GPU = 1,  // use those that the same GPU and driver compiled
};

// What engines on the GPU store and read: compiled kernels and tuned
// parameters. Made by GPUContextBuilder; any number of engines may use one at
// the same time. (AP-12)
class OpenclContext {
 private:
  friend class GPUContextBuilder;
  friend class MaceEngineConfig;
  friend struct OpenclContextAccess;
  OpenclContext() = default;

  std::string storage_path_;
  std::string cache_full_path_;
  OpenCLCacheReusePolicy cache_reuse_policy_ =
      OpenCLCacheReusePolicy::REUSE_SAME_GPU;
  std::vector<std::string> binary_paths_;
  std::vector<unsigned char> binary_;
  std::string parameter_path_;
  std::vector<unsigned char> parameter_;
  void *queue_ = nullptr;
  std::string problem_;  // the first wrong argument; empty if there is none
};
using GPUContext = OpenclContext;

// Makes a GPUContext. Every setting is optional, and an empty path or list
// leaves it out. A wrong argument is reported by SetGPUContext. (AP-09)
//
//   config.SetGPUContext(mace::GPUContextBuilder()
//                            .SetStoragePath("/data/data/com.example/files")
//                            .Finalize());
//
// This class is code of the application, so that a library without a GPU
// runtime need not contain it. As the containers of C++ do, it throws
// std::bad_alloc if memory runs out.
class GPUContextBuilder {
 public:
  GPUContextBuilder() = default;
  GPUContextBuilder(const GPUContextBuilder &) = delete;
  GPUContextBuilder &operator=(const GPUContextBuilder &) = delete;

  // A folder that exists and that the application may read and write. Engines
  // store compiled kernels there, which makes the next start faster. Set it
  // even if the application ships compiled kernels: a new driver needs others.
  GPUContextBuilder &SetStoragePath(const std::string &path) {
    context_.storage_path_ = path;
    return *this;
  }
  // The file itself, instead of one of a fixed name in the storage path.
  GPUContextBuilder &SetOpenCLCacheFullPath(const std::string &path) {
    context_.cache_full_path_ = path;
    return *this;
  }
  // Default: REUSE_SAME_GPU.
  GPUContextBuilder &SetOpenCLCacheReusePolicy(
      const OpenCLCacheReusePolicy &policy) {
    if (policy != OpenCLCacheReusePolicy::REUSE_NONE &&
        policy != OpenCLCacheReusePolicy::REUSE_SAME_GPU) {
      return Refuse(
          "SetOpenCLCacheReusePolicy: give REUSE_NONE or "
          "REUSE_SAME_GPU");
    }
    context_.cache_reuse_policy_ = policy;
    return *this;
  }
  // Files with kernels that were compiled before (by `converter.py run`, see
  // docs/user/gpu.md). The first file that can be read is used; it is never
  // written. The kernels are good only for the GPU and driver that compiled
  // them; others are compiled as if there were no file. (AP-10)
  GPUContextBuilder &SetOpenCLBinaryPaths(
      const std::vector<std::string> &paths) {
    context_.binary_paths_ = paths;
    return *this;
  }
  // The contents of such a file, which are copied. They are used instead of
  // SetOpenCLBinaryPaths.
  GPUContextBuilder &SetOpenCLBinary(const unsigned char *data, size_t size) {
    if (data == nullptr && size != 0) {
      return Refuse("SetOpenCLBinary: the data is null, but the size is not 0");
    }
    context_.binary_.assign(data, data + size);
    return *this;
  }
  // A file with parameters that were tuned for the GPU (by `converter.py run`,
  // see docs/user/gpu.md), which is only read. If it can't be read or is of
  // another GPU, engines use default parameters. (AP-11)
  GPUContextBuilder &SetOpenCLParameterPath(const std::string &path) {
    context_.parameter_path_ = path;
    return *this;
  }
  // The contents of such a file, which are copied. They are used instead of
  // SetOpenCLParameterPath.
  GPUContextBuilder &SetOpenCLParameter(const unsigned char *data,
                                        size_t size) {
    if (data == nullptr && size != 0) {
      return Refuse(
          "SetOpenCLParameter: the data is null, but the size is not 0");
    }
    context_.parameter_.assign(data, data + size);
    return *this;
  }
  // The application's cl_command_queue, on which engines with this context then
  // run, in the cl_context and on the cl_device_id of the queue. Inputs and
  // outputs can be memory of that context (MemoryType). The queue must keep the
  // order of commands, and must exist until the engines are created, which
  // retain it. Hints for the GPU have no effect then. Null: engines have queues
  // and a context of their own.
  GPUContextBuilder &SetOpenCLQueue(void *command_queue) {
    context_.queue_ = command_queue;
    return *this;
  }

  // Never null. The builder can be used again afterwards, which does not change
  // the result.
  std::shared_ptr<GPUContext> Finalize() {
    return std::shared_ptr<GPUContext>(new GPUContext(context_));
  }

 private:
  GPUContextBuilder &Refuse(const char *problem) {
    if (context_.problem_.empty()) context_.problem_ = problem;
    return *this;
  }

  GPUContext context_;
};

}  // namespace mace

#endif  // MACE_PUBLIC_MACE_GPU_H_
