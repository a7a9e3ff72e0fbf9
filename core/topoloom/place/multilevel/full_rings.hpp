// SPDX-License-Identifier: BSD-3-Clause
// What rings count as while a torus is divided.
#pragma once

namespace topoloom::multilevel {

/// What the rings of a torus that an allocation fills evenly count as.
enum class FullRings { lines, rings };

}  // namespace topoloom::multilevel
