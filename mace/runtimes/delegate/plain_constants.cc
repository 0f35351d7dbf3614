// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/delegate/plain_constants.h"

#include <cstdint>
#include <cstring>
#include <utility>

#include "mace/core/base/half.h"
#include "mace/core/model/packed_filter.h"

namespace mace {
namespace {

float ToFloat(uint16_t value, DataType type) {
  return type == DataType::kFloat16 ? HalfToFloat(value)
                                    : Bfloat16ToFloat(value);
}

// read(output, place) gives the element at that place.
template <typename To, typename Read>
void Unpack(const PackedFilter &filter, Read read, To *to) {
  for (int64_t output = 0; output < filter.outputs(); ++output) {
    const int64_t start = filter.OfOutput(output);
    for (int64_t k = 0; k < filter.depth(); ++k) {
      *to++ = read(output, start + filter.OfDepth(k));
    }
  }
}

void UnpackFloats(const Tensor &from, float *to) {
  const PackedFilter filter(from);
  if (from.data_type == DataType::kFloat32) {
    const auto *data = from.As<float>();
    Unpack(
        filter, [=](int64_t /*output*/, int64_t place) { return data[place]; },
        to);
    return;
  }
  const auto *data = from.As<uint16_t>();
  Unpack(
      filter,
      [&](int64_t /*output*/, int64_t place) {
        return ToFloat(data[place], from.data_type);
      },
      to);
}

void UnpackScaled(const Tensor &from, float *to) {
  const PackedFilter filter(from);
  const auto *data = from.As<char>();
  Unpack(
      filter,
      [&](int64_t output, int64_t place) {
        float scale = 0;
        float offset = 0;
        std::memcpy(&scale, data + filter.ScaleAt(output), sizeof(float));
        std::memcpy(&offset, data + filter.OffsetAt(output), sizeof(float));
        const auto q = static_cast<int8_t>(data[place]);
        return scale * static_cast<float>(q) + offset;
      },
      to);
}

void UnpackFours(const Tensor &from, int8_t *to) {
  const auto *data = from.As<int8_t>();
  Unpack(
      PackedFilter(from),
      [=](int64_t /*output*/, int64_t place) { return data[place]; }, to);
}

void Widen(const Tensor &from, float *to) {
  const auto *data = from.As<uint16_t>();
  for (int64_t i = 0; i < from.elements(); ++i) {
    to[i] = ToFloat(data[i], from.data_type);
  }
}

MaceStatus CheckLayout(const Tensor &tensor) {
  if (tensor.layout != ConstantLayout::kPackedN16Fours) return MaceStatus();
  return Unsupported("delegates take no matrices of the layout of '",
                     tensor.name, "'");
}

size_t PlainBytes(const Tensor &tensor) {
  return static_cast<size_t>(tensor.elements()) *
         DataTypeSize(PlainType(tensor));
}

// Whether the elements of the data file are those of the delegate.
bool IsPlain(const Tensor &tensor) {
  return tensor.layout == ConstantLayout::kPlain &&
         PlainType(tensor) == tensor.data_type;
}

}  // namespace

DataType PlainType(const Tensor &constant) {
  const DataType type = constant.data_type;
  return type == DataType::kFloat16 || type == DataType::kBfloat16 ||
                 constant.layout == ConstantLayout::kPackedO16Scaled
             ? DataType::kFloat32
             : type;
}

Result<const void *> PlainConstants::Get(const Graph &graph, int tensor) {
  const Tensor &from = graph.tensors()[static_cast<size_t>(tensor)].tensor;
  if (IsPlain(from)) return static_cast<const void *>(from.data);
  MACE_RETURN_IF_ERROR(CheckLayout(from));
  const auto found = copies_.find(tensor);
  if (found != copies_.end()) {
    return static_cast<const void *>(found->second.data());
  }
  AlignedMemory copy;
  const size_t bytes = PlainBytes(from);
  if (!copy.Allocate(bytes)) {
    return OutOfResources("no memory for ", bytes, " bytes of constant '",
                          from.name, "'");
  }
  switch (from.layout) {
    case ConstantLayout::kPlain:
      Widen(from, static_cast<float *>(copy.data()));
      break;
    case ConstantLayout::kPackedO16:
    case ConstantLayout::kPackedO16Pairs:
      UnpackFloats(from, static_cast<float *>(copy.data()));
      break;
    case ConstantLayout::kPackedO16Scaled:
      UnpackScaled(from, static_cast<float *>(copy.data()));
      break;
    default:
      UnpackFours(from, static_cast<int8_t *>(copy.data()));
      break;
  }
  return static_cast<const void *>(
      copies_.emplace(tensor, std::move(copy)).first->second.data());
}

Result<const void *> PlainConstants::Sample(const Graph &graph, int tensor) {
  const Tensor &from = graph.tensors()[static_cast<size_t>(tensor)].tensor;
  if (IsPlain(from)) return static_cast<const void *>(from.data);
  MACE_RETURN_IF_ERROR(CheckLayout(from));
  const size_t bytes = PlainBytes(from);
  samples_.emplace_back(std::calloc(1, bytes), std::free);
  if (samples_.back() == nullptr) {
    return OutOfResources("no memory for ", bytes, " bytes of constant '",
                          from.name, "'");
  }
  return static_cast<const void *>(samples_.back().get());
}

size_t PlainConstants::bytes() const {
  size_t total = 0;
  for (const auto &[tensor, copy] : copies_) total += copy.bytes();
  return total;
}

}  // namespace mace
