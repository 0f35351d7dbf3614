// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
package com.xiaomi.mace;

import java.nio.charset.StandardCharsets;

/**
 * Thrown by every function of this package that fails, also if an argument is null or an engine is
 * closed. The message is one sentence that names the operator, tensor, file or argument at fault
 * and what would be accepted.
 */
public final class MaceException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** What kind of failure it is; as MaceStatus::Code of mace.h. */
  public enum Code {
    /** The caller's arguments or the model are wrong. */
    INVALID_ARGS,
    /** Memory or another resource of the system ran out. */
    OUT_OF_RESOURCES,
    /** The model or the request needs what this library or device lacks. */
    UNSUPPORTED,
    /** A driver or an operating system call failed. */
    RUNTIME_ERROR
  }

  private final Code code;

  MaceException(Code code, String message) {
    super(message);
    this.code = code;
  }

  /** Called by libmace_jni.so: the number of the code, and the message in UTF-8. */
  MaceException(int code, byte[] message) {
    this(fromNumber(code), new String(message, StandardCharsets.UTF_8));
  }

  private static Code fromNumber(int code) {
    Code[] codes = Code.values();
    return code >= 1 && code <= codes.length ? codes[code - 1] : Code.RUNTIME_ERROR;
  }

  static MaceException invalid(String message) {
    return new MaceException(Code.INVALID_ARGS, message);
  }

  /** Returns the argument, which must not be null. */
  static <T> T notNull(T argument, String name) {
    if (argument == null)
      throw invalid(name + " is null");
    return argument;
  }

  public Code getCode() {
    return code;
  }
}
