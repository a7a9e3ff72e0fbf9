// SPDX-License-Identifier: BSD-3-Clause
// Reads communication matrices written as plain numbers, one row per line: TreeMatch's .mat, numpy.savetxt.
#pragma once

#include <string_view>

#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// Row i, column j is the bytes that rank i sends to rank j, in one message; zeros send nothing, the diagonal
/// is messages to oneself. N lines of N numbers between blanks; integers, also spelled as reals. Empty
/// lines are skipped. O(text). Throws Error for rows of different lengths and for other than square matrices.
/// Source: E. Jeannot, G. Mercier, F. Tessier, Process Placement in Multicore Clusters: Algorithmic Issues
/// and Practical Techniques (TreeMatch), IEEE TPDS 25(4), 2014. Open MPI's profile2mat.pl writes the mean of
/// both directions into such a file; it is read as it stands.
[[nodiscard]] CommGraph read_dense_matrix(std::string_view text);

}  // namespace topoloom
