// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/delegate/plain_constants.h"

#include <cstdint>
#include <cstring>
#include <utility>

#include "mace/core/base/half.h"

namespace mace {
namespace {

constexpr int64_t kLanes = 16;

float ToFloat(uint16_t value, DataType type) {
  return type == DataType::kFloat16 ? HalfToFloat(value)
                                    : Bfloat16ToFloat(value);
}

// Where the blocks of 16 output channels of a packed filter are.
struct Blocks {
  explicit Blocks(const Tensor &tensor)
      : outputs(tensor.shape[0]),
        inner(tensor.shape.Elements(1, tensor.shape.rank())),
        of_group(outputs / tensor.groups),
        count((of_group + kLanes - 1) / kLanes) {}

  int64_t BlockOf(int64_t output) const {
    return output / of_group * count + output % of_group / kLanes;
  }
  int64_t LaneOf(int64_t output) const { return output % of_group % kLanes; }

  const int64_t outputs;
  const int64_t inner;
  const int64_t of_group;
  const int64_t count;  // of a group
};

// read(block, k, lane) gives element k of an output channel.
template <typename To, typename Read>
void Unpack(const Blocks &blocks, Read read, To *to) {
  for (int64_t output = 0; output < blocks.outputs; ++output) {
    const int64_t block = blocks.BlockOf(output);
    const int64_t lane = blocks.LaneOf(output);
    for (int64_t k = 0; k < blocks.inner; ++k) *to++ = read(block, k, lane);
  }
}

void UnpackO16(const Tensor &from, float *to) {
  const Blocks blocks(from);
  const auto at = [&blocks](int64_t block, int64_t k, int64_t lane) {
    return (block * blocks.inner + k) * kLanes + lane;
  };
  if (from.data_type == DataType::kFloat32) {
    const auto *data = from.As<float>();
    Unpack(
        blocks,
        [&](int64_t block, int64_t k, int64_t lane) {
          return data[at(block, k, lane)];
        },
        to);
    return;
  }
  const auto *data = from.As<uint16_t>();
  Unpack(
      blocks,
      [&](int64_t block, int64_t k, int64_t lane) {
        return ToFloat(data[at(block, k, lane)], from.data_type);
      },
      to);
}

void UnpackPairs(const Tensor &from, float *to) {
  const Blocks blocks(from);
  const auto *data = from.As<uint16_t>();
  const int64_t last = from.shape.back();
  const int64_t padded = (last + 1) / 2 * 2;
  const int64_t stored = blocks.inner / last * padded;
  Unpack(
      blocks,
      [&](int64_t block, int64_t k, int64_t lane) {
        const int64_t at = k / last * padded + k % last;
        return Bfloat16ToFloat(
            data[(block * stored + at / 2 * 2) * kLanes + lane * 2 + at % 2]);
      },
      to);
}

void UnpackScaled(const Tensor &from, float *to) {
  const Blocks blocks(from);
  const auto *data = from.As<char>();
  constexpr int64_t kHead = 2 * kLanes * static_cast<int64_t>(sizeof(float));
  const int64_t block_bytes = kHead + blocks.inner * kLanes;
  Unpack(
      blocks,
      [&](int64_t block, int64_t k, int64_t lane) {
        const char *start = data + block * block_bytes;
        float scale = 0;
        float offset = 0;
        std::memcpy(&scale, start + lane * sizeof(float), sizeof(float));
        std::memcpy(&offset, start + (kLanes + lane) * sizeof(float),
                    sizeof(float));
        const auto q = static_cast<int8_t>(start[kHead + k * kLanes + lane]);
        return scale * static_cast<float>(q) + offset;
      },
      to);
}

void UnpackFours(const Tensor &from, int8_t *to) {
  const Blocks blocks(from);
  const auto *data = from.As<int8_t>();
  Unpack(
      blocks,
      [&](int64_t block, int64_t k, int64_t lane) {
        return data[(block * blocks.inner + k / 4 * 4) * kLanes + lane * 4 +
                    k % 4];
      },
      to);
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
      UnpackO16(from, static_cast<float *>(copy.data()));
      break;
    case ConstantLayout::kPackedO16Pairs:
      UnpackPairs(from, static_cast<float *>(copy.data()));
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
