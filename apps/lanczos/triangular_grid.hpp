// SPDX-License-Identifier: BSD-3-Clause
// Triangular grids of ranks, their groups, and how rows of a matrix are distributed to them.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "matrix.hpp"

namespace lanczos {

struct Cell {
    int row, column;
};

/// Returns the cell of each rank of a grid with an odd number of rows, as topoloom.graphs.triangular_grid does
/// (Aktulga et al., Topology-Aware Mappings for Large-Scale Eigenvalue Problems, Euro-Par 2012, fig. 4).
inline std::vector<Cell> make_triangular_grid(int rows, const std::string& order) {
    const bool is_balanced = order[0] == 'b', is_by_diagonals = order[order.size() - 2] == 'd';
    const auto is_cell = [&](int column, int below) {
        return is_balanced ? below <= rows / 2 : column + below < rows;
    };
    std::vector<Cell> cells;
    for (int outer = 0; outer < rows; ++outer)
        for (int inner = 0; inner < rows; ++inner) {
            const int column = is_by_diagonals ? inner : outer, below = is_by_diagonals ? outer : inner;
            if (is_cell(column, below)) cells.push_back({(column + below) % rows, column});
        }
    return cells;
}

/// Returns the column that contains a cell, or its mirror image, in the balanced grid.
inline int get_balanced_column(const Cell& cell, int rows) {
    return (cell.row + rows - cell.column) % rows <= rows / 2 ? cell.column : cell.row;
}

/// The ranks that communicate with each other, in the order of their numbers; the root is on the diagonal.
struct Group {
    MPI_Comm comm = MPI_COMM_NULL;
    int root = 0;

    /// `get_number` returns the number of a cell's group.
    template <class GetNumber>
    Group(const std::vector<Cell>& cells, int rank, const GetNumber& get_number) {
        const int number = get_number(cells[static_cast<std::size_t>(rank)]);
        for (const Cell& cell : cells) {
            if (cell.row == cell.column && cell.row == number) break;
            root += get_number(cell) == number ? 1 : 0;
        }
        MPI_Comm_split(MPI_COMM_WORLD, number, rank, &comm);
    }
    Group(const Group&) = delete;
    Group& operator=(const Group&) = delete;
    ~Group() { MPI_Comm_free(&comm); }
};

/// Pieces of vectors, one per row of the grid. Rows of the matrix are distributed to them in random order, so that all
/// blocks have about the same number of nonzeros. A piece is padded with zeros, so that it has equal parts.
class Distribution {
   public:
    Distribution(int matrix_rows, int grid_rows, int seed)
        : pieces_(grid_rows), position_(static_cast<std::size_t>(matrix_rows)) {
        std::iota(position_.begin(), position_.end(), 0);
        for (std::size_t left = position_.size(); left > 1; --left)
            std::swap(position_[left - 1], position_[hash(~static_cast<std::uint64_t>(seed), left) % left]);
        const int parts = (grid_rows + 1) / 2, longest = (matrix_rows + grid_rows - 1) / grid_rows;
        part_ = (longest + parts - 1) / parts;
    }
    [[nodiscard]] int get_piece(int row) const { return position_[static_cast<std::size_t>(row)] % pieces_; }
    [[nodiscard]] int get_offset(int row) const { return position_[static_cast<std::size_t>(row)] / pieces_; }
    [[nodiscard]] int row_count() const { return static_cast<int>(position_.size()); }
    [[nodiscard]] int part_size() const { return part_; }
    [[nodiscard]] int piece_size() const { return part_ * ((pieces_ + 1) / 2); }

   private:
    int pieces_, part_;
    std::vector<int> position_;
};

/// One block of the matrix by rows. A block on the diagonal is complete; others represent their mirror image too.
class Block {
   public:
    Block(const SymmetricMatrix& matrix, const Distribution& distribution, const Cell& cell)
        : first_(static_cast<std::size_t>(distribution.piece_size()) + 1, 0) {
        std::vector<Entry> entries;
        const auto add = [&](int row, int column, double value) {
            if (distribution.get_piece(row) != cell.row || distribution.get_piece(column) != cell.column)
                return;
            entries.push_back({distribution.get_offset(row), distribution.get_offset(column), value});
            ++first_[static_cast<std::size_t>(entries.back().row) + 1];
        };
        matrix.for_each_entry([&](int row, int column, double value) {
            add(row, column, value);
            if (row != column) add(column, row, value);
        });
        std::partial_sum(first_.begin(), first_.end(), first_.begin());
        std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
        columns_.resize(entries.size());
        values_.resize(entries.size());
        for (const auto& [row, column, value] : entries) {
            const std::size_t at = next[static_cast<std::size_t>(row)]++;
            columns_[at] = static_cast<std::size_t>(column);
            values_[at] = value;
        }
    }

    [[nodiscard]] std::size_t nonzeros() const { return values_.size(); }

    /// Computes result += H v.
    void multiply(const std::vector<double>& v, std::vector<double>& result) const {
        for (std::size_t row = 0; row + 1 < first_.size(); ++row)
            for (std::size_t at = first_[row]; at < first_[row + 1]; ++at)
                result[row] += values_[at] * v[columns_[at]];
    }

    /// Computes result += H^T v.
    void multiply_transposed(const std::vector<double>& v, std::vector<double>& result) const {
        for (std::size_t row = 0; row + 1 < first_.size(); ++row)
            for (std::size_t at = first_[row]; at < first_[row + 1]; ++at)
                result[columns_[at]] += values_[at] * v[row];
    }

   private:
    std::vector<std::size_t> first_, columns_;  // [row]: first entry; [entry]: column
    std::vector<double> values_;
};

}  // namespace lanczos
