// SPDX-License-Identifier: BSD-3-Clause
// Flushes of partly filled buckets, on nine simulated ranks with an exact clock. The flush timeout
// is 0.1 s; idle ranks flush after 0.001 s.
#include "ledger.h"

static int plain, urgent;  // items received on this rank
static topoloom_stream stream;

static int take(void* context, const void* items, int count) {
    (void)context;
    for (int i = 0; i < count; ++i) {
        const item one = ((const item*)items)[i];
        if (one.target != rank) fail("an item came to the wrong rank");
        if (one.passes == 0) {
            ++plain;
            continue;
        }
        if (one.number != plain) fail("what was pushed before has not come before");
        ++urgent;
        const item answer = {.source = rank, .target = one.source, .passes = one.passes - 1};
        if (one.passes > 1)
            check_status(topoloom_stream_push_urgent(stream, &answer, sizeof answer, answer.target));
    }
    return count;
}

static void open_stream(int dimensions) {
    const topoloom_stream_options options = {.flush_timeout = 0.1, .dimensions = dimensions};
    check_status(topoloom_stream_create(comm, sizeof(item), take, NULL, &options, &stream));
    plain = urgent = 0;
    MPI_Barrier(comm);
}

static void push_to_all_ranks(void) {
    for (int target = 1; target < ranks && rank == 0; ++target) {
        const item one = {.source = 0, .target = target};
        check_status(topoloom_stream_push(stream, &one, target));
    }
}

/// Receives an empty message if one has arrived; returns whether it did.
static int receive_word(int tag) {
    int is_there = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, tag, comm, &is_there, MPI_STATUS_IGNORE);
    if (is_there) MPI_Recv(NULL, 0, MPI_BYTE, MPI_ANY_SOURCE, tag, comm, MPI_STATUS_IGNORE);
    return is_there;
}

/// Polls until rank 0 detects that all ranks have enough items. No rank calls done.
static void poll_until(const int* have, int enough) {
    enum { has_enough, all_have };
    int said = 0, heard = 0;
    for (int over = 0; !over;) {
        int ended = 0;
        check_status(topoloom_stream_progress(stream, &ended));
        if (!said && *have >= enough) {
            MPI_Send(NULL, 0, MPI_BYTE, 0, has_enough, comm);
            said = 1;
        }
        if (rank == 0) heard += receive_word(has_enough);
        if (heard == ranks)
            for (int r = 0; r < ranks; ++r) MPI_Send(NULL, 0, MPI_BYTE, r, all_have, comm);
        if (heard == ranks) heard = 0;
        over = receive_word(all_have);
    }
}

static void close_stream(const char* what, double begin, double least, double most, int expected) {
    const double spent = MPI_Wtime() - begin;
    if (spent < least || spent > most) fail(what);
    int sum = 0;
    MPI_Allreduce(&plain, &sum, 1, MPI_INT, MPI_SUM, comm);
    if (sum != expected) fail("other items have come, too, or fewer");
    check_status(topoloom_stream_wait(stream));
    MPI_Allreduce(&plain, &sum, 1, MPI_INT, MPI_SUM, comm);
    if (sum != ranks - 1) fail("items were lost");
    check_status(topoloom_stream_free(&stream));
    if (rank == 0) printf("%s: right\n", what);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    comm = MPI_COMM_WORLD;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);

    // From corner to corner and back, over ranks 2 and 6. Only items for ranks 2 and 8 share these
    // buckets.
    open_stream(2);
    double begin = MPI_Wtime();
    push_to_all_ranks();
    const item one = {.source = 0, .target = 8, .passes = 2, .number = 1};
    if (rank == 0) check_status(topoloom_stream_push_urgent(stream, &one, sizeof one, 8));
    poll_until(&urgent, rank == 0);
    close_stream("urgent", begin, 0, 1e-3, 2);

    open_stream(2);
    begin = MPI_Wtime();
    push_to_all_ranks();
    poll_until(&plain, rank != 0);
    close_stream("idle", begin, 1e-3, 0.02, ranks - 1);

    open_stream(1);
    begin = MPI_Wtime();
    push_to_all_ranks();
    check_status(topoloom_stream_flush(stream));
    poll_until(&plain, rank != 0);
    close_stream("flush", begin, 0, 1e-3, ranks - 1);

    open_stream(2);
    begin = MPI_Wtime();
    push_to_all_ranks();
    check_status(topoloom_stream_wait(stream));
    close_stream("done", begin, 0, 1e-3, ranks - 1);
    MPI_Finalize();
    return 0;
}
