// SPDX-License-Identifier: BSD-3-Clause
// How distances along evenly filled rings of a torus are measured while the torus is divided.
#pragma once

namespace topoloom::multilevel {

/// How evenly filled rings of a torus are measured: as lines or as rings.
enum class FullRingMeasurement { lines, rings };

}  // namespace topoloom::multilevel
