// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/plan/gpu_verdict.h"

#include <algorithm>
#include <sstream>

#include "mace/core/base/status.h"

namespace mace {

std::string GpuVerdict::Demotion() const {
  if (!in_float && !in_buffers) return std::string();
  return MakeString("stored in ", in_buffers ? "buffers of " : "", "float, ",
                    why);
}

std::string GpuVerdict::ToText() const {
  std::string text;
  if (in_float) text += "float\n";
  if (in_buffers) text += "buffers\n";
  if (!why.empty()) text += "why " + OneLine(why) + "\n";
  if (!refused.empty()) text += "refused " + OneLine(refused) + "\n";
  for (const auto &[node, reason] : refusals) {
    text += MakeString("node ", node, " ", OneLine(reason), "\n");
  }
  for (const std::string &variant : good) text += "good " + variant + "\n";
  return text + "end\n";
}

bool GpuVerdict::Parse(const std::string &text) {
  std::istringstream lines(text);
  std::string last;
  for (std::string line; std::getline(lines, line); last = line) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    const std::string rest =
        line.substr(std::min(line.size(), word.size() + 1));
    if (word == "float") in_float = true;
    if (word == "buffers") in_buffers = true;
    if (word == "why") why = rest;
    if (word == "refused") refused = rest;
    if (word == "good") good.insert(rest);
    if (word == "node") {
      int node = -1;
      std::string reason;
      words >> node;
      std::getline(words >> std::ws, reason);
      refusals[node] = reason;
    }
  }
  return last == "end";
}

std::string OneLine(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace mace
