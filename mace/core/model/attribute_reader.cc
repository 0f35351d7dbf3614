// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/model/attribute_reader.h"

#include <cmath>

namespace mace {

namespace {

std::string JoinNames(const char *const *names, size_t count) {
  std::string joined;
  for (size_t i = 0; i < count; ++i) {
    if (i > 0) joined += ", ";
    joined += names[i];
  }
  return joined;
}

const char *KindName(AttributeKind kind) {
  switch (kind) {
    case AttributeKind::kInt:
      return "an integer";
    case AttributeKind::kFloat:
      return "a number";
    case AttributeKind::kString:
      return "a string";
    case AttributeKind::kInts:
      return "a list of integers";
    case AttributeKind::kFloats:
      return "a list of numbers";
  }
  return "a value";
}

}  // namespace

void AttributeReader::AddProblem(const std::string &problem) {
  if (!problems_.empty()) problems_ += "; ";
  problems_ += problem;
}

const AttributeValue *AttributeReader::Find(const char *name,
                                            bool required,
                                            AttributeKind kind) {
  const AttributeValue *value = def_.FindAttribute(name);
  if (value == nullptr) {
    if (required) AddProblem(MakeString("attribute '", name, "' is missing"));
    return nullptr;
  }
  if (value->kind != kind) {
    AddProblem(MakeString("attribute '", name, "' is not ", KindName(kind)));
    return nullptr;
  }
  return value;
}

void AttributeReader::Int(const char *name,
                          bool required,
                          int64_t low,
                          int64_t high,
                          int64_t *value) {
  const AttributeValue *found = Find(name, required, AttributeKind::kInt);
  if (found == nullptr) return;
  if (found->i < low || found->i > high) {
    AddProblem(MakeString("attribute '", name, "' is ", found->i,
                          ", not within [", low, ", ", high, "]"));
    return;
  }
  *value = found->i;
}

void AttributeReader::Bool(const char *name, bool required, bool *value) {
  int64_t number = *value ? 1 : 0;
  Int(name, required, 0, 1, &number);
  *value = number != 0;
}

void AttributeReader::Float(const char *name, bool required, float *value) {
  const AttributeValue *found = Find(name, required, AttributeKind::kFloat);
  if (found == nullptr) return;
  if (std::isnan(found->f)) {
    AddProblem(MakeString("attribute '", name, "' is not a number (NaN)"));
    return;
  }
  *value = found->f;
}

void AttributeReader::String(const char *name,
                             bool required,
                             std::string_view *value) {
  const AttributeValue *found = Find(name, required, AttributeKind::kString);
  if (found != nullptr) *value = found->s;
}

void AttributeReader::Ints(const char *name,
                           bool required,
                           int64_t size,
                           int64_t low,
                           int64_t high,
                           AttributeList<int64_t> *values) {
  const AttributeValue *found = Find(name, required, AttributeKind::kInts);
  if (found == nullptr) return;
  if (size >= 0 && static_cast<int64_t>(found->ints.size()) != size) {
    AddProblem(MakeString("attribute '", name, "' has ", found->ints.size(),
                          " values, not ", size));
    return;
  }
  for (int64_t number : found->ints) {
    if (number < low || number > high) {
      AddProblem(MakeString("attribute '", name, "' has the value ", number,
                            ", not within [", low, ", ", high, "]"));
      return;
    }
  }
  *values = {found->ints.data(), found->ints.size()};
}

void AttributeReader::Floats(const char *name,
                             bool required,
                             AttributeList<float> *values) {
  const AttributeValue *found = Find(name, required, AttributeKind::kFloats);
  if (found != nullptr) {
    *values = {found->floats.data(), found->floats.size()};
  }
}

void AttributeReader::EnumIndex(const char *name,
                                bool required,
                                const char *const *names,
                                size_t count,
                                size_t *index) {
  const AttributeValue *found = Find(name, required, AttributeKind::kString);
  if (found == nullptr) return;
  for (size_t i = 0; i < count; ++i) {
    if (found->s == names[i]) {
      *index = i;
      return;
    }
  }
  AddProblem(MakeString("attribute '", name, "' is '", found->s,
                        "', not one of ", JoinNames(names, count)));
}

MaceStatus AttributeReader::status() const {
  if (problems_.empty()) return MaceStatus();
  return InvalidArgs("operator '", def_.name, "' (", def_.type,
                     "): ", problems_);
}

}  // namespace mace
