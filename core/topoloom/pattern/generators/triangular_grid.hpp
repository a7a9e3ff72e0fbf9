// SPDX-License-Identifier: BSD-3-Clause
// Ranks on a triangular grid, as for symmetric matrices of which one half is stored, and the groups that talk there.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "topoloom/base/unit.hpp"
#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// The order in which ranks are numbered. With n rows:
/// dm   the lower triangle by diagonals: (j + k, j) for k = 0 .. n - 1, j = 0 .. n - 1 - k
/// cm   the lower triangle by columns: (i, j) for j = 0 .. n - 1, i = j .. n - 1
/// bdm  balanced, by diagonals: ((j + k) mod n, j) for k = 0 .. (n - 1) / 2, j = 0 .. n - 1
/// bcm  balanced, by columns: the same cells for j = 0 .. n - 1, k = 0 .. (n - 1) / 2
/// Balanced grids hold each unordered pair of a row and a column once; every row and column has (n + 1) / 2 ranks.
enum class TriangularOrder { dm, cm, bdm, bcm };

/// A communicating group. Column and row groups broadcast a piece of the vector and reduce one to the diagonal.
/// Orthogonalization groups, the columns of the balanced grid for every order, scatter and gather a piece. All ranks
/// sum projections, first within these groups and then across them.
enum class TriangularGroup {
    column,
    row,
    orthogonalization,
    column_reduction,
    row_reduction,
    gather,
    all_reduce
};

/// Reads dm, cm, bdm or bcm; column, row, orthogonalization, column-reduction, row-reduction, gather or all-reduce.
/// Throws Error for anything else.
[[nodiscard]] TriangularOrder parse_triangular_order(std::string_view text);
[[nodiscard]] TriangularGroup parse_triangular_group(std::string_view text);

struct TriangularCell {
    std::uint32_t row;
    std::uint32_t column;
    friend bool operator==(const TriangularCell&, const TriangularCell&) = default;
};

/// The cell of every rank, n (n + 1) / 2 of them. Throws Error for no rows, more than 65,535, and an even number of
/// them in a balanced order. O(ranks). Source: H. M. Aktulga et al., Topology-Aware Mappings for Large-Scale Eigenvalue
/// Problems, Euro-Par 2012, fig. 4.
[[nodiscard]] std::vector<TriangularCell> triangular_grid(std::uint32_t rows, TriangularOrder order);

/// The messages along a binomial tree in every group: from the rank on the diagonal, which is relative rank 0, to the
/// others, numbered as they come after it, wrapping around to it again; relative rank v gets its message from v without
/// its lowest set bit. Columns and rows broadcast `bytes`, a piece of the vector; orthogonalization scatters them, so
/// that a message holds as many equal parts, rounded up, as ranks wait for it. Reductions and the gather send the same
/// back. The all-reduce sends `bytes`, projections, up the trees of the orthogonalization groups, up and down one of
/// their roots, that of column 0 first, and back down. Throws Error as above, and for bytes < 0. O(ranks). Source:
/// ibid., sec. 4.
[[nodiscard]] CommGraph triangular_messages(std::uint32_t rows, TriangularOrder order, TriangularGroup group,
                                            Bytes bytes);

/// The same messages by the level of the tree they are sent at, all groups from the first level on: down a tree the
/// highest bit of a relative rank is first, up the lowest. They add up to triangular_messages(). O(ranks * levels).
[[nodiscard]] std::vector<CommGraph> triangular_levels(std::uint32_t rows, TriangularOrder order,
                                                       TriangularGroup group, Bytes bytes);

/// Rows when every rank has `threads` cores: the odd number nearest to rows / sqrt(threads), so that as many cores are
/// in use; with one thread all of them. Throws Error for no rows or threads.
[[nodiscard]] std::uint32_t hybrid_rows(std::uint32_t rows, std::uint32_t threads);

}  // namespace topoloom
