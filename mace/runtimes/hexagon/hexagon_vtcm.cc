// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/hexagon/hexagon_vtcm.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "mace/core/base/divide.h"
#include "mace/core/memory/memory_plan.h"
#include "mace/kernels/hexagon/packing.h"

namespace mace {
namespace {

using hexagon::Area;
using hexagon::ConvolveParameters;
using hexagon::Opcode;
using hexagon::TensorPlace;

constexpr size_t kAlignment = hexagon::kVectorBytes;
// Pixels of a tile, for each of which all weights are read.
constexpr int64_t kTile = 4;
// A copy of weights takes as long as a tile reads them, or longer.
constexpr int64_t kLeastTiles = 4;

template <typename Parameters>
Parameters Read(const HexagonInstruction &instruction) {
  Parameters parameters;
  std::memcpy(&parameters, instruction.parameters.data(), sizeof(parameters));
  return parameters;
}

// How instructions use a tensor.
struct Use {
  bool by_scalars = false;
  double times = 0;  // that all of its bytes are read or written
  // The first and the last segment.
  size_t first_segment = 0;
  size_t last_segment = 0;
};

class Uses {
 public:
  explicit Uses(const HexagonPlan &plan) : uses_(plan.tensors.size()) {
    for (size_t i = 0; i < plan.segments.size(); ++i) {
      segment_ = i;
      for (const HexagonInstruction &instruction : plan.segments[i]) {
        Add(instruction);
      }
    }
  }
  const Use &operator[](size_t tensor) const { return uses_[tensor]; }

 private:
  void ByVectors(uint32_t tensor, double times = 1) {
    Use &use = uses_[tensor];
    if (use.times == 0) use.first_segment = segment_;
    use.last_segment = segment_;
    use.times += times;
  }
  void ByScalars(uint32_t tensor) {
    ByVectors(tensor);
    uses_[tensor].by_scalars = true;
  }

  void Add(const HexagonInstruction &instruction) {
    switch (instruction.opcode) {
      case Opcode::kEnter:
      case Opcode::kLeave:
      case Opcode::kFillPadding: {
        // They begin with their tensor.
        ByVectors(Read<uint32_t>(instruction));
        return;
      }
      case Opcode::kConvolve: {
        const auto p = Read<ConvolveParameters>(instruction);
        ByScalars(p.input);
        ByVectors(p.output);
        return;
      }
      case Opcode::kConvolveDepthwise: {
        const auto p = Read<hexagon::ConvolveDepthwiseParameters>(instruction);
        ByVectors(p.input, p.window.height);
        ByVectors(p.output);
        return;
      }
      case Opcode::kCombine: {
        const auto p = Read<hexagon::CombineParameters>(instruction);
        ByVectors(p.a);
        ByVectors(p.b);
        ByVectors(p.output);
        return;
      }
      case Opcode::kPoolWindows: {
        const auto p = Read<hexagon::PoolWindowsParameters>(instruction);
        ByVectors(p.input, p.window.height);
        ByVectors(p.output);
        return;
      }
      case Opcode::kMapBytes: {
        const auto p = Read<hexagon::MapBytesParameters>(instruction);
        ByVectors(p.input);
        ByVectors(p.output);
        return;
      }
      case Opcode::kMultiplyMatrices: {
        const auto p = Read<hexagon::MultiplyMatricesParameters>(instruction);
        ByScalars(p.a);
        ByScalars(p.b);
        ByVectors(p.output);
        ByVectors(p.packed, kLeastTiles);
        return;
      }
      case Opcode::kFill: {
        ByScalars(Read<hexagon::FillParameters>(instruction).output);
        return;
      }
      case Opcode::kReduceAxes:
      case Opcode::kApplySoftmax:
      case Opcode::kMove:
      case Opcode::kReshape:
      case Opcode::kResizeNearest:
      case Opcode::kResizeLinear: {
        // Input and output are the first of their parameters.
        const auto p = Read<hexagon::ReshapeParameters>(instruction);
        ByScalars(p.input);
        ByScalars(p.output);
        return;
      }
    }
  }

  std::vector<Use> uses_;
  size_t segment_ = 0;
};

// What may be in VTCM: a tensor, or the weights of a convolution.
struct Candidate {
  PlanRequest request;
  double times = 0;
  HexagonTensor *tensor = nullptr;
  HexagonInstruction *convolution = nullptr;
  size_t offset = 0;
};

// The weights of a convolution, if they are worth a copy.
bool MakeCandidate(const HexagonPlan &plan,
                   HexagonInstruction *instruction,
                   int step,
                   Candidate *made) {
  if (instruction->opcode != Opcode::kConvolve) return false;
  const auto p = Read<ConvolveParameters>(*instruction);
  const TensorPlace &in = plan.tensors[p.input].place;
  const TensorPlace &out = plan.tensors[p.output].place;
  const int64_t tiles = int64_t{out.batch} * out.height * out.width / kTile;
  if (tiles < kLeastTiles) return false;
  const int64_t run = int64_t{p.window.width} * in.pixel_bytes;
  const hexagon::Window window = {
      p.window.height, 0,
      static_cast<int>((run + hexagon::kStepBytes - 1) / hexagon::kStepBytes)};
  const int groups =
      (out.pixel_bytes + hexagon::kVectorWords - 1) / hexagon::kVectorWords;
  made->request.bytes = static_cast<size_t>(
      hexagon::WeightVectors(window, groups) * hexagon::kVectorBytes);
  made->request.first = made->request.last = step;
  made->times = static_cast<double>(tiles);
  made->convolution = instruction;
  return true;
}

std::vector<Candidate> FindCandidates(HexagonPlan *plan) {
  const Uses uses(*plan);
  std::vector<Candidate> candidates;
  for (size_t i = 0; i < plan->tensors.size(); ++i) {
    HexagonTensor &tensor = plan->tensors[i];
    const Use &use = uses[i];
    // VTCM keeps nothing from one segment to the next.
    if (tensor.place.area != static_cast<uint32_t>(Area::kArena) ||
        use.times == 0 || use.by_scalars ||
        use.first_segment != use.last_segment) {
      continue;
    }
    Candidate made;
    made.request.bytes = RoundUp(tensor.bytes, kAlignment);
    made.request.first = tensor.first;
    made.request.last = tensor.last;
    made.times = use.times;
    made.tensor = &tensor;
    candidates.push_back(made);
  }
  int step = 0;
  for (std::vector<HexagonInstruction> &segment : plan->segments) {
    for (HexagonInstruction &instruction : segment) {
      Candidate made;
      if (MakeCandidate(*plan, &instruction, step, &made)) {
        candidates.push_back(made);
      }
      ++step;
    }
  }
  std::sort(candidates.begin(), candidates.end(),
            [](const Candidate &a, const Candidate &b) {
              if (a.times != b.times) return a.times > b.times;
              return a.request.first < b.request.first;
            });
  return candidates;
}

// The first gap between those that are placed, and live at the same time.
// `placed` is in the order of offsets. False: there is none.
bool FindGap(const std::vector<Candidate> &placed,
             size_t bytes,
             Candidate *candidate) {
  const PlanRequest &request = candidate->request;
  size_t offset = 0;
  for (const Candidate &other : placed) {
    if (other.request.last < request.first ||
        request.last < other.request.first) {
      continue;
    }
    if (offset + request.bytes <= other.offset) break;
    offset = std::max(offset, other.offset + other.request.bytes);
  }
  candidate->offset = offset;
  return offset + request.bytes <= bytes;
}

}  // namespace

bool CopiesWeights(const HexagonInstruction &instruction) {
  return instruction.opcode == Opcode::kConvolve &&
         Read<ConvolveParameters>(instruction).fast != hexagon::kNone;
}

MaceStatus PlaceInVtcm(HexagonPlan *plan, size_t bytes) {
  plan->fast_bytes = 0;
  if (bytes == 0) return MaceStatus();
  std::vector<Candidate> placed;
  for (Candidate &candidate : FindCandidates(plan)) {
    if (!FindGap(placed, bytes, &candidate)) continue;
    const auto place =
        std::upper_bound(placed.begin(), placed.end(), candidate,
                         [](const Candidate &a, const Candidate &b) {
                           return a.offset < b.offset;
                         });
    placed.insert(place, candidate);
    plan->fast_bytes =
        std::max(plan->fast_bytes, candidate.offset + candidate.request.bytes);
  }
  std::vector<PlanRequest> requests;
  MemoryPlan memory;
  memory.arena_bytes = plan->fast_bytes;
  for (const Candidate &candidate : placed) {
    requests.push_back(candidate.request);
    memory.offsets.push_back(candidate.offset);
  }
  // A wrong plan would corrupt results silently.
  MACE_RETURN_IF_ERROR(VerifyPlan(requests, memory));
  for (const Candidate &candidate : placed) {
    if (candidate.tensor != nullptr) {
      TensorPlace &place = candidate.tensor->place;
      place.area = static_cast<uint32_t>(Area::kFast);
      place.offset =
          static_cast<uint32_t>(candidate.offset + candidate.tensor->before);
    } else {
      HexagonInstruction &instruction = *candidate.convolution;
      auto p = Read<ConvolveParameters>(instruction);
      p.fast = static_cast<uint32_t>(candidate.offset);
      std::memcpy(instruction.parameters.data(), &p, sizeof(p));
    }
  }
  return MaceStatus();
}

}  // namespace mace
