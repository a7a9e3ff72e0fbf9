// SPDX-License-Identifier: BSD-3-Clause
// Ranks on a triangular grid, as for symmetric matrices of which one half is stored, and their communicating
// groups.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "topoloom/base/unit.hpp"
#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// The numbering of ranks on a grid with n rows:
/// dm   the lower triangle by diagonals: (j + k, j) for k = 0 .. n - 1, j = 0 .. n - 1 - k
/// cm   the lower triangle by columns: (i, j) for j = 0 .. n - 1, i = j .. n - 1
/// bdm  balanced, by diagonals: ((j + k) mod n, j) for k = 0 .. (n - 1) / 2, j = 0 .. n - 1
/// bcm  balanced, by columns: ((j + k) mod n, j) for j = 0 .. n - 1, k = 0 .. (n - 1) / 2
/// Balanced grids contain each unordered pair of a row and a column once; every row and column has (n + 1) / 2 ranks.
enum class TriangularOrder { dm, cm, bdm, bcm };

/// A kind of communicating group. Column and row groups broadcast a piece of the vector from the diagonal,
/// and reduce a piece to the diagonal. Orthogonalization groups, which are the columns of the balanced grid
/// in any order, scatter and gather a piece. All ranks sum projections: first within the orthogonalization
/// groups, then across them.
enum class TriangularGroup {
    column,
    row,
    orthogonalization,
    column_reduction,
    row_reduction,
    gather,
    allreduce
};

/// Reads dm, cm, bdm or bcm; column, row, orthogonalization, column-reduction, row-reduction, gather or
/// allreduce. Throws Error for other text.
[[nodiscard]] TriangularOrder parse_triangular_order(std::string_view text);
[[nodiscard]] TriangularGroup parse_triangular_group(std::string_view text);

struct TriangularCell {
    std::uint32_t row;
    std::uint32_t column;
    friend bool operator==(const TriangularCell&, const TriangularCell&) = default;
};

/// Returns the cells of all n (n + 1) / 2 ranks. Throws Error for no rows, more than 65,535 rows, and an even
/// number of rows in a balanced order. O(ranks). Source: H. M. Aktulga et al., Topology-Aware Mappings for
/// Large-Scale Eigenvalue Problems, Euro-Par 2012, fig. 4.
[[nodiscard]] std::vector<TriangularCell> triangular_grid(std::uint32_t rows, TriangularOrder order);

/// Makes the messages along a binomial tree in every group. The root, relative rank 0, is the rank on the
/// diagonal; the others are numbered cyclically after it. The parent of relative rank v is v without its
/// lowest set bit. Column and row groups broadcast `bytes`, a piece of the vector. Orthogonalization scatters
/// `bytes`: a message contains one equal part, rounded up, per rank of the subtree. Reductions and the gather
/// send the same messages in the opposite direction. The allreduce sends `bytes` up the trees of the
/// orthogonalization groups, up and down a tree of their roots (whose root belongs to column 0), and back
/// down. Throws the same errors as triangular_grid(), and Error for bytes < 0. O(ranks). Source: ibid., sec.
/// 4.
[[nodiscard]] CommGraph triangular_messages(std::uint32_t rows, TriangularOrder order, TriangularGroup group,
                                            Bytes bytes);

/// Makes the messages of triangular_messages() separately for each level of the trees; all groups start at
/// the first level. A message between relative rank v and its parent belongs to the lowest set bit of v. Down
/// a tree, levels begin with the highest bit; up a tree, with the lowest. O(ranks * levels).
[[nodiscard]] std::vector<CommGraph> triangular_levels(std::uint32_t rows, TriangularOrder order,
                                                       TriangularGroup group, Bytes bytes);

/// Returns the number of rows if every rank has `threads` cores: the odd number nearest to rows /
/// sqrt(threads), so that about the same number of cores is used. With one thread returns `rows`. Throws
/// Error for no rows or threads.
[[nodiscard]] std::uint32_t hybrid_rows(std::uint32_t rows, std::uint32_t threads);

}  // namespace topoloom
