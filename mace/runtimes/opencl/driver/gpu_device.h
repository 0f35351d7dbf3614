// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// What is known of a GPU: what its driver tells, and the facts of its family.

#ifndef MACE_RUNTIMES_OPENCL_DRIVER_GPU_DEVICE_H_
#define MACE_RUNTIMES_OPENCL_DRIVER_GPU_DEVICE_H_

#include <cstddef>
#include <string>

#include "mace/core/base/status.h"
#include "mace/ops/opencl_op/opencl_op.h"
#include "mace/runtimes/opencl/driver/cl_api.h"
#include "mace/runtimes/opencl/driver/gpu_family.h"

namespace mace {

// What images that are views of a buffer must keep to.
struct ImageViews {
  size_t pitch_pixels = 0;  // rows begin at multiples; 0: there are no views
  size_t offset_bytes = 0;  // images do
};

// The device that was chosen, and its limits.
struct GpuDevice {
  cl_platform_id platform = nullptr;
  cl_device_id id = nullptr;
  std::string name;
  std::string vendor;
  std::string version;         // "OpenCL 3.0 CUDA"
  int version_number = 0;      // 300
  std::string driver_version;  // "580.159.04"
  std::string extensions;
  // Without the choices that depend on the model.
  GpuTraits traits;
  GpuFamilyFacts facts;
  bool image_support = false;
  size_t image_width = 0;
  size_t image_height = 0;
  ImageViews image_views;
  size_t max_allocation = 0;
  size_t max_items[3] = {1, 1, 1};
  // The GPU reads the host's memory.
  bool unified_memory = false;

  bool HasExtension(const char *name) const;
};

// Asks the driver for one number of a device. T may be a handle, which is a
// pointer.
template <typename T>
MaceStatus QueryDevice(const ClApi &api,
                       cl_device_id id,
                       cl_device_info what,
                       T *value) {
  MACE_CL_CHECK("clGetDeviceInfo", "",
                api.clGetDeviceInfo(id, what, sizeof(T),  // NOLINT
                                    static_cast<void *>(value), nullptr));
  return MaceStatus();
}

// Sets all but the platform. `device->id` is the device, `type` the driver's
// CL_DEVICE_TYPE of it.
MaceStatus ReadDevice(const ClApi &api, cl_device_type type, GpuDevice *device);

}  // namespace mace

#endif  // MACE_RUNTIMES_OPENCL_DRIVER_GPU_DEVICE_H_
