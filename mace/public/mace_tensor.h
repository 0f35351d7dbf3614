// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Inputs and outputs of an engine: their elements, shapes and memory.

#ifndef MACE_PUBLIC_MACE_TENSOR_H_
#define MACE_PUBLIC_MACE_TENSOR_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "mace/public/mace_status.h"

namespace mace {

// Order of the dimensions of a rank-4 input or output: N is the batch, H the
// height, W the width, C the channels. NONE: the dimensions have no such
// meaning, and stay as the model has them.
enum class DataFormat { NONE = 0, NHWC = 1, NCHW = 2 };

// Element type of an input or output. IDT_NOT_SET: that of the model. IDT_BOOL
// has one byte per element, 0 or 1.
enum class IDataType {
  IDT_NOT_SET = 0,
  IDT_FLOAT = 1,
  IDT_UINT8 = 2,
  IDT_INT32 = 4,
  IDT_FLOAT16 = 5,
  IDT_BFLOAT16 = 6,
  IDT_INT8 = 7,
  IDT_BOOL = 8,
  IDT_INT16 = 9,
};

// Where the elements of an input or output are: in the memory of the process,
// or in memory of the application that the GPU then uses in place. See
// docs/user/gpu.md for what such memory has to be.
enum MemoryType : int {
  CPU_BUFFER = 0,
  GPU_BUFFER = 1,           // a cl_mem that is a buffer
  GPU_IMAGE = 2,            // a cl_mem that is a two-dimensional image
  GPU_HARDWARE_BUFFER = 3,  // an AHardwareBuffer of Android
};

// One input or output: a shape and shared ownership of its elements.
//
// The buffer holds product(shape) elements of data_type(), dense and row-major,
// with dimensions in the order data_format(). For an output, the buffer must be
// large enough for the result; Run updates shape(). If it is not, Run computes
// nothing, returns MACE_INVALID_ARGS, and shape() is what does not fit.
//
// With GPU_BUFFER or GPU_IMAGE, `data` is the cl_mem itself: its get() is the
// handle. The engine must run on the application's queue
// (GPUContextBuilder::SetOpenCLQueue). It retains the cl_mem until a later run
// has another one in its place, or until the engine is destroyed.
//
// With GPU_HARDWARE_BUFFER, `data` is the AHardwareBuffer itself: of the format
// AHARDWAREBUFFER_FORMAT_BLOB, with the usage
// AHARDWAREBUFFER_USAGE_GPU_DATA_BUFFER, and at least as many bytes wide as the
// elements take. The engine may run on any queue. It imports the buffer, and
// holds a reference to it (AHardwareBuffer_acquire) as long as it would hold a
// cl_mem; the application may release its own after Run. Before Run, the
// application has to wait for what writes to the buffer, and while Run works,
// nobody may lock it for the CPU. Run returns MACE_UNSUPPORTED before Android
// 8, and on a GPU whose driver can't import such memory; MACE_INVALID_ARGS if
// format, usage or size are wrong.
class MACE_API MaceTensor {
 public:
  // Of no shape and without elements; Run refuses it.
  MaceTensor();
  // `shape` has at most 8 dimensions, none of them negative. `data` is shared,
  // not copied, and lives as long as a tensor that shares it. Nothing is
  // checked here: Run returns MACE_INVALID_ARGS and names the tensor if it has
  // a wrong shape, a null buffer, or a type or format that its place in the
  // model can't take. If there was no memory for the tensor, Run returns
  // MACE_OUT_OF_RESOURCES.
  MaceTensor(const std::vector<int64_t> &shape,
             std::shared_ptr<void> data,
             DataFormat format = DataFormat::NHWC,
             IDataType data_type = IDataType::IDT_FLOAT,
             MemoryType memory_type = CPU_BUFFER);
  MaceTensor(const MaceTensor &);
  MaceTensor(MaceTensor &&) noexcept;
  MaceTensor &operator=(const MaceTensor &);
  MaceTensor &operator=(MaceTensor &&) noexcept;
  ~MaceTensor();

  // In the order of data_format(). Valid until the tensor is changed.
  const std::vector<int64_t> &shape() const;
  // The elements as float, whatever data_type() is; use data<T>() for another
  // element type. Null if the tensor has no elements.
  std::shared_ptr<float> data() const;
  template <typename T>
  std::shared_ptr<T> data() const {
    return std::static_pointer_cast<T>(raw_data());
  }
  std::shared_ptr<void> raw_data() const;
  DataFormat data_format() const;
  IDataType data_type() const;
  MemoryType memory_type() const;

 private:
  friend struct MaceTensorAccess;
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mace

#endif  // MACE_PUBLIC_MACE_TENSOR_H_
