// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/testing/op_case.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>

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

OpCase &OpCase::Packed(const Value &plain, int64_t groups, DataType type) {
  constexpr int64_t kPanel = 16;
  const std::vector<float> source = plain.floats();
  const int64_t columns = plain.shape[0] / groups;
  const int64_t depth = plain.shape.Elements(1, plain.shape.rank());
  const int64_t panels = (columns + kPanel - 1) / kPanel;
  const size_t count = static_cast<size_t>(groups * panels * depth * kPanel);
  std::vector<float> packed(count, 0.0f);
  // Does not loop over groups: without outputs, their number may be arbitrary.
  for (int64_t o = 0; o < groups * columns; ++o) {
    const int64_t n = o % columns;
    const int64_t panel = o / columns * panels + n / kPanel;
    for (int64_t k = 0; k < depth; ++k) {
      packed[(panel * depth + k) * kPanel + n % kPanel] = source[o * depth + k];
    }
  }
  CaseInput input;
  input.kind = CaseInput::Kind::kConstant;
  input.layout = ConstantLayout::kPackedO16;
  input.groups = groups;
  if (type == DataType::kFloat32) {
    input.value = Value::Floats(plain.shape, packed);
  } else {
    std::vector<uint16_t> halves(count);
    for (size_t i = 0; i < count; ++i) {
      halves[i] = type == DataType::kFloat16 ? NarrowToFloat16(packed[i])
                                             : NarrowToBfloat16(packed[i]);
    }
    input.value = Value::Of(type, plain.shape, halves);
  }
  inputs.push_back(input);
  return *this;
}

OpCase &OpCase::PackedPairs(const Value &plain, int64_t groups) {
  constexpr int64_t kPanel = 16;
  const std::vector<float> source = plain.floats();
  const int64_t columns = plain.shape[0] / groups;
  const int64_t channels = plain.shape.back();
  const int64_t even = channels + channels % 2;
  const int64_t depth = plain.shape.Elements(1, plain.shape.rank());
  const int64_t pixels = channels > 0 ? depth / channels : 0;
  const int64_t panels = (columns + kPanel - 1) / kPanel;
  std::vector<uint16_t> packed(
      static_cast<size_t>(groups * panels * pixels * even * kPanel));
  for (int64_t o = 0; o < groups * columns; ++o) {
    const int64_t n = o % columns;
    const int64_t panel = o / columns * panels + n / kPanel;
    for (int64_t i = 0; i < depth; ++i) {
      const int64_t k = i / channels * even + i % channels;
      const int64_t pair = panel * pixels * even / 2 + k / 2;
      packed[(pair * kPanel + n % kPanel) * 2 + k % 2] =
          NarrowToBfloat16(source[o * depth + i]);
    }
  }
  CaseInput input;
  input.kind = CaseInput::Kind::kConstant;
  input.layout = ConstantLayout::kPackedO16Pairs;
  input.groups = groups;
  input.value = Value::Of(DataType::kBfloat16, plain.shape, packed);
  inputs.push_back(input);
  return *this;
}

OpCase &OpCase::PackedScaled(const Value &plain,
                             int64_t groups,
                             Value *stored) {
  constexpr int64_t kPanel = 16;
  std::vector<float> values = plain.floats();
  const int64_t columns = plain.shape[0] / groups;
  const int64_t depth = plain.shape.Elements(1, plain.shape.rank());
  const int64_t panels = (columns + kPanel - 1) / kPanel;
  const size_t panel_bytes =
      static_cast<size_t>(kPanel) * (2 * sizeof(float) + depth);
  CaseInput input;
  input.kind = CaseInput::Kind::kConstant;
  input.layout = ConstantLayout::kPackedO16Scaled;
  input.groups = groups;
  input.value.data_type = DataType::kInt8;
  input.value.shape = plain.shape;
  input.value.bytes.assign(static_cast<size_t>(groups * panels) * panel_bytes,
                           0);
  for (int64_t o = 0; depth > 0 && o < groups * columns; ++o) {
    const int64_t n = o % columns;
    const int64_t panel = o / columns * panels + n / kPanel;
    uint8_t *to = input.value.bytes.data() + panel * panel_bytes;
    float *row = &values[o * depth];
    const auto [low, high] = std::minmax_element(row, row + depth);
    const float scale = (*high - *low) / 255.0f;
    const float offset = *low + 128.0f * scale;
    std::memcpy(to + n % kPanel * sizeof(float), &scale, sizeof(float));
    std::memcpy(to + (kPanel + n % kPanel) * sizeof(float), &offset,
                sizeof(float));
    to += 2 * kPanel * sizeof(float) + n % kPanel;
    for (int64_t k = 0; k < depth; ++k, to += kPanel) {
      float q =
          scale == 0.0f ? 0.0f : std::nearbyint((row[k] - offset) / scale);
      q = std::fmin(std::fmax(q, -128.0f), 127.0f);
      *to = static_cast<uint8_t>(static_cast<int8_t>(q));
      row[k] = q * scale + offset;
    }
  }
  if (stored != nullptr) *stored = Value::Floats(plain.shape, values);
  inputs.push_back(input);
  return *this;
}

OpCase &OpCase::PackedFours(const Value &plain, int64_t groups) {
  constexpr int64_t kPanel = 16;
  constexpr int64_t kFour = 4;
  const Shape &shape = plain.shape;
  const int64_t columns = shape[0] / groups;
  const int64_t depth = shape.Elements(1, shape.rank());
  const int64_t panels = (columns + kPanel - 1) / kPanel;
  std::vector<uint8_t> packed(
      static_cast<size_t>(groups * panels * depth * kPanel));
  for (int64_t i = 0; i < shape.Elements(); ++i) {
    const int64_t o = i / depth;
    const int64_t k = i % depth;
    const int64_t n = o % columns;
    const int64_t panel = o / columns * panels + n / kPanel;
    const int64_t four = panel * depth * kPanel + k / kFour * kPanel * kFour +
                         n % kPanel * kFour;
    packed[static_cast<size_t>(four + k % kFour)] =
        plain.bytes[static_cast<size_t>(i)];
  }
  CaseInput input;
  input.kind = CaseInput::Kind::kConstant;
  input.layout = ConstantLayout::kPackedO16Fours;
  input.groups = groups;
  input.value.data_type = DataType::kInt8;
  input.value.shape = shape;
  input.value.bytes = std::move(packed);
  inputs.push_back(input);
  return *this;
}

OpCase &OpCase::PackedMatrices(const Value &plain) {
  constexpr int64_t kPanel = 16;
  constexpr int64_t kFour = 4;
  const Shape &shape = plain.shape;
  const int64_t matrices = shape.Elements(0, shape.rank() - 2);
  const int64_t depth = shape[shape.rank() - 2];
  const int64_t columns = shape.back();
  const int64_t panels = (columns + kPanel - 1) / kPanel;
  const int64_t fours = (depth + kFour - 1) / kFour;
  std::vector<uint8_t> packed(
      static_cast<size_t>(matrices * panels * fours * kPanel * kFour));
  std::vector<int32_t> sums(static_cast<size_t>(matrices * panels * kPanel));
  const int64_t offset = plain.data_type == DataType::kUint8 ? 128 : 0;
  for (int64_t i = 0; i < shape.Elements(); ++i) {
    const int64_t n = i % columns;
    const int64_t k = i / columns % depth;
    const int64_t panel = i / columns / depth * panels + n / kPanel;
    const int64_t four = (panel * fours + k / kFour) * kPanel + n % kPanel;
    const auto byte =
        static_cast<uint8_t>(plain.bytes[static_cast<size_t>(i)] - offset);
    packed[static_cast<size_t>(four * kFour + k % kFour)] = byte;
    sums[static_cast<size_t>(panel * kPanel + n % kPanel)] +=
        static_cast<int8_t>(byte);
  }
  CaseInput input;
  input.kind = CaseInput::Kind::kConstant;
  input.layout = ConstantLayout::kPackedN16Fours;
  input.value.data_type = plain.data_type;
  input.value.shape = shape;
  input.value.bytes = std::move(packed);
  const auto *sum_bytes = reinterpret_cast<const uint8_t *>(sums.data());
  input.value.bytes.insert(input.value.bytes.end(), sum_bytes,
                           sum_bytes + sums.size() * sizeof(int32_t));
  inputs.push_back(input);
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
