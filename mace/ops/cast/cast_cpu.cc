// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/cast/cast_schema.h"

#include <algorithm>

#include "mace/kernels/cpu/convert/convert.h"
#include "mace/ops/cpu_op/copy.h"
#include "mace/ops/cpu_op/cpu_op.h"

namespace mace {

namespace {

// Whether a number exceeds int32, but not the 64 bits beyond which frameworks
// do not say what becomes of it.
bool AnyExceeds(const float *x, int64_t count) {
  constexpr float kInt32 = 0x1p31f;
  constexpr float kInt64 = 0x1p63f;
  bool exceeds = false;
#pragma clang loop vectorize(disable) unroll(disable)
  for (int64_t i = 0; i < count; ++i) {
    exceeds |= (x[i] >= kInt32 && x[i] < kInt64) ||
               (x[i] < -kInt32 && x[i] >= -kInt64);
  }
  return exceeds;
}

// Kernels do the conversions from and to floats, but for int16, which models
// have at their inputs and outputs only. Truncates and saturates; NaN becomes
// 0, as in the kernels.
int16_t ToInt16(float x) {
  if (!(x > -32768.0f)) return x != x ? 0 : INT16_MIN;
  return x < 32767.0f ? static_cast<int16_t>(x) : INT16_MAX;
}

// Calls `call` with `function` for parts of the elements.
using CallPart = void (*)(const void *function,
                          const uint8_t *x,
                          uint8_t *y,
                          size_t count);
void RunParts(ThreadPool *pool,
              const Tensor *input,
              Tensor *output,
              const void *function,
              CallPart call) {
  const auto *x = static_cast<const uint8_t *>(input->data);
  auto *y = static_cast<uint8_t *>(output->data);
  const auto x_size = static_cast<int64_t>(DataTypeSize(input->data_type));
  const auto y_size = static_cast<int64_t>(DataTypeSize(output->data_type));
  pool->ParallelFor(input->elements(), kElementGrain,
                    [=](int64_t begin, int64_t end, int /*thread*/) {
                      call(function, x + begin * x_size, y + begin * y_size,
                           static_cast<size_t>(end - begin));
                    });
}

// Calls function(x, y, count) for parts of the elements. It is instantiated for
// pairs of types, so it contains as little code as possible.
template <typename From, typename To, typename Function>
void ForParts(ThreadPool *pool,
              const Tensor *input,
              Tensor *output,
              Function function) {
  RunParts(pool, input, output, static_cast<const void *>(&function),
           [](const void *of, const uint8_t *x, uint8_t *y, size_t count) {
             (*static_cast<const Function *>(of))(
                 reinterpret_cast<const From *>(x), reinterpret_cast<To *>(y),
                 count);
           });
}

// How integers of a type become 32 bits wide and are made of such: two
// functions for each type, instead of one for each pair of types. Both are null
// for 32 bits.
struct IntegerType {
  void (*widen)(const uint8_t *x, int32_t *y, size_t count);
  void (*narrow)(const int32_t *x, uint8_t *y, size_t count);
};

// Keeps the low bits.
template <typename T>
constexpr IntegerType Integers() {
  return {[](const uint8_t *x, int32_t *y, size_t count) {
            std::copy_n(reinterpret_cast<const T *>(x), count, y);
          },
          [](const int32_t *x, uint8_t *y, size_t count) {
            auto *to = reinterpret_cast<T *>(y);
            for (size_t i = 0; i < count; ++i) to[i] = static_cast<T>(x[i]);
          }};
}

// Everything that is not zero is true.
constexpr IntegerType Booleans() {
  return {[](const uint8_t *x, int32_t *y, size_t count) {
            for (size_t i = 0; i < count; ++i) y[i] = x[i] != 0 ? 1 : 0;
          },
          [](const int32_t *x, uint8_t *y, size_t count) {
            for (size_t i = 0; i < count; ++i) y[i] = x[i] != 0 ? 1 : 0;
          }};
}

// False for types that have no integers.
bool FindIntegers(DataType type, IntegerType *found) {
  switch (type) {
    case DataType::kInt32:
      *found = {};
      return true;
    case DataType::kUint8:
      *found = Integers<uint8_t>();
      return true;
    case DataType::kInt8:
      *found = Integers<int8_t>();
      return true;
    case DataType::kInt16:
      *found = Integers<int16_t>();
      return true;
    case DataType::kBool:
      *found = Booleans();
      return true;
    default:
      return false;
  }
}

struct IntegerTypes {
  IntegerType from;
  IntegerType to;
  size_t x_size;
  size_t y_size;
};

void ConvertIntegers(const void *of,
                     const uint8_t *x,
                     uint8_t *y,
                     size_t count) {
  constexpr size_t kBlock = 256;
  const auto &types = *static_cast<const IntegerTypes *>(of);
  if (types.to.narrow == nullptr) {
    return types.from.widen(x, reinterpret_cast<int32_t *>(y), count);
  }
  if (types.from.widen == nullptr) {
    return types.to.narrow(reinterpret_cast<const int32_t *>(x), y, count);
  }
  int32_t block[kBlock];
  for (size_t at = 0; at < count; at += kBlock) {
    const size_t length = std::min(kBlock, count - at);
    types.from.widen(x + at * types.x_size, block, length);
    types.to.narrow(block, y + at * types.y_size, length);
  }
}

class CastOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    attributes_ = context->AttributesAs<CastAttributes>();
    return MaceStatus();
  }

  MaceStatus Plan(PlanContext *context) override {
    if (context->output(0)->data_type ==
        context->input(kCastInputInput)->data_type) {
      context->AllowInPlace(0, 0);
    }
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    const Tensor *input = context->input(kCastInputInput);
    Tensor *output = context->output(0);
    ThreadPool *pool = context->thread_pool();
    if (input->data_type == output->data_type) {
      CopyInputToOutput(context);
      return MaceStatus();
    }
    if (output->data_type == DataType::kFloat32) {
      return ToFloat(pool, input, output);
    }
    switch (input->data_type) {
      case DataType::kFloat32:
        if (attributes_.wide && output->data_type == DataType::kInt32) {
          MACE_RETURN_IF_ERROR(CheckWide(input));
        }
        FromFloat(pool, input, output);
        break;
      default: {
        IntegerTypes types = {{},
                              {},
                              DataTypeSize(input->data_type),
                              DataTypeSize(output->data_type)};
        if (!FindIntegers(input->data_type, &types.from) ||
            !FindIntegers(output->data_type, &types.to)) {
          return CannotConvert(input);
        }
        RunParts(pool, input, output, &types, ConvertIntegers);
      }
    }
    return MaceStatus();
  }

 private:
  MaceStatus CannotConvert(const Tensor *input) const {
    return Invalid("cannot convert from ", DataTypeName(input->data_type));
  }

  MaceStatus CheckWide(const Tensor *input) const {
    if (!AnyExceeds(input->As<float>(), input->elements())) return MaceStatus();
    return ExceedsInt32();
  }

  MaceStatus ToFloat(ThreadPool *pool,
                     const Tensor *input,
                     Tensor *output) const {
    const convert::Kernels *kernels = convert::KernelsFor(isa());
    switch (input->data_type) {
      case DataType::kFloat16:
        ForParts<uint16_t, float>(pool, input, output, kernels->f16.widen);
        break;
      case DataType::kBfloat16:
        ForParts<uint16_t, float>(pool, input, output, kernels->bf16.widen);
        break;
      case DataType::kInt32:
        ForParts<int32_t, float>(pool, input, output, kernels->i32_to_f32);
        break;
      case DataType::kUint8:
        ForParts<uint8_t, float>(pool, input, output, kernels->u8_to_f32);
        break;
      case DataType::kInt8:
        ForParts<int8_t, float>(pool, input, output, kernels->i8_to_f32);
        break;
      case DataType::kInt16:
        ForParts<int16_t, float>(pool, input, output,
                                 [](const int16_t *x, float *y, size_t count) {
                                   std::copy_n(x, count, y);
                                 });
        break;
      case DataType::kBool:
        ForParts<uint8_t, float>(pool, input, output, kernels->bool_to_f32);
        break;
      default:
        return CannotConvert(input);
    }
    return MaceStatus();
  }

  void FromFloat(ThreadPool *pool, const Tensor *input, Tensor *output) const {
    const convert::Kernels *kernels = convert::KernelsFor(isa());
    switch (output->data_type) {
      case DataType::kFloat16:
        return ForParts<float, uint16_t>(pool, input, output,
                                         kernels->f16.narrow);
      case DataType::kBfloat16:
        return ForParts<float, uint16_t>(pool, input, output,
                                         kernels->bf16.narrow);
      case DataType::kInt32:
        return ForParts<float, int32_t>(pool, input, output,
                                        kernels->f32_to_i32);
      case DataType::kUint8:
        return ForParts<float, uint8_t>(pool, input, output,
                                        kernels->f32_to_u8);
      case DataType::kInt8:
        return ForParts<float, int8_t>(pool, input, output, kernels->f32_to_i8);
      case DataType::kInt16:
        return ForParts<float, int16_t>(
            pool, input, output, [](const float *x, int16_t *y, size_t count) {
#pragma clang loop vectorize(disable) unroll(disable)
              for (size_t i = 0; i < count; ++i) y[i] = ToInt16(x[i]);
            });
      default:
        return ForParts<float, uint8_t>(pool, input, output,
                                        kernels->f32_to_bool);
    }
  }

  CastAttributes attributes_;
};

}  // namespace

MACE_REGISTER_OP(Cast, CPU, CastOp);

}  // namespace mace
