// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
package com.xiaomi.mace;

/** How fast or urgent work on the GPU is; as GPUPerfHint and GPUPriorityHint of mace.h. */
public enum GpuHint { DEFAULT, LOW, NORMAL, HIGH }
