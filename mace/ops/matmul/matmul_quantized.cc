// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "mace/core/base/aligned_memory.h"
#include "mace/core/base/missing_part.h"
#include "mace/core/model/quantization.h"
#include "mace/core/model/quantized_checks.h"
#include "mace/kernels/cpu/gemm/quantized_gemm.h"
#include "mace/kernels/cpu/matmul/quantized_product.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/cpu_op/quantized_tensor.h"
#include "mace/ops/matmul/matmul_schema.h"

namespace mace {
namespace {

float ScaleOf(const Tensor &tensor) { return tensor.quantization->scales[0]; }

class QuantizedMatMulPlan final : public OpPlan {
 public:
  // `plan` is null if there is nothing to multiply.
  QuantizedMatMulPlan(const Tensor &a,
                      const Tensor &output,
                      int64_t macs,
                      std::unique_ptr<matmul::Plan> plan)
      : a_(KernelSide(a)),
        output_(KernelSide(output)),
        macs_(macs),
        plan_(std::move(plan)) {}

  size_t ScratchBytes(int threads, size_t a_bytes) const {
    return plan_ == nullptr ? 0
                            : CopyBytes(a_bytes) + plan_->ScratchBytes(threads);
  }

  void Run(RunContext *context) const {
    const Tensor &a = *context->input(kMatMulAInput);
    const Tensor &output = *context->output(kMatMulOutputOutput);
    if (plan_ == nullptr) {
      // Sums without terms, which are 0.
      const int zero = static_cast<uint8_t>(output_.zero) ^ output_.mask();
      const auto bytes = static_cast<size_t>(output.bytes());
      if (bytes > 0) std::memset(output.data, zero, bytes);
      return;
    }
    ThreadPool *pool = context->thread_pool();
    auto *scratch = static_cast<uint8_t *>(context->scratch());
    matmul::Args args;
    args.a = a.data;
    args.b = context->input(kMatMulBInput)->data;
    args.c = output.data;
    if (a_.flipped) {
      FlipSigns(a.As<uint8_t>(), scratch, a.bytes(), pool);
      args.a = scratch;
      scratch += CopyBytes(static_cast<size_t>(a.bytes()));
    }
    plan_->Run(args, pool, scratch);
    if (output_.flipped) FlipRows(output, pool);
  }

  int64_t Macs() const override { return macs_; }
  std::string KernelName() const override {
    return plan_ == nullptr ? "none" : plan_->Name();
  }

 private:
  size_t CopyBytes(size_t a_bytes) const {
    return a_.flipped ? AlignUp(a_bytes) : 0;
  }

  const QuantizedSide a_;
  const QuantizedSide output_;
  const int64_t macs_;
  const std::unique_ptr<matmul::Plan> plan_;
};

class QuantizedMatMulOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    attributes_ = context->AttributesAs<MatMulAttributes>();
    arithmetic_ = gemm::ArithmeticFor(gemm::ArithmeticKind::kQuantized, isa());
    if (arithmetic_ == nullptr) {
      return NotSupported(kBuiltWithout, "the kernels for quantized products",
                          kBuildForThisModel);
    }
    return MaceStatus();
  }

  MaceStatus Plan(PlanContext *context) override {
    const Tensor &a = *context->input(kMatMulAInput);
    const Tensor &b = *context->input(kMatMulBInput);
    const Tensor &output = *context->output(kMatMulOutputOutput);
    matmul::QuantizedProduct product;
    matmul::SizesOf(a.shape, b.shape, attributes_.transpose_a,
                    attributes_.transpose_b, &product.sizes);
    const QuantizedSide to = KernelSide(output);
    const bool b_unsigned = b.data_type == DataType::kUint8;
    product.a_zero = KernelSide(a).zero;
    product.b_flip = b_unsigned ? 0x80 : 0;
    product.b_zero = KernelSide(b).zero - (kUnsignedBytes ? 128 : 0);
    product.scale = ScaleOf(a) * ScaleOf(b) / ScaleOf(output);
    product.zero = to.zero;
    product.low = to.least;
    product.high = to.most;
    const int threads = context->thread_pool()->thread_count();
    const int64_t macs = product.sizes.Macs();
    std::unique_ptr<matmul::Plan> plan;
    if (macs > 0) {
      plan = matmul::MakeQuantizedPlan(product, arithmetic_, isa(), threads);
    }
    auto own =
        std::make_unique<QuantizedMatMulPlan>(a, output, macs, std::move(plan));
    context->RequestScratch(
        own->ScratchBytes(threads, static_cast<size_t>(a.bytes())));
    context->Keep(std::move(own));
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    context->PlanAs<QuantizedMatMulPlan>().Run(context);
    return MaceStatus();
  }

 private:
  MatMulAttributes attributes_;
  const gemm::Arithmetic *arithmetic_ = nullptr;
};

MACE_REGISTER_QUANTIZED_OP(MatMul, CPU, QuantizedMatMulOp);

}  // namespace
}  // namespace mace
