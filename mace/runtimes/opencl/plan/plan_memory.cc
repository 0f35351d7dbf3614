// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/plan/plan_memory.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "mace/core/base/divide.h"
#include "mace/core/memory/memory_plan.h"
#include "mace/runtimes/opencl/plan/plan_parts.h"

namespace mace {
namespace {

// Whether launches write some of the tensor's memory as another one. Those have
// a request of their own.
bool HasParts(const OpenclPlan &plan, int root) {
  for (size_t i = 0; i < plan.tensors.size(); ++i) {
    if (plan.tensors[i].alias_of == root && plan.request_of[i] >= 0) {
      return true;
    }
  }
  return false;
}

// The output that takes over the memory of the launch's residual; -1 for none.
int OutputInPlaceOfResidual(const OpenclPlan &plan, size_t step) {
  const PlannedLaunch &planned = plan.launches[step];
  const auto &arguments = planned.launch.arguments();
  const int at = planned.launch.residual();
  if (at < 0) return -1;
  const int residual = planned.tensors[static_cast<size_t>(at)];
  int output = -1;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (planned.tensors[i] < 0 || static_cast<int>(i) == at) continue;
    if (arguments[i].kind == LaunchArgument::Kind::kOutput) {
      if (output >= 0) return -1;
      output = planned.tensors[i];
    }
    // Of another place than the one that is written.
    if (plan.RootIndex(planned.tensors[i]) == plan.RootIndex(residual)) {
      return -1;
    }
  }
  if (output < 0) return -1;
  const GpuTensor &from = plan.tensors[residual];
  const GpuTensor &to = plan.tensors[output];
  const auto now = static_cast<int>(step);
  const bool fits = from.alias_of < 0 && to.alias_of < 0 &&
                    !IsImage(to.storage) && from.storage == to.storage &&
                    from.dims == to.dims && from.last == now &&
                    to.first == now && plan.request_of[residual] >= 0 &&
                    plan.request_of[residual] < plan.request_of[output];
  if (!fits || from.copied_out || HasParts(plan, residual) ||
      HasParts(plan, output))
    return -1;
  return output;
}

void ReuseResiduals(OpenclPlan *plan) {
  for (size_t step = 0; step < plan->launches.size(); ++step) {
    const int output = OutputInPlaceOfResidual(*plan, step);
    if (output < 0) continue;
    PlannedLaunch &planned = plan->launches[step];
    const auto at = static_cast<size_t>(planned.launch.residual());
    plan->requests[plan->request_of[output]].in_place_of =
        plan->request_of[planned.tensors[at]];
    planned.launch.ReadResidualInOutput();
  }
}

// An image for that tensor alone.
ImageSlot SlotOf(const GpuTensor &tensor) {
  ImageSlot image;
  image.element = StorageElement(tensor.storage);
  image.width = std::max<size_t>(tensor.Width(), 1);
  image.height = std::max<size_t>(tensor.Height(), 1);
  return image;
}

// Each tensor gets the image that grows least, of those that are free.
void PlanImages(std::vector<int> images, OpenclPlan *plan) {
  std::sort(images.begin(), images.end(), [&](int a, int b) {
    const int first_a = plan->tensors[a].first;
    const int first_b = plan->tensors[b].first;
    return first_a != first_b ? first_a < first_b : a < b;
  });
  std::vector<int> free_after;  // per image: the last step of its last tensor
  for (int index : images) {
    const GpuTensor &tensor = plan->tensors[index];
    const ImageSlot own = SlotOf(tensor);
    int best = -1;
    size_t best_growth = 0;
    for (size_t slot = 0; slot < plan->images.size(); ++slot) {
      const ImageSlot &image = plan->images[slot];
      if (image.element != own.element || free_after[slot] >= tensor.first) {
        continue;
      }
      const size_t growth = std::max(image.width, own.width) *
                                std::max(image.height, own.height) -
                            image.width * image.height;
      // One of its own is as good.
      if (growth >= own.width * own.height) continue;
      if (best < 0 || growth < best_growth) {
        best = static_cast<int>(slot);
        best_growth = growth;
      }
    }
    if (best < 0) {
      best = static_cast<int>(plan->images.size());
      plan->images.push_back(own);
      free_after.push_back(-1);
    }
    ImageSlot &image = plan->images[best];
    image.width = std::max(image.width, own.width);
    image.height = std::max(image.height, own.height);
    free_after[best] = tensor.last;
    plan->image_of[index] = best;
  }
}

}  // namespace

MaceStatus PlanMemoryOf(const ImageViews &views, OpenclPlan *plan) {
  plan->request_of.assign(plan->tensors.size(), -1);
  plan->image_of.assign(plan->tensors.size(), -1);
  std::vector<int> images;
  const bool has_views = views.pitch_pixels > 0 &&
                         std::any_of(plan->tensors.begin(), plan->tensors.end(),
                                     [](const GpuTensor &tensor) {
                                       return IsImage(tensor.storage);
                                     });
  for (size_t i = 0; i < plan->tensors.size(); ++i) {
    const GpuTensor &tensor = plan->tensors[i];
    if (tensor.alias_of >= 0 || tensor.is_constant || tensor.caller >= 0 ||
        tensor.first < 0) {
      continue;
    }
    PlanRequest request;
    if (IsImage(tensor.storage)) {
      if (views.pitch_pixels == 0) {
        images.push_back(static_cast<int>(i));
        continue;
      }
      ImageSlot image = SlotOf(tensor);
      image.request = static_cast<int>(plan->requests.size());
      image.row_bytes = RoundUp(image.width, views.pitch_pixels) *
                        image.Bytes() / (image.width * image.height);
      request.bytes = image.row_bytes * image.height;
      plan->image_of[i] = static_cast<int>(plan->images.size());
      plan->images.push_back(image);
    } else {
      // A kernel's argument has memory even if the tensor has no elements.
      request.bytes = std::max<size_t>(tensor.Bytes(), 1);
    }
    // Then all offsets are multiples of it.
    if (has_views) request.bytes = RoundUp(request.bytes, views.offset_bytes);
    request.first = tensor.first;
    request.last = tensor.last;
    plan->request_of[i] = static_cast<int>(plan->requests.size());
    plan->requests.push_back(request);
  }
  AddPartRequests(plan);
  ReuseResiduals(plan);
  MACE_RETURN_IF_ERROR(VerifyImageParts(*plan));
  MACE_ASSIGN_OR_RETURN(plan->memory, PlanMemory(plan->requests));
  MACE_RETURN_IF_ERROR(VerifyPlan(plan->requests, plan->memory));
  PlanImages(std::move(images), plan);
  return MaceStatus();
}

}  // namespace mace
