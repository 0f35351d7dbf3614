// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/memory/border.h"

#include <algorithm>
#include <cstring>

#include "mace/core/base/half.h"

namespace mace {
namespace {

bool IsFloating(DataType type) {
  return type == DataType::kFloat32 || type == DataType::kFloat16 ||
         type == DataType::kBfloat16;
}

// Element types: their storage, and the conversion to float.
struct Float32 {
  using Storage = float;
  static float Load(float value) { return value; }
  static float Store(float value) { return value; }
};
struct Float16 {
  using Storage = uint16_t;
  static float Load(uint16_t value) { return HalfToFloat(value); }
  static uint16_t Store(float value) { return FloatToHalf(value); }
};
struct Bfloat16 {
  using Storage = uint16_t;
  static float Load(uint16_t value) { return Bfloat16ToFloat(value); }
  static uint16_t Store(float value) { return FloatToBfloat16(value); }
};

template <typename From, typename To>
struct Convert {
  using Source = typename From::Storage;
  using Target = typename To::Storage;
  static Target Apply(Source value) { return To::Store(From::Load(value)); }
};
template <typename T>
struct Keep {
  using Source = T;
  using Target = T;
  static T Apply(T value) { return value; }
};

// A user's pointer may be unaligned; these functions compile to plain moves.
template <typename T>
T LoadElement(const void *base, int64_t index) {
  T value;
  std::memcpy(&value, static_cast<const char *>(base) + index * sizeof(T),
              sizeof(T));
  return value;
}
template <typename T>
void StoreElement(void *base, int64_t index, T value) {
  std::memcpy(static_cast<char *>(base) + index * sizeof(T), &value, sizeof(T));
}

template <typename Element>
void CopyInOrder(const BorderCopy &copy, ThreadPool *pool) {
  constexpr int64_t kGrain = 1 << 14;
  pool->ParallelFor(
      copy.shape.Elements(), kGrain, [&copy](int64_t begin, int64_t end, int) {
        // Stores could otherwise change these addresses.
        const void *const from = copy.from;
        void *const to = copy.to;
        for (int64_t i = begin; i < end; ++i) {
          StoreElement<typename Element::Target>(
              to, i,
              Element::Apply(LoadElement<typename Element::Source>(from, i)));
        }
      });
}

// Transposes [batch][rows][columns] to [batch][columns][rows] in tiles: without
// tiles, one side would move by a whole plane for every element.
template <typename Element>
void CopyTransposed(const BorderCopy &copy, ThreadPool *pool) {
  constexpr int64_t kTile = 32;
  const int64_t batch = copy.shape[0];
  const int64_t area = copy.shape[1] * copy.shape[2];
  const int64_t channels = copy.shape[3];
  const bool to_nhwc = copy.order == BorderCopy::Order::kNchwToNhwc;
  const int64_t rows = to_nhwc ? channels : area;
  const int64_t columns = to_nhwc ? area : channels;
  const int64_t strips = (columns + kTile - 1) / kTile;
  pool->ParallelFor(batch * strips, 8, [&](int64_t begin, int64_t end, int) {
    for (int64_t strip = begin; strip < end; ++strip) {
      const int64_t base = strip / strips * rows * columns;
      const int64_t first = strip % strips * kTile;
      const int64_t last = std::min(first + kTile, columns);
      for (int64_t top = 0; top < rows; top += kTile) {
        const int64_t bottom = std::min(top + kTile, rows);
        for (int64_t column = first; column < last; ++column) {
          for (int64_t row = top; row < bottom; ++row) {
            StoreElement<typename Element::Target>(
                copy.to, base + column * rows + row,
                Element::Apply(LoadElement<typename Element::Source>(
                    copy.from, base + row * columns + column)));
          }
        }
      }
    }
  });
}

template <typename Element>
void Copy(const BorderCopy &copy, ThreadPool *pool) {
  // If a dimension is 0, nothing is copied, however large the others are.
  if (copy.shape.Elements() == 0) return;
  if (copy.order == BorderCopy::Order::kSame || copy.shape.rank() != 4) {
    CopyInOrder<Element>(copy, pool);
  } else {
    CopyTransposed<Element>(copy, pool);
  }
}

template <typename From>
void CopyFloating(const BorderCopy &copy, ThreadPool *pool) {
  switch (copy.to_type) {
    case DataType::kFloat32:
      return Copy<Convert<From, Float32>>(copy, pool);
    case DataType::kFloat16:
      return Copy<Convert<From, Float16>>(copy, pool);
    default:
      return Copy<Convert<From, Bfloat16>>(copy, pool);
  }
}

}  // namespace

DataType FromPublicType(IDataType type) {
  switch (type) {
    case IDataType::IDT_FLOAT:
      return DataType::kFloat32;
    case IDataType::IDT_UINT8:
      return DataType::kUint8;
    case IDataType::IDT_INT32:
      return DataType::kInt32;
    case IDataType::IDT_FLOAT16:
      return DataType::kFloat16;
    case IDataType::IDT_BFLOAT16:
      return DataType::kBfloat16;
    case IDataType::IDT_INT8:
      return DataType::kInt8;
    case IDataType::IDT_BOOL:
      return DataType::kBool;
    case IDataType::IDT_INT16:
      return DataType::kInt16;
    case IDataType::IDT_NOT_SET:
      break;
  }
  return DataType::kUnknown;
}

bool CanConvert(DataType from, DataType to) {
  return DataTypeSize(from) > 0 &&
         (from == to || (IsFloating(from) && IsFloating(to)));
}

Shape NchwToNhwc(const Shape &shape) {
  if (shape.rank() != 4) return shape;
  return {shape[0], shape[2], shape[3], shape[1]};
}

Shape NhwcToNchw(const Shape &shape) {
  if (shape.rank() != 4) return shape;
  return {shape[0], shape[3], shape[1], shape[2]};
}

void CopyAtBorder(const BorderCopy &copy, ThreadPool *pool) {
  if (copy.from_type != copy.to_type) {
    switch (copy.from_type) {
      case DataType::kFloat32:
        return CopyFloating<Float32>(copy, pool);
      case DataType::kFloat16:
        return CopyFloating<Float16>(copy, pool);
      default:
        return CopyFloating<Bfloat16>(copy, pool);
    }
  }
  switch (DataTypeSize(copy.from_type)) {
    case 1:
      return Copy<Keep<uint8_t>>(copy, pool);
    case 2:
      return Copy<Keep<uint16_t>>(copy, pool);
    case 4:
      return Copy<Keep<uint32_t>>(copy, pool);
    default:
      return Copy<Keep<uint64_t>>(copy, pool);
  }
}

}  // namespace mace
