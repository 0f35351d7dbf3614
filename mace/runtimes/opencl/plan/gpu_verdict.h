// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// What the self-test found of a model's kernels. It restricts the plans of the
// model.

#ifndef MACE_RUNTIMES_OPENCL_PLAN_GPU_VERDICT_H_
#define MACE_RUNTIMES_OPENCL_PLAN_GPU_VERDICT_H_

#include <map>
#include <set>
#include <string>

namespace mace {

// What a model does without, because kernels failed.
struct GpuVerdict {
  bool in_float = false;    // no half storage
  bool in_buffers = false;  // no images
  std::string why;          // of the two
  // Operators that run on the CPU, by index in the graph, with the reason.
  std::map<int, std::string> refusals;
  // Why the GPU is not used at all; empty if it is.
  std::string refused;
  // The variants that are right.
  std::set<std::string> good;

  // What the model does without, for people; empty for nothing.
  std::string Demotion() const;
  // Lines of text, the last of which is "end".
  std::string ToText() const;
  // False if the text is not one of ToText.
  bool Parse(const std::string &text);
};

// Line breaks become spaces.
std::string OneLine(std::string text);

}  // namespace mace

#endif  // MACE_RUNTIMES_OPENCL_PLAN_GPU_VERDICT_H_
