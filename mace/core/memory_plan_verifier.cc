// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// VerifyPlan, apart from the planner, whose code it must not share.

#include "mace/core/aligned_memory.h"
#include "mace/core/memory_plan.h"

namespace mace {
namespace {

bool TakesOver(const PlanRequest &a,
               size_t a_begin,
               const PlanRequest &b,
               size_t b_begin,
               int b_index) {
  return a.in_place_of == b_index && a.first == b.last && a_begin == b_begin;
}

class Verifier {
 public:
  Verifier(const std::vector<PlanRequest> &requests, const MemoryPlan &plan)
      : requests_(requests), plan_(plan) {}

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
    for (size_t j = 0; j < i; ++j) {
      if (!MayBeInUseTogether(i, j)) {
        return RuntimeError("memory plan: requests ", j, " and ", i,
                            " overlap");
      }
    }
    return MaceStatus::MACE_SUCCESS;
  }

 private:
  // A request that is no part is one run.
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
    // Every run of the part inside a run of the owner.
    const size_t column = part.part_offset % owner.stride_bytes;
    return (IsOneRun(part) || part.stride_bytes == owner.stride_bytes) &&
           column + part.run_bytes <= owner.run_bytes;
  }

  bool IsPartOf(size_t i, size_t owner) const {
    // A chain of owners is no longer than the list.
    for (size_t steps = 0; steps < requests_.size(); ++steps) {
      if (requests_[i].part_of < 0) return false;
      i = static_cast<size_t>(requests_[i].part_of);
      if (i == owner) return true;
      if (i >= requests_.size()) return false;
    }
    return false;
  }

  // Runs with one stride that lie in different columns.
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
           b.first > a.last ||
           TakesOver(a, a_begin, b, b_begin, static_cast<int>(j)) ||
           TakesOver(b, b_begin, a, a_begin, static_cast<int>(i)) ||
           IsPartOf(i, j) || IsPartOf(j, i) || AreInterleaved(i, j);
  }

  const std::vector<PlanRequest> &requests_;
  const MemoryPlan &plan_;
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
  return MaceStatus::MACE_SUCCESS;
}

}  // namespace mace
