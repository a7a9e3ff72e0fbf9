// SPDX-License-Identifier: BSD-3-Clause
// Reader of communication matrices as plain numbers, one row per line: TreeMatch's .mat, numpy.savetxt.
#pragma once

#include <string_view>

#include "topoloom/pattern/comm_graph.hpp"
#include "topoloom/pattern/readers/value_scale.hpp"

namespace topoloom {

/// Reads N lines of N numbers, separated by blanks. Row i, column j is the bytes of one message from rank i
/// to rank j. A zero means that there is no message; diagonal entries are self-messages. Numbers are
/// integers, but can be written as reals; with a scale, they may be fractions. Skips empty lines. O(text). Throws Error for rows of different
/// lengths and for matrices that are not square. Source: E. Jeannot, G. Mercier, F. Tessier, Process
/// Placement in Multicore Clusters: Algorithmic Issues and Practical Techniques (TreeMatch), IEEE TPDS 25(4),
/// 2014. Open MPI's profile2mat.pl writes the mean of both directions to such a file; the numbers are read
/// unchanged.
[[nodiscard]] CommGraph read_dense_matrix(std::string_view text, ValueScale* scale = nullptr);

}  // namespace topoloom
