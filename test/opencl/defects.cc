// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "test/opencl/launch.h"
#include "test/opencl/state.h"
#include "test/opencl/target.h"

namespace mace {
namespace test_opencl {
namespace {

std::vector<cl_mem> ImagesOf(const Object &kernel) {
  std::vector<cl_mem> images;
  for (const KernelArgument &argument : kernel.arguments) {
    if (argument.object == nullptr) continue;
    if (CopyOf(argument.object).kind != Kind::kImage) continue;
    images.push_back(static_cast<cl_mem>(const_cast<void *>(argument.object)));
  }
  return images;
}

bool IsHalf(cl_mem image) {
  cl_image_format format = {};
  target().clGetImageInfo(image, CL_IMAGE_FORMAT, sizeof format, &format,
                          nullptr);
  return format.image_channel_data_type == CL_HALF_FLOAT;
}

bool Concerns(const std::string &what, const Object &launched) {
  if (what == "images") return !ImagesOf(launched).empty();
  if (what[0] == '=') return launched.options.find(what) != std::string::npos;
  if (what != "half") {
    return ("|" + what + "|").find("|" + launched.name + "|") !=
           std::string::npos;
  }
  for (cl_mem image : ImagesOf(launched)) {
    if (IsHalf(image)) return true;
  }
  return launched.options.find("=BH") != std::string::npos ||
         launched.options.find("=DH") != std::string::npos;
}

}  // namespace

bool LosesLaunch(cl_kernel kernel) {
  const char *defect = std::getenv("MACE_TEST_OPENCL_DEFECT");
  if (defect == nullptr) return false;
  const std::string text = defect;
  const size_t blank = text.find(' ');
  if (blank == std::string::npos ||
      !Concerns(text.substr(blank + 1), CopyOf(kernel))) {
    return false;
  }
  const std::string effect = text.substr(0, blank);
  if (effect == "abort") std::abort();
  while (effect == "hang") pause();
  return effect == "wrong";
}

}  // namespace test_opencl
}  // namespace mace
