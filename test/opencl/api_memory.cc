// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Buffers, images, samplers.

#include <algorithm>
#include <string>

#include "test/opencl/call.h"
#include "test/opencl/import.h"

using mace::test_opencl::Call;
using mace::test_opencl::CheckImportIsAlive;
using mace::test_opencl::CurrentFamily;
using mace::test_opencl::Family;
using mace::test_opencl::HasExtension;
using mace::test_opencl::Import;
using mace::test_opencl::ImportOfQcom;
using mace::test_opencl::kExtHostPtr;
using mace::test_opencl::Kind;
using mace::test_opencl::Object;
using mace::test_opencl::State;
using mace::test_opencl::target;
using mace::test_opencl::TargetExtensions;

namespace {

uint64_t PixelBytes(const cl_image_format &format) {
  uint64_t channels = 4;
  switch (format.image_channel_order) {
    case CL_R:
    case CL_A:
    case CL_Rx:
    case CL_INTENSITY:
    case CL_LUMINANCE:
      channels = 1;
      break;
    case CL_RG:
    case CL_RA:
    case CL_RGx:
      channels = 2;
      break;
    default:
      break;
  }
  switch (format.image_channel_data_type) {
    case CL_SNORM_INT8:
    case CL_UNORM_INT8:
    case CL_SIGNED_INT8:
    case CL_UNSIGNED_INT8:
      return channels;
    case CL_SIGNED_INT32:
    case CL_UNSIGNED_INT32:
    case CL_FLOAT:
      return 4 * channels;
    case CL_UNORM_SHORT_565:
    case CL_UNORM_SHORT_555:
      return 2;
    case CL_UNORM_INT_101010:
      return 4;
    default:
      return 2 * channels;
  }
}

// The extents of an image: those that its type does not have are 1.
struct Extents {
  uint64_t width = 1;
  uint64_t height = 1;
  uint64_t depth = 1;
  uint64_t layers = 1;

  uint64_t pixels() const { return width * height * depth * layers; }
};

Extents ExtentsOf(const cl_image_desc &desc) {
  Extents extents;
  extents.width = desc.image_width;
  switch (desc.image_type) {
    case CL_MEM_OBJECT_IMAGE2D_ARRAY:
      extents.layers = desc.image_array_size;
      extents.height = desc.image_height;
      break;
    case CL_MEM_OBJECT_IMAGE2D:
      extents.height = desc.image_height;
      break;
    case CL_MEM_OBJECT_IMAGE3D:
      extents.height = desc.image_height;
      extents.depth = desc.image_depth;
      break;
    case CL_MEM_OBJECT_IMAGE1D_ARRAY:
      extents.layers = desc.image_array_size;
      break;
    default:
      break;
  }
  return extents;
}

void CheckImage(const Family &family,
                const cl_image_desc &desc,
                const Extents &extents,
                Call *call) {
  if (!family.images) {
    call->Refuse(CL_INVALID_OPERATION, "the device has no images");
    return;
  }
  uint64_t width = family.image2d[0];
  uint64_t height = family.image2d[1];
  if (desc.image_type == CL_MEM_OBJECT_IMAGE3D) {
    width = family.image3d[0];
    height = family.image3d[1];
  } else if (desc.image_type == CL_MEM_OBJECT_IMAGE1D_BUFFER) {
    width = family.image_buffer;
  }
  if (extents.width > width || extents.height > height ||
      extents.depth > std::max<uint64_t>(family.image3d[2], 1) ||
      extents.layers > std::max<uint64_t>(family.image_array, 1)) {
    call->Refuse(CL_INVALID_IMAGE_SIZE,
                 "an image of " + std::to_string(extents.width) + "x" +
                     std::to_string(extents.height) + "; the device allows " +
                     std::to_string(width) + "x" + std::to_string(height));
  }
}

// An image in the memory of a buffer.
void CheckView(const Family &family,
               const cl_image_desc &desc,
               uint64_t pixel_bytes,
               Call *call) {
  if (family.pitch_align_pixels == 0) {
    call->Refuse(CL_INVALID_IMAGE_DESCRIPTOR,
                 "the device has no cl_khr_image2d_from_buffer");
    return;
  }
  const uint64_t row = desc.image_row_pitch;
  if (row < desc.image_width * pixel_bytes ||
      row % (family.pitch_align_pixels * pixel_bytes) != 0) {
    call->Refuse(CL_INVALID_IMAGE_DESCRIPTOR,
                 "rows of " + std::to_string(row) + " bytes for " +
                     std::to_string(desc.image_width) +
                     " pixels; the device wants multiples of " +
                     std::to_string(family.pitch_align_pixels) + " pixels");
    return;
  }
  size_t bytes = 0;
  const cl_int error = target().clGetMemObjectInfo(
      desc.buffer, CL_MEM_SIZE, sizeof bytes, &bytes, nullptr);
  if (error == CL_SUCCESS && bytes < row * desc.image_height) {
    call->Refuse(CL_INVALID_IMAGE_DESCRIPTOR,
                 "an image of " + std::to_string(row * desc.image_height) +
                     " bytes in a buffer of " + std::to_string(bytes));
  }
}

void CheckBytes(const Family *family,
                uint64_t bytes,
                cl_int error,
                Call *call) {
  if (family == nullptr) return;
  if (bytes > family->allocation_bytes) {
    call->Refuse(error, std::to_string(bytes) + " bytes; the device allows " +
                            std::to_string(family->allocation_bytes));
    return;
  }
  State &state = State::Get();
  std::unique_lock<std::mutex> lock(state.mutex);
  const bool is_full = state.account.bytes() + bytes > family->global_bytes;
  lock.unlock();
  if (is_full) call->Deny(CL_MEM_OBJECT_ALLOCATION_FAILURE);
}

// What is to be recorded of new memory; with the lock held.
auto SetMemory(cl_mem_flags flags, uint64_t bytes, bool owns_bytes) {
  return [=](Object *object) {
    object->release_now = (flags & CL_MEM_USE_HOST_PTR) != 0;
    State::Get().account.SetBytes(object, bytes, owns_bytes);
  };
}

cl_mem CreateImage(Call *call,
                   cl_context context,
                   cl_mem_flags flags,
                   const cl_image_format *format,
                   const cl_image_desc *desc,
                   cl_int *errcode_ret,
                   const std::function<cl_mem(cl_int *)> &create) {
  call->Uses(Kind::kContext, context);
  uint64_t bytes = 0;
  bool owns_bytes = true;
  if (format != nullptr && desc != nullptr) {
    const Extents extents = ExtentsOf(*desc);
    bytes = extents.pixels() * PixelBytes(*format);
    owns_bytes = desc->buffer == nullptr;
    call->Detail(std::to_string(extents.width) + "x" +
                 std::to_string(extents.height) + ", " + std::to_string(bytes) +
                 " bytes");
    if (!owns_bytes) call->Uses(Kind::kMemory, desc->buffer);
    if (const Family *family = CurrentFamily()) {
      CheckImage(*family, *desc, extents, call);
      if (owns_bytes) {
        CheckBytes(family, bytes, CL_INVALID_IMAGE_SIZE, call);
      } else if (desc->image_type == CL_MEM_OBJECT_IMAGE2D) {
        CheckView(*family, *desc, PixelBytes(*format), call);
      }
    }
  }
  if (!call->forwards()) return call->RefusedHandle<cl_mem>(errcode_ret);
  cl_int error;
  cl_mem made = create(&error);
  return call->Made(Kind::kImage, made, context, error, errcode_ret,
                    SetMemory(flags, bytes, owns_bytes));
}

}  // namespace

cl_mem clCreateBuffer(cl_context context,
                      cl_mem_flags flags,
                      size_t size,
                      void *host_ptr,
                      cl_int *errcode_ret) {
  Call call("clCreateBuffer");
  call.Detail(std::to_string(size) + " bytes");
  call.Uses(Kind::kContext, context);
  // Drivers of others than Qualcomm refuse the flag by themselves.
  const bool imports = (flags & kExtHostPtr) != 0 && CurrentFamily() != nullptr;
  Import import = {flags, size, host_ptr, nullptr};
  if (imports) {
    import = ImportOfQcom(flags, size, host_ptr, &call);
  } else {
    CheckBytes(CurrentFamily(), size, CL_INVALID_BUFFER_SIZE, &call);
  }
  if (!call.forwards()) return call.RefusedHandle<cl_mem>(errcode_ret);
  cl_int error;
  cl_mem made = target().clCreateBuffer(context, import.flags, import.bytes,
                                        import.memory, &error);
  return call.Made(Kind::kBuffer, made, context, error, errcode_ret,
                   [&](Object *object) {
                     SetMemory(flags, import.bytes, !imports)(object);
                     object->hardware_buffer = import.hardware_buffer;
                   });
}

cl_mem clCreateSubBuffer(cl_mem buffer,
                         cl_mem_flags flags,
                         cl_buffer_create_type buffer_create_type,
                         const void *buffer_create_info,
                         cl_int *errcode_ret) {
  Call call("clCreateSubBuffer");
  call.Uses(Kind::kBuffer, buffer);
  uint64_t bytes = 0;
  if (buffer_create_type == CL_BUFFER_CREATE_TYPE_REGION &&
      buffer_create_info != nullptr) {
    const auto *region =
        static_cast<const cl_buffer_region *>(buffer_create_info);
    bytes = region->size;
    call.Detail(std::to_string(bytes) + " bytes from " +
                std::to_string(region->origin));
    const Family *family = CurrentFamily();
    if (family != nullptr &&
        region->origin % (family->address_align_bits / 8) != 0) {
      call.Refuse(CL_MISALIGNED_SUB_BUFFER_OFFSET,
                  "from byte " + std::to_string(region->origin) +
                      "; the device wants multiples of " +
                      std::to_string(family->address_align_bits / 8));
    }
  }
  if (!call.forwards()) return call.RefusedHandle<cl_mem>(errcode_ret);
  cl_int error;
  cl_mem made = target().clCreateSubBuffer(buffer, flags, buffer_create_type,
                                           buffer_create_info, &error);
  return call.Made(Kind::kBuffer, made, buffer, error, errcode_ret,
                   SetMemory(flags, bytes, false));
}

cl_mem clCreateImage(cl_context context,
                     cl_mem_flags flags,
                     const cl_image_format *image_format,
                     const cl_image_desc *image_desc,
                     void *host_ptr,
                     cl_int *errcode_ret) {
  Call call("clCreateImage");
  const auto create = [&](cl_int *error) {
    // A driver without cl_khr_image2d_from_buffer makes an image of its own. To
    // a program that writes to the image before it reads there, and takes what
    // is in the buffer for lost, they are the same.
    cl_image_desc own{};
    const bool is_view = image_desc != nullptr && CurrentFamily() != nullptr &&
                         image_desc->image_type == CL_MEM_OBJECT_IMAGE2D &&
                         image_desc->buffer != nullptr;
    if (is_view &&
        !HasExtension(TargetExtensions(), "cl_khr_image2d_from_buffer")) {
      own.image_type = image_desc->image_type;
      own.image_width = image_desc->image_width;
      own.image_height = image_desc->image_height;
    }
    return target().clCreateImage(context, flags, image_format,
                                  own.image_width > 0 ? &own : image_desc,
                                  host_ptr, error);
  };
  return CreateImage(&call, context, flags, image_format, image_desc,
                     errcode_ret, create);
}

cl_mem clCreateImage2D(cl_context context,
                       cl_mem_flags flags,
                       const cl_image_format *image_format,
                       size_t image_width,
                       size_t image_height,
                       size_t image_row_pitch,
                       void *host_ptr,
                       cl_int *errcode_ret) {
  Call call("clCreateImage2D");
  cl_image_desc desc{};
  desc.image_type = CL_MEM_OBJECT_IMAGE2D;
  desc.image_width = image_width;
  desc.image_height = image_height;
  return CreateImage(&call, context, flags, image_format, &desc, errcode_ret,
                     [&](cl_int *error) {
                       return target().clCreateImage2D(
                           context, flags, image_format, image_width,
                           image_height, image_row_pitch, host_ptr, error);
                     });
}

cl_mem clCreateImage3D(cl_context context,
                       cl_mem_flags flags,
                       const cl_image_format *image_format,
                       size_t image_width,
                       size_t image_height,
                       size_t image_depth,
                       size_t image_row_pitch,
                       size_t image_slice_pitch,
                       void *host_ptr,
                       cl_int *errcode_ret) {
  Call call("clCreateImage3D");
  cl_image_desc desc{};
  desc.image_type = CL_MEM_OBJECT_IMAGE3D;
  desc.image_width = image_width;
  desc.image_height = image_height;
  desc.image_depth = image_depth;
  return CreateImage(&call, context, flags, image_format, &desc, errcode_ret,
                     [&](cl_int *error) {
                       return target().clCreateImage3D(
                           context, flags, image_format, image_width,
                           image_height, image_depth, image_row_pitch,
                           image_slice_pitch, host_ptr, error);
                     });
}

cl_int clRetainMemObject(cl_mem memobj) {
  return Call("clRetainMemObject")
      .Retain(Kind::kMemory, memobj, target().clRetainMemObject);
}

cl_int clReleaseMemObject(cl_mem memobj) {
  Call call("clReleaseMemObject");
  CheckImportIsAlive(memobj, &call);
  return call.Release(Kind::kMemory, memobj, target().clReleaseMemObject);
}

cl_int clGetSupportedImageFormats(cl_context context,
                                  cl_mem_flags flags,
                                  cl_mem_object_type image_type,
                                  cl_uint num_entries,
                                  cl_image_format *image_formats,
                                  cl_uint *num_image_formats) {
  Call call("clGetSupportedImageFormats");
  call.Uses(Kind::kContext, context);
  if (!call.forwards()) return call.Refused();
  const Family *family = CurrentFamily();
  if (family != nullptr && !family->images) {
    if (num_image_formats != nullptr) *num_image_formats = 0;
    return call.Return(CL_SUCCESS);
  }
  return call.Return(target().clGetSupportedImageFormats(
      context, flags, image_type, num_entries, image_formats,
      num_image_formats));
}

cl_int clGetMemObjectInfo(cl_mem memobj,
                          cl_mem_info param_name,
                          size_t param_value_size,
                          void *param_value,
                          size_t *param_value_size_ret) {
  Call call("clGetMemObjectInfo");
  call.Uses(Kind::kMemory, memobj);
  if (!call.forwards()) return call.Refused();
  return call.Return(target().clGetMemObjectInfo(
      memobj, param_name, param_value_size, param_value, param_value_size_ret));
}

cl_int clGetImageInfo(cl_mem image,
                      cl_image_info param_name,
                      size_t param_value_size,
                      void *param_value,
                      size_t *param_value_size_ret) {
  Call call("clGetImageInfo");
  call.Uses(Kind::kImage, image);
  if (!call.forwards()) return call.Refused();
  return call.Return(target().clGetImageInfo(
      image, param_name, param_value_size, param_value, param_value_size_ret));
}

cl_int clSetMemObjectDestructorCallback(
    cl_mem memobj,
    void(CL_CALLBACK *pfn_notify)(cl_mem memobj, void *user_data),
    void *user_data) {
  Call call("clSetMemObjectDestructorCallback");
  call.Uses(Kind::kMemory, memobj);
  if (!call.forwards()) return call.Refused();
  {
    State &state = State::Get();
    const std::lock_guard<std::mutex> lock(state.mutex);
    if (Object *object = state.account.Find(memobj)) object->release_now = true;
  }
  return call.Return(
      target().clSetMemObjectDestructorCallback(memobj, pfn_notify, user_data));
}

cl_sampler clCreateSampler(cl_context context,
                           cl_bool normalized_coords,
                           cl_addressing_mode addressing_mode,
                           cl_filter_mode filter_mode,
                           cl_int *errcode_ret) {
  Call call("clCreateSampler");
  call.Uses(Kind::kContext, context);
  if (!call.forwards()) return call.RefusedHandle<cl_sampler>(errcode_ret);
  cl_int error;
  cl_sampler made = target().clCreateSampler(
      context, normalized_coords, addressing_mode, filter_mode, &error);
  return call.Made(Kind::kSampler, made, context, error, errcode_ret);
}

cl_int clRetainSampler(cl_sampler sampler) {
  return Call("clRetainSampler")
      .Retain(Kind::kSampler, sampler, target().clRetainSampler);
}

cl_int clReleaseSampler(cl_sampler sampler) {
  return Call("clReleaseSampler")
      .Release(Kind::kSampler, sampler, target().clReleaseSampler);
}

cl_int clGetSamplerInfo(cl_sampler sampler,
                        cl_sampler_info param_name,
                        size_t param_value_size,
                        void *param_value,
                        size_t *param_value_size_ret) {
  Call call("clGetSamplerInfo");
  call.Uses(Kind::kSampler, sampler);
  if (!call.forwards()) return call.Refused();
  return call.Return(target().clGetSamplerInfo(sampler, param_name,
                                               param_value_size, param_value,
                                               param_value_size_ret));
}
