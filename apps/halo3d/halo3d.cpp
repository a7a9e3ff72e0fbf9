// SPDX-License-Identifier: BSD-3-Clause
// A 3-D Jacobi iteration over MPI with halo exchange and a verified result.
#define OMPI_SKIP_MPICXX 1
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <vector>

#include <mpi.h>
#include <sched.h>

#include "field.hpp"
#include "options.hpp"

namespace halo3d {
namespace {

/// The neighbors and message buffers of the six faces of a rank's cube: face 2 * axis is below, 2 * axis + 1 above.
struct Halo {
    std::array<int, 6> peer{};
    std::array<std::vector<double>, 6> outgoing, incoming;

    Halo(MPI_Comm grid, int cells) {
        const std::size_t size = static_cast<std::size_t>(cells) * static_cast<std::size_t>(cells);
        for (int axis = 0; axis < 3; ++axis) {
            const auto face = static_cast<std::size_t>(2 * axis);
            MPI_Cart_shift(grid, axis, 1, &peer[face], &peer[face + 1]);
        }
        for (std::size_t face = 0; face < 6; ++face) {
            outgoing[face].resize(size);
            incoming[face].resize(size);
        }
    }

    void exchange_ghosts(MPI_Comm grid, Field& field, int cells) {
        std::array<MPI_Request, 12> requests{};
        for (std::size_t face = 0; face < 6; ++face) {
            const int size = static_cast<int>(incoming[face].size());
            const int opposite = static_cast<int>(face ^ 1);  // the message tag is the sender's face
            MPI_Irecv(incoming[face].data(), size, MPI_DOUBLE, peer[face], opposite, grid, &requests[face]);
        }
        for (std::size_t face = 0; face < 6; ++face) {
            std::size_t i = 0;
            field.for_each_in_layer(static_cast<int>(face / 2), face % 2 == 0 ? 1 : cells,
                                    [&](double& cell) { outgoing[face][i++] = cell; });
            MPI_Isend(outgoing[face].data(), static_cast<int>(i), MPI_DOUBLE, peer[face],
                      static_cast<int>(face), grid, &requests[6 + face]);
        }
        MPI_Waitall(12, requests.data(), MPI_STATUSES_IGNORE);
        for (std::size_t face = 0; face < 6; ++face) {
            if (peer[face] == MPI_PROC_NULL) continue;  // faces without a neighbor keep zero ghosts
            std::size_t i = 0;
            field.for_each_in_layer(static_cast<int>(face / 2), face % 2 == 0 ? 0 : cells + 1,
                                    [&](double& cell) { cell = incoming[face][i++]; });
        }
    }
};

template <class Visit>
void for_each_cell(int cells, std::array<int, 3> coords, Visit visit) {
    for (int x = 1; x <= cells; ++x) {
        for (int y = 1; y <= cells; ++y) {
            for (int z = 1; z <= cells; ++z) {
                visit(x, y, z,
                      std::array{coords[0] * cells + x - 1, coords[1] * cells + y - 1,
                                 coords[2] * cells + z - 1});
            }
        }
    }
}

void print_locations(MPI_Comm grid, int rank, int ranks) {
    std::array<char, MPI_MAX_PROCESSOR_NAME + 64> line{};
    std::array<char, MPI_MAX_PROCESSOR_NAME> host{};
    int length = 0;
    MPI_Get_processor_name(host.data(), &length);
    std::snprintf(line.data(), line.size(), "rank %d host %s core %d", rank, host.data(), sched_getcpu());
    std::vector<char> all(line.size() * static_cast<std::size_t>(rank == 0 ? ranks : 0));
    const int size = static_cast<int>(line.size());
    MPI_Gather(line.data(), size, MPI_CHAR, all.data(), size, MPI_CHAR, 0, grid);
    for (std::size_t at = 0; at < all.size(); at += line.size()) std::printf("%s\n", &all[at]);
}

/// Prints the total traffic, computed by a formula: each interior face is crossed once per direction and
/// step.
void print_traffic(const Options& options) {
    const long long ranks = 1LL * options.grid[0] * options.grid[1] * options.grid[2];
    long long messages = 0;
    for (const int width : options.grid)
        messages += 2 * (options.periodic ? ranks : ranks / width * (width - 1));
    messages *= options.steps;
    const long long bytes = messages * options.cells * options.cells * static_cast<long long>(sizeof(double));
    std::printf("halo3d: sends %lld bytes in %lld messages\n", bytes, messages);
}

int run(Options options, int /*world_rank*/, int ranks) {
    if (options.grid[0] == 0) MPI_Dims_create(ranks, 3, options.grid.data());
    const std::array<int, 3> periods = {options.periodic, options.periodic, options.periodic};
    MPI_Comm grid = MPI_COMM_NULL;
    MPI_Cart_create(MPI_COMM_WORLD, 3, options.grid.data(), periods.data(), options.reorder, &grid);
    int rank = 0;
    std::array<int, 3> coords{}, global{};
    MPI_Comm_rank(grid, &rank);
    MPI_Cart_coords(grid, rank, 3, coords.data());
    for (std::size_t axis = 0; axis < 3; ++axis) global[axis] = options.grid[axis] * options.cells;

    const Wave wave(global, options.periodic);
    Field field(options.cells);
    Halo halo(grid, options.cells);
    for_each_cell(options.cells, coords,
                  [&](int x, int y, int z, auto cell) { field.at(x, y, z) = wave.initial_value(cell); });

    const double begin = MPI_Wtime();
    for (int step = 0; step < options.steps; ++step) {
        halo.exchange_ghosts(grid, field, options.cells);
        field.step();
    }
    double seconds = MPI_Wtime() - begin, slowest = 0, error = 0, worst = 0;
    for_each_cell(options.cells, coords, [&](int x, int y, int z, auto cell) {
        const double difference = std::abs(field.at(x, y, z) - wave.value_after(cell, options.steps));
        if (!(difference <= error))
            error = difference;  // the comparison is negated so that NaN counts as an error
    });
    MPI_Allreduce(&error, &worst, 1, MPI_DOUBLE, MPI_MAX, grid);
    MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, grid);
    const bool right = worst <= 1e-12 * (1 + options.steps);

    if (options.report) print_locations(grid, rank, ranks);
    if (rank == 0) {
        std::printf("halo3d: %d ranks %dx%dx%d, %d^3 cells each, %d steps, %.3g ms per step\n", ranks,
                    options.grid[0], options.grid[1], options.grid[2], options.cells, options.steps,
                    1e3 * slowest / options.steps);
        if (options.bytes) print_traffic(options);
        if (right)
            std::printf("halo3d: verified in every cell, largest error %.2g\n", worst);
        else
            std::printf("halo3d: WRONG, largest error %.2g\n", worst);
        std::printf("time: %.4g s\n", slowest / options.steps);
    }
    MPI_Comm_free(&grid);
    return right ? 0 : 1;
}

}  // namespace
}  // namespace halo3d

int main(int argc, char** argv) {
    return apps::run_program<halo3d::Options>(argc, argv, "halo3d", halo3d::usage, halo3d::run);
}
