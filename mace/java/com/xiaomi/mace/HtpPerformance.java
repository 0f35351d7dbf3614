// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
package com.xiaomi.mace;

/** The clock that an HTP asks for; as HexagonPerformanceType of mace.h. */
public enum HtpPerformance {
  BURST,
  SUSTAINED_HIGH_PERFORMANCE,
  HIGH_PERFORMANCE,
  BALANCED,
  LOW_BALANCED,
  POWER_SAVER,
  LOW_POWER_SAVER,
  HIGH_POWER_SAVER,
  SYSTEM_SETTINGS
}
