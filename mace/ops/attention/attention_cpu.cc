// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// A task computes some blocks of queries of one head. It packs the head's keys
// and values once; then the scores of a block of queries stay in L2 from the
// first product over the softmax to the second product.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "mace/core/base/divide.h"
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

struct AttentionPlan final : OpPlan {
  AttentionSizes sizes;
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
    gemm_ = gemm::ArithmeticFor(gemm::ArithmeticKind::kFloat, isa());
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
    const size_t fit = kScoreBytes / (keys * sizeof(float) * tile);
    const size_t most = causal ? std::max<size_t>(kCausalQueries / tile, 1)
                               : DivideUp(Size(s.queries), tile);
    plan->block = std::clamp<size_t>(fit, 1, std::max<size_t>(most, 1)) * tile;
    // The same blocks for every number of threads.
    const size_t blocks = DivideUp(Size(s.queries), plan->block);
    const auto threads =
        static_cast<size_t>(context->thread_pool()->thread_count());
    const size_t heads = std::max<size_t>(Size(s.batch * s.heads), 1);
    const size_t wanted = threads == 1 ? 1 : DivideUp(4 * threads, heads);
    const size_t least = DivideUp(kWorthwhile, plan->block);
    plan->blocks = std::max(DivideUp(blocks, wanted), least);
    plan->tasks = DivideUp(blocks, plan->blocks);
    plan->key_block = causal ? std::min(keys, kCausalKeys) : keys;

    size_t at = 0;
    const auto take = [&at](size_t *part, size_t floats) {
      *part = at;
      at += Lines(floats);
    };
    take(&plan->keys_at, gemm::PackedFloats(Size(s.depth), keys));
    take(&plan->values_at,
         gemm::PackedFloats(RoundUp(keys, plan->key_block), Size(s.width)));
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
            const int64_t group = head / s.heads * s.groups +
                                  head % s.heads / (s.heads / s.groups);
            if (group != packed) Pack(context, plan, group, memory);
            packed = group;
            Compute(context, plan, head, Size(i) % plan.tasks, memory);
          }
        });
    return MaceStatus();
  }

 private:
  // Packs the keys and values of a group of a batch.
  void Pack(RunContext *context,
            const AttentionPlan &plan,
            int64_t group,
            float *memory) const {
    const AttentionSizes &s = plan.sizes;
    const Tensor *key = context->input(kAttentionKeyInput);
    const Tensor *value = context->input(kAttentionValueInput);
    const Strides key_strides(key->shape, attributes_.tokens_first);
    const Strides value_strides(value->shape, attributes_.tokens_first);
    const size_t batch = Size(group / s.groups);
    const size_t own = Size(group % s.groups);
    gemm::PackArgs args;
    args.b =
        key->As<float>() + batch * key_strides.batch + own * key_strides.head;
    args.depth = Size(s.depth);
    args.columns = Size(s.keys);
    args.depth_stride = 1;
    args.column_stride = key_strides.token;
    args.transpose = transpose_;
    gemm::PackPanels(args, 0, gemm::PanelCount(args.columns),
                     memory + plan.keys_at);
    const float *values = value->As<float>() + batch * value_strides.batch +
                          own * value_strides.head;
    args.columns = Size(s.width);
    args.depth_stride = value_strides.token;
    args.column_stride = 1;
    for (size_t k = 0; k < Size(s.keys); k += plan.key_block) {
      args.b = values + k * value_strides.token;
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
               int64_t head,
               size_t task,
               float *memory) const {
    const AttentionSizes &s = plan.sizes;
    const Tensor *query = context->input(kAttentionQueryInput);
    Tensor *output = context->output(0);
    const Strides from(query->shape, attributes_.tokens_first);
    const Strides to(output->shape, attributes_.tokens_first);
    const size_t batch = Size(head / s.heads);
    const size_t own = Size(head % s.heads);
    const float *x = query->As<float>() + batch * from.batch + own * from.head;
    float *y = output->MutableAs<float>() + batch * to.batch + own * to.head;
    const Tensor *mask = context->input(kAttentionMaskInput);
    const size_t end =
        std::min(Size(s.queries), (task + 1) * plan.blocks * plan.block);
    for (size_t first = task * plan.blocks * plan.block; first < end;
         first += plan.block) {
      const size_t count = std::min(plan.block, end - first);
      const size_t keys = KeysOf(s, first + count - 1);
      float *out = y + first * to.token;
      if (keys == 0) {
        for (size_t m = 0; m < count; ++m) {
          std::fill_n(out + m * to.token, Size(s.width), 0.0f);
        }
        continue;
      }
      gemm::Epilogue epilogue;
      if (mask != nullptr) {
        const Shape &shape = mask->shape;
        const size_t matrix = Size(shape[2] * shape[3]);
        epilogue.residual_stride = shape[2] == 1 ? 0 : Size(shape[3]);
        epilogue.residual = mask->As<float>() +
                            ((shape[0] == 1 ? 0 : batch) * Size(shape[1]) +
                             (shape[1] == 1 ? 0 : own)) *
                                matrix +
                            first * epilogue.residual_stride;
      }
      Scores(plan, x + first * from.token, from.token, count, keys, epilogue,
             memory);
      Weights(plan, first, count, keys, mask != nullptr,
              memory + plan.scores_at);
      Outputs(plan, count, keys, out, to.token, memory);
    }
  }

  // Of `count` queries, which are multiplied by the scale.
  void Scores(const AttentionPlan &plan,
              const float *x,
              size_t stride,
              size_t count,
              size_t keys,
              const gemm::Epilogue &epilogue,
              float *memory) const {
    const size_t depth = Size(plan.sizes.depth);
    float *scaled = memory + plan.queries_at;
    const void **rows = reinterpret_cast<const void **>(memory + plan.rows_at);
    for (size_t m = 0; m < count; ++m) {
      rows[m] = scaled + m * depth;
      for (size_t k = 0; k < depth; ++k) {
        scaled[m * depth + k] = x[m * stride + k] * attributes_.scale;
      }
    }
    gemm::Block block;
    block.a = rows;
    block.rows = count;
    block.depth = depth;
    block.w = memory + plan.keys_at;
    block.columns = keys;
    block.panel_end = gemm::PanelCount(keys);
    block.c = memory + plan.scores_at;
    block.c_stride = Size(plan.sizes.keys);
    block.epilogue = epilogue;
    gemm_->run(block);
  }

  // Softmax of each row; 0 for keys that do not take part, as far as the second
  // product reads.
  void Weights(const AttentionPlan &plan,
               size_t first,
               size_t count,
               size_t keys,
               bool masked,
               float *scores) const {
    const size_t stride = Size(plan.sizes.keys);
    const bool causal = attributes_.causal != AttentionCausal::NONE;
    if (!masked && !causal) {
      softmax_->rows(scores, scores, count, stride, false);
      return;
    }
    const size_t end = std::min(stride, RoundUp(keys, plan.key_block));
    for (size_t m = 0; m < count; ++m, scores += stride) {
      size_t own = KeysOf(plan.sizes, first + m);
      if (masked && std::all_of(scores, scores + own, [](float score) {
            return score == -HUGE_VALF;
          })) {
        own = 0;
      }
      if (own > 0) softmax_->rows(scores, scores, 1, own, false);
      std::fill(scores + own, scores + end, 0.0f);
    }
  }

  void Outputs(const AttentionPlan &plan,
               size_t count,
               size_t keys,
               float *out,
               size_t stride,
               float *memory) const {
    const void **rows = reinterpret_cast<const void **>(memory + plan.rows_at);
    gemm::Block block;
    block.a = rows;
    block.rows = count;
    block.columns = Size(plan.sizes.width);
    block.panel_end = gemm::PanelCount(block.columns);
    block.c = out;
    block.c_stride = stride;
    for (size_t k = 0; k < keys; k += plan.key_block) {
      for (size_t m = 0; m < count; ++m) {
        rows[m] = memory + plan.scores_at + m * Size(plan.sizes.keys) + k;
      }
      block.depth = std::min(plan.key_block, Size(plan.sizes.keys) - k);
      block.w = memory + plan.values_at + gemm::PackedFloats(k, block.columns);
      if (k > 0) {
        block.epilogue.residual = out;
        block.epilogue.residual_stride = stride;
      }
      gemm_->run(block);
    }
  }

  AttentionAttributes attributes_;
  const gemm::Arithmetic *gemm_ = nullptr;
  const softmax::Kernels *softmax_ = nullptr;
  gemm::TransposeFunction transpose_ = nullptr;
};

MACE_REGISTER_OP(Attention, CPU, AttentionOp);

}  // namespace
}  // namespace mace
