// SPDX-License-Identifier: BSD-3-Clause
// Every rank reports its location; rank 0 prints a line per rank: "rank host core core ...".
// Usage: where [STATUS [BYTES]]. Exits with STATUS; rank 0 copies BYTES of its standard input. It does not read until
// end of file, because Open MPI 5.0 does not forward that.
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { LINE = 512 };

int main(int count, char** words) {
    MPI_Init(&count, &words);
    int rank, ranks, before;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);

    char host[256], line[LINE] = "";
    gethostname(host, sizeof host);
    int length = snprintf(line, LINE, "%d %s", rank, host);
    cpu_set_t cores;
    sched_getaffinity(0, sizeof cores, &cores);
    for (int core = 0; core < CPU_SETSIZE && length < LINE - 8; core++)
        if (CPU_ISSET(core, &cores)) length += snprintf(line + length, LINE - length, " %d", core);

    // A ring of messages, so that a recorder has data.
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % ranks, 0, &before, 1, MPI_INT, (rank + ranks - 1) % ranks, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    char* all = malloc((size_t)ranks * LINE);
    MPI_Gather(line, LINE, MPI_CHAR, all, LINE, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < ranks; i++) puts(all + (size_t)i * LINE);
    for (int i = 0; rank == 0 && count > 2 && i < atoi(words[2]); i++) putchar(getchar());
    free(all);
    MPI_Finalize();
    return count > 1 ? atoi(words[1]) : 0;
}
