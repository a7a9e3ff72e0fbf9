// SPDX-License-Identifier: BSD-3-Clause
// A grid of ranks dealt to the slots by a hash of their coordinates, as a message-driven runtime does.
#pragma once

#include "topoloom/place/mapper.hpp"
#include "topoloom/place/state/rank_grid.hpp"

namespace topoloom {

/// The default map of Charm++ for object arrays: the object at (x0, x1, ...) on slot ((h + 739) mod 1280107) mod slots,
/// where h is the sum, mod 2^32, of x0 and, for i > 0, of xi rotated left by 10 + 11i and by 9 + 7i bits (mod 32); along
/// a single axis object i on slot i mod slots. Slots that chance gives more than their capacity pass ranks on.
[[nodiscard]] Placement place_hashed(const Problem& problem, Meter& meter, const GridOptions& options);

}  // namespace topoloom
