// SPDX-License-Identifier: BSD-3-Clause
// How much memory there is, so that what cannot fit is refused before work starts.
#pragma once

#include <cstdint>

namespace topoloom {

/// Bytes that this process may use: those of the computer, or fewer where `ulimit -v` sets a limit.
[[nodiscard]] std::uint64_t usable_memory();

}  // namespace topoloom
