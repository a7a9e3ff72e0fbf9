// SPDX-License-Identifier: BSD-3-Clause
// The last rank stops forever after the first phase, and the other ranks report it.
// `stopped_rank WHO`: rank WHO pushes to the stopped rank; -1: no rank does.
// `stopped_rank WHO full`: only WHO has a stall timeout, and pushes until its memory is full.
#include <signal.h>

#include "ledger.h"

static int take(void* context, const void* items, int count) {
    (void)context, (void)items;
    return count;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int is_full = argc > 2, pushes = rank == atoi(argv[1]);
    const topoloom_stream_options options = {.stall_timeout = is_full && !pushes ? 0 : 0.5};
    topoloom_stream stream = NULL;
    check_status(topoloom_stream_create(MPI_COMM_WORLD, sizeof(item), take, NULL, &options, &stream));
    check_status(topoloom_stream_wait(stream));
    if (rank == ranks - 1) raise(SIGSTOP);
    const item one = {.source = rank};
    do
        if (pushes) check_status(topoloom_stream_push(stream, &one, ranks - 1));
    while (is_full && pushes);
    topoloom_stream_wait(stream);
    MPI_Finalize();
    return 0;
}
