// SPDX-License-Identifier: BSD-3-Clause
// Process grids, with broadcasts on all lines of a dimension at once.
#pragma once

#include <mpi.h>
#include <topoloom_grid.h>

#include <array>
#include <cstdlib>
#include <vector>

#include "options.hpp"

namespace matrix_multiply {

enum Dimension { layer, row, column };  // a line along `row` is a column of ranks

/// A started broadcast or shift.
struct Transfer {
    std::array<MPI_Request, 2> mpi{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    topoloom_request ours = TOPOLOOM_REQUEST_NULL;

    void wait() {
        MPI_Waitall(2, mpi.data(), MPI_STATUSES_IGNORE);
        if (ours != TOPOLOOM_REQUEST_NULL) topoloom_wait(&ours, MPI_STATUS_IGNORE);
    }
    /// Lets the transfer advance.
    void test() {
        int is_complete = 0;
        MPI_Testall(2, mpi.data(), &is_complete, MPI_STATUSES_IGNORE);
        if (ours != TOPOLOOM_REQUEST_NULL) topoloom_test(&ours, &is_complete, MPI_STATUS_IGNORE);
    }
};

class ProcessGrid {
   public:
    explicit ProcessGrid(const Options& options)
        : is_pipeline_(options.broadcast == "pipeline"),
          is_overlapped_(options.overlap),
          extents_(options.grid) {
        // The grid reads this setting when it is created.
        if (is_pipeline_) setenv("TOPOLOOM_COLLECTIVES", "schedule=chain(segment=65536)", 1);
        const std::array<int, 3> extents{extents_.layers, extents_.rows, extents_.columns};
        topoloom_grid_create(MPI_COMM_WORLD, 3, extents.data(), options.tiles ? topoloom_tiled : nullptr,
                             &grid_);
        int rank = 0;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        topoloom_grid_coords(grid_, rank, coords_.data());
        for (std::size_t i = 0; i < 3; ++i) {
            int line = 0;
            for (std::size_t other = 0; other < 3; ++other)
                if (other != i) line = line * extents[other] + coords_[other];
            MPI_Comm_split(MPI_COMM_WORLD, line, coords_[i], &lines_[i]);
        }
    }
    ProcessGrid(const ProcessGrid&) = delete;
    ProcessGrid& operator=(const ProcessGrid&) = delete;
    ~ProcessGrid() {
        for (MPI_Comm& line : lines_) MPI_Comm_free(&line);
        topoloom_grid_free(&grid_);
    }

    [[nodiscard]] int coord(Dimension dimension) const { return coords_[dimension]; }
    [[nodiscard]] const Grid& extents() const { return extents_; }
    [[nodiscard]] int rank_of(int row_coord, int column_coord) const {
        const std::array<int, 3> coords{0, row_coord, column_coord};
        int rank = 0;
        topoloom_grid_rank(grid_, coords.data(), &rank);
        return rank;
    }
    /// Bytes that this rank has received in broadcasts and shifts, and contributed to sums.
    [[nodiscard]] double bytes() const { return bytes_; }

    /// Broadcasts along a dimension; with overlap, only starts.
    void broadcast(std::vector<double>& buffer, int root, Dimension dimension, Transfer& transfer) {
        broadcast(buffer.data(), static_cast<int>(buffer.size()), root, dimension, transfer);
    }
    void broadcast(double* data, int count, int root, Dimension dimension, Transfer& transfer) {
        if (coord(dimension) != root) count_bytes(count);
        if (is_pipeline_ && is_overlapped_)
            topoloom_line_ibcast(data, count, MPI_DOUBLE, root, grid_, dimension, &transfer.ours);
        else if (is_pipeline_)
            topoloom_line_bcast(data, count, MPI_DOUBLE, root, grid_, dimension);
        else if (is_overlapped_)
            MPI_Ibcast(data, count, MPI_DOUBLE, root, lines_[dimension], transfer.mpi.data());
        else
            MPI_Bcast(data, count, MPI_DOUBLE, root, lines_[dimension]);
    }

    /// Sends a block to the rank above and receives one from below, cyclically; with overlap, only starts.
    void shift_up(const std::vector<double>& sent, std::vector<double>& received, Transfer& transfer) {
        const int above = (coord(row) + extents_.rows - 1) % extents_.rows,
                  below = (coord(row) + 1) % extents_.rows, count = static_cast<int>(sent.size());
        if (above != coord(row)) count_bytes(count);
        MPI_Irecv(received.data(), count, MPI_DOUBLE, below, 0, lines_[row], transfer.mpi.data());
        MPI_Isend(sent.data(), count, MPI_DOUBLE, above, 0, lines_[row], &transfer.mpi[1]);
        if (!is_overlapped_) transfer.wait();
    }

    /// Sums over the layers; layer 0 gets the result.
    void sum_layers(std::vector<double>& values) {
        const int count = static_cast<int>(values.size());
        if (coord(layer) > 0) count_bytes(count);
        MPI_Reduce(coord(layer) == 0 ? MPI_IN_PLACE : values.data(), values.data(), count, MPI_DOUBLE,
                   MPI_SUM, 0, lines_[layer]);
    }

   private:
    void count_bytes(int count) { bytes_ += 8.0 * count; }

    bool is_pipeline_, is_overlapped_;
    Grid extents_;
    topoloom_grid grid_ = TOPOLOOM_GRID_NULL;
    std::array<int, 3> coords_{};
    std::array<MPI_Comm, 3> lines_{};
    double bytes_ = 0;
};

}  // namespace matrix_multiply
