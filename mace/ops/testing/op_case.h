// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// An operator with its tensors and attributes, described as data.

#ifndef MACE_OPS_TESTING_OP_CASE_H_
#define MACE_OPS_TESTING_OP_CASE_H_

#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "mace/core/model/op.h"

namespace mace::op_test {

// A dense tensor of values. T is float, int32_t, uint8_t (also bool), int8_t,
// or uint16_t for the bits of float16 and bfloat16.
struct Value {
  DataType data_type = DataType::kUnknown;
  Shape shape;
  std::vector<uint8_t> bytes;

  template <typename T>
  static Value Of(DataType type, const Shape &shape, const std::vector<T> &v) {
    Value value;
    value.data_type = type;
    value.shape = shape;
    value.bytes.resize(v.size() * sizeof(T));
    if (!v.empty())
      std::memcpy(value.bytes.data(), v.data(), v.size() * sizeof(T));
    return value;
  }
  static Value Floats(const Shape &shape, const std::vector<float> &v) {
    return Of(DataType::kFloat32, shape, v);
  }
  static Value Ints(const Shape &shape, const std::vector<int32_t> &v) {
    return Of(DataType::kInt32, shape, v);
  }
  // Numbers of int8 or uint8.
  static Value Bytes(DataType type,
                     const Shape &shape,
                     const std::vector<int32_t> &v) {
    std::vector<uint8_t> bytes;
    for (int32_t x : v) bytes.push_back(static_cast<uint8_t>(x));
    return Of(type, shape, bytes);
  }
  // Numbers of int16.
  static Value Shorts(const Shape &shape, const std::vector<int32_t> &v) {
    return Of(DataType::kInt16, shape,
              std::vector<int16_t>(v.begin(), v.end()));
  }
  static Value Bools(const Shape &shape, const std::vector<uint8_t> &v) {
    return Of(DataType::kBool, shape, v);
  }

  template <typename T>
  std::vector<T> As() const {
    std::vector<T> v(bytes.size() / sizeof(T));
    if (!v.empty()) std::memcpy(v.data(), bytes.data(), v.size() * sizeof(T));
    return v;
  }
  std::vector<float> floats() const { return As<float>(); }
  std::vector<int32_t> ints() const { return As<int32_t>(); }
};

// The least number of int8 or uint8.
inline int32_t LeastByte(DataType type) {
  return type == DataType::kUint8 ? 0 : INT8_MIN;
}

// Reproducible values; prints its seed. MACE_TEST_SEED in the environment
// replaces the seed of the test.
class Random {
 public:
  explicit Random(uint32_t seed);
  struct Quiet {};
  Random(uint32_t seed, Quiet) : engine_(seed) {}
  // Uniform in [low, high).
  Value Floats(const Shape &shape, float low = -1.0f, float high = 1.0f);
  // Uniform in [low, high].
  Value Ints(const Shape &shape, int32_t low, int32_t high);
  // Any uint8.
  Value Bytes(const Shape &shape);
  int64_t Int(int64_t low, int64_t high);
  float Float(float low, float high);
  std::mt19937 &engine() { return engine_; }

 private:
  std::mt19937 engine_;
};

struct CaseInput {
  enum class Kind {
    kAbsent,    // optional port, not connected
    kComputed,  // value appears at Run
    kKnown,     // value readable in InferShapes, not a constant of the model
    kConstant,
  };
  Kind kind = Kind::kAbsent;
  Value value;
  ConstantLayout layout = ConstantLayout::kPlain;
  int64_t groups = 1;
  Quantization quantization;
};

// Built by chaining; inputs are added in the order of the ports.
//
//   OpCase("Softmax").Input(x).Int("axis", 1)
struct OpCase {
  explicit OpCase(const std::string &type, size_t output_count = 1)
      : outputs(output_count) {
    def.type = type;
    def.name = type + "/test";
  }

  OpCase &Input(const Value &value) {
    return Add(CaseInput::Kind::kComputed, value);
  }
  OpCase &Known(const Value &value) {
    return Add(CaseInput::Kind::kKnown, value);
  }
  OpCase &Constant(const Value &value) {
    return Add(CaseInput::Kind::kConstant, value);
  }
  OpCase &NoInput() { return Add(CaseInput::Kind::kAbsent, Value()); }
  // A filter or matrix of logical shape [O, ...], given in row-major order
  // [groups * (O / groups)][K] and stored in layout PACKED_O16 as `type`
  // (float32, float16 or bfloat16; the values are rounded to it).
  OpCase &Packed(const Value &plain,
                 int64_t groups = 1,
                 DataType type = DataType::kFloat32);
  // The same in layout PACKED_O16_SCALED. Unless `stored` is null, it receives
  // the values that are stored.
  OpCase &PackedScaled(const Value &plain,
                       int64_t groups = 1,
                       Value *stored = nullptr);
  // The same, as bfloat16 in layout PACKED_O16_PAIRS.
  OpCase &PackedPairs(const Value &plain, int64_t groups = 1);
  // Of int8, whose last dimension is a multiple of 4, in layout
  // PACKED_O16_FOURS.
  OpCase &PackedFours(const Value &plain, int64_t groups = 1);

  // Matrices [..., K, N] of int8 or uint8, given in row-major order, in layout
  // PACKED_N16_FOURS.
  OpCase &PackedMatrices(const Value &plain);

  // What the integers of the input that was added last stand for.
  OpCase &Quantized(const Quantization &quantization) {
    inputs.back().quantization = quantization;
    return *this;
  }
  // Makes output 0 quantized.
  OpCase &QuantizedOutput(DataType type, float scale, int64_t zero) {
    def.output_quantization = {Quantization{{scale}, {zero}, 0, type}};
    return *this;
  }

  // The deployment's hint; 0 unless set.
  OpCase &Winograd(int max_tile) {
    hints.winograd = max_tile;
    return *this;
  }

  // The deployment's precision; float32 unless set.
  OpCase &ComputeIn(Precision precision) {
    hints.precision = precision;
    return *this;
  }

  // The case is about arithmetic that only the CPU has.
  OpCase &OnCpuOnly() {
    on_cpu_only = true;
    return *this;
  }

  OpCase &Int(const char *name, int64_t value);
  OpCase &Float(const char *name, float value);
  OpCase &String(const char *name, const std::string &value);
  OpCase &Ints(const char *name, const std::vector<int64_t> &values);
  OpCase &Floats(const char *name, const std::vector<float> &values);

  OperatorDef def;  // inputs and outputs are filled in by the runner
  std::vector<CaseInput> inputs;
  DeploymentHints hints;
  bool on_cpu_only = false;
  size_t outputs;

 private:
  OpCase &Add(CaseInput::Kind kind, const Value &value) {
    CaseInput input;
    input.kind = kind;
    input.value = value;
    inputs.push_back(input);
    return *this;
  }
};

// float32 values, stored in 16 bits.
Value InFloat16(const Value &floats);
Value InBfloat16(const Value &floats);

// Conversions between float and the 16-bit storage types, bit by bit and slow:
// the reference for the kernels. Narrowing rounds to nearest even.
uint16_t NarrowToFloat16(float value);
float WidenFloat16(uint16_t bits);
uint16_t NarrowToBfloat16(float value);
float WidenBfloat16(uint16_t bits);

// Values rounded to fp16 or bf16; the precision that a deployment file names
// for it; and the largest relative rounding error.
Value RoundToHalf(const Value &x, bool bf16);
inline Precision HalfPrecision(bool bf16) {
  return bf16 ? Precision::kBfloat16 : Precision::kFloat16;
}
inline double HalfError(bool bf16) { return bf16 ? 0x1.01p-8 : 0x1.01p-11; }

}  // namespace mace::op_test

#endif  // MACE_OPS_TESTING_OP_CASE_H_
