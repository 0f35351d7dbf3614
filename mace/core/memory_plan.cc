// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/memory_plan.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "mace/core/aligned_memory.h"

namespace mace {
namespace {

// Requests that share one place because each takes over from the one before.
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
                            " bytes does not fit the address space");
    }
    if (request.bytes == 0) continue;
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

// Lowest start of the tightest gap between `placed` (sorted by offset, all in
// use together with the new block) that holds `bytes`; else their end.
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

}  // namespace

Result<MemoryPlan> PlanMemory(const std::vector<PlanRequest> &requests) {
  std::vector<Block> blocks;
  std::vector<int> block_of;
  MACE_RETURN_IF_ERROR(MakeBlocks(requests, &blocks, &block_of));

  std::vector<Block *> by_size;
  for (Block &block : blocks) by_size.push_back(&block);
  std::sort(by_size.begin(), by_size.end(), [](const Block *a, const Block *b) {
    if (a->bytes != b->bytes) return a->bytes > b->bytes;
    return a->first != b->first ? a->first < b->first : a < b;
  });

  MemoryPlan plan;
  std::vector<const Block *> placed;  // sorted by offset
  std::vector<const Block *> neighbours;
  for (Block *block : by_size) {
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
    plan.arena_bytes = std::max(plan.arena_bytes, block->offset + block->bytes);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), block,
                                   [](const Block *a, const Block *b) {
                                     return a->offset < b->offset;
                                   }),
                  block);
  }

  plan.offsets.resize(requests.size(), 0);
  for (size_t i = 0; i < requests.size(); ++i) {
    if (block_of[i] >= 0) plan.offsets[i] = blocks[block_of[i]].offset;
  }
  return plan;
}

MaceStatus VerifyPlan(const std::vector<PlanRequest> &requests,
                      const MemoryPlan &plan) {
  if (plan.offsets.size() != requests.size()) {
    return RuntimeError("memory plan: ", plan.offsets.size(), " offsets for ",
                        requests.size(), " requests");
  }
  for (size_t i = 0; i < requests.size(); ++i) {
    const PlanRequest &a = requests[i];
    if (a.bytes == 0) continue;
    const size_t a_begin = plan.offsets[i];
    if (a_begin % kMemoryAlignment != 0) {
      return RuntimeError("memory plan: request ", i, " lies at ", a_begin);
    }
    if (a.bytes > plan.arena_bytes || a_begin > plan.arena_bytes - a.bytes) {
      return RuntimeError("memory plan: request ", i, " leaves the arena");
    }
    for (size_t j = 0; j < i; ++j) {
      const PlanRequest &b = requests[j];
      const size_t b_begin = plan.offsets[j];
      if (b.bytes == 0 || a_begin >= b_begin + b.bytes ||
          b_begin >= a_begin + a.bytes || a.first > b.last ||
          b.first > a.last) {
        continue;
      }
      const bool a_takes_over = a.in_place_of == static_cast<int>(j) &&
                                a.first == b.last && a_begin == b_begin;
      const bool b_takes_over = b.in_place_of == static_cast<int>(i) &&
                                b.first == a.last && a_begin == b_begin;
      if (!a_takes_over && !b_takes_over) {
        return RuntimeError("memory plan: requests ", j, " and ", i,
                            " overlap");
      }
    }
  }
  return MaceStatus::MACE_SUCCESS;
}

size_t PlanLowerBound(const std::vector<PlanRequest> &requests) {
  // Bytes that come into use before, and leave after, a step. A request that
  // takes over memory counts from the step after.
  std::map<int, std::pair<size_t, size_t>> changes;
  for (const PlanRequest &request : requests) {
    const int first =
        request.in_place_of < 0 ? request.first : request.first + 1;
    if (request.bytes == 0 || first > request.last) continue;
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
