// SPDX-License-Identifier: BSD-3-Clause
// Reader of communication matrices in Matrix Market format (.mtx).
#pragma once

#include <string_view>

#include "topoloom/pattern/comm_graph.hpp"
#include "topoloom/pattern/readers/value_scale.hpp"

namespace topoloom {

/// Reads a matrix. Row i + 1, column j + 1 is the bytes of one message from rank i to rank j; a zero means
/// that there is no message. Supports coordinate and array; integer, real (integers written as reals; with a
/// scale, also fractions) and pattern (1 byte per entry, times the scale); general and symmetric. Repeated
/// entries are summed; diagonal entries are self-messages. O(text). Throws Error for complex, skew-symmetric
/// and Hermitian matrices, whose entries are not bytes. Also throws Error for matrices that are not square,
/// entries above the diagonal of a symmetric matrix, and too few or too many entries. Source: R. F. Boisvert, R. Pozo, K. Remington, The Matrix Market
/// Exchange Formats: Initial Design, NISTIR 5935, 1996.
[[nodiscard]] CommGraph read_matrix_market(std::string_view text, ValueScale* scale = nullptr);

}  // namespace topoloom
