// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
package com.xiaomi.mace;

/**
 * What an engine does with the parts of a model that it compiled for an accelerator; as
 * AcceleratorCachePolicy of mace.h.
 */
public enum AcceleratorCache {
  /** Compiles them, and stores nothing. */
  NONE,
  /** Compiles them, and writes them to the storage file. */
  STORE,
  /** Reads them from the binary file, compiles what the file lacks, and stores nothing. */
  LOAD,
  /** Reads them from the binary file; if it lacks some, compiles these and writes all. */
  LOAD_OR_STORE
}
