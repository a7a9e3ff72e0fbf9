// SPDX-License-Identifier: BSD-3-Clause
// How much memory this computer has, so that what cannot fit is refused before work starts.
#pragma once

#include <cstdint>

namespace topoloom {

/// Bytes of physical memory.
[[nodiscard]] std::uint64_t physical_memory();

}  // namespace topoloom
