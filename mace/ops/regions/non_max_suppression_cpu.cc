// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "mace/core/base/divide.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/regions/non_max_suppression_schema.h"

namespace mace {
namespace {

// Selected boxes that are compared with a candidate at once.
constexpr int64_t kBlock = 8;

// A key that is larger for a higher score and, of equal scores, for the box
// that comes first.
uint64_t KeyOf(float score, int64_t box) {
  score += 0.0f;  // -0 equals 0
  uint32_t bits;
  std::memcpy(&bits, &score, sizeof(bits));
  bits = (bits >> 31) != 0 ? ~bits : bits | 0x80000000u;
  return (static_cast<uint64_t>(bits) << 32) |
         (0xffffffffu - static_cast<uint32_t>(box));
}
int64_t BoxOf(uint64_t key) { return 0xffffffffu - static_cast<uint32_t>(key); }

struct Box {
  float low[2];
  float high[2];
  float area;
};

Box BoxAt(const float *from, bool center_box) {
  Box box;
  for (int i = 0; i < 2; ++i) {
    float a = from[i];
    float b = from[i + 2];
    if (center_box) {
      const float half = b / 2;
      b = a + half;
      a = a - half;
    }
    box.low[i] = std::min(a, b);
    box.high[i] = std::max(a, b);
  }
  box.area = (box.high[0] - box.low[0]) * (box.high[1] - box.low[1]);
  return box;
}

// Boxes that were selected, kBlock by kBlock.
struct Blocks {
  float low[2][kBlock];
  float high[2][kBlock];
  float area[kBlock];
};

// Sets a box of a block; the others of a new block have no area.
void Append(const Box &box, int64_t index, Blocks *blocks) {
  Blocks &block = blocks[index / kBlock];
  if (index % kBlock == 0) std::memset(&block, 0, sizeof(block));
  for (int i = 0; i < 2; ++i) {
    block.low[i][index % kBlock] = box.low[i];
    block.high[i][index % kBlock] = box.high[i];
  }
  block.area[index % kBlock] = box.area;
}

bool OverlapsAny(const Box &box, const Blocks &block, float threshold) {
  int found = 0;
  for (int64_t k = 0; k < kBlock; ++k) {
    const float height = std::min(box.high[0], block.high[0][k]) -
                         std::max(box.low[0], block.low[0][k]);
    const float width = std::min(box.high[1], block.high[1][k]) -
                        std::max(box.low[1], block.low[1][k]);
    const float shared = std::max(height, 0.0f) * std::max(width, 0.0f);
    const float overlap = shared / (box.area + block.area[k] - shared);
    found |= static_cast<int>(shared > 0) & static_cast<int>(box.area > 0) &
             static_cast<int>(block.area[k] > 0) &
             static_cast<int>(overlap > threshold);
  }
  return found != 0;
}

class NonMaxSuppressionOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    attributes_ = context->AttributesAs<NonMaxSuppressionAttributes>();
    return MaceStatus();
  }

  MaceStatus Plan(PlanContext *context) override {
    const Layout layout(attributes_,
                        context->input(kNonMaxSuppressionScoresInput)->shape);
    context->RequestScratch(layout.Bytes(context->thread_pool()));
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    const Tensor *boxes = context->input(kNonMaxSuppressionBoxesInput);
    const Tensor *scores = context->input(kNonMaxSuppressionScoresInput);
    const Layout layout(attributes_, scores->shape);
    auto *counts = static_cast<int64_t *>(context->scratch());
    auto *work =
        reinterpret_cast<uint8_t *>(counts) + RoundUp(8 * layout.lists, 64);
    auto *rows = context->output(0)->MutableAs<int32_t>();
    const int64_t classes = scores->shape[1];
    context->thread_pool()->ParallelFor(
        layout.lists, RowGrain(8 * layout.boxes),
        [&](int64_t begin, int64_t end, int thread) {
          uint8_t *own = work + thread * layout.thread_bytes;
          for (int64_t i = begin; i < end; ++i) {
            counts[i] = Select(
                layout, boxes->As<float>() + i / classes * layout.boxes * 4,
                scores->As<float>() + i * layout.boxes, own,
                rows + i * layout.most * 3);
          }
        });
    int64_t total = 0;
    for (int64_t i = 0; i < layout.lists; ++i) {
      // The rows were written where they have room if all lists are full.
      for (int64_t k = 0; k < counts[i]; ++k) {
        const int32_t box = rows[(i * layout.most + k) * 3 + 2];
        int32_t *row = rows + total * 3;
        row[0] = static_cast<int32_t>(i / classes);
        row[1] = static_cast<int32_t>(i % classes);
        row[2] = box;
        ++total;
      }
    }
    std::fill(rows + total * 3, rows + layout.lists * layout.most * 3, 0);
    if (Tensor *count = context->output(1); count != nullptr) {
      *count->MutableAs<int32_t>() = static_cast<int32_t>(total);
    }
    return MaceStatus();
  }

 private:
  struct Layout {
    Layout(const NonMaxSuppressionAttributes &attributes, const Shape &scores)
        : lists(scores[0] * scores[1]),
          boxes(scores[2]),
          most(std::min(attributes.max_boxes, scores[2])),
          thread_bytes(
              RoundUp(static_cast<int64_t>(sizeof(uint64_t)) * boxes, 64) +
              (most + kBlock - 1) / kBlock *
                  static_cast<int64_t>(sizeof(Blocks))) {}
    size_t Bytes(const ThreadPool *pool) const {
      return static_cast<size_t>(RoundUp(8 * lists, 64) +
                                 pool->thread_count() * thread_bytes);
    }

    int64_t lists;  // one for each class of each image
    int64_t boxes;
    int64_t most;  // results of a list
    int64_t thread_bytes;
  };

  // Writes the boxes as the third elements of rows; returns their number.
  int64_t Select(const Layout &layout,
                 const float *boxes,
                 const float *scores,
                 uint8_t *work,
                 int32_t *rows) const {
    auto *keys = reinterpret_cast<uint64_t *>(work);
    auto *blocks = reinterpret_cast<Blocks *>(
        work +
        RoundUp(static_cast<int64_t>(sizeof(uint64_t)) * layout.boxes, 64));
    uint64_t *end = keys;
    for (int64_t i = 0; i < layout.boxes; ++i) {
      if (scores[i] > attributes_.score_threshold) *end++ = KeyOf(scores[i], i);
    }
    // A heap, because often only a few of the candidates are looked at.
    std::make_heap(keys, end);
    int64_t count = 0;
    while (count < layout.most && end != keys) {
      std::pop_heap(keys, end);
      const int64_t index = BoxOf(*--end);
      const Box box = BoxAt(boxes + index * 4, attributes_.center_box);
      bool overlaps = false;
      for (int64_t b = 0; b * kBlock < count && !overlaps; ++b) {
        overlaps = OverlapsAny(box, blocks[b], attributes_.iou_threshold);
      }
      if (overlaps) continue;
      Append(box, count, blocks);
      rows[count * 3 + 2] = static_cast<int32_t>(index);
      ++count;
    }
    return count;
  }

  NonMaxSuppressionAttributes attributes_;
};

MACE_REGISTER_OP(NonMaxSuppression, CPU, NonMaxSuppressionOp);

}  // namespace
}  // namespace mace
