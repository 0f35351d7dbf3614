// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/local_response_norm/local_response_norm_schema.h"

#include <algorithm>

#include "mace/kernels/cpu/lrn/lrn.h"
#include "mace/ops/cpu_op/cpu_op.h"

namespace mace {

namespace {

class LocalResponseNormOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    kernels_ = lrn::KernelsFor(isa());
    return attributes_.Parse(context->def());
  }

  MaceStatus Reshape(ReshapeContext *context) override {
    const Tensor *input = context->input(kLocalResponseNormInputInput);
    const Shape &shape = input->shape;
    if (shape.rank() != 4) {
      return Invalid("takes [N, H, W, C], not ", shape.ToString());
    }
    // Neighbours beyond the channels there are count nothing.
    const int64_t most = std::max<int64_t>(0, shape[3] - 1);
    params_.before = static_cast<size_t>(std::min(attributes_.before, most));
    params_.after = static_cast<size_t>(std::min(attributes_.after, most));
    params_.alpha = attributes_.alpha;
    params_.beta = attributes_.beta;
    params_.bias = attributes_.bias;
    stride_ = params_.before + static_cast<size_t>(shape[3]) + params_.after;
    stride_ = (stride_ + 15) / 16 * 16;  // cache lines: no false sharing
    MACE_RETURN_IF_ERROR(SetOutput(context, 0, shape, input->data_type));
    const int threads = context->thread_pool()->thread_count();
    context->RequestScratch(static_cast<size_t>(threads) * stride_ *
                            sizeof(float));
    context->AllowInPlace(0, 0);
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) override {
    const Tensor *input = context->input(kLocalResponseNormInputInput);
    const float *x = input->As<float>();
    float *y = context->output(0)->MutableAs<float>();
    float *scratch = static_cast<float *>(context->scratch());
    const int64_t channels = input->shape[3];
    if (channels == 0) return MaceStatus();
    const int64_t window =
        static_cast<int64_t>(params_.before + params_.after) + 1;
    context->thread_pool()->ParallelFor(
        input->shape.Elements(0, 3), RowGrain(channels * window),
        [&](int64_t begin, int64_t end, int thread) {
          kernels_->run(params_, x + begin * channels, y + begin * channels,
                        static_cast<size_t>(end - begin),
                        static_cast<size_t>(channels),
                        scratch + static_cast<size_t>(thread) * stride_);
        });
    return MaceStatus();
  }

 private:
  LocalResponseNormAttributes attributes_;
  const lrn::Kernels *kernels_ = nullptr;
  lrn::Params params_;
  size_t stride_ = 0;  // floats of scratch per thread
};

}  // namespace

MACE_REGISTER_OP(LocalResponseNorm, CPU, LocalResponseNormOp);

}  // namespace mace
