// SPDX-License-Identifier: BSD-3-Clause
// Reads communication matrices in Matrix Market format (.mtx).
#pragma once

#include <string_view>

#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// Row i + 1, column j + 1 is the bytes that rank i sends to rank j, in one message; zeros send nothing.
/// Coordinate and array, integer, real (integers in any spelling) and pattern (1 byte per entry), general
/// and symmetric. Repeated entries are summed, entries of the diagonal are messages to oneself. O(text).
/// Throws Error for complex, skew-symmetric and Hermitian matrices, since those have entries that are not
/// bytes; for matrices that are not square; entries above the diagonal of a symmetric one; and too few or too
/// many entries. Source: R. F. Boisvert, R. Pozo, K. Remington, The Matrix Market Exchange Formats: Initial
/// Design, NISTIR 5935, 1996.
[[nodiscard]] CommGraph read_matrix_market(std::string_view text);

}  // namespace topoloom
