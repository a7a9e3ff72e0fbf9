// SPDX-License-Identifier: BSD-3-Clause
// Index-gather: every rank reads random entries of a distributed table. `index_gather [READS] [ENTRIES]`, both per rank.
// Requests go through one stream, whose handler pushes replies into another. The program checks all replies, and prints
// millions of reads per second and rank, and the time on the slowest rank.
#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <topoloom_stream.hpp>
#include <vector>

namespace {

struct Request {
    uint64_t entry;
    uint32_t place, from;
};

struct Reply {
    uint64_t value;
    uint64_t place;
};

/// Value of the table entry with a global index.
uint64_t value_at(uint64_t index) { return 3 * index + 1; }

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0, count = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    const auto ranks = static_cast<uint64_t>(count);
    const long counts[] = {argc > 1 ? std::atol(argv[1]) : 1'000'000, argc > 2 ? std::atol(argv[2]) : 1000};
    const auto reads = static_cast<uint64_t>(counts[0]), entries = static_cast<uint64_t>(counts[1]);
    if (counts[0] < 1 || counts[1] < 1) {
        if (rank == 0) std::fprintf(stderr, "index_gather: READS and ENTRIES must be positive\n");
        MPI_Finalize();
        return 2;
    }
    int is_right = 1;
    double seconds = 0;
    {
        std::vector<uint64_t> table(entries), indices(reads), values(reads);
        for (uint64_t i = 0; i < entries; ++i) table[i] = value_at(i * ranks + static_cast<uint64_t>(rank));
        std::mt19937_64 draw(static_cast<uint64_t>(rank));
        for (uint64_t& index : indices) index = draw() % (entries * ranks);

        topoloom::Stream<Reply> replies(MPI_COMM_WORLD,
                                        [&](const Reply& reply) { values[reply.place] = reply.value; });
        topoloom::Stream<Request> requests(MPI_COMM_WORLD, [&](const Request& request) {
            replies.push({table[request.entry], request.place}, static_cast<int>(request.from));
        });
        MPI_Barrier(MPI_COMM_WORLD);
        const double begin = MPI_Wtime();
        for (uint64_t i = 0; i < reads; ++i)
            requests.push({indices[i] / ranks, static_cast<uint32_t>(i), static_cast<uint32_t>(rank)},
                          static_cast<int>(indices[i] % ranks));
        requests.wait();
        replies.wait();
        seconds = MPI_Wtime() - begin;
        for (uint64_t i = 0; i < reads; ++i)
            if (values[i] != value_at(indices[i])) is_right = 0;
    }
    double slowest = 0;
    MPI_Allreduce(MPI_IN_PLACE, &is_right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        std::printf("%s: %.1f million reads per second and rank\ntime: %.4g s\n",
                    is_right ? "right" : "WRONG", 1e-6 * static_cast<double>(reads) / slowest, slowest);
    MPI_Finalize();
    return is_right ? 0 : 1;
}
