// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_CORE_MODEL_ATTRIBUTE_READER_H_
#define MACE_CORE_MODEL_ATTRIBUTE_READER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "mace/core/base/status.h"
#include "mace/core/model/op.h"

namespace mace {

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
  void String(const char *name, bool required, std::string *value);
  // `size` is the number of values that are required; -1 for any.
  void Ints(const char *name,
            bool required,
            int64_t size,
            int64_t low,
            int64_t high,
            std::vector<int64_t> *values);
  void Floats(const char *name, bool required, std::vector<float> *values);
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
