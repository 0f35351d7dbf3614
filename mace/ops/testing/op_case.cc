// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/testing/op_case.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "mace/core/model/packed_filter.h"

namespace mace::op_test {

namespace {

uint32_t SeedOr(uint32_t seed) {
  const char *text = std::getenv("MACE_TEST_SEED");
  if (text != nullptr && text[0] != '\0') {
    seed = static_cast<uint32_t>(std::strtoul(text, nullptr, 10));
  }
  std::printf("[   SEED   ] %u\n", seed);
  return seed;
}

uint32_t Bits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

}  // namespace

Random::Random(uint32_t seed) : engine_(SeedOr(seed)) {}

Value Random::Floats(const Shape &shape, float low, float high) {
  std::vector<float> values(static_cast<size_t>(shape.Elements()));
  for (float &value : values) value = Float(low, high);
  return Value::Floats(shape, values);
}

Value Random::Ints(const Shape &shape, int32_t low, int32_t high) {
  std::vector<int32_t> values(static_cast<size_t>(shape.Elements()));
  for (int32_t &value : values) value = static_cast<int32_t>(Int(low, high));
  return Value::Ints(shape, values);
}

// The distributions of <random> differ between libraries; these do not.
Value Random::Bytes(const Shape &shape) {
  return Value::Bytes(DataType::kUint8, shape, Ints(shape, 0, 255).ints());
}

int64_t Random::Int(int64_t low, int64_t high) {
  const uint64_t range = static_cast<uint64_t>(high - low) + 1;
  const uint64_t draw = (static_cast<uint64_t>(engine_()) << 32) |
                        static_cast<uint64_t>(engine_());
  return low + static_cast<int64_t>(range == 0 ? draw : draw % range);
}

float Random::Float(float low, float high) {
  const double unit = static_cast<double>(engine_()) / 4294967296.0;
  return static_cast<float>(low + (static_cast<double>(high) - low) * unit);
}

OpCase &OpCase::Int(const char *name, int64_t value) {
  AttributeValue attribute{};
  attribute.name = name;
  attribute.kind = AttributeKind::kInt;
  attribute.i = value;
  def.attributes.push_back(attribute);
  return *this;
}

OpCase &OpCase::Float(const char *name, float value) {
  AttributeValue attribute{};
  attribute.name = name;
  attribute.kind = AttributeKind::kFloat;
  attribute.f = value;
  def.attributes.push_back(attribute);
  return *this;
}

OpCase &OpCase::String(const char *name, const std::string &value) {
  AttributeValue attribute{};
  attribute.name = name;
  attribute.kind = AttributeKind::kString;
  attribute.s = value;
  def.attributes.push_back(attribute);
  return *this;
}

OpCase &OpCase::Ints(const char *name, const std::vector<int64_t> &values) {
  AttributeValue attribute{};
  attribute.name = name;
  attribute.kind = AttributeKind::kInts;
  attribute.ints = values;
  def.attributes.push_back(attribute);
  return *this;
}

OpCase &OpCase::Floats(const char *name, const std::vector<float> &values) {
  AttributeValue attribute{};
  attribute.name = name;
  attribute.kind = AttributeKind::kFloats;
  attribute.floats = values;
  def.attributes.push_back(attribute);
  return *this;
}

namespace {

CaseInput PackedConstant(ConstantLayout layout, int64_t groups, Value value) {
  CaseInput input;
  input.kind = CaseInput::Kind::kConstant;
  input.layout = layout;
  input.groups = groups;
  input.value = std::move(value);
  return input;
}

// The elements in the order of the file, with zeros in the padding.
template <typename To, typename From, typename Convert>
std::vector<To> Pack(const PackedFilter &filter,
                     const From *plain,
                     Convert convert) {
  std::vector<To> packed(static_cast<size_t>(filter.stored()));
  filter.ForEach([&](int64_t output, int64_t k, int64_t place) {
    packed[static_cast<size_t>(place)] =
        convert(plain[output * filter.depth() + k]);
  });
  return packed;
}

}  // namespace

OpCase &OpCase::Packed(const Value &plain, int64_t groups, DataType type) {
  constexpr ConstantLayout kLayout = ConstantLayout::kPackedO16;
  const PackedFilter filter(kLayout, plain.shape, groups);
  const std::vector<float> source = plain.floats();
  Value value;
  if (type == DataType::kFloat32) {
    value = Value::Floats(plain.shape,
                          Pack<float>(filter, source.data(),
                                      [](float weight) { return weight; }));
  } else {
    value = Value::Of(
        type, plain.shape,
        Pack<uint16_t>(
            filter, source.data(),
            type == DataType::kFloat16 ? NarrowToFloat16 : NarrowToBfloat16));
  }
  inputs.push_back(PackedConstant(kLayout, groups, std::move(value)));
  return *this;
}

OpCase &OpCase::PackedPairs(const Value &plain, int64_t groups) {
  constexpr ConstantLayout kLayout = ConstantLayout::kPackedO16Pairs;
  const PackedFilter filter(kLayout, plain.shape, groups);
  const std::vector<float> source = plain.floats();
  inputs.push_back(PackedConstant(
      kLayout, groups,
      Value::Of(DataType::kBfloat16, plain.shape,
                Pack<uint16_t>(filter, source.data(), NarrowToBfloat16))));
  return *this;
}

OpCase &OpCase::PackedScaled(const Value &plain,
                             int64_t groups,
                             Value *stored) {
  constexpr ConstantLayout kLayout = ConstantLayout::kPackedO16Scaled;
  const PackedFilter filter(kLayout, plain.shape, groups);
  const int64_t depth = filter.depth();
  std::vector<float> values = plain.floats();
  Value value;
  value.data_type = DataType::kInt8;
  value.shape = plain.shape;
  value.bytes.assign(static_cast<size_t>(filter.stored()), 0);
  uint8_t *to = value.bytes.data();
  for (int64_t o = 0; depth > 0 && o < filter.outputs(); ++o) {
    float *row = &values[o * depth];
    const auto [low, high] = std::minmax_element(row, row + depth);
    const float scale = (*high - *low) / 255.0f;
    const float offset = *low + 128.0f * scale;
    std::memcpy(to + filter.ScaleAt(o), &scale, sizeof(float));
    std::memcpy(to + filter.OffsetAt(o), &offset, sizeof(float));
    for (int64_t k = 0; k < depth; ++k) {
      float q =
          scale == 0.0f ? 0.0f : std::nearbyint((row[k] - offset) / scale);
      q = std::fmin(std::fmax(q, -128.0f), 127.0f);
      to[filter.At(o, k)] = static_cast<uint8_t>(static_cast<int8_t>(q));
      row[k] = q * scale + offset;
    }
  }
  if (stored != nullptr) *stored = Value::Floats(plain.shape, values);
  inputs.push_back(PackedConstant(kLayout, groups, std::move(value)));
  return *this;
}

OpCase &OpCase::PackedFours(const Value &plain, int64_t groups) {
  constexpr ConstantLayout kLayout = ConstantLayout::kPackedO16Fours;
  const PackedFilter filter(kLayout, plain.shape, groups);
  Value value;
  value.data_type = DataType::kInt8;
  value.shape = plain.shape;
  value.bytes = Pack<uint8_t>(filter, plain.bytes.data(),
                              [](uint8_t weight) { return weight; });
  inputs.push_back(PackedConstant(kLayout, groups, std::move(value)));
  return *this;
}

OpCase &OpCase::PackedMatrices(const Value &plain) {
  const Shape &shape = plain.shape;
  const mace::PackedMatrices packed(shape);
  const int64_t depth = shape[shape.rank() - 2];
  const int64_t columns = shape.back();
  Value value;
  value.data_type = plain.data_type;
  value.shape = shape;
  value.bytes.assign(static_cast<size_t>(packed.stored()), 0);
  const int64_t offset = plain.data_type == DataType::kUint8 ? 128 : 0;
  for (int64_t i = 0; i < shape.Elements(); ++i) {
    const int64_t n = i % columns;
    const int64_t k = i / columns % depth;
    const int64_t matrix = i / columns / depth;
    const auto byte =
        static_cast<uint8_t>(plain.bytes[static_cast<size_t>(i)] - offset);
    value.bytes[static_cast<size_t>(packed.At(matrix, k, n))] = byte;
    uint8_t *sum_bytes = &value.bytes[packed.SumAt(matrix, n)];
    int32_t sum;
    std::memcpy(&sum, sum_bytes, sizeof(sum));
    sum += static_cast<int8_t>(byte);
    std::memcpy(sum_bytes, &sum, sizeof(sum));
  }
  inputs.push_back(
      PackedConstant(ConstantLayout::kPackedN16Fours, 1, std::move(value)));
  return *this;
}

Value InFloat16(const Value &floats) {
  std::vector<uint16_t> bits;
  for (float x : floats.floats()) bits.push_back(NarrowToFloat16(x));
  return Value::Of(DataType::kFloat16, floats.shape, bits);
}

Value InBfloat16(const Value &floats) {
  std::vector<uint16_t> bits;
  for (float x : floats.floats()) bits.push_back(NarrowToBfloat16(x));
  return Value::Of(DataType::kBfloat16, floats.shape, bits);
}

float WidenFloat16(uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int fraction = bits & 1023;
  double magnitude;
  if (exponent == 31) {
    magnitude = fraction != 0 ? NAN : INFINITY;
  } else if (exponent == 0) {
    magnitude = std::ldexp(fraction, -24);
  } else {
    magnitude = std::ldexp(1024 + fraction, exponent - 25);
  }
  return static_cast<float>((bits & 0x8000) != 0 ? -magnitude : magnitude);
}

uint16_t NarrowToFloat16(float value) {
  const uint16_t sign = static_cast<uint16_t>((Bits(value) >> 16) & 0x8000);
  const double magnitude = std::fabs(static_cast<double>(value));
  if (std::isnan(value)) return sign | 0x7e00;
  if (magnitude >= 65520.0) return sign | 0x7c00;
  // In units of the last place: 2^-24 below 2^-14, exponent - 10 above.
  int exponent = magnitude == 0 ? -14 : std::ilogb(magnitude);
  if (exponent < -14) exponent = -14;
  const double units = std::nearbyint(std::ldexp(magnitude, 10 - exponent));
  const int biased = (exponent + 14) * 1024 + static_cast<int>(units);
  return static_cast<uint16_t>(sign | biased);
}

Value RoundToHalf(const Value &x, bool bf16) {
  std::vector<float> values;
  for (const float value : x.floats()) {
    values.push_back(bf16 ? WidenBfloat16(NarrowToBfloat16(value))
                          : WidenFloat16(NarrowToFloat16(value)));
  }
  return Value::Floats(x.shape, values);
}

float WidenBfloat16(uint16_t bits) {
  const uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof(value));
  return value;
}

uint16_t NarrowToBfloat16(float value) {
  const uint32_t bits = Bits(value);
  if (std::isnan(value)) return static_cast<uint16_t>((bits >> 16) | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

}  // namespace mace::op_test
