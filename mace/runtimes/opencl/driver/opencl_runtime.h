// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The GPU of this machine and its programs, which all engines of a process
// share.

#ifndef MACE_RUNTIMES_OPENCL_DRIVER_OPENCL_RUNTIME_H_
#define MACE_RUNTIMES_OPENCL_DRIVER_OPENCL_RUNTIME_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "mace/core/base/status.h"
#include "mace/public/mace_runtime.h"
#include "mace/runtimes/opencl/driver/cl_api.h"
#include "mace/runtimes/opencl/driver/gpu_device.h"
#include "mace/runtimes/opencl/driver/gpu_hints.h"
#include "mace/runtimes/opencl/driver/gpu_program.h"

namespace mace {

class OpenclRuntime {
 public:
  // Chooses a GPU, or else a CPU, of the first platform that has one. Returns
  // the runtime that another engine uses, if there is one; its context then has
  // the hints of that engine. MACE_UNSUPPORTED says what was found instead.
  static Result<std::shared_ptr<OpenclRuntime>> Get(
      const GpuHints &hints = GpuHints());
  // The runtime of the context and device of an application's queue, which must
  // keep the order of commands.
  static Result<std::shared_ptr<OpenclRuntime>> OfQueue(cl_command_queue queue);
  // Whether one of them was called in this process.
  static bool WasOpened();
  ~OpenclRuntime();

  const ClApi &api() const { return *api_; }
  const GpuDevice &device() const { return device_; }
  cl_context context() const { return context_.get(); }
  // Those for which the context was made.
  const GpuHints &hints() const { return hints_; }

  // Whether all programs are there.
  bool HasAll(const std::vector<ProgramKey> &keys);
  // Makes the programs that are not there yet: from the stores, or by
  // compiling, in parallel. A status names the source and quotes the compiler.
  MaceStatus Build(const std::vector<ProgramKey> &keys,
                   const ProgramStores &stores);
  // "name|version|driver version": what stored results belong to.
  std::string DriverId() const;
  // Memory of the context. `what` is for the error: "staging". With
  // CL_MEM_COPY_HOST_PTR, the driver copies `values` now.
  Result<ClMemory> MakeBuffer(cl_mem_flags flags,
                              size_t bytes,
                              const std::string &what,
                              const void *values = nullptr) const;
  // Of four channels of float or half.
  Result<ClMemory> MakeImage(cl_mem_flags flags,
                             DataType element,
                             size_t width,
                             size_t height,
                             const std::string &what,
                             const void *values = nullptr) const;
  // A part of a buffer. Offsets are multiples of ImageViews::offset_bytes.
  Result<ClMemory> MakeSubBuffer(cl_mem buffer,
                                 size_t offset,
                                 size_t bytes,
                                 const std::string &what) const;
  // An image in the memory of a buffer, with rows of so many bytes.
  Result<ClMemory> MakeImageView(cl_mem buffer,
                                 DataType element,
                                 size_t width,
                                 size_t height,
                                 size_t row_bytes,
                                 const std::string &what) const;
  // A kernel of a program that was built.
  Result<ClKernel> MakeKernel(const ProgramKey &key, const char *name);

 private:
  OpenclRuntime() = default;
  OpenclRuntime(const OpenclRuntime &) = delete;
  MaceStatus Start(const GpuHints &hints);
  MaceStatus StartOn(cl_context context, cl_device_id device);
  // Whether the driver makes views of buffers as it says.
  void TryImageViews();
  MaceStatus ChooseDevice();
  MaceStatus MakeAll(const std::vector<ProgramKey> &missing,
                     const ProgramStores &stores);
  Result<ClProgram> Make(const ProgramKey &key,
                         const ProgramStores &stores) const;
  Result<ClProgram> Compile(const ProgramKey &key) const;
  Result<ClProgram> FromBinary(const std::vector<unsigned char> &binary) const;
  // Empty if the driver does not give it.
  std::vector<unsigned char> BinaryOf(const ClProgram &program) const;
  // Empties a cache that another device or driver filled.
  void PrepareCache(KVStorage *cache) const;
  // Stores the programs that the cache does not have.
  void FillCache(const std::vector<ProgramKey> &keys, KVStorage *cache) const;

  std::shared_ptr<const ClApi> api_;
  GpuDevice device_;
  GpuHints hints_;
  ClContext context_;
  std::mutex mutex_;
  std::map<ProgramKey, ClProgram> programs_;  // guarded by mutex_
};

// OpenclRuntime::Build on a thread of its own, or in Wait if there can be none.
// There is no thread if nothing has to be compiled. The arguments must outlive
// the object.
class BackgroundBuild {
 public:
  BackgroundBuild(OpenclRuntime *runtime,
                  const std::vector<ProgramKey> &programs,
                  const ProgramStores &stores);
  BackgroundBuild(const BackgroundBuild &) = delete;
  BackgroundBuild &operator=(const BackgroundBuild &) = delete;
  // Waits, too.
  ~BackgroundBuild();

  // Once.
  MaceStatus Wait();

 private:
  void Build();

  OpenclRuntime *runtime_;
  const std::vector<ProgramKey> &programs_;
  const ProgramStores &stores_;
  MaceStatus status_;
  std::thread thread_;
};

}  // namespace mace

#endif  // MACE_RUNTIMES_OPENCL_DRIVER_OPENCL_RUNTIME_H_
