// SPDX-License-Identifier: BSD-3-Clause
// How rings of a torus are measured while it is divided.
#pragma once

namespace topoloom::multilevel {

/// Distances along evenly filled rings of a torus: as on lines or on rings.
enum class FullRings { lines, rings };

}  // namespace topoloom::multilevel
