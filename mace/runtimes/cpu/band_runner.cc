// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/cpu/band_runner.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "mace/ops/cpu_op/row_bands.h"

namespace mace {
namespace {

int64_t NanosNow() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// An image of a tensor that is stored as a whole; its rows are `row_bytes`
// apart.
struct WholeImage {
  char *data;
  int64_t row_bytes;
  int64_t pixel_stride;
};

WholeImage ImageOf(const Tensor &tensor, int64_t image) {
  const auto size = static_cast<int64_t>(DataTypeSize(tensor.data_type));
  WholeImage whole;
  whole.pixel_stride = tensor.RowStride();
  whole.row_bytes = tensor.shape[2] * whole.pixel_stride * size;
  whole.data = static_cast<char *>(tensor.data) +
               image * tensor.shape[1] * whole.row_bytes;
  return whole;
}

// Runs the tasks of one thread.
class BandRunner {
 public:
  BandRunner(const BandChain &chain,
             const std::vector<PlannedNode> &nodes,
             std::vector<PlannedTensor> *tensors,
             char *scratch,
             int64_t *nanos)
      : chain_(chain),
        nodes_(nodes),
        tensors_(tensors),
        scratch_(scratch),
        nanos_(nanos) {
    for (size_t i = 0; i < chain.nodes.size(); ++i) {
      ops_[i] = NodeAt(i).row_bands();
    }
  }

  void Run(int64_t task, ThreadPool *pool) {
    const size_t count = chain_.nodes.size();
    const int64_t image = task / chain_.image_tasks;
    const int64_t begin = task % chain_.image_tasks * chain_.task_rows;
    const int64_t end = std::min(begin + chain_.task_rows, chain_.rows);
    const PlannedNode &first = NodeAt(0);
    const PlannedNode &last = NodeAt(count - 1);
    input_ = ImageOf((*tensors_)[first.inputs()[0]].tensor, image);
    output_ = ImageOf((*tensors_)[last.outputs()[0]].tensor, image);
    BandWalk walk(ops_, count);
    walk.Start();
    for (int64_t row = begin; row < end; row += chain_.band_rows) {
      walk.Next({row, std::min(row + chain_.band_rows, end)});
      for (size_t i = 0; i < count; ++i) {
        RunStep(i, image, walk.step(i), pool);
      }
    }
  }

 private:
  const PlannedNode &NodeAt(size_t index) const {
    return nodes_[chain_.nodes[index]];
  }
  char *LinkAt(size_t index) const {
    return scratch_ + chain_.links[index].offset;
  }

  void RunStep(size_t index,
               int64_t image,
               const BandWalk::Step &step,
               ThreadPool *pool) {
    const PlannedNode &node = NodeAt(index);
    BandRun run;
    run.image = image;
    run.rows = step.made;
    run.scratch = scratch_ + chain_.own_scratch;
    if (index + 1 < chain_.nodes.size()) {
      const Tensor &tensor = (*tensors_)[node.outputs()[0]].tensor;
      run.output = MoveLink(index, step);
      run.output_stride = tensor.shape[3];
    } else {
      run.output = output_.data + step.made.begin * output_.row_bytes;
      run.output_stride = output_.pixel_stride;
    }
    if (step.made.empty()) return;
    if (index == 0) {
      run.input =
          input_.data + ops_[0]->InputRows(step.made).begin * input_.row_bytes;
      run.input_stride = input_.pixel_stride;
    } else {
      run.input = LinkAt(index - 1);
      run.input_stride = (*tensors_)[node.inputs()[0]].tensor.shape[3];
    }
    const NodeRunContext context(node, tensors_, pool);
    const int64_t start = nanos_ == nullptr ? 0 : NanosNow();
    ops_[index]->RunBand(context, run);
    if (nanos_ != nullptr) nanos_[index] += NanosNow() - start;
  }

  // Moves the rows that are kept to the front; returns the address for new
  // rows.
  char *MoveLink(size_t index, const BandWalk::Step &step) {
    const BandLink &link = chain_.links[index];
    char *front = LinkAt(index);
    const size_t kept = static_cast<size_t>(step.kept.count()) * link.row_bytes;
    if (kept > 0 && step.kept.begin != first_row_[index]) {
      std::memmove(
          front,
          front + static_cast<size_t>(step.kept.begin - first_row_[index]) *
                      link.row_bytes,
          kept);
    }
    if (kept > 0 || !step.made.empty()) first_row_[index] = step.kept.begin;
    return front + kept;
  }

  const BandChain &chain_;
  const std::vector<PlannedNode> &nodes_;
  std::vector<PlannedTensor> *tensors_;
  char *scratch_;
  int64_t *nanos_;
  const RowBands *ops_[BandChain::kMaxNodes];
  WholeImage input_;
  WholeImage output_;
  int64_t first_row_[BandChain::kMaxNodes] = {};  // that a link holds
};

}  // namespace

void RunChain(const BandChain &chain,
              CpuPlan *plan,
              void *scratch,
              ThreadPool *pool,
              int64_t *nanos) {
  pool->ParallelFor(
      chain.tasks(), 1, [&](int64_t begin, int64_t end, int thread) {
        char *own = static_cast<char *>(scratch) +
                    static_cast<size_t>(thread) * chain.thread_bytes;
        int64_t *times =
            nanos == nullptr ? nullptr : nanos + thread * BandChain::kMaxNodes;
        BandRunner runner(chain, plan->nodes, &plan->tensors, own, times);
        for (int64_t task = begin; task < end; ++task) {
          runner.Run(task, pool);
        }
      });
}

}  // namespace mace
