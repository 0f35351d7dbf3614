// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/plan/plan_parts.h"

#include <algorithm>
#include <cstdint>

namespace mace {
namespace {

bool IsWritten(LaunchArgument::Kind kind) {
  return kind == LaunchArgument::Kind::kOutput;
}

// Channels from one pixel to the next.
int64_t ChannelsApart(const GpuTensor &tensor) {
  return tensor.joined_channels == 0 ? tensor.dims.c : tensor.joined_channels;
}

// Whether the elements of `from` may be stored as `to`, if only the operator
// that joins reads them. Dense tensors have room for every alias.
bool CanBecome(GpuStorage from, GpuStorage to) {
  return IsDense(to) || (IsPadded(to) && IsImage(from));
}

// Whether the input can be at `begin` of the whole: a channel, or a pixel.
bool Fits(const TensorJoin &join,
          const JoinedInput &input,
          int64_t begin,
          const OpenclPlan &plan) {
  const GpuTensor &whole = plan.tensors[join.whole];
  const GpuTensor &tensor = plan.tensors[input.tensor];
  const int root_index = plan.RootIndex(input.tensor);
  const GpuTensor &root = plan.tensors[root_index];
  if (root_index == join.whole || root.is_constant || root.first < 0 ||
      input.at_border || tensor.joined_channels != 0 ||
      tensor.dims.c != root.dims.c) {
    return false;
  }
  if (root.kept_in_float &&
      StorageElement(whole.storage) == DataType::kFloat16) {
    return false;
  }
  if (root.storage != whole.storage &&
      (input.readers > 1 || !CanBecome(root.storage, whole.storage))) {
    return false;
  }
  if (join.channels && !IsDense(whole.storage)) {
    const bool pairs = join.pairs_of_blocks && input.readers > 1;
    const int64_t unit = pairs ? 8 : 4;
    if (begin % unit != 0 || (pairs && whole.dims.c % unit != 0)) return false;
  }
  for (size_t i = 0; i < plan.tensors.size(); ++i) {
    const GpuTensor &alias = plan.tensors[i];
    if (plan.RootIndex(static_cast<int>(i)) != root_index) continue;
    if (ChannelsApart(alias) != root.dims.c) return false;
    if (IsImage(whole.storage) && alias.dims.w != whole.dims.w) return false;
  }
  return true;
}

// Whether a launch reads one of the tensors and writes another one.
bool IsReadAndWritten(const OpenclPlan &plan, const std::vector<int> &roots) {
  for (const PlannedLaunch &launch : plan.launches) {
    bool reads = false;
    bool writes = false;
    for (size_t i = 0; i < launch.tensors.size(); ++i) {
      const int tensor = launch.tensors[i];
      if (tensor < 0 || std::find(roots.begin(), roots.end(),
                                  plan.RootIndex(tensor)) == roots.end()) {
        continue;
      }
      const bool output = IsWritten(launch.launch.arguments()[i].kind);
      (output ? writes : reads) = true;
    }
    if (reads && writes) return true;
  }
  return false;
}

}  // namespace

bool JoinTensors(const TensorJoin &join, OpenclPlan *plan) {
  GpuTensor &whole = plan->tensors[join.whole];
  if (whole.is_constant || whole.alias_of >= 0 || whole.first >= 0 ||
      StorageLayout(whole.storage) == GpuLayout::kNchw) {
    return false;
  }
  std::vector<int> roots;
  std::vector<int64_t> begins;
  int64_t begin = 0;
  for (const JoinedInput &input : join.inputs) {
    const GpuDims &dims = plan->tensors[input.tensor].dims;
    if (dims.pixels() * dims.c == 0) continue;
    if (!Fits(join, input, begin, *plan)) return false;
    const int root = plan->RootIndex(input.tensor);
    if (std::find(roots.begin(), roots.end(), root) != roots.end()) {
      return false;
    }
    roots.push_back(root);
    begins.push_back(begin);
    begin += join.channels ? dims.c : dims.pixels();
  }
  if (IsImage(whole.storage) && IsReadAndWritten(*plan, roots)) return false;
  for (size_t i = 0; i < plan->tensors.size(); ++i) {
    const int root = plan->RootIndex(static_cast<int>(i));
    const auto found = std::find(roots.begin(), roots.end(), root);
    if (found == roots.end()) continue;
    GpuTensor &part = plan->tensors[i];
    const int64_t at = begins[static_cast<size_t>(found - roots.begin())];
    (join.channels ? part.first_channel : part.first_pixel) += at;
    part.joined_channels = whole.dims.c;
    part.storage = whole.storage;
    if (part.first < 0) continue;  // no root
    whole.first =
        whole.first < 0 ? part.first : std::min(whole.first, part.first);
    whole.last = std::max(whole.last, part.last);
  }
  // Roots until here, so that their aliases are found above.
  for (GpuTensor &tensor : plan->tensors) {
    const bool moved =
        std::find(roots.begin(), roots.end(), tensor.alias_of) != roots.end();
    if (moved) tensor.alias_of = join.whole;
  }
  for (int root : roots) plan->tensors[root].alias_of = join.whole;
  return true;
}

namespace {

// Per tensor: the first launch that writes it; -1 for none.
std::vector<int> FirstWrites(const OpenclPlan &plan) {
  std::vector<int> writes(plan.tensors.size(), -1);
  for (size_t step = 0; step < plan.launches.size(); ++step) {
    const PlannedLaunch &launch = plan.launches[step];
    for (size_t i = 0; i < launch.tensors.size(); ++i) {
      const int tensor = launch.tensors[i];
      if (tensor < 0 || !IsWritten(launch.launch.arguments()[i].kind)) continue;
      if (writes[tensor] < 0) writes[tensor] = static_cast<int>(step);
    }
  }
  return writes;
}

}  // namespace

void AddPartRequests(OpenclPlan *plan) {
  const std::vector<int> writes = FirstWrites(*plan);
  for (size_t i = 0; i < plan->tensors.size(); ++i) {
    const GpuTensor &part = plan->tensors[i];
    if (part.joined_channels == 0 || writes[i] < 0) continue;
    const int whole = plan->request_of[part.alias_of];
    if (whole < 0 || IsImage(part.storage)) continue;
    const auto unit =
        static_cast<int64_t>(DataTypeSize(StorageElement(part.storage)) *
                             (IsPadded(part.storage) ? 4 : 1));
    const GpuPlace place = part.Place();
    const int64_t units =
        IsPadded(part.storage) ? part.dims.blocks() : part.dims.c;
    PlanRequest request;
    request.bytes = part.Bytes();
    request.first = writes[i];
    request.last = plan->requests[whole].last;
    request.part_of = whole;
    request.part_offset = static_cast<size_t>(place.x * unit);
    request.stride_bytes = static_cast<size_t>(place.y * unit);
    request.run_bytes =
        units == place.y ? request.bytes : static_cast<size_t>(units * unit);
    plan->request_of[i] = static_cast<int>(plan->requests.size());
    plan->requests.push_back(request);
  }
}

MaceStatus VerifyImageParts(const OpenclPlan &plan) {
  struct Region {
    int whole;
    int tensor;
    int64_t x, y, width, height;
  };
  const std::vector<int> writes = FirstWrites(plan);
  std::vector<Region> regions;
  for (size_t i = 0; i < plan.tensors.size(); ++i) {
    const GpuTensor &part = plan.tensors[i];
    if (part.joined_channels == 0 || !IsImage(part.storage)) continue;
    const GpuTensor &whole = plan.tensors[part.alias_of];
    const GpuPlace place = part.Place();
    const Region region = {part.alias_of,
                           static_cast<int>(i),
                           place.x,
                           place.y,
                           static_cast<int64_t>(part.Width()),
                           static_cast<int64_t>(part.Height())};
    if (part.dims.w != whole.dims.w ||
        region.x + region.width > static_cast<int64_t>(whole.Width()) ||
        region.y + region.height > static_cast<int64_t>(whole.Height())) {
      return RuntimeError("GPU plan: tensor ", i, " is no part of tensor ",
                          part.alias_of);
    }
    if (writes[i] < 0) continue;
    for (const Region &other : regions) {
      if (other.whole == region.whole && region.x < other.x + other.width &&
          other.x < region.x + region.width &&
          region.y < other.y + other.height &&
          other.y < region.y + region.height) {
        return RuntimeError("GPU plan: tensors ", other.tensor, " and ", i,
                            " overlap in tensor ", region.whole);
      }
    }
    regions.push_back(region);
  }
  for (size_t i = 0; i < plan.tensors.size(); ++i) {
    const auto index = static_cast<int>(i);
    if (!IsImage(plan.tensors[i].storage) || plan.RootIndex(index) != index) {
      continue;
    }
    if (IsReadAndWritten(plan, {index})) {
      return RuntimeError("GPU plan: a launch reads the image of tensor ", i,
                          ", which it writes");
    }
  }
  return MaceStatus();
}

}  // namespace mace
