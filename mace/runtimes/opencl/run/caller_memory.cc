// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/run/caller_memory.h"

#include <cstddef>
#include <utility>
#include <vector>

namespace mace {
namespace {

const char *KindText(bool is_image) {
  return is_image ? "an image (GPU_IMAGE)" : "a buffer (GPU_BUFFER)";
}

// T may be a handle, which is a pointer.
template <typename T>
MaceStatus Query(const ClApi &api,
                 const std::string &what,
                 cl_mem memory,
                 cl_mem_info info,
                 T *value) {
  const cl_int error =
      api.clGetMemObjectInfo(memory, info, sizeof(T),  // NOLINT
                             static_cast<void *>(value), nullptr);
  if (error == CL_INVALID_MEM_OBJECT) {
    return InvalidArgs(what, " is in GPU memory, but its data is no cl_mem (",
                       ClErrorName(error), ")");
  }
  MACE_CL_CHECK("clGetMemObjectInfo", what, error);
  return MaceStatus();
}

// `kind`: "OpenCL buffer".
MaceStatus CheckBytes(const std::string &what,
                      const GpuTensor &tensor,
                      const Shape &shape,
                      const char *kind,
                      size_t bytes) {
  if (bytes >= tensor.Bytes()) return MaceStatus();
  return InvalidArgs(what, " has the shape ", shape.ToString(), " of ",
                     DataTypeName(StorageElement(tensor.storage)), ", ",
                     tensor.Bytes(), " bytes; the given ", kind, " has ",
                     bytes);
}

MaceStatus CheckBufferSize(const ClApi &api,
                           const std::string &what,
                           cl_mem memory,
                           const GpuTensor &tensor,
                           const Shape &shape) {
  size_t bytes = 0;
  MACE_RETURN_IF_ERROR(Query(api, what, memory, CL_MEM_SIZE, &bytes));
  return CheckBytes(what, tensor, shape, "OpenCL buffer", bytes);
}

MaceStatus CheckDescription(const std::string &what,
                            const HardwareBufferDesc &desc,
                            const GpuTensor &tensor,
                            const Shape &shape) {
  if (desc.format != kHardwareBufferBlob) {
    return InvalidArgs(what, " is an AHardwareBuffer of format ", desc.format,
                       "; give one of AHARDWAREBUFFER_FORMAT_BLOB (",
                       kHardwareBufferBlob, ")");
  }
  if ((desc.usage & kHardwareBufferGpuData) == 0) {
    return InvalidArgs(what,
                       " is an AHardwareBuffer without the usage "
                       "AHARDWAREBUFFER_USAGE_GPU_DATA_BUFFER; allocate it "
                       "with that");
  }
  return CheckBytes(what, tensor, shape, "AHardwareBuffer", desc.width);
}

Result<GpuTensor> StoredTensorOf(const std::string &what,
                                 const HostTensor &tensor) {
  const auto storage = CallerStorage(tensor);
  if (!storage.ok()) {
    return Unsupported(what, ": ", StatusMessage(storage.status()));
  }
  GpuTensor stored;
  stored.storage = storage.value();
  stored.dims = GpuDims::Of(tensor.shape);
  return stored;
}

MaceStatus CheckImageSize(const ClApi &api,
                          const std::string &what,
                          cl_mem memory,
                          const GpuTensor &tensor,
                          const Shape &shape) {
  cl_image_format format = {};
  size_t width = 0;
  size_t height = 0;
  MACE_CL_CHECK("clGetImageInfo", what,
                api.clGetImageInfo(memory, CL_IMAGE_FORMAT, sizeof(format),
                                   &format, nullptr));
  MACE_CL_CHECK("clGetImageInfo", what,
                api.clGetImageInfo(memory, CL_IMAGE_WIDTH, sizeof(width),
                                   &width, nullptr));
  MACE_CL_CHECK("clGetImageInfo", what,
                api.clGetImageInfo(memory, CL_IMAGE_HEIGHT, sizeof(height),
                                   &height, nullptr));
  const bool half = StorageElement(tensor.storage) == DataType::kFloat16;
  const cl_channel_type wanted = half ? CL_HALF_FLOAT : CL_FLOAT;
  if (format.image_channel_order != CL_RGBA ||
      format.image_channel_data_type != wanted) {
    return InvalidArgs(
        what, " is given as an image of ",
        DataTypeName(StorageElement(tensor.storage)),
        ", which is one of CL_RGBA and ", half ? "CL_HALF_FLOAT" : "CL_FLOAT",
        "; the OpenCL image has channel order ", format.image_channel_order,
        " and channel type ", format.image_channel_data_type);
  }
  if (width >= tensor.Width() && height >= tensor.Height()) return MaceStatus();
  return InvalidArgs(what, " has the shape ", shape.ToString(),
                     ", which takes an image of ", tensor.Width(), " x ",
                     tensor.Height(), " pixels; the given OpenCL image has ",
                     width, " x ", height);
}

MaceStatus CheckFlags(const std::string &what,
                      bool is_input,
                      cl_mem_flags flags) {
  // Kernels may read an output that an earlier one wrote.
  if ((flags & CL_MEM_WRITE_ONLY) != 0) {
    return InvalidArgs(what,
                       " is in OpenCL memory with CL_MEM_WRITE_ONLY; give ",
                       is_input ? "CL_MEM_READ_ONLY or CL_MEM_READ_WRITE"
                                : "CL_MEM_READ_WRITE");
  }
  if (!is_input && (flags & CL_MEM_READ_ONLY) != 0) {
    return InvalidArgs(what,
                       " is in OpenCL memory with CL_MEM_READ_ONLY; give "
                       "CL_MEM_READ_WRITE");
  }
  return MaceStatus();
}

}  // namespace

bool InGpuMemory(const HostTensor &tensor) {
  return tensor.memory != CPU_BUFFER && tensor.data != nullptr &&
         tensor.shape.Elements() > 0;
}

Result<GpuStorage> CallerStorage(const HostTensor &tensor) {
  if (tensor.memory == GPU_IMAGE) {
    if (tensor.nchw) return Unsupported("GPU images are NHWC, not NCHW");
    return StorageOf(GpuLayout::kImage, tensor.data_type);
  }
  if (tensor.nchw && tensor.data_type != DataType::kFloat32) {
    return Unsupported("GPU buffers in NCHW order are of float32, not ",
                       DataTypeName(tensor.data_type));
  }
  return StorageOf(tensor.nchw ? GpuLayout::kNchw : GpuLayout::kDense,
                   tensor.data_type);
}

MaceStatus CheckCallerMemory(const OpenclRuntime &runtime,
                             const std::string &what,
                             bool is_input,
                             const HostTensor &tensor) {
  MACE_ASSIGN_OR_RETURN(const GpuTensor stored, StoredTensorOf(what, tensor));
  const ClApi &api = runtime.api();
  const auto memory = static_cast<cl_mem>(tensor.data);
  cl_mem_object_type type = 0;
  MACE_RETURN_IF_ERROR(Query(api, what, memory, CL_MEM_TYPE, &type));
  const bool is_image = type == CL_MEM_OBJECT_IMAGE2D;
  if (!is_image && type != CL_MEM_OBJECT_BUFFER) {
    return Unsupported(what, " is an OpenCL object of type ", type,
                       "; give a buffer, or a two-dimensional image");
  }
  if (is_image != (tensor.memory == GPU_IMAGE)) {
    return InvalidArgs(what, " is given as ", KindText(!is_image),
                       ", but its OpenCL memory is ", KindText(is_image));
  }
  cl_context context = nullptr;
  MACE_RETURN_IF_ERROR(Query(api, what, memory, CL_MEM_CONTEXT, &context));
  if (context != runtime.context()) {
    return InvalidArgs(what,
                       " is memory of another OpenCL context than the "
                       "engine's; create the engine with a queue of that "
                       "context, by GPUContextBuilder::SetOpenCLQueue");
  }
  cl_mem_flags flags = 0;
  MACE_RETURN_IF_ERROR(Query(api, what, memory, CL_MEM_FLAGS, &flags));
  MACE_RETURN_IF_ERROR(CheckFlags(what, is_input, flags));
  return is_image ? CheckImageSize(api, what, memory, stored, tensor.shape)
                  : CheckBufferSize(api, what, memory, stored, tensor.shape);
}

MaceStatus HardwareBufferImports::Take(const OpenclRuntime &runtime,
                                       const std::string &what,
                                       int tensor,
                                       const HostTensor &given) {
  MACE_ASSIGN_OR_RETURN(const GpuTensor stored, StoredTensorOf(what, given));
  if (api_.describe == nullptr) {
    const auto opened = OpenHardwareBufferApi();
    if (!opened.ok()) {
      return Unsupported(what, " is an AHardwareBuffer, but ",
                         StatusMessage(opened.status()),
                         "; give GPU_BUFFER or CPU_BUFFER");
    }
    api_ = opened.value();
  }
  if (!ImportsHardwareBuffers(runtime.device())) {
    return Unsupported(
        what, " is an AHardwareBuffer, but the driver of ",
        runtime.device().name,
        " has neither cl_arm_import_memory_android_hardware_buffer nor "
        "cl_qcom_android_ahardwarebuffer_host_ptr; give GPU_BUFFER or "
        "CPU_BUFFER");
  }
  auto *buffer = static_cast<AHardwareBuffer *>(given.data);
  HardwareBufferDesc desc = {};
  api_.describe(buffer, &desc);
  // Also of one that is imported: the type of the elements may be another now.
  MACE_RETURN_IF_ERROR(CheckDescription(what, desc, stored, given.shape));
  std::shared_ptr<const CallerMemory> &import = imports_[tensor];
  if (import != nullptr && import->given == given.data) return MaceStatus();
  auto made = std::make_shared<CallerMemory>();
  made->given = given.data;
  api_.acquire(buffer);
  made->hardware_buffer = HardwareBufferReference(buffer, api_.release);
  MACE_ASSIGN_OR_RETURN(
      made->memory, ImportHardwareBuffer(runtime, buffer, desc.width, what));
  import = std::move(made);
  return MaceStatus();
}

std::shared_ptr<const CallerMemory> HardwareBufferImports::Of(
    int tensor) const {
  const auto found = imports_.find(tensor);
  return found == imports_.end() ? nullptr : found->second;
}

void HardwareBufferImports::DropOthers(
    const std::vector<CallerTensor> &callers) {
  for (const CallerTensor &caller : callers) {
    if (InGpuMemory(caller.host) && caller.host.memory != GPU_HARDWARE_BUFFER) {
      imports_.erase(caller.tensor);
    }
  }
}

}  // namespace mace
