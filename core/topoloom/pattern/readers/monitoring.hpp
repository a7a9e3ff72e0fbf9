// SPDX-License-Identifier: BSD-3-Clause
// Reader of output of Open MPI's monitoring component (mpirun --mca pml_monitoring_enable 2).
#pragma once

#include <cstddef>
#include <string_view>

#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// Kinds of lines to count. Messages of a collective (C) are mostly counted again as internal point-to-point
/// messages (I), so by default only one kind is counted.
struct MonitoringKinds {
    bool external = true;     ///< E: messages with the program's own tags
    bool internal = true;     ///< I: messages with tags of the library, such as those of collectives
    bool one_sided = true;    ///< S: put and accumulate; R: get, with data from the second rank to the first
    bool collective = false;  ///< C: bytes of collective calls
};

/// Reads the concatenated files of all ranks and phases. Sums lines of the same pair; skips comments and
/// totals per communicator (D, O2A, A2O, A2A). If `rank_count` is 0, the number of ranks is the highest rank
/// plus 1. O(text). Throws Error for invalid lines, ranks out of range, and text without lines of the
/// requested kinds. Source: G. Bosilca, C. Foyer, E. Jeannot, G. Mercier, G. Papauré, Online Dynamic
/// Monitoring of MPI Communications, Euro-Par 2017.
[[nodiscard]] CommGraph read_monitoring(std::string_view text, MonitoringKinds kinds = {},
                                        std::size_t rank_count = 0);

}  // namespace topoloom
