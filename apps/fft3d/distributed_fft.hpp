// SPDX-License-Identifier: BSD-3-Clause
// Three-dimensional Fourier transform of a grid that is distributed over a process grid.
//
// Pencils of the z axis are transformed and transposed within rows of the process grid to pencils of the y axis, these
// within columns to pencils of the x axis. With one column, pencils are slabs, and the first transposition is local.
#pragma once

#include <fftw3.h>
#include <mpi.h>

#include <array>
#include <cmath>
#include <memory>
#include <vector>

#include "options.hpp"
#include "transpose.hpp"

namespace fft3d {

/// Computation that does not depend on the transforms.
class ForceWork {
   public:
    void add(double seconds) {
        left_ = seconds;
        slice_ = seconds / 32;
    }
    /// Does a slice; returns false if no work is left.
    bool do_slice() {
        if (left_ <= 0) return false;
        left_ = left_ > 1.5 * slice_ ? left_ - slice_ : 0;
#ifdef SMPI_H
        smpi_execute(slice_);
#else
        for (const double end = MPI_Wtime() + slice_; MPI_Wtime() < end;) {
        }
#endif
        return true;
    }

    /// Does all work that is left.
    void finish() {
        while (do_slice()) {
        }
    }

   private:
    double left_ = 0, slice_ = 0;
};

/// Which points of the grid each rank has, before and after a forward transform.
struct Decomposition {
    Extents grid;
    int rows, columns;

    Decomposition(const Options& options, int ranks) : grid(options.grid) {
        std::array<int, 2> sides{ranks, 1};
        if (options.decomposition == "pencils") MPI_Dims_create(ranks, 2, (sides = {0, 0}).data());
        rows = sides[0], columns = sides[1];
    }
    [[nodiscard]] Range x_before(int rank) const { return get_block(grid[0], rows, rank / columns); }
    [[nodiscard]] Range y_before(int rank) const { return get_block(grid[1], columns, rank % columns); }
    [[nodiscard]] Range y_after(int rank) const { return get_block(grid[1], rows, rank / columns); }
    [[nodiscard]] Range z_after(int rank) const { return get_block(grid[2], columns, rank % columns); }
};

class DistributedFft {
   public:
    DistributedFft(const Options& options, const Decomposition& decomposition, MPI_Comm comm)
        : grid_(options.grid), is_overlapped_(options.overlap) {
        int rank = 0;
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_split(comm, rank / decomposition.columns, rank, &row_);
        MPI_Comm_split(comm, rank % decomposition.columns, rank, &column_);
        first_ = std::make_unique<Transpose>(row_, decomposition.x_before(rank).count, grid_[1], grid_[2],
                                             options.transpose);
        second_ = std::make_unique<Transpose>(column_, first_->own_inner().count, grid_[0], grid_[1],
                                              options.transpose);
        std::vector<Complex> line(4096);
        auto* const data = reinterpret_cast<fftw_complex*>(line.data());
        for (std::size_t axis = 0; axis < 3; ++axis)
            for (const bool is_forward : {false, true})
                plans_[axis][is_forward] = fftw_plan_dft_1d(
                    grid_[axis], data, data, is_forward ? FFTW_FORWARD : FFTW_BACKWARD, FFTW_ESTIMATE);
    }
    ~DistributedFft() {
        for (const auto& axis : plans_)
            for (fftw_plan_s* const plan : axis) fftw_destroy_plan(plan);
        second_.reset();
        first_.reset();
        MPI_Comm_free(&column_);
        MPI_Comm_free(&row_);
    }
    DistributedFft(const DistributedFft&) = delete;
    DistributedFft& operator=(const DistributedFft&) = delete;

    /// The grid before a forward transform, as [x][y][z], and after it, as [y][z][x].
    [[nodiscard]] std::vector<Complex>& before() { return first_->before(); }
    [[nodiscard]] std::vector<Complex>& after() { return second_->after(); }
    [[nodiscard]] ForceWork& work() { return work_; }
    /// Seconds of one-dimensional transforms on this rank.
    [[nodiscard]] double compute_seconds() const { return compute_seconds_; }

    void transform_forward() {
        run(*first_, true, first_->before(), 2);
        second_->before().swap(first_->after());
        run(*second_, true, second_->before(), 1);
        transform_lines(second_->after(), true, 0, 0, second_->after().size());
    }
    /// The inverse transform, not divided by the number of points.
    void transform_backward() {
        run(*second_, false, second_->after(), 0);
        second_->before().swap(first_->after());
        run(*first_, false, first_->after(), 1);
        transform_lines(first_->before(), false, 2, 0, first_->before().size());
    }

   private:
    /// Messages of different phases are never in flight together.
    enum class Phase { rows = 1, columns, others };
    /// Tells a recorder where a phase begins. SimGrid's traces have the order of messages instead.
    static void begin_phase([[maybe_unused]] Phase phase) {
#ifndef SMPI_H
        MPI_Pcontrol(static_cast<int>(phase));
#endif
    }

    void run(Transpose& transpose, bool is_forward, std::vector<Complex>& source, std::size_t axis) {
        const auto rows =
            static_cast<std::size_t>(is_forward ? transpose.outer() : transpose.own_inner().count);
        const std::size_t length = rows > 0 ? source.size() / rows : 0;
        begin_phase(&transpose == first_.get() ? Phase::rows : Phase::columns);
        transpose.run(
            is_forward, is_overlapped_,
            [&](const Range& part) {
                transform_lines(source, is_forward, axis, static_cast<std::size_t>(part.first) * length,
                                static_cast<std::size_t>(part.end()) * length);
            },
            [this] { return is_overlapped_ && work_.do_slice(); });
        begin_phase(Phase::others);
    }
    void transform_lines(std::vector<Complex>& data, bool is_forward, std::size_t axis, std::size_t first,
                         std::size_t end) {
        const double begin = MPI_Wtime();
        const auto length = static_cast<std::size_t>(grid_[axis]);
        for (std::size_t line = first; line < end; line += length) {
            auto* const at = reinterpret_cast<fftw_complex*>(&data[line]);
            fftw_execute_dft(plans_[axis][is_forward], at, at);
        }
#ifdef SMPI_H
        // Operations of a radix-2 transform.
        smpi_execute_flops(5.0 * static_cast<double>(end - first) * std::log2(length));
#endif
        compute_seconds_ += MPI_Wtime() - begin;
    }

    Extents grid_;
    bool is_overlapped_;
    MPI_Comm row_ = MPI_COMM_NULL, column_ = MPI_COMM_NULL;
    std::unique_ptr<Transpose> first_, second_;
    std::array<std::array<fftw_plan_s*, 2>, 3> plans_{};
    ForceWork work_;
    double compute_seconds_ = 0;
};

}  // namespace fft3d
