// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
package com.xiaomi.mace;

/**
 * How fast the clock of the DSP runs, from SVS2, the slowest, to TURBOPLUS; as HexagonNNCornerType
 * of mace.h. RELEASE: no wish.
 */
public enum HexagonCorner { RELEASE, TURBOPLUS, TURBO, NOMPLUS, NOMINAL, SVSPLUS, SVS, SVS2 }
