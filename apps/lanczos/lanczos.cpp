// SPDX-License-Identifier: BSD-3-Clause
// Lanczos' eigensolver with full orthogonalization, on a triangular grid of ranks that stores half of a symmetric
// matrix (H. M. Aktulga et al., Topology-Aware Mappings for Large-Scale Eigenvalue Problems, Euro-Par 2012).
//
// With n rows of the grid, n odd, n (n + 1) / 2 ranks have a block (i, j) each. A product broadcasts piece j of the
// vector along column j and piece i along row i, multiplies by the block and by its mirror image, and reduces the
// results along rows and columns to the diagonal. For the orthogonalization, each group of (n + 1) / 2 ranks, a column
// of the balanced grid, divides a piece into equal parts.
#define OMPI_SKIP_MPICXX 1
#include <cblas.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "matrix.hpp"
#include "options.hpp"
#include "solver.hpp"
#include "triangular_grid.hpp"

extern "C" void dstev_(const char* job, const int* n, double* diagonal, double* off_diagonal, double* vectors,
                       const int* leading, double* work, int* info);

namespace lanczos {
namespace {

/// Eigenvalues of a tridiagonal matrix, and the eigenvector of the last and largest.
struct RitzPairs {
    std::vector<double> values, last_vector;

    RitzPairs(const std::vector<double>& diagonal, std::vector<double> off_diagonal) : values(diagonal) {
        const int n = size_of(diagonal);
        const auto count = diagonal.size();
        std::vector<double> vectors(count * count), work(2 * count);
        int info = 0;
        dstev_("V", &n, values.data(), off_diagonal.data(), vectors.data(), &n, work.data(), &info);
        last_vector.assign(vectors.end() - n, vectors.end());
    }
};

/// Returns |H x - value x|, computed serially.
double compute_residual(const SymmetricMatrix& matrix, const std::vector<double>& x, double value) {
    std::vector<double> remainder(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) remainder[i] = -value * x[i];
    matrix.for_each_entry([&](int row, int column, double entry) {
        const auto i = static_cast<std::size_t>(row), j = static_cast<std::size_t>(column);
        remainder[i] += entry * x[j];
        if (i != j) remainder[j] += entry * x[i];
    });
    return cblas_dnrm2(size_of(remainder), remainder.data(), 1);
}

/// Reads the file on rank 0 and broadcasts the entries. Returns an error message, or an empty string; on rank 0.
std::string load_matrix(const std::string& file, int rank, SymmetricMatrix& matrix) {
    std::string problem;
    if (rank == 0) problem = read_matrix(file, matrix);
    std::array<int, 2> sizes{matrix.rows(), static_cast<int>(matrix.entries().size())};
    MPI_Bcast(sizes.data(), 2, MPI_INT, 0, MPI_COMM_WORLD);
    std::vector<Entry> entries = matrix.entries();
    entries.resize(static_cast<std::size_t>(sizes[1]));
    MPI_Datatype type = MPI_DATATYPE_NULL;  // the number of bytes could exceed an int
    MPI_Type_contiguous(static_cast<int>(sizeof(Entry)), MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_Bcast(entries.data(), sizes[1], type, 0, MPI_COMM_WORLD);
    MPI_Type_free(&type);
    matrix = SymmetricMatrix(sizes[0], std::move(entries));
    return problem;
}

/// Solves and prints. Returns whether the largest Ritz pair and the basis are right.
bool solve(const SymmetricMatrix& matrix, const Options& options, int grid_rows, int rank) {
    Solver solver(matrix, make_triangular_grid(grid_rows, options.order), grid_rows, rank, options.seed);
    solver.iterate(std::min(options.iterations, matrix.rows()), options.overlap);
    const int k = solver.iterations();
    const RitzPairs pairs(solver.diagonal(), solver.off_diagonal());
    const double value = pairs.values.back();
    const double estimate = std::abs(solver.off_diagonal().back() * pairs.last_vector.back());
    const std::vector<double> x = solver.expand(pairs.last_vector, matrix.rows());
    const double orthogonality = solver.measure_orthogonality();
    std::array<double, 5> slowest{solver.seconds().column, solver.seconds().row,
                                  solver.seconds().orthogonalization, solver.seconds().all,
                                  static_cast<double>(solver.nonzeros())};
    MPI_Reduce(rank == 0 ? MPI_IN_PLACE : slowest.data(), slowest.data(), 5, MPI_DOUBLE, MPI_MAX, 0,
               MPI_COMM_WORLD);
    int is_right = 1;
    if (rank == 0) {
        const double residual = compute_residual(matrix, x, value);
        const double scale = std::max(std::abs(pairs.values.front()), std::abs(value));
        is_right = std::abs(residual - estimate) <= 1e-9 * scale && orthogonality <= 1e-9;
        std::printf("%s residual %.3g, estimated %.3g; |V^T V - I| = %.2g\n",
                    is_right ? "right:" : "WRONG:", residual, estimate, orthogonality);
        std::printf("eigenvalues: %.12g %.12g ... %.12g %.12g\n", pairs.values.front(),
                    pairs.values[k > 1 ? 1 : 0], pairs.values[static_cast<std::size_t>(std::max(k - 2, 0))],
                    value);
        std::printf("iterations: %d, at most %.0f nonzeros per block\n", k, slowest[4]);
        std::printf("column: %.4g s\nrow: %.4g s\northogonalization: %.4g s\ntime: %.4g s\n", slowest[0] / k,
                    slowest[1] / k, slowest[2] / k, slowest[3] / k);
    }
    MPI_Bcast(&is_right, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return is_right != 0;
}

/// Returns the exit status: 2 if the matrix cannot be read.
int run(const Options& options, int rank, int ranks) {
    SymmetricMatrix matrix;
    if (options.matrix.empty()) {
        matrix = SymmetricMatrix(options.size, options.nonzeros, options.seed);
    } else {
        const std::string problem = load_matrix(options.matrix, rank, matrix);
        if (!problem.empty()) std::fprintf(stderr, "lanczos: %s\n", problem.c_str());
        if (matrix.rows() == 0) return 2;
    }
    return solve(matrix, options, find_grid_rows(ranks), rank) ? 0 : 1;
}

}  // namespace
}  // namespace lanczos

int main(int argc, char** argv) {
    return apps::run_program<lanczos::Options>(argc, argv, "lanczos", lanczos::usage, lanczos::run);
}
