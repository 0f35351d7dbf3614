// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/driver/gpu_device.h"

#include <algorithm>
#include <cstdio>

namespace mace {
namespace {

Result<std::string> DeviceText(const ClApi &api,
                               cl_device_id id,
                               cl_device_info what) {
  size_t bytes = 0;
  MACE_CL_CHECK("clGetDeviceInfo", "",
                api.clGetDeviceInfo(id, what, 0, nullptr, &bytes));
  std::string text(bytes, '\0');
  MACE_CL_CHECK("clGetDeviceInfo", "",
                api.clGetDeviceInfo(id, what, bytes, &text[0], nullptr));
  while (!text.empty() && (text.back() == '\0' || text.back() == ' ')) {
    text.pop_back();
  }
  return text;
}

// "OpenCL 1.2 ..." -> 102; 0 if it is not of this form.
int VersionNumber(const std::string &version) {
  int major = 0;
  int minor = 0;
  if (std::sscanf(version.c_str(), "OpenCL %d.%d", &major, &minor) != 2) {
    return 0;
  }
  return major * 100 + minor;
}

// Images in the memory of buffers, if the driver has them and they are known to
// work.
void ReadImageViews(const ClApi &api, GpuDevice *device) {
  if (!device->image_support || !device->facts.image_views ||
      !device->HasExtension("cl_khr_image2d_from_buffer")) {
    return;
  }
  constexpr cl_device_info kPitchAlignment = 0x104A;
  constexpr cl_device_info kBaseAlignment = 0x104B;
  constexpr size_t kPixelBytes = 4 * sizeof(float);
  cl_uint pitch = 0;
  cl_uint base = 0;
  cl_uint address_bits = 0;
  if (!IsOk(QueryDevice(api, device->id, kPitchAlignment, &pitch)) ||
      !IsOk(QueryDevice(api, device->id, kBaseAlignment, &base)) ||
      !IsOk(QueryDevice(api, device->id, CL_DEVICE_MEM_BASE_ADDR_ALIGN,
                        &address_bits))) {
    return;
  }
  size_t offset = 64;
  while (offset < std::max<size_t>(base * kPixelBytes, address_bits / 8)) {
    offset *= 2;
  }
  device->image_views = {pitch, offset};
}

}  // namespace

bool GpuDevice::HasExtension(const char *wanted) const {
  const std::string list = " " + extensions + " ";
  return list.find(" " + std::string(wanted) + " ") != std::string::npos;
}

MaceStatus ReadDevice(const ClApi &api,
                      cl_device_type type,
                      GpuDevice *device) {
  const cl_device_id id = device->id;
  MACE_ASSIGN_OR_RETURN(device->name, DeviceText(api, id, CL_DEVICE_NAME));
  MACE_ASSIGN_OR_RETURN(device->vendor, DeviceText(api, id, CL_DEVICE_VENDOR));
  MACE_ASSIGN_OR_RETURN(device->version,
                        DeviceText(api, id, CL_DEVICE_VERSION));
  MACE_ASSIGN_OR_RETURN(device->driver_version,
                        DeviceText(api, id, CL_DRIVER_VERSION));
  MACE_ASSIGN_OR_RETURN(device->extensions,
                        DeviceText(api, id, CL_DEVICE_EXTENSIONS));
  device->version_number = VersionNumber(device->version);
  GpuTraits &traits = device->traits;
  const std::string text =
      device->vendor + " " + device->name + " " + device->version;
  traits.family = GpuFamilyOf(text, (type & CL_DEVICE_TYPE_CPU) != 0);
  device->facts = FactsOf(traits.family, text);
  cl_uint units = 1;
  MACE_RETURN_IF_ERROR(
      QueryDevice(api, id, CL_DEVICE_MAX_COMPUTE_UNITS, &units));
  traits.compute_units = static_cast<int>(std::max<cl_uint>(units, 1));
  cl_ulong local = 0;
  MACE_RETURN_IF_ERROR(QueryDevice(api, id, CL_DEVICE_LOCAL_MEM_SIZE, &local));
  traits.local_bytes = static_cast<size_t>(local);
  MACE_RETURN_IF_ERROR(QueryDevice(api, id, CL_DEVICE_MAX_WORK_GROUP_SIZE,
                                   &traits.max_work_group));
  traits.half_arithmetic = device->HasExtension("cl_khr_fp16");
  if (traits.family == GpuFamily::kNvidia &&
      device->HasExtension("cl_nv_device_attribute_query")) {
    constexpr cl_device_info kComputeCapabilityMajor = 0x4000;
    cl_uint major = 0;
    MACE_RETURN_IF_ERROR(QueryDevice(api, id, kComputeCapabilityMajor, &major));
    traits.ptx_mma = major >= 8;
  }
  MACE_CL_CHECK("clGetDeviceInfo", "CL_DEVICE_MAX_WORK_ITEM_SIZES",
                api.clGetDeviceInfo(id, CL_DEVICE_MAX_WORK_ITEM_SIZES,
                                    sizeof(device->max_items),
                                    device->max_items, nullptr));
  cl_ulong allocation = 0;
  MACE_RETURN_IF_ERROR(
      QueryDevice(api, id, CL_DEVICE_MAX_MEM_ALLOC_SIZE, &allocation));
  device->max_allocation = static_cast<size_t>(allocation);
  cl_bool flag = CL_FALSE;
  MACE_RETURN_IF_ERROR(
      QueryDevice(api, id, CL_DEVICE_HOST_UNIFIED_MEMORY, &flag));
  device->unified_memory = flag != CL_FALSE;
  MACE_RETURN_IF_ERROR(QueryDevice(api, id, CL_DEVICE_IMAGE_SUPPORT, &flag));
  device->image_support = flag != CL_FALSE;
  if (device->image_support) {
    MACE_RETURN_IF_ERROR(QueryDevice(api, id, CL_DEVICE_IMAGE2D_MAX_WIDTH,
                                     &device->image_width));
    MACE_RETURN_IF_ERROR(QueryDevice(api, id, CL_DEVICE_IMAGE2D_MAX_HEIGHT,
                                     &device->image_height));
  }
  ReadImageViews(api, device);
  traits.images =
      device->image_support && (traits.family == GpuFamily::kAdreno ||
                                traits.family == GpuFamily::kMali ||
                                traits.family == GpuFamily::kPowerVr);
  // They are said to read images faster than buffers; not measured.
  if (device->image_support && (traits.family == GpuFamily::kAdreno ||
                                traits.family == GpuFamily::kPowerVr)) {
    traits.weight_image_rows = device->image_height;
  }
  return MaceStatus();
}

}  // namespace mace
