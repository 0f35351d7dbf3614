// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/opencl_op/move.h"

#include <algorithm>
#include <string>
#include <utility>

#include "mace/core/base/divide.h"
#include "mace/kernels/opencl/join_cl.h"
#include "mace/kernels/opencl/move_cl.h"

namespace mace {
namespace {

// The same move without axes of length 1, and with neighbours joined that are
// one axis of the input.
Move Simplify(const Move &move) {
  Move simple = move;
  simple.rank = 0;
  for (size_t i = 0; i < move.rank; ++i) {
    const int64_t size = move.sizes[i];
    const int64_t step = move.steps[i];
    if (size == 1) continue;
    if (simple.rank > 0 && simple.steps[simple.rank - 1] == size * step) {
      simple.sizes[simple.rank - 1] *= size;
      simple.steps[simple.rank - 1] = step;
      continue;
    }
    simple.Append(size, step);
  }
  if (simple.rank == 0) simple.Append(1, 1);
  return simple;
}

// Whether a pixel of the output is a run of channels of a pixel of the input,
// from the first channel of a block; then it becomes a move of blocks. What is
// beyond the last channel moves too, which does no harm.
bool PixelsToBlocks(const GpuDims &in, const GpuDims &out, Move *move) {
  if (move->rank == 0) return false;
  const size_t last = move->rank - 1;
  const int64_t channel = move->offset % in.c;
  if (move->sizes[last] != out.c || channel % 4 != 0 ||
      channel + out.c > in.c || (out.c > 1 && move->steps[last] != 1)) {
    return false;
  }
  for (size_t i = 0; i < last; ++i) {
    if (move->sizes[i] > 1 && move->steps[i] % in.c != 0) return false;
  }
  for (size_t i = 0; i < last; ++i) {
    move->steps[i] = move->steps[i] / in.c * in.blocks();
  }
  move->offset = move->offset / in.c * in.blocks() + channel / 4;
  move->sizes[last] = out.blocks();
  move->steps[last] = 1;
  return true;
}

// Whether all channels are in whole blocks, which stay together; then it
// becomes a move of blocks. The move must be simple.
bool RunsToBlocks(const GpuDims &in, const GpuDims &out, Move *move) {
  const size_t last = move->rank - 1;
  if (in.c % 4 != 0 || out.c % 4 != 0 || move->offset % 4 != 0 ||
      move->sizes[last] % 4 != 0 || move->steps[last] != 1) {
    return false;
  }
  for (size_t i = 0; i < last; ++i) {
    if (move->steps[i] % 4 != 0) return false;
  }
  for (size_t i = 0; i < last; ++i) move->steps[i] /= 4;
  move->offset /= 4;
  move->sizes[last] /= 4;
  return true;
}

// The work group of the kernel transpose: neighbours read and write neighbours
// on both sides.
constexpr int64_t kTransposeGroup = 8;

// Whether the channels of the input are an axis of the output, and those of the
// output an axis of the input, across whole pixels; then it adds the launch.
bool AddTranspose(const Move &move, OpenclPlanContext *context) {
  constexpr size_t kMostOthers = 4;
  const GpuDims in = context->InputDims(move.input);
  const GpuDims out = context->OutputDims(move.output);
  const size_t items = kTransposeGroup * kTransposeGroup;
  if (move.rank == 0 || context->gpu().max_work_group < items) return false;
  const size_t last = move.rank - 1;
  if (in.c < 2 || out.c < 2 || move.sizes[last] != out.c ||
      move.steps[last] % in.c != 0 || move.offset % in.c != 0) {
    return false;
  }
  int64_t sizes[kMostOthers] = {1, 1, 1, 1};
  int64_t steps[kMostOthers] = {};
  int64_t out_steps[kMostOthers] = {};
  size_t others = 0;
  int64_t rest = 1;
  int64_t across = 0;  // step in the output along the input's channels
  int64_t out_step = out.blocks();
  for (size_t i = last; i-- > 0;) {
    if (move.sizes[i] == in.c && move.steps[i] == 1 && across == 0) {
      across = out_step;
    } else if (move.sizes[i] > 1) {
      if (move.steps[i] % in.c != 0 || others == kMostOthers) return false;
      sizes[others] = move.sizes[i];
      steps[others] = move.steps[i] / in.c * in.blocks();
      out_steps[others] = out_step;
      ++others;
      rest *= move.sizes[i];
    }
    out_step *= move.sizes[i];
  }
  if (across == 0) return false;
  Launch launch(kMoveCl, "transpose");
  launch.Define("GROUP", kTransposeGroup);
  DefineValues(*context->output(move.output), &launch);
  launch.Input("input", move.input)
      .Output("output", move.output)
      .Ints(sizes[0], sizes[1], sizes[2], sizes[3])
      .Ints(steps[0], steps[1], steps[2], steps[3])
      .Ints(out_steps[0], out_steps[1], out_steps[2], out_steps[3])
      .Ints(move.steps[last] / in.c * in.blocks(), across,
            move.offset / in.c * in.blocks(), 0)
      .Items(out.blocks(), in.blocks(), rest)
      .WorkGroup(kTransposeGroup, kTransposeGroup);
  context->Add(std::move(launch));
  return true;
}

}  // namespace

void DefineValues(const Tensor &tensor, Launch *launch) {
  if (tensor.data_type == DataType::kInt32) launch->Define("INTEGERS");
}

void AddMove(const Move &move, OpenclPlanContext *context) {
  const GpuDims in = context->InputDims(move.input);
  const GpuDims out = context->OutputDims(move.output);
  Move units = move;
  bool blocks = PixelsToBlocks(in, out, &units);
  units = Simplify(units);
  if (!blocks) blocks = RunsToBlocks(in, out, &units);
  if (!blocks && AddTranspose(move, context)) return;
  // Innermost first, and axes of length 1 outside.
  constexpr size_t kMost = Move::kMaxRank;
  int64_t sizes[kMost];
  int64_t steps[kMost];
  for (size_t i = 0; i < kMost; ++i) {
    const bool there = i < units.rank;
    sizes[i] = there ? units.sizes[units.rank - 1 - i] : 1;
    steps[i] = there ? units.steps[units.rank - 1 - i] : 0;
  }
  const int64_t rank = units.rank == 1 ? 1 : units.rank <= 4 ? 4 : 8;
  Launch launch(kMoveCl, "move");
  launch.Define("RANK", rank);
  if (blocks) launch.Define("BLOCKS");
  DefineValues(*context->output(move.output), &launch);
  launch.Input("input", move.input)
      .Output("output", move.output)
      .Int(units.offset)
      .Ints(sizes[0], sizes[1], sizes[2], sizes[3])
      .Ints(steps[0], steps[1], steps[2], steps[3]);
  if (rank > 4) {
    launch.Ints(sizes[4], sizes[5], sizes[6], sizes[7])
        .Ints(steps[4], steps[5], steps[6], steps[7]);
  }
  launch.Items(out.blocks(), out.w, out.rows());
  context->Add(std::move(launch));
}

MaceStatus SameElementsOpencl::Plan(OpenclPlanContext *context) const {
  if (context->CanAlias(0, 0)) {
    context->Alias(0, 0);
    return MaceStatus();
  }
  const GpuDims out = context->OutputDims();
  Move move;
  move.Append(out.pixels(), out.c);
  move.Append(out.c, 1);
  AddMove(move, context);
  return MaceStatus();
}

namespace {

// Of one launch. GPUs of phones have room for 256 bytes of arguments.
constexpr size_t kMostInputs = 8;

const char *const kNames[kMostInputs] = {"in0", "in1", "in2", "in3",
                                         "in4", "in5", "in6", "in7"};

// An input with elements, and where it is on the axis, in units.
struct Part {
  size_t input;
  int64_t begin;
  int64_t end;
};

}  // namespace

void AddJoin(const std::vector<int64_t> &lengths,
             int64_t inner,
             OpenclPlanContext *context) {
  const GpuDims out = context->OutputDims();
  std::vector<Part> parts;
  int64_t axis = 0;
  bool whole_blocks = true;  // of channels, if these are the axis
  for (size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] == 0) continue;
    whole_blocks = whole_blocks && axis % 4 == 0;
    parts.push_back({i, axis, axis + lengths[i]});
    axis += lengths[i];
  }
  const int64_t outer = out.pixels() * out.c / (axis * inner);
  const bool channels = inner == 1 && axis == out.c && outer == out.pixels();
  if ((channels || outer == 1) && context->JoinInPlace(channels)) return;
  const bool blocks = !channels || whole_blocks;
  if (!channels) {
    inner = inner / out.c * out.blocks();
  } else if (whole_blocks) {
    for (Part &part : parts) {
      part.begin /= 4;
      part.end = (part.end + 3) / 4;
    }
    axis = out.blocks();
  }
  // Without whole blocks, an input of one launch that ends within a block is
  // also one of the next launch, which writes that block.
  const int64_t unit = blocks ? 1 : 4;  // of what is written
  const int64_t total = DivideUp(axis, unit);
  int64_t done = 0;
  size_t first = 0;
  while (done < total) {
    while (parts[first].end <= done * unit) ++first;
    const size_t count = std::min(kMostInputs, parts.size() - first);
    const Part *const chosen = &parts[first];
    const bool last = first + count == parts.size();
    const int64_t next = last ? total : chosen[count - 1].end / unit;
    Launch launch(kJoinCl, "join");
    launch.Define("COUNT", static_cast<int64_t>(count));
    if (blocks) launch.Define("BLOCKS");
    DefineValues(*context->output(0), &launch);
    int64_t begins[kMostInputs];
    for (size_t i = 0; i < kMostInputs; ++i) {
      begins[i] = i < count ? chosen[i].begin : chosen[count - 1].end;
      if (i < count) launch.Input(kNames[i], chosen[i].input);
    }
    const int64_t items = outer * (next - done) * inner;
    launch.Output("output")
        .Int(items)
        .Ints(axis, inner, done, next - done)
        .Ints(begins[0], begins[1], begins[2], begins[3])
        .Ints(begins[4], begins[5], begins[6], begins[7])
        .Int(chosen[count - 1].end)
        .Items(items);
    context->Add(std::move(launch));
    done = next;
  }
}

}  // namespace mace
