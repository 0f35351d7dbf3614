// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/engine/mace_tensor.h"

#include <new>
#include <utility>

#include "mace/core/base/shape.h"

namespace mace {
namespace {

int64_t Capacity(const std::vector<int64_t> &dims) {
  if (dims.size() > Shape::kMaxRank) return -1;
  return Shape(dims.data(), dims.size()).CheckedElements();
}

}  // namespace

// A tensor has no impl_ if there was no memory for it, or if it was moved from;
// it looks empty, and Run refuses it. A constructor can't return a status, and
// must not throw.

MaceTensor::MaceTensor() : impl_(new(std::nothrow) Impl()) {}

MaceTensor::MaceTensor(const std::vector<int64_t> &shape,
                       std::shared_ptr<void> data,
                       DataFormat format,
                       IDataType data_type,
                       MemoryType memory_type)
    : impl_(new(std::nothrow) Impl()) {
  if (impl_ == nullptr) return;
  try {
    impl_->shape = shape;
  } catch (...) {
    impl_.reset();
    return;
  }
  impl_->data = std::move(data);
  impl_->format = format;
  impl_->data_type = data_type;
  impl_->memory_type = memory_type;
  impl_->capacity = Capacity(shape);
}

MaceTensor::MaceTensor(const MaceTensor &other) {
  if (other.impl_ == nullptr) return;
  try {
    impl_ = std::make_unique<Impl>(*other.impl_);
  } catch (...) {
    impl_.reset();
  }
}
MaceTensor::MaceTensor(MaceTensor &&) noexcept = default;
MaceTensor &MaceTensor::operator=(const MaceTensor &other) {
  if (this != &other) *this = MaceTensor(other);
  return *this;
}
MaceTensor &MaceTensor::operator=(MaceTensor &&) noexcept = default;
MaceTensor::~MaceTensor() = default;

const std::vector<int64_t> &MaceTensor::shape() const {
  static const std::vector<int64_t> none;
  return impl_ == nullptr ? none : impl_->shape;
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
