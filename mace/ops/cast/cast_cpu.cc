// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/cast/cast_schema.h"

#include <atomic>

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
  for (int64_t i = 0; i < count; ++i) {
    exceeds |= (x[i] >= kInt32 && x[i] < kInt64) ||
               (x[i] < -kInt32 && x[i] >= -kInt64);
  }
  return exceeds;
}

struct Bool {
  uint8_t value;
};

// Between integers, the low bits are kept; conversion to bool gives "not zero".
// Kernels do the conversions from and to floats, except those of int16: models
// have it at their inputs and outputs only.
template <typename To, typename From>
struct Convert {
  static To Of(From x) { return static_cast<To>(x); }
};
template <typename From>
struct Convert<Bool, From> {
  static Bool Of(From x) { return {static_cast<uint8_t>(x != From(0))}; }
};
template <typename To>
struct Convert<To, Bool> {
  static To Of(Bool x) { return static_cast<To>(x.value != 0 ? 1 : 0); }
};
template <>
struct Convert<Bool, Bool> {
  static Bool Of(Bool x) { return x; }
};
template <>
struct Convert<int16_t, float> {
  // Truncates and saturates; NaN becomes 0, as in the kernels.
  static int16_t Of(float x) {
    if (!(x > -32768.0f)) return x != x ? 0 : INT16_MIN;
    return x < 32767.0f ? static_cast<int16_t>(x) : INT16_MAX;
  }
};

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
// each pair of types, so it contains as little code as possible.
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

template <typename From, typename To>
void ConvertAll(ThreadPool *pool, const Tensor *input, Tensor *output) {
  ForParts<From, To>(pool, input, output,
                     [](const From *x, To *y, size_t count) {
                       for (size_t i = 0; i < count; ++i) {
                         y[i] = Convert<To, From>::Of(x[i]);
                       }
                     });
}

// Between types other than float.
template <typename From>
void ConvertFrom(ThreadPool *pool, const Tensor *input, Tensor *output) {
  switch (output->data_type) {
    case DataType::kInt32:
      return ConvertAll<From, int32_t>(pool, input, output);
    case DataType::kUint8:
      return ConvertAll<From, uint8_t>(pool, input, output);
    case DataType::kInt8:
      return ConvertAll<From, int8_t>(pool, input, output);
    case DataType::kInt16:
      return ConvertAll<From, int16_t>(pool, input, output);
    case DataType::kBool:
      return ConvertAll<From, Bool>(pool, input, output);
    default:
      return;  // the schema allows no other type
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
          MACE_RETURN_IF_ERROR(CheckWide(pool, input));
        }
        FromFloat(pool, input, output);
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
      case DataType::kInt16:
        ConvertFrom<int16_t>(pool, input, output);
        break;
      case DataType::kBool:
        ConvertFrom<Bool>(pool, input, output);
        break;
      default:
        return CannotConvert(input);
    }
    return MaceStatus();
  }

 private:
  MaceStatus CannotConvert(const Tensor *input) const {
    return Invalid("cannot convert from ", DataTypeName(input->data_type));
  }

  MaceStatus CheckWide(ThreadPool *pool, const Tensor *input) const {
    const float *x = input->As<float>();
    std::atomic<bool> exceeds{false};
    pool->ParallelFor(input->elements(), kElementGrain,
                      [&](int64_t begin, int64_t end, int /*thread*/) {
                        if (AnyExceeds(x + begin, end - begin)) {
                          exceeds.store(true, std::memory_order_relaxed);
                        }
                      });
    if (!exceeds.load()) return MaceStatus();
    return Invalid(
        "a result exceeds the 32 bits in which MACE computes integers");
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
        ConvertAll<int16_t, float>(pool, input, output);
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
        return ConvertAll<float, int16_t>(pool, input, output);
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
