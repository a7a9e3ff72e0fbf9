// SPDX-License-Identifier: BSD-3-Clause
// Lanczos' iteration with full orthogonalization on a triangular grid of ranks.
#pragma once

#include <cblas.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "matrix.hpp"
#include "triangular_grid.hpp"

namespace lanczos {

/// Seconds of this rank in all iterations.
struct Seconds {
    double column = 0, row = 0, orthogonalization = 0, all = 0;
};

/// Adds the time since `begin` to `seconds`, and returns the current time.
inline double add_time(double& seconds, double begin) {
    const double now = MPI_Wtime();
    seconds += now - begin;
    return now;
}

inline int size_of(const std::vector<double>& values) { return static_cast<int>(values.size()); }

/// Sums a vector over a group. Only its root gets the result.
inline void reduce(const Group& group, const std::vector<double>& terms, std::vector<double>& sum) {
    MPI_Reduce(terms.data(), sum.data(), size_of(sum), MPI_DOUBLE, MPI_SUM, group.root, group.comm);
}

class Solver {
   public:
    Solver(const SymmetricMatrix& matrix, const std::vector<Cell>& cells, int grid_rows, int rank, int seed)
        : distribution_(matrix.rows(), grid_rows, seed),
          cell_(cells[static_cast<std::size_t>(rank)]),
          block_(matrix, distribution_, cell_),
          column_(cells, rank, [](const Cell& cell) { return cell.column; }),
          row_(cells, rank, [](const Cell& cell) { return cell.row; }),
          owners_(cells, rank, [=](const Cell& cell) { return get_balanced_column(cell, grid_rows); }) {
        const auto piece = static_cast<std::size_t>(distribution_.piece_size());
        for (auto* vector : {&v_of_column_, &v_of_row_, &column_terms_, &row_terms_, &column_sum_, &row_sum_})
            vector->resize(piece);
        MPI_Comm_rank(owners_.comm, &part_index_);
        piece_index_ = get_balanced_column(cell_, grid_rows);
        std::vector<double> start(static_cast<std::size_t>(distribution_.part_size()));
        for_each_own_row([&](int matrix_row, std::size_t at) {
            start[at] =
                uniform(~static_cast<std::uint64_t>(seed), static_cast<std::uint64_t>(matrix_row)) - 0.5;
        });
        append_to_basis(start);
    }

    /// Extends the basis by up to `count` vectors, the last of which is not needed; stops at an invariant subspace.
    void iterate(int count, bool is_overlapped) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double begin = MPI_Wtime();
        while (iterations() < count) {
            is_overlapped ? multiply_overlapped() : multiply();
            const double start = MPI_Wtime();
            const bool is_invariant = !orthogonalize();
            add_time(seconds_.orthogonalization, start);
            if (is_invariant) break;
        }
        add_time(seconds_.all, begin);
    }

    [[nodiscard]] int iterations() const { return size_of(diagonal_); }
    [[nodiscard]] const std::vector<double>& diagonal() const { return diagonal_; }
    [[nodiscard]] const std::vector<double>& off_diagonal() const { return off_diagonal_; }
    [[nodiscard]] const Seconds& seconds() const { return seconds_; }
    [[nodiscard]] std::size_t nonzeros() const { return block_.nonzeros(); }

    /// Returns the largest element of |V^T V - I|, on rank 0.
    [[nodiscard]] double measure_orthogonality() const {
        const int k = iterations();
        std::vector<double> products(static_cast<std::size_t>(k) * static_cast<std::size_t>(k)),
            sums(products);
        cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, k, k, distribution_.part_size(), 1,
                    basis_.data(), distribution_.part_size(), basis_.data(), distribution_.part_size(), 0,
                    products.data(), k);
        MPI_Reduce(products.data(), sums.data(), k * k, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        double error = 0;
        for (std::size_t i = 0; i < sums.size(); ++i)
            error = std::max(error, std::abs(sums[i] - (i % (static_cast<std::size_t>(k) + 1) == 0 ? 1 : 0)));
        return error;
    }

    /// Returns V u in the order of the matrix, on rank 0.
    [[nodiscard]] std::vector<double> expand(const std::vector<double>& u, int matrix_rows) const {
        std::vector<double> part(static_cast<std::size_t>(distribution_.part_size()));
        cblas_dgemv(CblasColMajor, CblasNoTrans, distribution_.part_size(), size_of(u), 1, basis_.data(),
                    distribution_.part_size(), u.data(), 1, 0, part.data(), 1);
        std::vector<double> own(static_cast<std::size_t>(matrix_rows)), whole(own);
        for_each_own_row([&](int row, std::size_t at) { own[static_cast<std::size_t>(row)] = part[at]; });
        MPI_Reduce(own.data(), whole.data(), matrix_rows, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        return whole;
    }

   private:
    /// Visits the rows of the matrix in this rank's part of the vectors, with their offset in it.
    template <class Visit>
    void for_each_own_row(const Visit& visit) const {
        for (int row = 0; row < distribution_.row_count(); ++row) {
            const int offset = distribution_.get_offset(row), size = distribution_.part_size();
            if (distribution_.get_piece(row) == piece_index_ && offset / size == part_index_)
                visit(row, static_cast<std::size_t>(offset % size));
        }
    }

    void multiply() {
        double time = MPI_Wtime();
        MPI_Bcast(v_of_column_.data(), size_of(v_of_column_), MPI_DOUBLE, column_.root, column_.comm);
        time = add_time(seconds_.column, time);
        MPI_Bcast(v_of_row_.data(), size_of(v_of_row_), MPI_DOUBLE, row_.root, row_.comm);
        add_time(seconds_.row, time);
        multiply_by_block();
        multiply_by_mirror_image();
        time = MPI_Wtime();
        reduce(row_, row_terms_, row_sum_);
        time = add_time(seconds_.row, time);
        reduce(column_, column_terms_, column_sum_);
        add_time(seconds_.column, time);
    }

    void multiply_overlapped() {
        MPI_Request column = MPI_REQUEST_NULL, row = MPI_REQUEST_NULL;
        const auto wait = [](MPI_Request& request, double& seconds) {
            const double begin = MPI_Wtime();
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            add_time(seconds, begin);
        };
        const auto start_reduction = [](const Group& group, const auto& terms, auto& sum, auto& request) {
            MPI_Ireduce(terms.data(), sum.data(), size_of(sum), MPI_DOUBLE, MPI_SUM, group.root, group.comm,
                        &request);
        };
        MPI_Ibcast(v_of_column_.data(), size_of(v_of_column_), MPI_DOUBLE, column_.root, column_.comm,
                   &column);
        MPI_Ibcast(v_of_row_.data(), size_of(v_of_row_), MPI_DOUBLE, row_.root, row_.comm, &row);
        wait(column, seconds_.column);
        multiply_by_block();
        wait(row, seconds_.row);
        start_reduction(row_, row_terms_, row_sum_, row);
        multiply_by_mirror_image();
        start_reduction(column_, column_terms_, column_sum_, column);
        wait(row, seconds_.row);
        wait(column, seconds_.column);
    }

    void multiply_by_block() {
        std::ranges::fill(row_terms_, 0.0);
        block_.multiply(v_of_column_, row_terms_);
    }
    void multiply_by_mirror_image() {
        std::ranges::fill(column_terms_, 0.0);
        if (!is_on_diagonal()) block_.multiply_transposed(v_of_row_, column_terms_);
    }
    [[nodiscard]] bool is_on_diagonal() const { return cell_.row == cell_.column; }

    /// Appends H v, without its components along the basis, to the basis. Returns whether there is a remainder.
    bool orthogonalize() {
        const int size = distribution_.part_size(), k = iterations() + 1;
        if (is_on_diagonal()) cblas_daxpy(size_of(row_sum_), 1, column_sum_.data(), 1, row_sum_.data(), 1);
        std::vector<double> w(static_cast<std::size_t>(size)), projections(static_cast<std::size_t>(k));
        MPI_Scatter(row_sum_.data(), size, MPI_DOUBLE, w.data(), size, MPI_DOUBLE, owners_.root,
                    owners_.comm);
        cblas_dgemv(CblasColMajor, CblasTrans, size, k, 1, basis_.data(), size, w.data(), 1, 0,
                    projections.data(), 1);
        MPI_Allreduce(MPI_IN_PLACE, projections.data(), k, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        cblas_dgemv(CblasColMajor, CblasNoTrans, size, k, -1, basis_.data(), size, projections.data(), 1, 1,
                    w.data(), 1);
        diagonal_.push_back(projections.back());
        largest_ = std::max(largest_, std::abs(projections.back()));
        off_diagonal_.push_back(append_to_basis(w));
        largest_ = std::max(largest_, off_diagonal_.back());
        // Below, rounding errors would dominate the next vector.
        return off_diagonal_.back() > 1e-6 * largest_;
    }

    /// Normalizes a vector, appends it to the basis, and gathers its pieces on the diagonal. Returns its norm.
    double append_to_basis(const std::vector<double>& part) {
        const int size = size_of(part);
        double norm = cblas_ddot(size, part.data(), 1, part.data(), 1);
        MPI_Allreduce(MPI_IN_PLACE, &norm, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        norm = std::sqrt(norm);
        basis_.insert(basis_.end(), part.begin(), part.end());
        double* const appended = &basis_[basis_.size() - part.size()];
        if (norm > 0) cblas_dscal(size, 1 / norm, appended, 1);
        MPI_Gather(appended, size, MPI_DOUBLE, v_of_column_.data(), size, MPI_DOUBLE, owners_.root,
                   owners_.comm);
        if (is_on_diagonal()) v_of_row_ = v_of_column_;
        return norm;
    }

    Distribution distribution_;
    Cell cell_;
    Block block_;
    Group column_, row_, owners_;  // owners: those of the parts of a piece
    int piece_index_ = 0, part_index_ = 0;
    std::vector<double> v_of_column_, v_of_row_, column_terms_, row_terms_, column_sum_, row_sum_;
    std::vector<double> basis_;                    // this rank's part of all vectors, one after another
    std::vector<double> diagonal_, off_diagonal_;  // of the tridiagonal matrix
    double largest_ = 0;                           // element of it
    Seconds seconds_;
};

}  // namespace lanczos
