// SPDX-License-Identifier: BSD-3-Clause
// Multiplies square matrices on a process grid: C = A B.
//
// fox broadcasts blocks of A along rows of ranks and shifts those of B upward (G. Fox et al., Parallel Computing 4,
// 1987; C. Karlsson, PhD thesis, Colorado School of Mines, 2012, alg. 6.13). summa broadcasts panels of both (R. van de
// Geijn and J. Watts, Concurrency 9, 1997). summa3d copies A and B to several layers, each of which does a part of the
// steps, and sums their products (E. Solomonik and J. Demmel, Euro-Par 2011). Blocks of A and C are stored by columns,
// those of B by rows, so that panels are contiguous. The product is checked with random vectors (R. Freivalds, 1977).
#define OMPI_SKIP_MPICXX 1
#include <cblas.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include "matrix_part.hpp"
#include "options.hpp"
#include "process_grid.hpp"

namespace matrix_multiply {
namespace {

struct Seconds {
    double communication = 0, computation = 0;
};

/// The operands of a step, and the transfers that bring them.
struct Step {
    const double* a = nullptr;  // by columns
    const double* b = nullptr;  // by rows
    std::array<Transfer, 2> transfers{};
};

class Multiplier {
   public:
    Multiplier(ProcessGrid& grid, const Options& options)
        : grid_(grid),
          width_(options.block),
          is_fox_(options.algorithm == "fox"),
          is_overlapped_(options.overlap) {
        const auto [layers, rows, columns] = grid.extents();
        steps_ = std::lcm(rows, columns);
        part_.size = steps_ * width_;
        part_.rows = part_.size / rows;
        part_.columns = part_.size / columns;
        part_.first_row = grid.coord(row) * part_.rows;
        part_.first_column = grid.coord(column) * part_.columns;
        part_.seed = options.seed;
        a_.resize(part_.count());
        b_.resize(part_.count());
        c_.resize(part_.count());
        for (auto& panel : a_panels_)
            panel.resize(static_cast<std::size_t>(part_.rows) * static_cast<std::size_t>(width_));
        for (auto& panel : b_panels_)
            panel.resize(static_cast<std::size_t>(part_.columns) * static_cast<std::size_t>(width_));
        if (grid.coord(layer) > 0) return;  // layer 0 will send copies
        for (int i = 0; i < part_.rows; ++i)
            for (int j = 0; j < part_.columns; ++j) {
                a_[part_.index_by_columns(i, j)] = part_.element(Matrix::a, i, j);
                b_[part_.index_by_rows(i, j)] = part_.element(Matrix::b, i, j);
            }
    }

    void multiply() {
        std::ranges::fill(c_, 0.0);
        const int layers = grid_.extents().layers, first = steps_ / layers * grid_.coord(layer);
        double time = MPI_Wtime();
        if (layers > 1) {
            for (auto* matrix : {&a_, &b_}) {
                Transfer transfer;
                grid_.broadcast(*matrix, 0, layer, transfer);
                transfer.wait();
            }
        }
        Step next = start_step(first);
        for (int step = first; step < first + steps_ / layers; ++step) {
            for (auto& transfer : next.transfers) transfer.wait();
            const Step current = next;
            const bool is_last = step + 1 == first + steps_ / layers;
            if (is_overlapped_ && !is_last) next = start_step(step + 1);
            add_time(seconds_.communication, time);
            add_product(current, next);
            add_time(seconds_.computation, time);
            if (!is_overlapped_ && !is_last) next = start_step(step + 1);
        }
        if (layers > 1) grid_.sum_layers(c_);
        add_time(seconds_.communication, time);
    }

    [[nodiscard]] const Seconds& seconds() const { return seconds_; }
    [[nodiscard]] const Part& part() const { return part_; }
    [[nodiscard]] const std::vector<double>& product() const { return c_; }

    /// Returns the largest element of |A (B x) - C x| for a random x, on all ranks.
    [[nodiscard]] double check(Matrix vector) const {
        std::vector<double> x(static_cast<std::size_t>(part_.size));
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = make_element(vector, i, part_.seed);
        const auto right = apply(apply(x, [&](int i, int j) { return part_.element(Matrix::b, i, j); }),
                                 [&](int i, int j) { return part_.element(Matrix::a, i, j); });
        const auto found = apply(x, [&](int i, int j) { return c_[part_.index_by_columns(i, j)]; });
        double error = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            const double difference = std::abs(right[i] - found[i]);
            if (!(difference <= error)) error = difference;  // NaN counts as an error
        }
        return error;
    }

   private:
    static void add_time(double& seconds, double& since) {
        const double now = MPI_Wtime();
        seconds += now - since;
        since = now;
    }

    Step start_step(int index) { return is_fox_ ? start_fox_step(index + 1) : start_summa_step(index); }

    /// Panel `index` of A is in column index / (steps / columns) of the grid, that of B likewise in a row.
    Step start_summa_step(int index) {
        Step step;
        const auto start = [&](Dimension along, int extent, int length, auto& own, auto& panels,
                               auto& transfer) {
            const int per_rank = steps_ / extent, root = index / per_rank;
            const auto count = static_cast<std::size_t>(length * width_);
            auto& panel = panels[static_cast<std::size_t>(index % 2)];
            double* const at = grid_.coord(along) == root
                                   ? &own[static_cast<std::size_t>(index % per_rank) * count]
                                   : panel.data();
            grid_.broadcast(at, static_cast<int>(count), root, along, transfer);
            return at;
        };
        const auto [layers, rows, columns] = grid_.extents();
        step.a = start(column, columns, part_.rows, a_, a_panels_, step.transfers[0]);
        step.b = start(row, rows, part_.columns, b_, b_panels_, step.transfers[1]);
        return step;
    }

    /// In step 1, 2, ..., block B has been shifted so many times; after all of them, it is at home again.
    Step start_fox_step(int index) {
        Step step;
        const int root = (grid_.coord(row) + index) % steps_;
        const auto slot = static_cast<std::size_t>(index % 2);
        auto& block = grid_.coord(column) == root ? a_ : a_panels_[slot];
        grid_.broadcast(block, root, column, step.transfers[0]);
        grid_.shift_up(index == 1 ? b_ : b_panels_[1 - slot], b_panels_[slot], step.transfers[1]);
        step.a = block.data();
        step.b = b_panels_[slot].data();
        return step;
    }

    /// Adds the product of two panels to C, in strips between which the next step advances.
    void add_product(const Step& operands, Step& next) {
        const int strips = is_overlapped_ ? std::min(8, part_.columns) : 1;
        for (int strip = 0; strip < strips; ++strip) {
            const int first = strip * part_.columns / strips, end = (strip + 1) * part_.columns / strips;
            cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, part_.rows, end - first, width_, 1,
                        operands.a, part_.rows, operands.b + first, part_.columns, 1,
                        &c_[part_.index_by_columns(0, first)], part_.rows);
#ifdef SMPI_H
            smpi_execute_flops(2.0 * part_.rows * (end - first) * width_);
#endif
            if (is_overlapped_)
                for (auto& transfer : next.transfers) transfer.test();
        }
    }

    /// Multiplies a matrix, whose elements layer 0 has, by a vector. All ranks get the result.
    template <class Element>
    [[nodiscard]] std::vector<double> apply(const std::vector<double>& x, const Element& element) const {
        std::vector<double> y(x.size());
        if (grid_.coord(layer) == 0)
            for (int i = 0; i < part_.rows; ++i)
                for (int j = 0; j < part_.columns; ++j)
                    y[static_cast<std::size_t>(part_.first_row + i)] +=
                        element(i, j) * x[static_cast<std::size_t>(part_.first_column + j)];
        MPI_Allreduce(MPI_IN_PLACE, y.data(), part_.size, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        return y;
    }

    ProcessGrid& grid_;
    int width_, steps_ = 0;
    bool is_fox_, is_overlapped_;
    Part part_{};
    std::vector<double> a_, b_, c_;
    std::array<std::vector<double>, 2> a_panels_, b_panels_;
    Seconds seconds_;
};

/// Gathers the product on rank 0, which writes it. Returns whether that succeeded, on rank 0.
bool write_product(const Multiplier& multiplier, const ProcessGrid& grid, const std::string& file, int rank) {
    const Part& part = multiplier.part();
    MPI_Request request = MPI_REQUEST_NULL;
    if (grid.coord(layer) == 0)
        MPI_Isend(multiplier.product().data(), static_cast<int>(part.count()), MPI_DOUBLE, 0, 0,
                  MPI_COMM_WORLD, &request);
    bool is_written = true;
    if (rank == 0) {
        std::vector<double> whole(part.count() * static_cast<std::size_t>(grid.extents().rows) *
                                  static_cast<std::size_t>(grid.extents().columns));
        std::vector<double> block(part.count());
        for (int r = 0; r < grid.extents().rows; ++r)
            for (int c = 0; c < grid.extents().columns; ++c) {
                MPI_Recv(block.data(), static_cast<int>(part.count()), MPI_DOUBLE, grid.rank_of(r, c), 0,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                for (int i = 0; i < part.rows; ++i)
                    for (int j = 0; j < part.columns; ++j)
                        whole[static_cast<std::size_t>(r * part.rows + i) *
                                  static_cast<std::size_t>(part.size) +
                              static_cast<std::size_t>(c * part.columns + j)] =
                            block[part.index_by_columns(i, j)];
            }
        std::FILE* const stream = std::fopen(file.c_str(), "wb");
        is_written = stream != nullptr &&
                     std::fwrite(whole.data(), sizeof(double), whole.size(), stream) == whole.size();
        if (stream != nullptr) is_written = std::fclose(stream) == 0 && is_written;
        if (!is_written) std::fprintf(stderr, "matrix_multiply: cannot write %s\n", file.c_str());
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return is_written;
}

/// Returns the bytes that an algorithm must not exceed by more than a tenth, per rank and product.
double compute_bound(const Grid& grid, int size) {
    const double bytes = 8.0 * size * size, cells = 1.0 * grid.rows * grid.columns;
    const double copies = grid.layers > 1 ? 3 * bytes / cells : 0;  // A and B to a layer, C from it
    return (bytes / grid.rows + bytes / grid.columns) / grid.layers + copies;
}

/// Multiplies, checks and prints. Returns the exit status.
int run(const Options& options, int rank, int /*ranks*/) {
    double time = MPI_Wtime();
    ProcessGrid grid(options);
    const double overhead = MPI_Wtime() - time;
    Multiplier multiplier(grid, options);
    MPI_Barrier(MPI_COMM_WORLD);
    time = MPI_Wtime();
    for (int i = 0; i < options.times; ++i) multiplier.multiply();
    time = MPI_Wtime() - time;
    const double error =
        std::max(multiplier.check(Matrix::first_vector), multiplier.check(Matrix::second_vector));
    std::array<double, 5> largest{time / options.times, multiplier.seconds().communication / options.times,
                                  multiplier.seconds().computation / options.times, overhead,
                                  grid.bytes() / options.times};
    MPI_Allreduce(MPI_IN_PLACE, largest.data(), 5, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    const int size = multiplier.part().size;
    const double bound = compute_bound(grid.extents(), size);
    const bool is_right = error <= 1e-12 * size && largest[4] <= 1.1 * bound;
    if (rank == 0) {
        const auto [layers, rows, columns] = grid.extents();
        std::printf("%s |A (B x) - C x| = %.2g with %d rows on %d x %d x %d ranks\n",
                    is_right ? "right:" : "WRONG:", error, size, rows, columns, layers);
        std::printf("communication: %.4g s\ncomputation: %.4g s\noverhead: %.4g s\ntime: %.4g s\n",
                    largest[1], largest[2], largest[3], largest[0]);
        std::printf("bytes: %.0f\nbound: %.0f\n", largest[4], bound);
    }
    int status = is_right ? 0 : 1;
    if (!options.output.empty() && !write_product(multiplier, grid, options.output, rank)) status = 1;
    return status;
}

}  // namespace
}  // namespace matrix_multiply

int main(int argc, char** argv) {
    return apps::run_program<matrix_multiply::Options>(argc, argv, "matrix_multiply", matrix_multiply::usage,
                                                       matrix_multiply::run);
}
