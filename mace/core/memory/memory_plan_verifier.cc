// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// VerifyPlan. It must not share code with the planner.

#include <iterator>
#include <map>
#include <set>
#include <vector>

#include "mace/core/base/aligned_memory.h"
#include "mace/core/base/heap_sort.h"
#include "mace/core/memory/memory_plan.h"

namespace mace {
namespace {

class Verifier {
 public:
  Verifier(const std::vector<PlanRequest> &requests, const MemoryPlan &plan)
      : requests_(requests), plan_(plan) {
    for (size_t i = 0; i < requests_.size(); ++i) {
      if (requests_[i].part_of < 0 || requests_[i].bytes == 0) continue;
      parts_of_[WholeOf(i)].push_back(i);
    }
  }

  MaceStatus Check(size_t i) const {
    const PlanRequest &request = requests_[i];
    if (request.bytes == 0) return MaceStatus::MACE_SUCCESS;
    const size_t begin = plan_.offsets[i];
    if (request.part_of < 0 && begin % kMemoryAlignment != 0) {
      return RuntimeError("memory plan: request ", i, " lies at ", begin);
    }
    if (request.bytes > plan_.arena_bytes ||
        begin > plan_.arena_bytes - request.bytes) {
      return RuntimeError("memory plan: request ", i, " leaves the arena");
    }
    if (request.part_of >= 0 && !LiesInItsOwner(i)) {
      return RuntimeError("memory plan: request ", i, " is no part of request ",
                          request.part_of);
    }
    return MaceStatus::MACE_SUCCESS;
  }

  // Checks requests that are not parts, step by step: requests in use at the
  // same step must not overlap, unless one takes over the memory of another.
  MaceStatus CheckWholes() const {
    std::vector<size_t> starts = WholesBy(&PlanRequest::first);
    std::vector<size_t> ends = WholesBy(&PlanRequest::last);
    std::set<Place> in_use;
    size_t next_end = 0;
    for (size_t at = 0; at < starts.size();) {
      const int step = requests_[starts[at]].first;
      for (; next_end < ends.size() && requests_[ends[next_end]].last < step;
           ++next_end) {
        in_use.erase(PlaceOf(ends[next_end]));
      }
      // A request that takes over memory comes after the others that begin at
      // its step.
      size_t end = at;
      while (end < starts.size() && requests_[starts[end]].first == step) ++end;
      for (const bool takes_over : {false, true}) {
        for (size_t i = at; i < end; ++i) {
          if ((requests_[starts[i]].in_place_of >= 0) != takes_over) continue;
          MACE_RETURN_IF_ERROR(Begin(starts[i], &in_use));
        }
      }
      at = end;
    }
    return MaceStatus::MACE_SUCCESS;
  }

  // Compares the parts of one request with each other; each must be inside its
  // owner.
  MaceStatus CheckParts() const {
    for (const auto &[whole, parts] : parts_of_) {
      for (size_t i = 0; i < parts.size(); ++i) {
        for (size_t j = 0; j < i; ++j) {
          if (MayBeInUseTogether(parts[i], parts[j])) continue;
          return Overlap(parts[j], parts[i]);
        }
      }
    }
    return MaceStatus::MACE_SUCCESS;
  }

 private:
  struct Place {
    size_t begin;
    size_t end;
    size_t request;
    bool operator<(const Place &other) const {
      return begin != other.begin ? begin < other.begin
                                  : request < other.request;
    }
  };
  Place PlaceOf(size_t i) const {
    return {plan_.offsets[i], plan_.offsets[i] + requests_[i].bytes, i};
  }

  static MaceStatus Overlap(size_t a, size_t b) {
    return RuntimeError("memory plan: requests ", a, " and ", b, " overlap");
  }

  std::vector<size_t> WholesBy(int PlanRequest::*step) const {
    std::vector<size_t> order;
    for (size_t i = 0; i < requests_.size(); ++i) {
      if (requests_[i].part_of < 0 && requests_[i].bytes > 0) {
        order.push_back(i);
      }
    }
    HeapSort(order.begin(), order.end(), [this, step](size_t a, size_t b) {
      const int step_a = requests_[a].*step;
      const int step_b = requests_[b].*step;
      return step_a != step_b ? step_a < step_b : a < b;
    });
    return order;
  }

  MaceStatus Begin(size_t i, std::set<Place> *in_use) const {
    const PlanRequest &request = requests_[i];
    const Place place = PlaceOf(i);
    if (request.in_place_of >= 0) {
      const auto from = static_cast<size_t>(request.in_place_of);
      if (from < requests_.size() && requests_[from].last == request.first &&
          plan_.offsets[from] == place.begin) {
        in_use->erase(PlaceOf(from));
        const auto parts = parts_of_.find(from);
        if (parts != parts_of_.end()) {
          for (size_t part : parts->second) {
            if (!MayBeInUseTogether(i, part)) return Overlap(part, i);
          }
        }
      }
    }
    const auto after = in_use->lower_bound(place);
    if (after != in_use->end() && after->begin < place.end) {
      return Overlap(after->request, i);
    }
    if (after != in_use->begin() && std::prev(after)->end > place.begin) {
      return Overlap(std::prev(after)->request, i);
    }
    in_use->insert(place);
    return MaceStatus::MACE_SUCCESS;
  }

  size_t WholeOf(size_t i) const {
    for (size_t steps = 0; steps < requests_.size(); ++steps) {
      if (requests_[i].part_of < 0) break;
      i = static_cast<size_t>(requests_[i].part_of);
    }
    return i;
  }

  // A request that is not a part is a single run.
  size_t RunOf(const PlanRequest &request) const {
    return request.part_of < 0 ? request.bytes : request.run_bytes;
  }
  bool IsOneRun(const PlanRequest &request) const {
    return RunOf(request) == request.bytes;
  }

  bool LiesInItsOwner(size_t i) const {
    const PlanRequest &part = requests_[i];
    if (static_cast<size_t>(part.part_of) >= requests_.size() ||
        static_cast<size_t>(part.part_of) == i || part.in_place_of >= 0) {
      return false;
    }
    const PlanRequest &owner = requests_[part.part_of];
    const size_t start = plan_.offsets[part.part_of];
    const size_t begin = plan_.offsets[i];
    if (begin != start + part.part_offset || part.bytes > owner.bytes ||
        part.part_offset > owner.bytes - part.bytes ||
        part.first < owner.first || part.last > owner.last ||
        part.run_bytes == 0 || part.run_bytes > part.bytes ||
        (!IsOneRun(part) && part.stride_bytes < part.run_bytes)) {
      return false;
    }
    if (IsOneRun(owner)) return true;
    // Every run of the part must be inside a run of the owner.
    const size_t column = part.part_offset % owner.stride_bytes;
    return (IsOneRun(part) || part.stride_bytes == owner.stride_bytes) &&
           column + part.run_bytes <= owner.run_bytes;
  }

  bool IsPartOf(size_t i, size_t owner) const {
    // A chain of owners cannot be longer than the list.
    for (size_t steps = 0; steps < requests_.size(); ++steps) {
      if (requests_[i].part_of < 0) return false;
      i = static_cast<size_t>(requests_[i].part_of);
      if (i == owner) return true;
      if (i >= requests_.size()) return false;
    }
    return false;
  }

  // Whether the runs have the same stride and are in different columns.
  bool AreInterleaved(size_t i, size_t j) const {
    const PlanRequest &a = requests_[i];
    const PlanRequest &b = requests_[j];
    if (a.part_of < 0 || b.part_of < 0 || IsOneRun(a) || IsOneRun(b) ||
        a.stride_bytes != b.stride_bytes) {
      return false;
    }
    const size_t low = plan_.offsets[i] < plan_.offsets[j] ? i : j;
    const size_t high = low == i ? j : i;
    const size_t distance =
        (plan_.offsets[high] - plan_.offsets[low]) % a.stride_bytes;
    return requests_[low].run_bytes <= distance &&
           distance + requests_[high].run_bytes <= a.stride_bytes;
  }

  bool MayBeInUseTogether(size_t i, size_t j) const {
    const PlanRequest &a = requests_[i];
    const PlanRequest &b = requests_[j];
    const size_t a_begin = plan_.offsets[i];
    const size_t b_begin = plan_.offsets[j];
    return b.bytes == 0 || a_begin >= b_begin + b.bytes ||
           b_begin >= a_begin + a.bytes || a.first > b.last ||
           b.first > a.last || IsPartOf(i, j) || IsPartOf(j, i) ||
           AreInterleaved(i, j);
  }

  const std::vector<PlanRequest> &requests_;
  const MemoryPlan &plan_;
  // For each request with parts: all its parts that have memory, including
  // parts of parts.
  std::map<size_t, std::vector<size_t>> parts_of_;
};

}  // namespace

MaceStatus VerifyPlan(const std::vector<PlanRequest> &requests,
                      const MemoryPlan &plan) {
  if (plan.offsets.size() != requests.size()) {
    return RuntimeError("memory plan: ", plan.offsets.size(), " offsets for ",
                        requests.size(), " requests");
  }
  const Verifier verifier(requests, plan);
  for (size_t i = 0; i < requests.size(); ++i) {
    MACE_RETURN_IF_ERROR(verifier.Check(i));
  }
  MACE_RETURN_IF_ERROR(verifier.CheckWholes());
  return verifier.CheckParts();
}

}  // namespace mace
