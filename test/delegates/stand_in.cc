// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "test/delegates/stand_in.h"

#include <algorithm>
#include <cmath>

namespace mace::stand_in {
namespace {

uint32_t Sum(const std::string &bytes) {
  uint32_t hash = 2166136261u;
  for (char byte : bytes) hash = (hash ^ static_cast<uint8_t>(byte)) * 16777619;
  return hash;
}

double Raw(Element element, const void *data, size_t index) {
  switch (element) {
    case Element::kFloat:
      return static_cast<double>(static_cast<const float *>(data)[index]);
    case Element::kInt32:
      return static_cast<const int32_t *>(data)[index];
    case Element::kInt8:
      return static_cast<const int8_t *>(data)[index];
    default:
      return static_cast<const uint8_t *>(data)[index];
  }
}

// Of the element with that index.
double ScaleAt(const Scaling &scaling,
               const std::vector<int64_t> &dims,
               size_t index) {
  if (scaling.scales.empty()) return 1;
  if (scaling.scales.size() == 1) return scaling.scales[0];
  int64_t inner = 1;
  for (auto axis = static_cast<size_t>(scaling.axis) + 1; axis < dims.size();
       ++axis) {
    inner *= dims[axis];
  }
  const auto at = static_cast<int64_t>(index) / inner %
                  dims[static_cast<size_t>(scaling.axis)];
  return scaling.scales[static_cast<size_t>(at)];
}

}  // namespace

Array FromElements(const std::vector<int64_t> &dims,
                   Element element,
                   const Scaling &scaling,
                   const void *data) {
  Array array;
  array.dims = dims;
  array.values.resize(static_cast<size_t>(Elements(dims)));
  for (size_t i = 0; i < array.values.size(); ++i) {
    array.values[i] =
        (Raw(element, data, i) - static_cast<double>(scaling.zero_point)) *
        ScaleAt(scaling, dims, i);
  }
  return array;
}

void ToElements(const Array &array,
                Element element,
                const Scaling &scaling,
                void *data) {
  for (size_t i = 0; i < array.values.size(); ++i) {
    if (element == Element::kFloat) {
      static_cast<float *>(data)[i] = static_cast<float>(array.values[i]);
      continue;
    }
    const double number =
        std::round(array.values[i] / ScaleAt(scaling, array.dims, i)) +
        static_cast<double>(scaling.zero_point);
    if (element == Element::kInt8) {
      static_cast<int8_t *>(data)[i] =
          static_cast<int8_t>(std::clamp(number, -128.0, 127.0));
    } else {
      static_cast<uint8_t *>(data)[i] =
          static_cast<uint8_t>(std::clamp(number, 0.0, 255.0));
    }
  }
}

std::string Writer::Finish() const {
  Writer head;
  head.Number(Sum(bytes_));
  return head.bytes_ + bytes_;
}

Reader::Reader(const void *data, size_t size) {
  if (size < sizeof(uint32_t)) return;
  uint32_t sum = 0;
  std::memcpy(&sum, data, sizeof(sum));
  bytes_.assign(static_cast<const char *>(data) + sizeof(sum),
                size - sizeof(sum));
  ok_ = sum == Sum(bytes_);
}

}  // namespace mace::stand_in
