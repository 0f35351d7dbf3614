// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
package com.xiaomi.mace;

/** What an APU prefers; as APUPreferenceHint of mace.h. */
public enum ApuPreference { LOW_POWER, FAST_SINGLE_ANSWER, SUSTAINED_SPEED }
