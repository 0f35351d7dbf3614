// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/mace_tensor.h"

#include <utility>

#include "mace/core/shape.h"

namespace mace {
namespace {

int64_t Capacity(const std::vector<int64_t> &dims) {
  if (dims.size() > Shape::kMaxRank) return -1;
  return Shape(dims.data(), dims.size()).CheckedElements();
}

// What a moved-from tensor shows.
const std::vector<int64_t> &NoShape() {
  static const auto *shape = new std::vector<int64_t>();
  return *shape;
}

}  // namespace

MaceTensor::MaceTensor() : impl_(std::make_unique<Impl>()) {}

MaceTensor::MaceTensor(const std::vector<int64_t> &shape,
                       std::shared_ptr<void> data,
                       DataFormat format,
                       IDataType data_type,
                       MemoryType memory_type)
    : impl_(std::make_unique<Impl>()) {
  impl_->shape = shape;
  impl_->data = std::move(data);
  impl_->format = format;
  impl_->data_type = data_type;
  impl_->memory_type = memory_type;
  impl_->capacity = Capacity(shape);
}

MaceTensor::MaceTensor(const MaceTensor &other)
    : impl_(other.impl_ == nullptr ? std::make_unique<Impl>()
                                   : std::make_unique<Impl>(*other.impl_)) {}
MaceTensor::MaceTensor(MaceTensor &&) noexcept = default;
MaceTensor &MaceTensor::operator=(const MaceTensor &other) {
  if (this != &other) *this = MaceTensor(other);
  return *this;
}
MaceTensor &MaceTensor::operator=(MaceTensor &&) noexcept = default;
MaceTensor::~MaceTensor() = default;

const std::vector<int64_t> &MaceTensor::shape() const {
  return impl_ == nullptr ? NoShape() : impl_->shape;
}
std::shared_ptr<float> MaceTensor::data() const { return data<float>(); }
std::shared_ptr<void> MaceTensor::raw_data() const {
  return impl_ == nullptr ? nullptr : impl_->data;
}
DataFormat MaceTensor::data_format() const {
  return impl_ == nullptr ? DataFormat::NHWC : impl_->format;
}
IDataType MaceTensor::data_type() const {
  return impl_ == nullptr ? IDataType::IDT_FLOAT : impl_->data_type;
}
MemoryType MaceTensor::memory_type() const {
  return impl_ == nullptr ? CPU_BUFFER : impl_->memory_type;
}

}  // namespace mace
