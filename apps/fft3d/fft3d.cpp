// SPDX-License-Identifier: BSD-3-Clause
// Distributed three-dimensional Fourier transform, and the reciprocal part of particle-mesh Ewald (PME), with
// switches for the decomposition, the transpositions and their overlap with computation: fft3d --help.
//
// Rank 0 compares all results with those of FFTW's serial three-dimensional transform. Under SimGrid, only
// one-dimensional transforms and force work take simulated time.
#include <mpi.h>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "distributed_fft.hpp"
#include "options.hpp"
#include "pme.hpp"

namespace fft3d {
namespace {

/// Largest difference of transforms, relative to the root mean square of the results; of energies and forces.
constexpr double fft_tolerance = 1e-12, pme_tolerance = 1e-10;

std::size_t count_points(const Extents& grid) {
    return static_cast<std::size_t>(grid[0]) * static_cast<std::size_t>(grid[1]) *
           static_cast<std::size_t>(grid[2]);
}

/// Value of the grid before the transform, at point (x, y, z).
Complex initial_value(const Extents& grid, int x, int y, int z) {
    const std::uint64_t point = (static_cast<std::uint64_t>(x) * static_cast<std::uint64_t>(grid[1]) +
                                 static_cast<std::uint64_t>(y)) *
                                    static_cast<std::uint64_t>(grid[2]) +
                                static_cast<std::uint64_t>(z);
    return {draw(2 * point) - 0.5, draw(2 * point + 1) - 0.5};
}

/// Transforms a grid [x][y][z] in place with FFTW.
void transform_serially(const Extents& grid, std::vector<Complex>& values, int direction) {
    auto* const data = reinterpret_cast<fftw_complex*>(values.data());
    fftw_plan_s* const plan =
        fftw_plan_dft_3d(grid[0], grid[1], grid[2], data, data, direction, FFTW_ESTIMATE);
    fftw_execute(plan);
    fftw_destroy_plan(plan);
}

/// Difference of results from a reference.
struct Difference {
    double largest = 0, squares = 0;
    std::size_t count = 0;

    void compare(double absolute_difference, double square) {
        // Once NaN, the largest difference stays NaN.
        if (std::isnan(absolute_difference) || absolute_difference > largest) largest = absolute_difference;
        squares += square;
        ++count;
    }
    /// Largest difference relative to the root mean square of the reference.
    [[nodiscard]] double relative() const {
        return largest / std::sqrt(squares / static_cast<double>(count));
    }
};

/// Gathers the transformed grid on rank 0, part by part, and compares it with a serial transform. Collective.
double compare_transform(const Options& options, const Decomposition& d, const std::vector<Complex>& own) {
    const Extents& grid = options.grid;
    int rank = 0, ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank != 0) {
        MPI_Send(own.data(), static_cast<int>(own.size()), MPI_C_DOUBLE_COMPLEX, 0, 0, MPI_COMM_WORLD);
        return 0;
    }
    std::vector<Complex> expected;
    expected.reserve(count_points(grid));
    for (int x = 0; x < grid[0]; ++x)
        for (int y = 0; y < grid[1]; ++y)
            for (int z = 0; z < grid[2]; ++z) expected.push_back(initial_value(grid, x, y, z));
    transform_serially(grid, expected, FFTW_FORWARD);
    Difference difference;
    for (int from = 0; from < ranks; ++from) {
        const Range y_part = d.y_after(from), z_part = d.z_after(from);
        std::vector<Complex> part(static_cast<std::size_t>(y_part.count) *
                                  static_cast<std::size_t>(z_part.count) * static_cast<std::size_t>(grid[0]));
        if (from == 0)
            part = own;
        else
            MPI_Recv(part.data(), static_cast<int>(part.size()), MPI_C_DOUBLE_COMPLEX, from, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        const Complex* value = part.data();
        for (int y = y_part.first; y < y_part.end(); ++y)
            for (int z = z_part.first; z < z_part.end(); ++z)
                for (int x = 0; x < grid[0]; ++x) {
                    const Complex& right =
                        expected[static_cast<std::size_t>((x * grid[1] + y) * grid[2] + z)];
                    difference.compare(std::abs(*value++ - right), std::norm(right));
                }
    }
    return difference.relative();
}

/// Energy and forces of all charges by a serial transform.
std::pair<double, std::vector<Charge>> compute_serial_pme(const Options& options) {
    const Extents& grid = options.grid;
    std::vector<Charge> charges;
    for (int i = 0; i < options.charges; ++i) charges.push_back(make_charge(i, grid));
    std::vector<Complex> values(count_points(grid));
    const auto at = [&](int x, int y, int z) -> Complex& {
        return values[static_cast<std::size_t>((x * grid[1] + y) * grid[2] + z)];
    };
    for (const Charge& charge : charges)
        for_each_point(charge, grid, [&](int x, int y, int z, double weight, const auto&) {
            at(x, y, z) += charge.charge * weight;
        });
    transform_serially(grid, values, FFTW_FORWARD);
    const Influence influence(grid);
    double energy = 0;
    for (int x = 0; x < grid[0]; ++x)
        for (int y = 0; y < grid[1]; ++y)
            for (int z = 0; z < grid[2]; ++z) {
                energy += influence(x, y, z) * std::norm(at(x, y, z)) / 2;
                at(x, y, z) *= influence(x, y, z);
            }
    transform_serially(grid, values, FFTW_BACKWARD);
    for (Charge& charge : charges)
        for_each_point(charge, grid, [&](int x, int y, int z, double, const auto& slopes) {
            for (std::size_t axis = 0; axis < 3; ++axis)
                charge.force[axis] -= charge.charge * slopes[axis] * at(x, y, z).real();
        });
    return {energy, charges};
}

/// Gathers the forces on rank 0 and compares them, and the energy, with a serial run. Collective.
double compare_pme(const Options& options, const std::vector<Charge>& own, double energy) {
    int rank = 0, ranks = 1, bytes = static_cast<int>(own.size() * sizeof(Charge));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    std::vector<int> counts(static_cast<std::size_t>(ranks)), offsets(counts.size());
    MPI_Gather(&bytes, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (std::size_t i = 1; i < counts.size(); ++i) offsets[i] = offsets[i - 1] + counts[i - 1];
    std::vector<Charge> gathered(static_cast<std::size_t>(options.charges));
    MPI_Gatherv(own.data(), bytes, MPI_BYTE, gathered.data(), counts.data(), offsets.data(), MPI_BYTE, 0,
                MPI_COMM_WORLD);
    if (rank != 0) return 0;
    const auto [expected_energy, expected] = compute_serial_pme(options);
    // A charge that no rank has, or two have, leaves another one without a force.
    std::vector<std::array<double, 3>> forces(gathered.size());
    for (const Charge& charge : gathered) forces[static_cast<std::size_t>(charge.number)] = charge.force;
    Difference difference;
    for (std::size_t i = 0; i < forces.size(); ++i)
        for (std::size_t axis = 0; axis < 3; ++axis)
            difference.compare(std::abs(forces[i][axis] - expected[i].force[axis]),
                               expected[i].force[axis] * expected[i].force[axis]);
    return difference.relative() + std::abs(energy - expected_energy) / expected_energy;
}

/// Times of a step on the slowest rank.
struct Times {
    double step = 0, computation = 0;
};

/// Calls a step repeatedly. Collective.
template <typename Step>
Times time_steps(const Options& options, DistributedFft& fft, const Step& step) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double before = fft.compute_seconds(), begin = MPI_Wtime();
    for (int i = 0; i < options.steps; ++i) {
        fft.work().add(options.force_work);
        step();
        fft.work().finish();
    }
    std::array<double, 2> seconds{MPI_Wtime() - begin, fft.compute_seconds() - before};
    MPI_Allreduce(MPI_IN_PLACE, seconds.data(), 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return {seconds[0] / options.steps, seconds[1] / options.steps};
}

struct Outcome {
    bool is_right = false;
    Times times;
    std::string text;
};

std::string format(const char* pattern, double first, double second) {
    std::array<char, 100> line{};
    std::snprintf(line.data(), line.size(), pattern, first, second);
    return line.data();
}

Outcome run_transforms(const Options& options, const Decomposition& d, DistributedFft& fft, int rank) {
    std::vector<Complex> initial;
    const Range x_part = d.x_before(rank), y_part = d.y_before(rank);
    for (int x = x_part.first; x < x_part.end(); ++x)
        for (int y = y_part.first; y < y_part.end(); ++y)
            for (int z = 0; z < options.grid[2]; ++z) initial.push_back(initial_value(options.grid, x, y, z));
    Outcome outcome;
    outcome.times = time_steps(options, fft, [&] {
        fft.before() = initial;
        fft.transform_forward();
    });
    const double forward = compare_transform(options, d, fft.after());
    fft.transform_backward();
    Difference difference;
    const auto points = static_cast<double>(count_points(options.grid));
    for (std::size_t i = 0; i < initial.size(); ++i)
        difference.compare(std::abs(fft.before()[i] / points - initial[i]), std::norm(initial[i]));
    double inverse = initial.empty() ? 0 : difference.relative();
    int is_right = forward < fft_tolerance && inverse < fft_tolerance ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &is_right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &inverse, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    outcome.is_right = is_right != 0;
    outcome.text = format("error %.1e, of the inverse %.1e", forward, inverse);
    return outcome;
}

Outcome run_pme(const Options& options, const Decomposition& d, DistributedFft& fft) {
    Pme pme(options, d, MPI_COMM_WORLD, fft);
    double energy = 0;
    Outcome outcome;
    outcome.times = time_steps(options, fft, [&] { energy = pme.run_step(); });
    MPI_Allreduce(MPI_IN_PLACE, &energy, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    const double error = compare_pme(options, pme.charges(), energy);
    outcome.is_right = error < pme_tolerance;
    outcome.text = format("energy %.12g, error %.1e", energy, error);
    return outcome;
}

/// Returns the exit status.
int run(const Options& options, int rank, int ranks) {
    const Decomposition d(options, ranks);
    DistributedFft fft(options, d, MPI_COMM_WORLD);
    const Outcome outcome =
        options.mode == "fft" ? run_transforms(options, d, fft, rank) : run_pme(options, d, fft);
    int is_right = outcome.is_right ? 1 : 0;
    MPI_Bcast(&is_right, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank == 0)
        std::printf("%s: %s on %d x %d ranks, %s\ntime: %.4g s\ncomputation: %.4g s\n",
                    is_right ? "right" : "WRONG", options.mode.c_str(), d.rows, d.columns,
                    outcome.text.c_str(), outcome.times.step, outcome.times.computation);
    return is_right ? 0 : 1;
}

}  // namespace
}  // namespace fft3d

int main(int argc, char** argv) {
    return apps::run_program<fft3d::Options>(argc, argv, "fft3d", fft3d::usage, fft3d::run);
}
