// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
package com.xiaomi.mace;

/** Which cores the threads are bound to; as CPUAffinityPolicy of mace.h. */
public enum CpuAffinity { NONE, BIG_ONLY, LITTLE_ONLY, HIGH_PERFORMANCE, POWER_SAVE }
