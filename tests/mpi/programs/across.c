// SPDX-License-Identifier: BSD-3-Clause
// Each rank sends BYTES bytes to the next rank, which checks them. Rank 0 prints a line per rank:
// "rank host address core core ...".
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <mpi.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE = 512 };

static const char* read_own_address(void) {
    struct ifaddrs* all;
    if (getifaddrs(&all)) return "none";
    for (struct ifaddrs* each = all; each; each = each->ifa_next)
        if (each->ifa_addr && each->ifa_addr->sa_family == AF_INET && !(each->ifa_flags & IFF_LOOPBACK))
            return inet_ntoa(((struct sockaddr_in*)each->ifa_addr)->sin_addr);
    return "none";
}

#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 40100000
// Notifies the launcher of the exit, so that it does not kill the host's other ranks.
static void exit_via_launcher(void) {
    const int launcher = atoi(getenv("PMI_FD"));
    char answer[64];
    dprintf(launcher, "cmd=finalize\n");
    _exit(read(launcher, answer, sizeof answer) > 0 ? 0 : 8);
}
#endif

int main(int count, char** words) {
    MPI_Init(&count, &words);
    int rank, ranks, bytes = atoi(words[1]);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;

    char *sent = malloc(bytes), *got = malloc(bytes), *wanted = malloc(bytes);
    for (int i = 0; i < bytes; i++) {
        sent[i] = (char)(i * 31 + rank);
        wanted[i] = (char)(i * 31 + before);
    }
    MPI_Sendrecv(sent, bytes, MPI_BYTE, next, 0, got, bytes, MPI_BYTE, before, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    if (memcmp(got, wanted, bytes)) MPI_Abort(MPI_COMM_WORLD, 9);

    char host[256], line[LINE] = "";
    gethostname(host, sizeof host);
    int length = snprintf(line, LINE, "%d %s %s", rank, host, read_own_address());
    cpu_set_t cores;
    sched_getaffinity(0, sizeof cores, &cores);
    for (int core = 0; core < CPU_SETSIZE && length < LINE - 8; core++)
        if (CPU_ISSET(core, &cores)) length += snprintf(line + length, LINE - length, " %d", core);
    char* all = malloc((size_t)ranks * LINE);
    MPI_Gather(line, LINE, MPI_CHAR, all, LINE, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < ranks; i++) puts(all + (size_t)i * LINE);
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 40100000
    // Over TCP, MPI_Finalize may hang: ranks that already wait in it do not answer ranks that are still disconnecting.
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    exit_via_launcher();
#endif
    MPI_Finalize();
    return 0;
}
