// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// What functions of the library return: success, or what went wrong.

#ifndef MACE_PUBLIC_MACE_STATUS_H_
#define MACE_PUBLIC_MACE_STATUS_H_

#include <memory>
#include <string>

#ifndef MACE_API
#define MACE_API __attribute__((visibility("default")))
#endif

namespace mace {

// The result of a call: a code and, on failure, one sentence that names the
// operator, tensor, file or argument at fault and what would be accepted.
class MACE_API MaceStatus {
 public:
  enum Code {
    MACE_SUCCESS = 0,
    // The caller's arguments or the model are wrong.
    MACE_INVALID_ARGS = 1,
    // Memory or another resource of the system ran out.
    MACE_OUT_OF_RESOURCES = 2,
    // The model or the request needs what this build or device lacks.
    MACE_UNSUPPORTED = 3,
    // A driver or an operating system call failed.
    MACE_RUNTIME_ERROR = 4,
  };

  MaceStatus();           // MACE_SUCCESS
  MaceStatus(Code code);  // NOLINT(runtime/explicit): `return MACE_SUCCESS`.
  MaceStatus(Code code, std::string information);
  MaceStatus(const MaceStatus &);
  MaceStatus(MaceStatus &&) noexcept;
  MaceStatus &operator=(const MaceStatus &);
  MaceStatus &operator=(MaceStatus &&) noexcept;
  ~MaceStatus();

  Code code() const;
  // "Code name: message"; the name alone if there is no message ("Success"),
  // and empty if there is no memory for the text.
  std::string information() const;

  // Compare the codes, whatever the messages.
  bool operator==(const MaceStatus &other) const;
  bool operator!=(const MaceStatus &other) const;

 private:
  Code code_;
  std::shared_ptr<const std::string> message_;  // null if none
};

}  // namespace mace

#endif  // MACE_PUBLIC_MACE_STATUS_H_
