// SPDX-License-Identifier: BSD-3-Clause
// Histogram: every rank increments random entries of a distributed table. `histogram [UPDATES] [ENTRIES]`, both per rank.
// The program checks the table, and prints millions of updates per second and rank, and the time on the slowest rank.
#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <topoloom_stream.hpp>
#include <vector>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0, ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const long updates = argc > 1 ? std::atol(argv[1]) : 1'000'000;
    const long entry_count = argc > 2 ? std::atol(argv[2]) : 1000;
    const auto entries = static_cast<uint64_t>(entry_count);
    if (updates < 1 || entry_count < 1) {
        if (rank == 0) std::fprintf(stderr, "histogram: UPDATES and ENTRIES must be positive\n");
        MPI_Finalize();
        return 2;
    }
    bool is_right = false;
    double seconds = 0;
    {
        std::vector<long> table(entries);
        topoloom::Stream<uint64_t> increments(MPI_COMM_WORLD, [&](const uint64_t& entry) { ++table[entry]; });
        const auto update_all = [&] {
            std::mt19937_64 draw(static_cast<uint64_t>(rank));
            for (long i = 0; i < updates; ++i) {
                const uint64_t at = draw() % (entries * static_cast<uint64_t>(ranks));
                // Entries are distributed cyclically over ranks.
                increments.push(at / static_cast<uint64_t>(ranks),
                                static_cast<int>(at % static_cast<uint64_t>(ranks)));
            }
            increments.wait();
            const long own = std::accumulate(table.begin(), table.end(), 0L);
            long all = 0;
            MPI_Allreduce(&own, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
            return all;
        };
        MPI_Barrier(MPI_COMM_WORLD);
        const double begin = MPI_Wtime();
        is_right = update_all() == updates * ranks;
        seconds = MPI_Wtime() - begin;
        // Repeats the same updates: each entry must double.
        const std::vector<long> once = table;
        is_right = update_all() == 2 * updates * ranks && is_right;
        for (uint64_t i = 0; i < entries; ++i) is_right = is_right && table[i] == 2 * once[i];
    }
    int all_right = is_right;
    double slowest = 0;
    MPI_Allreduce(MPI_IN_PLACE, &all_right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        std::printf("%s: %.1f million updates per second and rank\ntime: %.4g s\n",
                    all_right ? "right" : "WRONG", 1e-6 * static_cast<double>(updates) / slowest, slowest);
    MPI_Finalize();
    return all_right ? 0 : 1;
}
