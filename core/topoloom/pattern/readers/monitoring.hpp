// SPDX-License-Identifier: BSD-3-Clause
// Reads what Open MPI's monitoring component writes (mpirun --mca pml_monitoring_enable 2).
#pragma once

#include <cstddef>
#include <string_view>

#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// Which lines to count. The messages of a collective (C) are mostly counted a second time as the internal
/// point-to-point messages (I) that carry them, so not both are on.
struct MonitoringKinds {
    bool external = true;   ///< E: messages with the program's own tags
    bool internal = true;   ///< I: messages with tags of the library, such as those of collectives
    bool one_sided = true;  ///< S: put and accumulate; R: get, which sends from the second rank to the first
    bool collective = false;  ///< C: what collectives ask to be moved
};

/// The files of all ranks and phases, one after the other. Lines of a pair are summed; comments and totals
/// per communicator (D, O2A, A2O, A2A) are skipped. There are `rank_count` ranks, or when that is 0, the
/// highest number and those below. O(text). Throws Error for lines that cannot be read, ranks out of range,
/// and when no line of the kinds asked for is there. Source: G. Bosilca, C. Foyer, E. Jeannot, G. Mercier, G.
/// Papauré, Online Dynamic Monitoring of MPI Communications, Euro-Par 2017.
[[nodiscard]] CommGraph read_monitoring(std::string_view text, MonitoringKinds kinds = {},
                                        std::size_t rank_count = 0);

}  // namespace topoloom
