// SPDX-License-Identifier: BSD-3-Clause
// What a message between objects costs: on one rank, and between two beside the same exchange by MPI alone.
// `messages MESSAGES REPEATS` prints a line of JSON per repetition.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <topoloom_objects.hpp>

namespace {

struct Player : topoloom::Object<Player> {
    void take(long left) {
        if (left > 0) array()[1 - index().x].send<&Player::take>(left - 1);
    }
    void serialize(auto&) {}
    using methods = topoloom::Methods<&Player::take>;
};

/// Seconds per message of a ball that two objects play.
double play(topoloom::Scheduler& scheduler, int second_rank, long messages) {
    topoloom::ObjectsOptions options;
    options.home = [=](const topoloom::Index& at) { return at.x == 0 ? 0 : second_rank; };
    topoloom::Objects<Player> players(scheduler, {2}, [](topoloom::Index) { return Player(); }, options);
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    if (scheduler.rank() == 0) players[0].send<&Player::take>(messages);
    scheduler.run();
    return (MPI_Wtime() - begin) / static_cast<double>(messages);
}

/// The same by a send and a receive.
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
    const long messages = argc > 1 ? std::atol(argv[1]) : 100000;
    const int repeats = argc > 2 ? std::atoi(argv[2]) : 5;
    for (int i = 0; i < repeats; ++i) {
        topoloom::Scheduler scheduler(MPI_COMM_WORLD);
        const double local = play(scheduler, 0, 10 * messages);
        const double remote = play(scheduler, 1, messages), by_mpi = play_by_mpi(scheduler.rank(), messages);
        if (scheduler.rank() == 0)
            std::printf("{\"local\": %.1f, \"remote\": %.1f, \"mpi\": %.1f}\n", 1e9 * local, 1e9 * remote,
                        1e9 * by_mpi);
    }
    MPI_Finalize();
}
