// SPDX-License-Identifier: BSD-3-Clause
// Each process says which host it is on, which CPUs it may run on and which it is on; rank 0 hears it.
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "seats.h"

/// Three strings, one behind the other; their length with all ends, or -1.
static int own_words(char** words) {
    char host[256] = "";
    struct cpus cpus;
    gethostname(host, sizeof host - 1);
    cpus_of_this_thread(&cpus);
    char* text = cpus_to_text(&cpus);
    const int length =
        text == NULL ? -1 : asprintf(words, "%s%c%s%c%d", host, '\0', text, '\0', sched_getcpu());
    free(text);
    return length < 0 ? -1 : length + 1;
}

struct testimonies testimonies_gather(MPI_Comm comm) {
    struct testimonies all = {0};
    char *words = NULL, *padded = NULL;
    int rank = 0, go_on = 0;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &all.count);
    const int length = own_words(&words);
    // Of one width, because only then do MPI libraries gather along a tree.
    PMPI_Allreduce(&length, &all.width, 1, MPI_INT, MPI_MAX, comm);
    if (length > 0) padded = calloc(1, (size_t)all.width);
    if (rank == 0 && padded != NULL) all.text = malloc((size_t)all.count * (size_t)all.width);
    const int ready = padded != NULL && (rank != 0 || all.text != NULL);
    PMPI_Allreduce(&ready, &go_on, 1, MPI_INT, MPI_MIN, comm);
    if (go_on) {
        memcpy(padded, words, (size_t)length);
        PMPI_Gather(padded, all.width, MPI_CHAR, all.text, all.width, MPI_CHAR, 0, comm);
    } else {
        free(all.text);
        all.text = NULL;
    }
    free(padded);
    free(words);
    return all;
}

struct testimony testimony_of(const struct testimonies* all, int rank) {
    const char* host = all->text + (size_t)rank * (size_t)all->width;
    const char* cpus = host + strlen(host) + 1;
    return (struct testimony){host, cpus, cpus + strlen(cpus) + 1};
}
