// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// A task computes some blocks of queries of one head. It packs the head's keys
// and values once; then the scores of a block of queries stay in L2 from the
// first product over the softmax to the second product. A few queries are
// multiplied by keys and values where they are.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>

#include "mace/core/base/divide.h"
#include "mace/kernels/cpu/eltwise/eltwise.h"
#include "mace/kernels/cpu/gemm/few_rows.h"
#include "mace/kernels/cpu/gemm/gemm.h"
#include "mace/kernels/cpu/gemm/pack.h"
#include "mace/kernels/cpu/softmax/softmax.h"
#include "mace/kernels/cpu/transpose/transpose.h"
#include "mace/ops/attention/attention.h"
#include "mace/ops/attention/attention_schema.h"
#include "mace/ops/cpu_op/cpu_op.h"

namespace mace {
namespace {

// Scores of a block of queries.
constexpr size_t kScoreBytes = 256 * 1024;
// Queries of a block whose queries take different numbers of keys: more would
// compute more scores that nobody needs.
constexpr size_t kCausalQueries = 64;
// Keys that such a block multiplies by values at once, or leaves out.
constexpr size_t kCausalKeys = 256;
// Queries for which packing the keys in one more task is worthwhile.
constexpr size_t kWorthwhile = 64;

constexpr size_t Size(int64_t x) { return static_cast<size_t>(x); }
// Floats, to whole cache lines.
constexpr size_t Lines(size_t floats) { return RoundUp(floats, 16); }

// Elements from one to the next.
struct Strides {
  size_t batch;
  size_t head;
  size_t token;

  Strides(const Shape &shape, bool tokens_first)
      : batch(Size(shape.Elements(1, 4))),
        head(Size(tokens_first ? shape[3] : shape[2] * shape[3])),
        token(Size(tokens_first ? shape[2] * shape[3] : shape[3])) {}
};

// The tokens of a head.
struct Matrix {
  const float *data;
  size_t stride;

  Matrix(const Tensor &tensor, bool tokens_first, size_t batch, size_t head) {
    const Strides strides(tensor.shape, tokens_first);
    data = tensor.As<float>() + batch * strides.batch + head * strides.head;
    stride = strides.token;
  }
};

struct AttentionPlan final : OpPlan {
  AttentionSizes sizes;
  bool few = false;      // queries, so that nothing is packed
  size_t block = 0;      // queries
  size_t blocks = 0;     // of a head, in a task
  size_t tasks = 0;      // of a head
  size_t key_block = 0;  // keys that are packed together for the second product

  // Of the memory of a thread, in floats.
  size_t keys_at = 0;
  size_t values_at = 0;
  size_t scores_at = 0;
  size_t queries_at = 0;
  size_t rows_at = 0;
  size_t thread_floats = 0;

  int64_t Macs() const override { return sizes.Macs(); }
};

class AttentionOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    attributes_ = context->AttributesAs<AttentionAttributes>();
    few_rows_ = gemm::FewRowsKernelsFor(isa());
    gemm_ = gemm::ArithmeticFor(gemm::ArithmeticKind::kFloat, isa());
    eltwise_ = eltwise::KernelsFor(isa());
    softmax_ = softmax::KernelsFor(isa());
    transpose_ = transpose::KernelsFor(isa())->matrix32;
    return MaceStatus();
  }

  MaceStatus Plan(PlanContext *context) override {
    auto plan = std::make_unique<AttentionPlan>();
    plan->sizes = AttentionSizes::Of(
        context->input(kAttentionQueryInput)->shape,
        context->input(kAttentionKeyInput)->shape,
        context->input(kAttentionValueInput)->shape, attributes_.tokens_first);
    const AttentionSizes &s = plan->sizes;
    const size_t keys = Size(s.keys);
    const bool causal = attributes_.causal != AttentionCausal::NONE;
    const size_t tile = gemm_->row_tile;
    const auto threads = Size(context->thread_pool()->thread_count());
    const size_t heads = std::max<size_t>(Size(s.batch * s.heads), 1);
    const size_t wanted = threads == 1 ? 1 : DivideUp(4 * threads, heads);
    const size_t least = DivideUp(kWorthwhile, tile) * tile;
    // Causal blocks are the same for any number of threads: what they leave out
    // has no effect on the bits, unless a value is infinite or NaN.
    const size_t share = RoundUp(DivideUp(Size(s.queries), wanted), tile);
    const size_t most =
        causal ? RoundUp(kCausalQueries, tile) : std::max(share, least);
    const size_t fit = kScoreBytes / (keys * sizeof(float) * tile) * tile;
    plan->block = std::clamp(fit, tile, most);
    const size_t blocks = DivideUp(Size(s.queries), plan->block);
    plan->blocks =
        std::max(DivideUp(blocks, wanted), DivideUp(least, plan->block));
    plan->tasks = DivideUp(blocks, plan->blocks);
    plan->few = Size(s.queries) <= gemm::kFewRowsTransposed;
    plan->key_block = causal && !plan->few ? std::min(keys, kCausalKeys) : keys;

    size_t at = 0;
    const auto take = [&at](size_t *part, size_t floats) {
      *part = at;
      at += Lines(floats);
    };
    if (!plan->few) {
      take(&plan->keys_at, gemm::PackedFloats(Size(s.depth), keys));
      take(&plan->values_at,
           gemm::PackedFloats(RoundUp(keys, plan->key_block), Size(s.width)));
    }
    take(&plan->scores_at, plan->block * keys);
    take(&plan->queries_at, plan->block * Size(s.depth));
    take(&plan->rows_at, plan->block * (sizeof(void *) / sizeof(float)));
    plan->thread_floats = at;
    context->RequestScratch(at * sizeof(float) * threads);
    context->Keep(std::move(plan));
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    const auto &plan = context->PlanAs<AttentionPlan>();
    const AttentionSizes &s = plan.sizes;
    auto *scratch = static_cast<float *>(context->scratch());
    context->thread_pool()->ParallelFor(
        s.batch * s.heads * static_cast<int64_t>(plan.tasks), 1,
        [&](int64_t begin, int64_t end, int thread) {
          float *memory = scratch + Size(thread) * plan.thread_floats;
          int64_t packed = -1;
          for (int64_t i = begin; i < end; ++i) {
            const int64_t head = i / static_cast<int64_t>(plan.tasks);
            const int64_t group = head % s.heads / (s.heads / s.groups);
            const Head of = HeadOf(context, head / s.heads, group);
            const int64_t own = head / s.heads * s.groups + group;
            if (own != packed && !plan.few) Pack(plan, of, memory);
            packed = own;
            Compute(context, plan, of, head, Size(i) % plan.tasks, memory);
          }
        });
    return MaceStatus();
  }

 private:
  // The keys and values of a head.
  struct Head {
    Matrix keys;
    Matrix values;
  };
  Head HeadOf(RunContext *context, int64_t batch, int64_t group) const {
    const bool tokens_first = attributes_.tokens_first;
    return {Matrix(*context->input(kAttentionKeyInput), tokens_first,
                   Size(batch), Size(group)),
            Matrix(*context->input(kAttentionValueInput), tokens_first,
                   Size(batch), Size(group))};
  }

  void Pack(const AttentionPlan &plan, const Head &of, float *memory) const {
    const AttentionSizes &s = plan.sizes;
    gemm::PackArgs args;
    args.b = of.keys.data;
    args.depth = Size(s.depth);
    args.columns = Size(s.keys);
    args.depth_stride = 1;
    args.column_stride = of.keys.stride;
    args.transpose = transpose_;
    gemm::PackPanels(args, 0, gemm::PanelCount(args.columns),
                     memory + plan.keys_at);
    args.columns = Size(s.width);
    args.depth_stride = of.values.stride;
    args.column_stride = 1;
    for (size_t k = 0; k < Size(s.keys); k += plan.key_block) {
      args.b = of.values.data + k * of.values.stride;
      args.depth = std::min(plan.key_block, Size(s.keys) - k);
      gemm::PackPanels(
          args, 0, gemm::PanelCount(args.columns),
          memory + plan.values_at + gemm::PackedFloats(k, args.columns));
    }
  }

  // How many keys a query takes.
  size_t KeysOf(const AttentionSizes &s, size_t query) const {
    if (attributes_.causal == AttentionCausal::NONE) return Size(s.keys);
    const int64_t offset = attributes_.causal == AttentionCausal::BOTTOM_RIGHT
                               ? s.keys - s.queries
                               : 0;
    return Size(std::clamp<int64_t>(static_cast<int64_t>(query) + offset + 1, 0,
                                    s.keys));
  }

  void Compute(RunContext *context,
               const AttentionPlan &plan,
               const Head &of,
               int64_t head,
               size_t task,
               float *memory) const {
    const AttentionSizes &s = plan.sizes;
    Tensor *output = context->output(0);
    const Strides to(output->shape, attributes_.tokens_first);
    const size_t batch = Size(head / s.heads);
    const size_t own = Size(head % s.heads);
    const Matrix x(*context->input(kAttentionQueryInput),
                   attributes_.tokens_first, batch, own);
    float *y = output->MutableAs<float>() + batch * to.batch + own * to.head;
    const Tensor *mask = context->input(kAttentionMaskInput);
    const size_t end =
        std::min(Size(s.queries), (task + 1) * plan.blocks * plan.block);
    for (size_t first = task * plan.blocks * plan.block; first < end;
         first += plan.block) {
      Part part;
      part.first = first;
      part.count = std::min(plan.block, end - first);
      part.keys = KeysOf(s, first + part.count - 1);
      part.out = y + first * to.token;
      part.out_stride = to.token;
      part.scales_queries =
          mask != nullptr || plan.few || !(attributes_.scale > 0.0f);
      if (part.keys == 0) {
        for (size_t m = 0; m < part.count; ++m) {
          std::fill_n(part.out + m * to.token, Size(s.width), 0.0f);
        }
        continue;
      }
      if (mask != nullptr) {
        const Shape &shape = mask->shape;
        part.mask_stride = shape[2] == 1 ? 0 : Size(shape[3]);
        const size_t matrix = (shape[0] == 1 ? 0 : batch) * Size(shape[1]) +
                              (shape[1] == 1 ? 0 : own);
        part.mask = mask->As<float>() + matrix * Size(shape[2] * shape[3]) +
                    first * part.mask_stride;
      }
      Scores(plan, x, of.keys, part, memory);
      Weights(plan, part, memory + plan.scores_at);
      Outputs(plan, of.values, part, memory);
    }
  }

  // A block of queries.
  struct Part {
    size_t first = 0;
    size_t count = 0;
    size_t keys = 0;  // the most that a query takes
    const float *mask = nullptr;
    size_t mask_stride = 0;
    bool scales_queries = true;  // otherwise softmax scales the products
    float *out = nullptr;
    size_t out_stride = 0;
  };

  void Scores(const AttentionPlan &plan,
              const Matrix &x,
              const Matrix &keys,
              const Part &part,
              float *memory) const {
    const size_t depth = Size(plan.sizes.depth);
    const float *queries = x.data + part.first * x.stride;
    float *scaled = memory + plan.queries_at;
    float *scores = memory + plan.scores_at;
    const void **rows = reinterpret_cast<const void **>(memory + plan.rows_at);
    if (part.scales_queries) {
      eltwise::Rows scaling;
      scaling.rows = part.count;
      scaling.columns = depth;
      scaling.a_row_stride = static_cast<ptrdiff_t>(x.stride);
      scaling.b_scalar = true;
      eltwise_->binary(eltwise::Binary::kMul, scaling, queries,
                       &attributes_.scale, scaled);
      for (size_t m = 0; m < part.count; ++m) rows[m] = scaled + m * depth;
    } else {
      for (size_t m = 0; m < part.count; ++m) rows[m] = queries + m * x.stride;
    }
    if (plan.few) {
      few_rows_->run_transposed({scaled, part.count, depth, keys.data,
                                 keys.stride, 0, part.keys, scores,
                                 Size(plan.sizes.keys)});
      if (part.mask == nullptr) return;
      for (size_t m = 0; m < part.count; ++m) {
        for (size_t k = 0; k < part.keys; ++k) {
          scores[m * Size(plan.sizes.keys) + k] +=
              part.mask[m * part.mask_stride + k];
        }
      }
      return;
    }
    gemm::Block block;
    block.a = rows;
    block.rows = part.count;
    block.depth = depth;
    block.w = memory + plan.keys_at;
    block.columns = part.keys;
    block.panel_end = gemm::PanelCount(part.keys);
    block.c = scores;
    block.c_stride = Size(plan.sizes.keys);
    block.epilogue.residual = part.mask;
    block.epilogue.residual_stride = part.mask_stride;
    gemm_->run(block);
  }

  // Softmax of each row; 0 for keys that do not take part, as far as the second
  // product reads.
  void Weights(const AttentionPlan &plan,
               const Part &part,
               float *scores) const {
    const size_t stride = Size(plan.sizes.keys);
    const bool masked = part.mask != nullptr;
    softmax::RowOptions options;
    if (!part.scales_queries) options.scale = attributes_.scale;
    if (!masked && attributes_.causal == AttentionCausal::NONE) {
      softmax_->rows(scores, scores, part.count, stride, options);
      return;
    }
    const size_t end = std::min(stride, RoundUp(part.keys, plan.key_block));
    for (size_t m = 0; m < part.count; ++m, scores += stride) {
      size_t own = KeysOf(plan.sizes, part.first + m);
      if (masked && std::all_of(scores, scores + own, [](float score) {
            return score == -HUGE_VALF;
          })) {
        if (!attributes_.zero_without_keys && own > 0) {
          std::fill_n(scores, end, std::numeric_limits<float>::quiet_NaN());
          continue;
        }
        own = 0;
      }
      if (own > 0) softmax_->rows(scores, scores, 1, own, options);
      std::fill(scores + own, scores + end, 0.0f);
    }
  }

  void Outputs(const AttentionPlan &plan,
               const Matrix &values,
               const Part &part,
               float *memory) const {
    const size_t keys = Size(plan.sizes.keys);
    const float *scores = memory + plan.scores_at;
    if (plan.few) {
      few_rows_->run({scores, part.count, keys, values.data, values.stride, 0,
                      Size(plan.sizes.width), part.out, part.out_stride});
      return;
    }
    const void **rows = reinterpret_cast<const void **>(memory + plan.rows_at);
    gemm::Block block;
    block.a = rows;
    block.rows = part.count;
    block.columns = Size(plan.sizes.width);
    block.panel_end = gemm::PanelCount(block.columns);
    block.c = part.out;
    block.c_stride = part.out_stride;
    for (size_t k = 0; k < part.keys; k += plan.key_block) {
      for (size_t m = 0; m < part.count; ++m) {
        rows[m] = scores + m * keys + k;
      }
      block.depth = std::min(plan.key_block, keys - k);
      block.w = memory + plan.values_at + gemm::PackedFloats(k, block.columns);
      if (k > 0) {
        block.epilogue.residual = part.out;
        block.epilogue.residual_stride = part.out_stride;
      }
      gemm_->run(block);
    }
  }

  AttentionAttributes attributes_;
  const gemm::FewRowsKernels *few_rows_ = nullptr;
  const gemm::Arithmetic *gemm_ = nullptr;
  const eltwise::Kernels *eltwise_ = nullptr;
  const softmax::Kernels *softmax_ = nullptr;
  gemm::TransposeFunction transpose_ = nullptr;
};

MACE_REGISTER_OP(Attention, CPU, AttentionOp);

}  // namespace
}  // namespace mace
