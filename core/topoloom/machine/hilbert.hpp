// SPDX-License-Identifier: BSD-3-Clause
// The order of nodes along a Hilbert curve through their coordinates.
#pragma once

#include <cstdint>
#include <vector>

#include "topoloom/machine/allocation.hpp"

namespace topoloom {

/// Positions 0 .. slot_count-1 of the allocation, sorted along a Hilbert curve over the coordinates of their nodes
/// in any number of dimensions; slots of one node stay together. The curve fills the enclosing cube of a power of
/// two and skips what is not there. Skilling, Programming the Hilbert curve, AIP Conf. Proc. 707 (2004).
[[nodiscard]] std::vector<std::uint32_t> hilbert_order(const Allocation& allocation);

}  // namespace topoloom
