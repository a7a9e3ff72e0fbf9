// SPDX-License-Identifier: BSD-3-Clause
// A communicator in an order that is read or computed, the best of several by measurement.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "remap.h"

static const char name[] = "comm_order";

/// Those of rank 0, on all ranks.
static int share_options(MPI_Comm comm, int rank, int size, const char* text, struct order_options* options) {
    int wrong = MPI_SUCCESS, length = 0;
    char why[why_size] = "";
    if (rank == 0) {
        if (text == NULL) text = getenv("TOPOLOOM_ORDER");
        if (text == NULL) text = "";
        length = (int)strlen(text);
        wrong = read_order_options(text, size, options, why);
    }
    int status = agree(comm, name, wrong, why);
    if (status == MPI_SUCCESS) status = PMPI_Bcast(&length, 1, MPI_INT, 0, comm);
    if (status != MPI_SUCCESS) return status;
    char* shared = malloc((size_t)length + 1);
    status = agree_on_memory(comm, name, shared != NULL);
    if (status == MPI_SUCCESS) {
        if (rank == 0) memcpy(shared, text, (size_t)length);
        status = PMPI_Bcast(shared, length, MPI_CHAR, 0, comm);
        shared[length] = '\0';
        if (rank != 0) wrong = read_order_options(shared, size, options, why);
        if (status == MPI_SUCCESS) status = agree_on_memory(comm, name, wrong == MPI_SUCCESS);
    }
    free(shared);
    return status;
}

static bool needs_costs(const struct order_options* options) {
    for (int i = 0; i < options->order_count; ++i)
        if (options->orders[i].kind == of_messages) return true;
    return false;
}

/// What finding an order takes: `seconds` is on rank 0, NULL where no order asks for it.
struct room {
    int* ranks;
    double* seconds;
};

static int make_candidate(MPI_Comm comm, MPI_Comm private_comm, const struct order* order,
                          const struct order_options* options, const struct room* room, MPI_Comm* made) {
    char why[why_size] = "";
    const int wrong = find_order(private_comm, order, options, room->seconds, room->ranks, why);
    const int status = agree(comm, name, wrong, why);
    return status == MPI_SUCCESS ? make_remapped(comm, name, room->ranks, made) : status;
}

static void report(const struct order_options* options, int size, int fastest, const int64_t nanoseconds[]) {
    const struct order* best = &options->orders[fastest];
    fprintf(stderr, "topoloom: %d ranks ordered: %s", size, best->text);
    for (int c = 0; options->order_count > 1 && c < options->order_count; ++c)
        fprintf(stderr, "%s%s %.6g us", c == 0 ? "; " : ", ", options->orders[c].text,
                1e-3 * (double)nanoseconds[c]);
    fputc('\n', stderr);
}

/// Keeps the fastest candidate.
static int choose(MPI_Comm private_comm, MPI_Comm candidates[], const struct order_options* options,
                  MPI_Comm* newcomm) {
    int64_t nanoseconds[most_orders] = {0};
    int fastest = 0, status = MPI_SUCCESS, rank = 0, size = 0;
    PMPI_Comm_rank(private_comm, &rank);
    PMPI_Comm_size(private_comm, &size);
    if (options->order_count > 1)
        status = find_fastest(private_comm, name, candidates, options, &fastest, nanoseconds);
    if (status != MPI_SUCCESS) return status;
    if (rank == 0 && options->report) report(options, size, fastest, nanoseconds);
    *newcomm = candidates[fastest];
    candidates[fastest] = MPI_COMM_NULL;
    return MPI_SUCCESS;
}

static int order_comm(MPI_Comm comm, MPI_Comm private_comm, const struct order_options* options,
                      MPI_Comm* newcomm) {
    int rank = 0, size = 0;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    const bool costs = needs_costs(options);
    const size_t ranks = (size_t)size;
    struct room room = {malloc(ranks * sizeof *room.ranks),
                        costs && rank == 0 ? calloc(ranks * ranks, sizeof *room.seconds) : NULL};
    MPI_Comm candidates[most_orders];
    for (int c = 0; c < most_orders; ++c) candidates[c] = MPI_COMM_NULL;
    int status =
        agree_on_memory(comm, name, room.ranks != NULL && (!costs || rank != 0 || room.seconds != NULL));
    if (status == MPI_SUCCESS && costs)
        status = measure_messages(private_comm, name, options->message, room.seconds);
    for (int c = 0; c < options->order_count && status == MPI_SUCCESS; ++c)
        status = make_candidate(comm, private_comm, &options->orders[c], options, &room, &candidates[c]);
    if (status == MPI_SUCCESS) status = choose(private_comm, candidates, options, newcomm);
    for (int c = 0; c < most_orders; ++c)
        if (candidates[c] != MPI_COMM_NULL) PMPI_Comm_free(&candidates[c]);
    free(room.ranks);
    free(room.seconds);
    return status;
}

int topoloom_comm_order(MPI_Comm comm, const char* options, MPI_Comm* newcomm) {
    int rank = 0, size = 0;
    int status = check_comm(comm, name, newcomm);
    if (status != MPI_SUCCESS) return status;
    *newcomm = MPI_COMM_NULL;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    struct order_options read = {0};
    status = share_options(comm, rank, size, options, &read);
    // No message of the program meets ours, and no attribute of its communicator is copied.
    MPI_Comm private_comm = MPI_COMM_NULL;
    if (status == MPI_SUCCESS) status = PMPI_Comm_split(comm, 0, rank, &private_comm);
    if (status == MPI_SUCCESS) status = order_comm(comm, private_comm, &read, newcomm);
    if (private_comm != MPI_COMM_NULL) PMPI_Comm_free(&private_comm);
    free_order_options(&read);
    return status;
}

int topoloom_comm_order_f(const MPI_Fint* comm, const char* options, MPI_Fint* newcomm) {
    MPI_Comm made = MPI_COMM_NULL;
    const int status = topoloom_comm_order(PMPI_Comm_f2c(*comm), options[0] ? options : NULL, &made);
    *newcomm = PMPI_Comm_c2f(made);
    return status;
}
