// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Android's AHardwareBuffer as an OpenCL buffer. Its functions are opened at
// run time: a library for Android 7 or for Linux must load without them.

#ifndef MACE_RUNTIMES_OPENCL_DRIVER_HARDWARE_BUFFER_H_
#define MACE_RUNTIMES_OPENCL_DRIVER_HARDWARE_BUFFER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "mace/core/base/status.h"
#include "mace/runtimes/opencl/driver/cl_api.h"
#include "mace/runtimes/opencl/driver/opencl_runtime.h"

// As <android/hardware_buffer.h> declares it.
struct AHardwareBuffer;

namespace mace {

// AHardwareBuffer_Desc of that header, which computers other than those with an
// NDK do not have.
struct HardwareBufferDesc {
  uint32_t width;  // bytes, of a BLOB
  uint32_t height;
  uint32_t layers;
  uint32_t format;
  uint64_t usage;
  uint32_t stride;
  uint32_t reserved0;
  uint64_t reserved1;
};

inline constexpr uint32_t kHardwareBufferBlob = 0x21;
inline constexpr uint64_t kHardwareBufferGpuData = uint64_t{1} << 24;

struct HardwareBufferApi {
  void (*describe)(const AHardwareBuffer *, HardwareBufferDesc *) = nullptr;
  void (*acquire)(AHardwareBuffer *) = nullptr;
  void (*release)(AHardwareBuffer *) = nullptr;
};

// Opens MACE_NATIVE_WINDOW_LIBRARY of the environment, or the first of
// Android's libraries that has all functions. MACE_UNSUPPORTED says what was
// wrong with each; its text goes on from "... is an AHardwareBuffer, but". A
// library is never closed.
Result<HardwareBufferApi> OpenHardwareBufferApi();

// A reference, which is released with the object.
using HardwareBufferReference =
    std::unique_ptr<AHardwareBuffer, void (*)(AHardwareBuffer *)>;

// Whether the driver has an extension that imports them.
bool ImportsHardwareBuffers(const GpuDevice &device);

// A buffer of the runtime's context in the memory of a BLOB of so many bytes,
// which is not copied. The AHardwareBuffer must live as long as the buffer.
// `what` is for the error: "input 'x'".
Result<ClMemory> ImportHardwareBuffer(const OpenclRuntime &runtime,
                                      AHardwareBuffer *buffer,
                                      size_t bytes,
                                      const std::string &what);

}  // namespace mace

#endif  // MACE_RUNTIMES_OPENCL_DRIVER_HARDWARE_BUFFER_H_
