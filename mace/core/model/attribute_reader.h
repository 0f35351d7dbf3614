// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_CORE_MODEL_ATTRIBUTE_READER_H_
#define MACE_CORE_MODEL_ATTRIBUTE_READER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "mace/core/base/status.h"
#include "mace/core/model/op.h"

namespace mace {

// The list of an attribute, which lives as long as the OperatorDef, or a static
// default.
template <typename T>
class AttributeList {
 public:
  constexpr AttributeList() = default;
  constexpr AttributeList(const T *data, size_t size)
      : data_(data), size_(size) {}
  template <size_t kSize>
  constexpr AttributeList(const T (&values)[kSize])  // NOLINT(*-explicit-*)
      : data_(values), size_(kSize) {}

  constexpr const T *data() const { return data_; }
  constexpr size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr const T *begin() const { return data_; }
  constexpr const T *end() const { return data_ + size_; }
  constexpr const T &operator[](size_t index) const { return data_[index]; }

 private:
  const T *data_ = nullptr;
  size_t size_ = 0;
};

// Reads the attributes of one operator into typed variables, and collects all
// problems in one status. A variable keeps its value if the attribute is
// absent. Used by the generated <Op>Attributes::Parse.
class AttributeReader {
 public:
  explicit AttributeReader(const OperatorDef &def) : def_(def) {}

  void Int(const char *name,
           bool required,
           int64_t low,
           int64_t high,
           int64_t *value);
  void Bool(const char *name, bool required, bool *value);
  void Float(const char *name, bool required, float *value);
  void String(const char *name, bool required, std::string_view *value);
  // `size` is the number of values that are required; -1 for any.
  void Ints(const char *name,
            bool required,
            int64_t size,
            int64_t low,
            int64_t high,
            AttributeList<int64_t> *values);
  void Floats(const char *name, bool required, AttributeList<float> *values);
  // `names[i]` is the spelling of enumerator i.
  template <typename E>
  void Enum(const char *name,
            bool required,
            const char *const *names,
            size_t count,
            E *value) {
    size_t index = static_cast<size_t>(*value);
    EnumIndex(name, required, names, count, &index);
    *value = static_cast<E>(index);
  }

  // Success, or INVALID_ARGS naming the operator and every problem.
  MaceStatus status() const;

 private:
  void EnumIndex(const char *name,
                 bool required,
                 const char *const *names,
                 size_t count,
                 size_t *index);
  const AttributeValue *Find(const char *name,
                             bool required,
                             AttributeKind kind);
  void AddProblem(const std::string &problem);

  const OperatorDef &def_;
  std::string problems_;
};

}  // namespace mace

#endif  // MACE_CORE_MODEL_ATTRIBUTE_READER_H_
