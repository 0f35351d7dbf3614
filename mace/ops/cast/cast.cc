// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/cast/cast_schema.h"

#include <limits>

#include "mace/kernels/cpu/convert/convert.h"
#include "mace/ops/cpu_op/copy.h"
#include "mace/ops/cpu_op/cpu_op.h"

namespace mace {

namespace {

struct Bool {
  uint8_t value;
};

// Between integers the low bits stay; float to integer truncates towards zero
// and saturates, NaN becomes 0; to bool is "not zero".
template <typename To, typename From>
struct Convert {
  static To Of(From x) { return static_cast<To>(x); }
};
template <typename To>
struct Convert<To, float> {
  static To Of(float x) {
    if (!(x == x)) return 0;
    // The limits of int32 as floats: the upper one is 2^31, not attained.
    constexpr auto kLow = static_cast<float>(std::numeric_limits<To>::min());
    constexpr auto kHigh = static_cast<float>(std::numeric_limits<To>::max());
    if (x <= kLow) return std::numeric_limits<To>::min();
    if (x >= kHigh) return std::numeric_limits<To>::max();
    return static_cast<To>(x);
  }
};
template <>
struct Convert<float, float> {
  static float Of(float x) { return x; }
};
template <typename From>
struct Convert<Bool, From> {
  static Bool Of(From x) { return {static_cast<uint8_t>(x != From(0))}; }
};
template <>
struct Convert<Bool, float> {
  static Bool Of(float x) { return {static_cast<uint8_t>(x != 0.0f)}; }
};
template <typename To>
struct Convert<To, Bool> {
  static To Of(Bool x) { return static_cast<To>(x.value != 0 ? 1 : 0); }
};
template <>
struct Convert<Bool, Bool> {
  static Bool Of(Bool x) { return x; }
};

template <typename To, typename From>
void ConvertAll(ThreadPool *pool, const From *x, To *y, int64_t count) {
  pool->ParallelFor(count, kElementGrain,
                    [=](int64_t begin, int64_t end, int /*thread*/) {
                      for (int64_t i = begin; i < end; ++i) {
                        y[i] = Convert<To, From>::Of(x[i]);
                      }
                    });
}

template <typename From>
void ConvertFrom(ThreadPool *pool, const Tensor *input, Tensor *output) {
  const From *x = input->As<From>();
  const int64_t count = input->elements();
  switch (output->data_type) {
    case DataType::kFloat32:
      return ConvertAll(pool, x, output->MutableAs<float>(), count);
    case DataType::kInt32:
      return ConvertAll(pool, x, output->MutableAs<int32_t>(), count);
    case DataType::kUint8:
      return ConvertAll(pool, x, output->MutableAs<uint8_t>(), count);
    case DataType::kInt8:
      return ConvertAll(pool, x, output->MutableAs<int8_t>(), count);
    case DataType::kBool:
      return ConvertAll(pool, x, output->MutableAs<Bool>(), count);
    default:
      return;  // the schema has no other type
  }
}

DataType TypeOf(CastTo to) {
  switch (to) {
    case CastTo::FLOAT32:
      return DataType::kFloat32;
    case CastTo::INT32:
      return DataType::kInt32;
    case CastTo::BOOL:
      return DataType::kBool;
    case CastTo::UINT8:
      return DataType::kUint8;
    case CastTo::INT8:
      return DataType::kInt8;
    case CastTo::FLOAT16:
      return DataType::kFloat16;
  }
  return DataType::kUnknown;
}

class CastOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    return attributes_.Parse(context->def());
  }

  MaceStatus Reshape(ReshapeContext *context) override {
    const Tensor *input = context->input(kCastInputInput);
    const DataType to = TypeOf(attributes_.to);
    const DataType from = input->data_type;
    const bool half = to == DataType::kFloat16 || from == DataType::kFloat16;
    if (half && to != from && to != DataType::kFloat32 &&
        from != DataType::kFloat32) {
      return NotSupported("no conversion from ", DataTypeName(from), " to ",
                          DataTypeName(to), "; go by way of float32");
    }
    MACE_RETURN_IF_ERROR(SetOutput(context, 0, input->shape, to));
    if (to == input->data_type) context->AllowInPlace(0, 0);
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) override {
    const Tensor *input = context->input(kCastInputInput);
    Tensor *output = context->output(0);
    ThreadPool *pool = context->thread_pool();
    const bool from_half = input->data_type == DataType::kFloat16;
    const bool to_half = output->data_type == DataType::kFloat16;
    if (from_half && to_half) {
      CopyInputToOutput(context);
      return MaceStatus();
    }
    if (from_half || to_half) {
      ConvertHalf(pool, input, output);
      return MaceStatus();
    }
    switch (input->data_type) {
      case DataType::kFloat32:
        ConvertFrom<float>(pool, input, output);
        break;
      case DataType::kInt32:
        ConvertFrom<int32_t>(pool, input, output);
        break;
      case DataType::kUint8:
        ConvertFrom<uint8_t>(pool, input, output);
        break;
      case DataType::kInt8:
        ConvertFrom<int8_t>(pool, input, output);
        break;
      case DataType::kBool:
        ConvertFrom<Bool>(pool, input, output);
        break;
      default:
        return Invalid("cannot convert from ", DataTypeName(input->data_type));
    }
    return MaceStatus();
  }

 private:
  // One of the two is float16, the other float32.
  void ConvertHalf(ThreadPool *pool, const Tensor *input, Tensor *output) {
    const convert::Kernels *kernels = convert::KernelsFor(isa());
    pool->ParallelFor(
        input->elements(), kElementGrain,
        [&](int64_t begin, int64_t end, int /*thread*/) {
          const auto count = static_cast<size_t>(end - begin);
          if (input->data_type == DataType::kFloat16) {
            kernels->widen_f16(input->As<uint16_t>() + begin,
                               output->MutableAs<float>() + begin, count);
          } else {
            kernels->narrow_f16(input->As<float>() + begin,
                                output->MutableAs<uint16_t>() + begin, count);
          }
        });
  }

  CastAttributes attributes_;
};

}  // namespace

MACE_REGISTER_OP(Cast, CPU, CastOp);

}  // namespace mace
