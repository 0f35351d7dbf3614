// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory for inputs and outputs that an engine uses in place.
//
//   std::map<std::string, mace::MaceTensor> inputs, outputs;
//   status = engine->Describe(&inputs, &outputs);
//   status = mace::AllocateInPlace(&inputs);
//   status = mace::AllocateInPlace(&outputs);
//   // Write to inputs["x"].data(), then Run: nothing is copied.
//
// This is code of the application, so that the library need not contain it.

#ifndef MACE_PUBLIC_MACE_BUFFERS_H_
#define MACE_PUBLIC_MACE_BUFFERS_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "mace/public/mace.h"

namespace mace {

// Bytes of one element; 0 for IDT_NOT_SET.
inline int64_t ElementBytes(IDataType type) {
  switch (type) {
    case IDataType::IDT_FLOAT:
    case IDataType::IDT_INT32:
      return 4;
    case IDataType::IDT_FLOAT16:
    case IDataType::IDT_BFLOAT16:
    case IDataType::IDT_INT16:
      return 2;
    case IDataType::IDT_UINT8:
    case IDataType::IDT_INT8:
    case IDataType::IDT_BOOL:
      return 1;
    case IDataType::IDT_NOT_SET:
      break;
  }
  return 0;
}

// "float32", as messages say it; "of another type" for IDT_NOT_SET.
inline const char *ElementName(IDataType type) {
  switch (type) {
    case IDataType::IDT_FLOAT:
      return "float32";
    case IDataType::IDT_INT32:
      return "int32";
    case IDataType::IDT_FLOAT16:
      return "float16";
    case IDataType::IDT_BFLOAT16:
      return "bfloat16";
    case IDataType::IDT_INT16:
      return "int16";
    case IDataType::IDT_UINT8:
      return "uint8";
    case IDataType::IDT_INT8:
      return "int8";
    case IDataType::IDT_BOOL:
      return "bool";
    case IDataType::IDT_NOT_SET:
      break;
  }
  return "of another type";
}

// Why a tensor was copied, as the end of a sentence: "it is copied because
// ...".
inline const char *CopyReasonText(CopyReason reason) {
  switch (reason) {
    case CopyReason::DEVICE:
      return "the devices have memory of their own";
    case CopyReason::FORMAT:
      return "the buffer is NCHW, and engines compute in NHWC";
    case CopyReason::TYPE:
      return "the buffer has another element type than the model";
    case CopyReason::ALIGNMENT:
      return "the buffer is less aligned than memory of malloc";
    case CopyReason::BEFORE_RUN:
      return "the value is a constant, or known before the run";
    case CopyReason::SHARED:
      return "the output is also an input, or overlaps another buffer";
  }
  return "of an unknown reason";
}

// The number of bytes of a dense tensor; -1 if a dimension is open, or if that
// is too much.
inline int64_t DenseBytes(const std::vector<int64_t> &shape, IDataType type) {
  int64_t bytes = ElementBytes(type);
  for (int64_t dim : shape) {
    if (dim < 0) return -1;
    if (dim > 0 && bytes > std::numeric_limits<int64_t>::max() / dim) return -1;
    bytes *= dim;
  }
  return bytes;
}

namespace internal {

// Calls a function of this kind of header, which may throw as the containers of
// C++ do, and returns a status in any case.
template <typename Function>
MaceStatus Guard(const Function &function) {
#ifdef __cpp_exceptions
  try {
    return function();
  } catch (const std::bad_alloc &) {
    return MaceStatus(MaceStatus::MACE_OUT_OF_RESOURCES);
  } catch (...) {
    return MaceStatus(MaceStatus::MACE_RUNTIME_ERROR);
  }
#else
  return function();
#endif
}

// Null if there is no memory. Starts at a cache line.
inline std::shared_ptr<void> AllocateBytes(int64_t bytes) {
  constexpr size_t kLine = 64;
  const size_t room = static_cast<size_t>(bytes) + kLine;
  std::unique_ptr<char[]> block(new (std::nothrow) char[room]);
  if (block == nullptr) return nullptr;
  const auto past = reinterpret_cast<uintptr_t>(block.get()) % kLine;
  char *const first = block.get() + (past == 0 ? 0 : kLine - past);
  const std::shared_ptr<char> owner(block.release(),
                                    std::default_delete<char[]>());
  return std::shared_ptr<void>(owner, first);
}

// [N, C, H, W] to [N, H, W, C].
inline std::vector<int64_t> ToNhwc(const std::vector<int64_t> &s) {
  return {s[0], s[2], s[3], s[1]};
}

inline bool IsNchw(const MaceTensor &tensor) {
  return tensor.data_format() == DataFormat::NCHW && tensor.shape().size() == 4;
}

}  // namespace internal

// Gives memory to every tensor that has none, so that an engine on the CPU uses
// it in place: aligned, of the type that Describe told, and in the order in
// which engines compute, which is NHWC. shape() and data_format() of a tensor
// that was NCHW change accordingly. The memory is not initialised, starts at a
// multiple of 64, and lives as long as a tensor that shares it. Tensors that
// have memory stay as they are. MACE_INVALID_ARGS if a shape is open or a type
// is not set, MACE_OUT_OF_RESOURCES if there is no memory; tensors before that
// one then have theirs.
inline MaceStatus AllocateInPlace(std::map<std::string, MaceTensor> *tensors) {
  return internal::Guard([tensors]() -> MaceStatus {
    for (auto &entry : *tensors) {
      const MaceTensor &tensor = entry.second;
      if (tensor.raw_data() != nullptr) continue;
      const int64_t bytes = DenseBytes(tensor.shape(), tensor.data_type());
      if (bytes < 0 || ElementBytes(tensor.data_type()) == 0) {
        return MaceStatus(MaceStatus::MACE_INVALID_ARGS,
                          "tensor '" + entry.first +
                              "' has an open shape or no known type: set its "
                              "shape before memory is allocated for it");
      }
      std::shared_ptr<void> data = internal::AllocateBytes(bytes);
      if (data == nullptr) {
        return MaceStatus(MaceStatus::MACE_OUT_OF_RESOURCES,
                          "no memory for tensor '" + entry.first + "' (" +
                              std::to_string(bytes) + " bytes)");
      }
      const bool nchw = internal::IsNchw(tensor);
      entry.second = MaceTensor(
          nchw ? internal::ToNhwc(tensor.shape()) : tensor.shape(),
          std::move(data), nchw ? DataFormat::NHWC : tensor.data_format(),
          tensor.data_type());
    }
    return MaceStatus();
  });
}

}  // namespace mace

#endif  // MACE_PUBLIC_MACE_BUFFERS_H_
