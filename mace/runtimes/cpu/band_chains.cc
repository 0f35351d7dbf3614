// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/cpu/band_chains.h"

#include <algorithm>

#include "mace/core/base/aligned_memory.h"
#include "mace/runtimes/cpu/cpu_plan.h"

namespace mace {
namespace {

// With one thread, a smaller tensor stays in the cache between two operators
// anyway.
constexpr int64_t kMinLinkBytes = 512 * 1024;
// The size of all links of a thread: the smallest L2 cache that is considered.
// Lower bands would fit half of it, but the overhead per band and moving rows
// would cost more than that saves.
constexpr int64_t kLinkBytes = 512 * 1024;
// The constants of a chain, all of which every band reads, in addition to the
// links.
constexpr int64_t kConstantBytes = 512 * 1024;
// The least number of pixels of every output per band, so that reading the
// constants and moving the kept rows is worthwhile.
constexpr int64_t kMinBandPixels = 64;
// At most 1/kHeldPerKept of the rows in a link may be kept for the next band,
// because each band moves them.
constexpr int64_t kHeldPerKept = 6;
// The largest share of multiply-accumulates that may be computed twice at the
// borders of tasks.
constexpr double kMostAgain = 0.06;

constexpr int64_t DivideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

class ChainPlanner {
 public:
  ChainPlanner(const CpuPlan &plan,
               const int *begin,
               const int *end,
               int threads)
      : plan_(plan), threads_(threads) {
    for (const int *step = begin; step != end; ++step) {
      chain_.nodes.push_back(*step);
      ops_[count_++] = plan.nodes[*step].row_bands();
    }
  }

  // Chooses tasks and bands. Returns false if the chain would cost more than it
  // saves.
  bool Pays() {
    const Shape &output = OutputOf(count_ - 1).shape;
    chain_.images = output[0];
    chain_.rows = output[1];
    return ConstantBytes() <= kConstantBytes && ChooseTasks() && ChooseBand();
  }

  // Completes the chain, after Pays.
  const BandChain &Finish() {
    LayOutScratch();
    return chain_;
  }

 private:
  const PlannedNode &NodeAt(size_t index) const {
    return plan_.nodes[chain_.nodes[index]];
  }
  const Tensor &OutputOf(size_t index) const {
    return plan_.tensors[NodeAt(index).outputs()[0]].tensor;
  }
  int64_t RowBytes(size_t index) const {
    const Tensor &tensor = OutputOf(index);
    return tensor.bytes() / (tensor.shape[0] * tensor.shape[1]);
  }

  int64_t ConstantBytes() const {
    int64_t bytes = 0;
    for (size_t i = 0; i < count_; ++i) {
      for (int id : NodeAt(i).inputs()) {
        if (id < 0 || !plan_.tensors[id].tensor.is_constant) continue;
        bytes += plan_.tensors[id].stored_bytes;
      }
    }
    return bytes;
  }

  // Calls function(walk) after each band of all tasks of an image.
  template <typename Function>
  void ForEachBand(int64_t task_rows, int64_t band_rows, Function function) {
    BandWalk walk(ops_, count_);
    for (int64_t task = 0; task < chain_.rows; task += task_rows) {
      const int64_t end = std::min(task + task_rows, chain_.rows);
      walk.Start();
      for (int64_t row = task; row < end; row += band_rows) {
        walk.Next({row, std::min(row + band_rows, end)});
        function(walk);
      }
    }
  }

  // The multiply-accumulates of an image; or its rows, if no operator
  // multiplies.
  double Work(int64_t task_rows) {
    double per_row[BandChain::kMaxNodes];
    for (size_t i = 0; i < count_; ++i) {
      const Shape &shape = OutputOf(i).shape;
      per_row[i] = static_cast<double>(NodeAt(i).Macs() + 1) /
                   static_cast<double>(shape[0] * shape[1]);
    }
    double work = 0;
    ForEachBand(task_rows, task_rows, [&](const BandWalk &walk) {
      for (size_t i = 0; i < count_; ++i) {
        work += per_row[i] * static_cast<double>(walk.step(i).made.count());
      }
    });
    return work;
  }

  // One task per thread: with more tasks, more rows at their borders are
  // computed twice. Returns false if even this is too much.
  bool ChooseTasks() {
    const int64_t wanted = DivideUp(threads_, chain_.images);
    chain_.task_rows = DivideUp(chain_.rows, std::min(wanted, chain_.rows));
    chain_.image_tasks = DivideUp(chain_.rows, chain_.task_rows);
    return chain_.tasks() >= threads_ &&
           Work(chain_.task_rows) <= (1 + kMostAgain) * Work(chain_.rows);
  }

  // The largest number of rows that each operator computes at a time, and that
  // each link holds.
  struct Most {
    int64_t made[BandChain::kMaxNodes] = {};
    int64_t held[BandChain::kMaxNodes] = {};
    int64_t kept[BandChain::kMaxNodes] =
        {};  // of these, the rows of the previous band

    void Include(const BandWalk &walk, size_t count) {
      for (size_t i = 0; i < count; ++i) {
        const BandWalk::Step &step = walk.step(i);
        made[i] = std::max(made[i], step.made.count());
        held[i] = std::max(held[i], step.made.end - step.kept.begin);
        kept[i] = std::max(kept[i], step.kept.count());
      }
    }
  };
  // The rows of two bands in the middle of the image, where padding covers the
  // least of the windows.
  Most TwoBands(int64_t band_rows) const {
    const int64_t begin = std::max<int64_t>(chain_.rows / 2 - band_rows, 0);
    BandWalk walk(ops_, count_);
    walk.Start();
    Most most;
    for (int64_t row = begin; row < begin + 2 * band_rows; row += band_rows) {
      const int64_t end = std::min(row + band_rows, chain_.rows);
      if (row >= end) break;
      walk.Next({row, end});
      most.Include(walk, count_);
    }
    return most;
  }

  int64_t LinkBytes(const Most &most) const {
    int64_t bytes = 0;
    for (size_t i = 0; i + 1 < count_; ++i) bytes += most.held[i] * RowBytes(i);
    return bytes;
  }

  bool HasEnoughPixels(const Most &most) const {
    for (size_t i = 0; i < count_; ++i) {
      if (most.made[i] * OutputOf(i).shape[2] < kMinBandPixels) return false;
    }
    return true;
  }
  bool MovesLittle(const Most &most) const {
    for (size_t i = 0; i + 1 < count_; ++i) {
      if (most.kept[i] * kHeldPerKept > most.held[i]) return false;
    }
    return true;
  }

  // Chooses the largest number of rows for which the links fit the cache. If
  // not even one row fits, as in wide images, a chain of two operators still
  // saves memory if its link is small compared with the tensor.
  bool ChooseBand() {
    int64_t whole = 0;
    for (size_t i = 0; i + 1 < count_; ++i) whole += OutputOf(i).bytes();
    const int64_t memory = whole / (2 * threads_);
    const int64_t room = std::min(memory, kLinkBytes);
    Most most = TwoBands(1);
    if (LinkBytes(most) > (count_ == 2 ? memory : room)) return false;
    chain_.band_rows = 1;
    while (chain_.band_rows < chain_.task_rows) {
      const Most more = TwoBands(chain_.band_rows + 1);
      if (LinkBytes(more) > room) break;
      most = more;
      ++chain_.band_rows;
    }
    return HasEnoughPixels(most) && (count_ == 2 || MovesLittle(most));
  }

  void LayOutScratch() {
    Most most;
    ForEachBand(chain_.task_rows, chain_.band_rows,
                [&](const BandWalk &walk) { most.Include(walk, count_); });
    size_t offset = 0;
    size_t own = 0;
    for (size_t i = 0; i < count_; ++i) {
      own = std::max(own, ops_[i]->BandScratchBytes(most.made[i]));
      if (i + 1 == count_) break;
      BandLink link;
      link.tensor = NodeAt(i).outputs()[0];
      link.row_bytes = static_cast<size_t>(RowBytes(i));
      link.offset = offset;
      chain_.links.push_back(link);
      // One additional line, so that links begin at different offsets in a
      // page; see arena_layout.cc.
      offset += AlignUp(static_cast<size_t>(most.held[i]) * link.row_bytes) +
                kMemoryAlignment;
    }
    chain_.own_scratch = offset;
    chain_.thread_bytes = offset + AlignUp(own);
  }

  const CpuPlan &plan_;
  const int threads_;
  const RowBands *ops_[BandChain::kMaxNodes];
  size_t count_ = 0;
  BandChain chain_;
};

class ChainFinder {
 public:
  ChainFinder(const CpuPlan &plan, int threads)
      : plan_(plan), threads_(threads), next_(plan.nodes.size(), -1) {
    FindReaders();
  }

  std::vector<BandChain> Find() {
    std::vector<char> seen(plan_.nodes.size(), 0);
    for (size_t step = 0; step < next_.size(); ++step) {
      if (seen[step]) continue;
      std::vector<int> run;
      for (int at = static_cast<int>(step); at >= 0; at = next_[at]) {
        seen[at] = 1;
        run.push_back(at);
      }
      if (run.size() > 1) Cut(run);
    }
    return std::move(chains_);
  }

 private:
  // If an operator only moves or scales numbers, synchronising the threads
  // after it takes longer than computing some of its rows twice. Measured with
  // 2 threads: ShuffleNet takes 0.99 of the time if the cores share a cache,
  // and 0.94 if they do not.
  bool IsWorthALink(const PlannedNode &node) const {
    if (threads_ > 1 && node.Macs() == 0) return true;
    const Tensor &output = plan_.tensors[node.outputs()[0]].tensor;
    return output.bytes() >= kMinLinkBytes;
  }

  // next_[node]: the only reader of the node's output, if both can run in
  // bands.
  void FindReaders() {
    std::vector<int> readers(plan_.tensors.size(), 0);
    std::vector<int> reader(plan_.tensors.size(), -1);
    for (size_t step = 0; step < plan_.nodes.size(); ++step) {
      const PlannedNode &node = plan_.nodes[step];
      if (node.known) continue;
      for (size_t port = 0; port < node.inputs().size(); ++port) {
        const int id = node.inputs()[port];
        if (id < 0) continue;
        ++readers[id];
        if (port == 0 && node.row_bands() != nullptr) {
          reader[id] = static_cast<int>(step);
        }
      }
    }
    for (size_t id = 0; id < plan_.tensors.size(); ++id) {
      if (plan_.tensors[id].exported) ++readers[id];
    }
    for (size_t step = 0; step < plan_.nodes.size(); ++step) {
      const PlannedNode &node = plan_.nodes[step];
      if (node.known || node.row_bands() == nullptr) continue;
      const int id = node.outputs()[0];
      if (id >= 0 && readers[id] == 1 && reader[id] >= 0 &&
          SegmentOf(step) == SegmentOf(static_cast<size_t>(reader[id])) &&
          IsWorthALink(node)) {
        next_[step] = reader[id];
      }
    }
  }

  size_t SegmentOf(size_t step) const {
    const std::vector<size_t> &ends = plan_.nodes_of->segment_ends;
    return static_cast<size_t>(
        std::upper_bound(ends.begin(), ends.end(), step) - ends.begin());
  }

  // Divides nodes that could all be joined into chains so that as many bytes as
  // possible are inside chains.
  void Cut(const std::vector<int> &run) {
    struct Best {
      int64_t bytes = 0;  // of links up to here
      size_t begin = 0;   // of the chain that ends here
    };
    std::vector<Best> best(run.size() + 1);
    for (size_t end = 1; end <= run.size(); ++end) {
      best[end] = {best[end - 1].bytes, end - 1};
      int64_t bytes = 0;
      for (size_t count = 2; count <= std::min(end, BandChain::kMaxNodes);
           ++count) {
        const size_t begin = end - count;
        const PlannedNode &node = plan_.nodes[run[begin]];
        bytes += plan_.tensors[node.outputs()[0]].tensor.bytes();
        if (best[begin].bytes + bytes > best[end].bytes &&
            PlannerOf(run, begin, end).Pays()) {
          best[end] = {best[begin].bytes + bytes, begin};
        }
      }
    }
    for (size_t end = run.size(); end > 0; end = best[end].begin) {
      if (end - best[end].begin < 2) continue;
      ChainPlanner planner = PlannerOf(run, best[end].begin, end);
      if (planner.Pays()) chains_.push_back(planner.Finish());
    }
  }

  ChainPlanner PlannerOf(const std::vector<int> &run,
                         size_t begin,
                         size_t end) const {
    return ChainPlanner(plan_, run.data() + begin, run.data() + end, threads_);
  }

  const CpuPlan &plan_;
  const int threads_;
  std::vector<int> next_;
  std::vector<BandChain> chains_;
};

}  // namespace

void BandWalk::Next(const RowRange &band) {
  RowRange needed = band;
  for (size_t i = count_; i-- > 0;) {
    Step &step = steps_[i];
    RowRange &held = held_[i];
    // The rows of the last output are not kept: its bands follow each other.
    step.kept = {needed.begin, std::max(needed.begin, held.end)};
    if (i + 1 == count_ || held.empty()) {
      step.kept = {needed.begin, needed.begin};
    }
    step.made = {step.kept.end, std::max(step.kept.end, needed.end)};
    held = {needed.begin, step.made.end};
    if (step.made.empty()) {
      // The operators before it also have nothing to compute.
      for (size_t j = i; j-- > 0;) steps_[j] = Step();
      return;
    }
    if (i > 0) needed = ops_[i]->InputRows(step.made);
  }
}

std::vector<BandChain> FindBandChains(const CpuPlan &plan, int threads) {
  return ChainFinder(plan, threads).Find();
}

}  // namespace mace
