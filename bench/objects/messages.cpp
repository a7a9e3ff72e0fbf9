// SPDX-License-Identifier: BSD-3-Clause
// Cost of a message between objects. On one rank: CPU time. Between two ranks: the minimum of many short
// bursts, compared with the same exchange by MPI. Both measures are robust against other processes on the
// cores. `messages BURSTS` prints a line of JSON.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <topoloom_objects.hpp>

namespace {

constexpr long burst = 500, local_messages = 1000000;

double read_cpu_seconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double processor_end = 0, end = 0;  // times of the last message

struct Player : topoloom::Object<Player> {
    void take(long left) {
        if (left > 0) return array()[1 - index().x].send<&Player::take>(left - 1);
        processor_end = read_cpu_seconds();
        end = MPI_Wtime();
    }
    void serialize(auto&) {}
    using methods = topoloom::Methods<&Player::take>;
};

struct TransferTimes {
    double seconds, processor_seconds;
};

/// Rank 0's time per message of a ping-pong between two objects, both on rank 0 or one on rank 1.
TransferTimes play_messages(topoloom::Scheduler& scheduler, topoloom::Objects<Player>& players,
                            long messages) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime(), processor_begin = read_cpu_seconds();
    if (scheduler.rank() == 0) players[0].send<&Player::take>(messages);
    scheduler.run();
    const auto count = static_cast<double>(messages);
    return {(end - begin) / count, (processor_end - processor_begin) / count};
}

/// The same ping-pong by MPI_Send and MPI_Recv.
double play_by_mpi(int rank, long messages) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (long left = messages; left > 0; --left) {
        if ((left % 2 == 0) == (rank == 0))
            MPI_Send(&left, 1, MPI_LONG, 1 - rank, 0, MPI_COMM_WORLD);
        else
            MPI_Recv(&left, 1, MPI_LONG, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return (MPI_Wtime() - begin) / static_cast<double>(messages);
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const int bursts = argc > 1 ? std::atoi(argv[1]) : 400;
    {
        topoloom::Scheduler scheduler(MPI_COMM_WORLD);
        topoloom::ObjectsOptions together, apart;
        together.home = [](const topoloom::Index&) { return 0; };
        apart.home = [](const topoloom::Index& at) { return static_cast<int>(at.x); };
        const auto make = [](topoloom::Index) { return Player(); };
        topoloom::Objects<Player> on_one(scheduler, {2}, make, together), on_two(scheduler, {2}, make, apart);
        double local = 1, remote = 1, by_mpi = 1;
        for (int i = 0; i < bursts; ++i) {
            if (i % 50 == 0)
                local = std::min(local, play_messages(scheduler, on_one, local_messages).processor_seconds);
            remote = std::min(remote, play_messages(scheduler, on_two, burst).seconds);
            by_mpi = std::min(by_mpi, play_by_mpi(scheduler.rank(), burst));
        }
        if (scheduler.rank() == 0)
            std::printf("{\"local\": %.1f, \"remote\": %.1f, \"mpi\": %.1f}\n", 1e9 * local, 1e9 * remote,
                        1e9 * by_mpi);
    }
    MPI_Finalize();
}
