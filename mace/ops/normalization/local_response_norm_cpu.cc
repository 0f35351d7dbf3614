// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/normalization/local_response_norm_schema.h"

#include <algorithm>

#include "mace/kernels/cpu/lrn/lrn.h"
#include "mace/ops/cpu_op/cpu_op.h"

namespace mace {

namespace {

class LocalResponseNormOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    kernels_ = lrn::KernelsFor(isa());
    attributes_ = context->AttributesAs<LocalResponseNormAttributes>();
    return MaceStatus();
  }

  MaceStatus Plan(PlanContext *context) override {
    const Shape &shape = context->input(kLocalResponseNormInputInput)->shape;
    const int threads = context->thread_pool()->thread_count();
    context->RequestScratch(static_cast<size_t>(threads) *
                            ScratchStride(ParamsOf(shape[3]), shape[3]) *
                            sizeof(float));
    context->AllowInPlace(0, 0);
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    const Tensor *input = context->input(kLocalResponseNormInputInput);
    const float *x = input->As<float>();
    float *y = context->output(0)->MutableAs<float>();
    float *scratch = static_cast<float *>(context->scratch());
    const int64_t channels = input->shape[3];
    if (channels == 0) return MaceStatus();
    const lrn::Params params = ParamsOf(channels);
    const size_t stride = ScratchStride(params, channels);
    const int64_t window =
        static_cast<int64_t>(params.before + params.after) + 1;
    context->thread_pool()->ParallelFor(
        input->shape.Elements(0, 3), RowGrain(channels * window),
        [&](int64_t begin, int64_t end, int thread) {
          kernels_->run(params, x + begin * channels, y + begin * channels,
                        static_cast<size_t>(end - begin),
                        static_cast<size_t>(channels),
                        scratch + static_cast<size_t>(thread) * stride);
        });
    return MaceStatus();
  }

 private:
  lrn::Params ParamsOf(int64_t channels) const {
    // Channels that do not exist count as 0.
    const int64_t most = std::max<int64_t>(0, channels - 1);
    lrn::Params params;
    params.before = static_cast<size_t>(std::min(attributes_.before, most));
    params.after = static_cast<size_t>(std::min(attributes_.after, most));
    params.alpha = attributes_.alpha;
    params.beta = attributes_.beta;
    params.bias = attributes_.bias;
    return params;
  }

  // Floats of scratch memory per thread: whole cache lines, to avoid false
  // sharing.
  static size_t ScratchStride(const lrn::Params &params, int64_t channels) {
    const size_t floats =
        params.before + static_cast<size_t>(channels) + params.after;
    return (floats + 15) / 16 * 16;
  }

  LocalResponseNormAttributes attributes_;
  const lrn::Kernels *kernels_ = nullptr;
};

}  // namespace

MACE_REGISTER_OP(LocalResponseNorm, CPU, LocalResponseNormOp);

}  // namespace mace
