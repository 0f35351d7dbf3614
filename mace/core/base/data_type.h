// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_CORE_BASE_DATA_TYPE_H_
#define MACE_CORE_BASE_DATA_TYPE_H_

#include <cstddef>
#include <cstdint>

namespace mace {

// Element types; the numbers are those of mace.proto.
enum class DataType : uint8_t {
  kUnknown = 0,
  kFloat32 = 1,
  kFloat16 = 2,
  kBfloat16 = 3,
  kInt32 = 4,
  kInt8 = 5,
  kUint8 = 6,
  kBool = 7,
  kInt16 = 8,
  kInt64 = 9,
};

constexpr int kDataTypeCount = 10;

constexpr uint32_t DataTypeBit(DataType type) {
  return 1u << static_cast<uint32_t>(type);
}

// Bytes of one element; 0 for kUnknown.
constexpr size_t DataTypeSize(DataType type) {
  switch (type) {
    case DataType::kFloat32:
    case DataType::kInt32:
      return 4;
    case DataType::kFloat16:
    case DataType::kBfloat16:
    case DataType::kInt16:
      return 2;
    case DataType::kInt8:
    case DataType::kUint8:
    case DataType::kBool:
      return 1;
    case DataType::kInt64:
      return 8;
    case DataType::kUnknown:
      return 0;
  }
  return 0;
}

// "float32", "int8", ...; "unknown" for anything else.
constexpr const char *DataTypeName(DataType type) {
  constexpr const char *kNames[kDataTypeCount] = {
      "unknown", "float32", "float16", "bfloat16", "int32",
      "int8",    "uint8",   "bool",    "int16",    "int64"};
  const auto index = static_cast<uint32_t>(type);
  return index < kDataTypeCount ? kNames[index] : kNames[0];
}

}  // namespace mace

#endif  // MACE_CORE_BASE_DATA_TYPE_H_
