// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Errors without exceptions: MaceStatus (public), and what the library uses to
// create statuses and return them to callers.

#ifndef MACE_CORE_BASE_STATUS_H_
#define MACE_CORE_BASE_STATUS_H_

#include <initializer_list>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "mace/public/mace_status.h"

namespace mace {

// One argument of MakeString, with its type erased. Messages are a large part
// of a small library: a template instantiation for every combination of
// argument types took 60 KB.
class MessagePart {
 public:
  MessagePart(const char *text) : kind_(Kind::kText) {  // NOLINT
    value_.text = text == nullptr ? "(null)" : text;
  }
  MessagePart(const std::string &text) : kind_(Kind::kString) {  // NOLINT
    value_.string = &text;
  }
  MessagePart(char letter) : kind_(Kind::kLetter) {  // NOLINT
    value_.letter = letter;
  }
  // Integers, unscoped enumerations, bool (1 or 0), float and double.
  template <typename T,
            typename = std::enable_if_t<std::is_arithmetic_v<T> ||
                                        std::is_convertible_v<T, int>>>
  MessagePart(T number) {  // NOLINT
    if constexpr (std::is_floating_point_v<T>) {
      kind_ = Kind::kReal;
      value_.real = static_cast<double>(number);
    } else if constexpr (std::is_unsigned_v<T>) {
      kind_ = Kind::kUnsigned;
      value_.natural = number;
    } else {
      kind_ = Kind::kSigned;
      value_.integer = number;
    }
  }

  void AppendTo(std::string *text) const;

 private:
  enum class Kind { kText, kString, kLetter, kSigned, kUnsigned, kReal };
  Kind kind_;
  union {
    const char *text;
    const std::string *string;
    char letter;
    long long integer;           // NOLINT
    unsigned long long natural;  // NOLINT
    double real;
  } value_;
};

std::string JoinMessage(std::initializer_list<MessagePart> parts);
MaceStatus JoinStatus(MaceStatus::Code code,
                      std::initializer_list<MessagePart> parts);

#define MACE_FORWARD __attribute__((always_inline)) inline

// How a part of a message reaches the function that joins it. Literals of all
// lengths are of one type, so that messages of the same form share a function.
template <typename T>
using MessageArgument =
    std::conditional_t<std::is_array_v<T>,
                       const char *,
                       std::conditional_t<std::is_scalar_v<T>, T, const T &>>;

template <typename... Parts>
std::string JoinParts(Parts... parts) {
  return JoinMessage({MessagePart(parts)...});
}

template <typename... Parts>
MaceStatus StatusOfParts(MaceStatus::Code code, Parts... parts) {
  return JoinStatus(code, {MessagePart(parts)...});
}

// Joins its arguments as operator<< would print them.
template <typename... Args>
MACE_FORWARD std::string MakeString(const Args &...args) {
  return JoinParts<MessageArgument<Args>...>(args...);
}

template <typename... Args>
MACE_FORWARD MaceStatus InvalidArgs(const Args &...args) {
  return StatusOfParts<MessageArgument<Args>...>(MaceStatus::MACE_INVALID_ARGS,
                                                 args...);
}

template <typename... Args>
MACE_FORWARD MaceStatus OutOfResources(const Args &...args) {
  return StatusOfParts<MessageArgument<Args>...>(
      MaceStatus::MACE_OUT_OF_RESOURCES, args...);
}

template <typename... Args>
MACE_FORWARD MaceStatus Unsupported(const Args &...args) {
  return StatusOfParts<MessageArgument<Args>...>(MaceStatus::MACE_UNSUPPORTED,
                                                 args...);
}

template <typename... Args>
MACE_FORWARD MaceStatus RuntimeError(const Args &...args) {
  return StatusOfParts<MessageArgument<Args>...>(MaceStatus::MACE_RUNTIME_ERROR,
                                                 args...);
}

#undef MACE_FORWARD

// A value, or the status that explains why there is none.
template <typename T>
class Result {
 public:
  Result(T value) : value_(std::move(value)) {}              // NOLINT
  Result(MaceStatus status) : status_(std::move(status)) {}  // NOLINT

  bool ok() const { return value_.has_value(); }
  const MaceStatus &status() const { return status_; }
  T &value() { return *value_; }
  const T &value() const { return *value_; }

 private:
  std::optional<T> value_;
  MaceStatus status_;
};

inline bool IsOk(const MaceStatus &status) {
  return status.code() == MaceStatus::MACE_SUCCESS;
}

// The message without the name of the code, for use in a longer message.
std::string StatusMessage(const MaceStatus &status);

// For the handler at a public entry point:
//   try { ... } catch (...) { return CurrentExceptionStatus(); }
// std::bad_alloc becomes MACE_OUT_OF_RESOURCES. Call it only inside a handler.
MaceStatus CurrentExceptionStatus();

}  // namespace mace

// Returns from the enclosing function when `expression` fails.
#define MACE_RETURN_IF_ERROR(expression)            \
  do {                                              \
    ::mace::MaceStatus mace_status_ = (expression); \
    if (!::mace::IsOk(mace_status_)) {              \
      return mace_status_;                          \
    }                                               \
  } while (false)

#define MACE_STATUS_CONCAT_INNER(a, b) a##b
#define MACE_STATUS_CONCAT(a, b) MACE_STATUS_CONCAT_INNER(a, b)

// MACE_ASSIGN_OR_RETURN(Foo foo, MakeFoo()); with MakeFoo a Result<Foo>.
#define MACE_ASSIGN_OR_RETURN(declaration, expression)                    \
  MACE_ASSIGN_OR_RETURN_INNER(MACE_STATUS_CONCAT(mace_result_, __LINE__), \
                              declaration, expression)
#define MACE_ASSIGN_OR_RETURN_INNER(result, declaration, expression) \
  auto result = (expression);                                        \
  if (!result.ok()) {                                                \
    return result.status();                                          \
  }                                                                  \
  declaration = std::move(result.value())

#endif  // MACE_CORE_BASE_STATUS_H_
