// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/memory/memory_plan.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

#include "mace/core/base/aligned_memory.h"
#include "mace/core/base/heap_sort.h"

namespace mace {
namespace {

// Requests that share one place, because each takes over the memory of the one
// before.
struct Block {
  size_t bytes = 0;
  int first = 0;
  int last = 0;
  size_t offset = 0;
};

bool SpansTouch(int first_a, int last_a, int first_b, int last_b) {
  return first_a <= last_b && first_b <= last_a;
}

// Joins requests into blocks; block_of[i] is -1 for an empty request.
MaceStatus MakeBlocks(const std::vector<PlanRequest> &requests,
                      std::vector<Block> *blocks,
                      std::vector<int> *block_of) {
  block_of->assign(requests.size(), -1);
  std::vector<char> taken(requests.size(), 0);
  for (size_t i = 0; i < requests.size(); ++i) {
    const PlanRequest &request = requests[i];
    if (request.bytes > PTRDIFF_MAX - kMemoryAlignment) {
      return OutOfResources("a tensor of ", request.bytes,
                            " bytes does not fit into the address space");
    }
    if (request.bytes == 0 || request.part_of >= 0) continue;
    const int from = request.in_place_of;
    if (from < 0) {
      (*block_of)[i] = static_cast<int>(blocks->size());
      blocks->push_back(
          {AlignUp(request.bytes), request.first, request.last, 0});
      continue;
    }
    if (static_cast<size_t>(from) >= i || taken[from] ||
        requests[from].last != request.first || (*block_of)[from] < 0) {
      return InvalidArgs("request ", i, " cannot take over from request ",
                         from);
    }
    taken[from] = 1;
    (*block_of)[i] = (*block_of)[from];
    Block &block = (*blocks)[(*block_of)[i]];
    block.bytes = std::max(block.bytes, AlignUp(request.bytes));
    block.last = request.last;
  }
  return MaceStatus::MACE_SUCCESS;
}

// The lowest offset in the smallest gap between `placed` (sorted by offset, all
// in use at the same time as the new block) that has room for `bytes`;
// otherwise the end of the last one.
size_t BestGap(const std::vector<const Block *> &placed, size_t bytes) {
  size_t end = 0;
  size_t best_offset = 0;
  size_t best_gap = SIZE_MAX;
  for (const Block *block : placed) {
    if (block->offset > end) {
      const size_t gap = block->offset - end;
      if (gap >= bytes && gap < best_gap) {
        best_gap = gap;
        best_offset = end;
      }
    }
    end = std::max(end, block->offset + block->bytes);
  }
  return best_gap == SIZE_MAX ? end : best_offset;
}

size_t Steps(const Block &block) {
  return static_cast<size_t>(block.last - block.first) + 1;
}

// The order in which blocks are placed. No order is best for all networks, so
// several are tried until one reaches the lower bound: largest first, longest
// in use first, and two mixed orders.
using Order = double (*)(const Block &);
constexpr Order kOrders[] = {
    [](const Block &block) { return static_cast<double>(block.bytes); },
    [](const Block &block) {
      return static_cast<double>(block.bytes) *
             static_cast<double>(Steps(block));
    },
    [](const Block &block) {
      return static_cast<double>(block.bytes) *
             std::sqrt(static_cast<double>(Steps(block)));
    },
    [](const Block &block) { return static_cast<double>(Steps(block)); },
};

// Assigns each block the smallest remaining gap; `arena` is the total size.
MaceStatus PlaceBlocks(Order order, std::vector<Block> *blocks, size_t *arena) {
  std::vector<Block *> sorted;
  for (Block &block : *blocks) sorted.push_back(&block);
  HeapSort(sorted.begin(), sorted.end(),
           [order](const Block *a, const Block *b) {
             const double key_a = order(*a);
             const double key_b = order(*b);
             if (key_a != key_b) return key_a > key_b;
             if (a->bytes != b->bytes) return a->bytes > b->bytes;
             return a->first != b->first ? a->first < b->first : a < b;
           });
  std::vector<const Block *> placed;  // sorted by offset
  std::vector<const Block *> neighbours;
  for (Block *block : sorted) {
    neighbours.clear();
    for (const Block *other : placed) {
      if (SpansTouch(block->first, block->last, other->first, other->last)) {
        neighbours.push_back(other);
      }
    }
    block->offset = BestGap(neighbours, block->bytes);
    if (block->offset > PTRDIFF_MAX - block->bytes) {
      return OutOfResources(
          "the intermediate tensors do not fit the address space");
    }
    *arena = std::max(*arena, block->offset + block->bytes);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), block,
                                   [](const Block *a, const Block *b) {
                                     return a->offset < b->offset;
                                   }),
                  block);
  }
  return MaceStatus::MACE_SUCCESS;
}

// The offset of `request` in its outermost owner, and the owner. -1 if the
// owners form a cycle, that is, if there are more steps than requests.
int OwnerOf(const std::vector<PlanRequest> &requests,
            size_t request,
            size_t *offset) {
  size_t at = request;
  *offset = 0;
  for (size_t steps = 0; steps <= requests.size(); ++steps) {
    if (requests[at].part_of < 0) return static_cast<int>(at);
    if (static_cast<size_t>(requests[at].part_of) >= requests.size()) break;
    *offset += requests[at].part_offset;
    at = static_cast<size_t>(requests[at].part_of);
  }
  return -1;
}

// Assigns every part its place in the memory of its owner.
MaceStatus PlaceParts(const std::vector<PlanRequest> &requests,
                      std::vector<size_t> *offsets) {
  for (size_t i = 0; i < requests.size(); ++i) {
    if (requests[i].part_of < 0) continue;
    size_t offset = 0;
    const int owner = OwnerOf(requests, i, &offset);
    if (owner < 0 || requests[owner].bytes == 0) {
      return InvalidArgs("request ", i, " cannot be a part of request ",
                         requests[i].part_of);
    }
    (*offsets)[i] = (*offsets)[owner] + offset;
  }
  return MaceStatus::MACE_SUCCESS;
}

}  // namespace

Result<MemoryPlan> PlanMemory(const std::vector<PlanRequest> &requests) {
  std::vector<Block> blocks;
  std::vector<int> block_of;
  MACE_RETURN_IF_ERROR(MakeBlocks(requests, &blocks, &block_of));

  MemoryPlan plan;
  const size_t bound = PlanLowerBound(requests);
  std::vector<size_t> best;
  for (const Order order : kOrders) {
    size_t arena = 0;
    MACE_RETURN_IF_ERROR(PlaceBlocks(order, &blocks, &arena));
    if (!best.empty() && arena >= plan.arena_bytes) continue;
    plan.arena_bytes = arena;
    best.clear();
    for (const Block &block : blocks) best.push_back(block.offset);
    if (arena <= bound) break;
  }

  plan.offsets.resize(requests.size(), 0);
  for (size_t i = 0; i < requests.size(); ++i) {
    if (block_of[i] >= 0) plan.offsets[i] = best[block_of[i]];
  }
  MACE_RETURN_IF_ERROR(PlaceParts(requests, &plan.offsets));
  return plan;
}

size_t PlanLowerBound(const std::vector<PlanRequest> &requests) {
  // Bytes whose use begins before a step or ends after it. A request that takes
  // over memory counts from the step after.
  std::map<int, std::pair<size_t, size_t>> changes;
  for (const PlanRequest &request : requests) {
    const int first =
        request.in_place_of < 0 ? request.first : request.first + 1;
    if (request.bytes == 0 || first > request.last) continue;
    if (request.part_of >= 0) continue;  // counted with its owner
    changes[first].first += AlignUp(request.bytes);
    changes[request.last].second += AlignUp(request.bytes);
  }
  size_t live = 0;
  size_t peak = 0;
  for (const auto &change : changes) {
    live += change.second.first;
    peak = std::max(peak, live);
    live -= change.second.second;
  }
  return peak;
}

}  // namespace mace
