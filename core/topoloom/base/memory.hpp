// SPDX-License-Identifier: BSD-3-Clause
// The memory limit of the process, so that problems that cannot fit are rejected before work starts.
#pragma once

#include <cstdint>

namespace topoloom {

/// Bytes that this process may use: physical memory, or the `ulimit -v` limit if lower.
[[nodiscard]] std::uint64_t usable_memory();

}  // namespace topoloom
