// SPDX-License-Identifier: BSD-3-Clause
// Where one way of searching ends and another begins.
#pragma once

#include <cstddef>

namespace topoloom {

/// Ranks. Up to here whole searches run side by side; beyond, one search uses all cores and looks less far around.
inline constexpr std::size_t most_at_once = 20'000;

}  // namespace topoloom
