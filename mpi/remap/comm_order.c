// SPDX-License-Identifier: BSD-3-Clause
// topoloom_comm_order: reads or computes a rank order, or finds the fastest of several orders by measurement.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "remap.h"

static const char name[] = "comm_order";

/// Reads the options on rank 0, and broadcasts them.
static int broadcast_options(MPI_Comm comm, int rank, int size, const char* text,
                             struct order_options* options) {
    int error_class = MPI_SUCCESS, length = 0;
    char error[error_size] = "";
    if (rank == 0) {
        if (text == NULL) text = getenv("TOPOLOOM_ORDER");
        if (text == NULL) text = "";
        length = (int)strlen(text);
        error_class = parse_order_options(text, size, options, error);
    }
    int status = raise_on_all_ranks(comm, name, error_class, error);
    if (status == MPI_SUCCESS) status = PMPI_Bcast(&length, 1, MPI_INT, 0, comm);
    if (status != MPI_SUCCESS) return status;
    char* shared = malloc((size_t)length + 1);
    status = raise_on_exhausted_memory(comm, name, shared != NULL);
    if (status == MPI_SUCCESS) {
        if (rank == 0) memcpy(shared, text, (size_t)length);
        status = PMPI_Bcast(shared, length, MPI_CHAR, 0, comm);
        shared[length] = '\0';
        if (rank != 0) error_class = parse_order_options(shared, size, options, error);
        if (status == MPI_SUCCESS) status = raise_on_exhausted_memory(comm, name, error_class == MPI_SUCCESS);
    }
    free(shared);
    return status;
}

static bool needs_message_times(const struct order_options* options) {
    for (int i = 0; i < options->order_count; ++i)
        if (options->orders[i].kind == by_message_times) return true;
    return false;
}

/// Memory for finding an order. `seconds` is allocated only on rank 0, and only if an order needs it.
struct order_buffers {
    int* ranks;
    double* seconds;
};

static int create_candidate(MPI_Comm comm, MPI_Comm private_comm, const struct order* order,
                            const struct order_options* options, const struct order_buffers* workspace,
                            MPI_Comm* newcomm) {
    char error[error_size] = "";
    const int error_class =
        find_order(private_comm, order, options, workspace->seconds, workspace->ranks, error);
    const int status = raise_on_all_ranks(comm, name, error_class, error);
    return status == MPI_SUCCESS ? create_remapped_comm(comm, name, workspace->ranks, newcomm) : status;
}

static void print_order_times(const struct order_options* options, int size, int fastest,
                              const int64_t nanoseconds[]) {
    const struct order* best = &options->orders[fastest];
    fprintf(stderr, "topoloom: %d ranks ordered: %s", size, best->text);
    for (int c = 0; options->order_count > 1 && c < options->order_count; ++c)
        fprintf(stderr, "%s%s %.6g us", c == 0 ? "; " : ", ", options->orders[c].text,
                1e-3 * (double)nanoseconds[c]);
    fputc('\n', stderr);
}

/// Finds the fastest candidate, and moves it to `newcomm`.
static int choose_candidate(MPI_Comm private_comm, MPI_Comm candidates[], const struct order_options* options,
                            MPI_Comm* newcomm) {
    int64_t nanoseconds[max_orders] = {0};
    int fastest = 0, status = MPI_SUCCESS, rank = 0, size = 0;
    PMPI_Comm_rank(private_comm, &rank);
    PMPI_Comm_size(private_comm, &size);
    if (options->order_count > 1)
        status = find_fastest(private_comm, name, candidates, options, &fastest, nanoseconds);
    if (status != MPI_SUCCESS) return status;
    if (rank == 0 && options->report) print_order_times(options, size, fastest, nanoseconds);
    *newcomm = candidates[fastest];
    candidates[fastest] = MPI_COMM_NULL;
    return MPI_SUCCESS;
}

static int create_ordered_comm(MPI_Comm comm, MPI_Comm private_comm, const struct order_options* options,
                               MPI_Comm* newcomm) {
    int rank = 0, size = 0;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    const bool needs_times = needs_message_times(options);
    const size_t ranks = (size_t)size;
    struct order_buffers workspace = {
        malloc(ranks * sizeof *workspace.ranks),
        needs_times && rank == 0 ? calloc(ranks * ranks, sizeof *workspace.seconds) : NULL};
    MPI_Comm candidates[max_orders];
    for (int c = 0; c < max_orders; ++c) candidates[c] = MPI_COMM_NULL;
    int status = raise_on_exhausted_memory(
        comm, name, workspace.ranks != NULL && (!needs_times || rank != 0 || workspace.seconds != NULL));
    if (status == MPI_SUCCESS && needs_times)
        status = measure_message_times(private_comm, name, options->message, workspace.seconds);
    for (int c = 0; c < options->order_count && status == MPI_SUCCESS; ++c)
        status =
            create_candidate(comm, private_comm, &options->orders[c], options, &workspace, &candidates[c]);
    if (status == MPI_SUCCESS) status = choose_candidate(private_comm, candidates, options, newcomm);
    for (int c = 0; c < max_orders; ++c)
        if (candidates[c] != MPI_COMM_NULL) PMPI_Comm_free(&candidates[c]);
    free(workspace.ranks);
    free(workspace.seconds);
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
    status = broadcast_options(comm, rank, size, options, &read);
    // Separates our messages from those of the program. Unlike MPI_Comm_dup, MPI_Comm_split copies no attributes.
    MPI_Comm private_comm = MPI_COMM_NULL;
    if (status == MPI_SUCCESS) status = PMPI_Comm_split(comm, 0, rank, &private_comm);
    if (status == MPI_SUCCESS) status = create_ordered_comm(comm, private_comm, &read, newcomm);
    if (private_comm != MPI_COMM_NULL) PMPI_Comm_free(&private_comm);
    free_order_options(&read);
    return status;
}

int topoloom_comm_order_f(const MPI_Fint* comm, const char* options, MPI_Fint* newcomm) {
    MPI_Comm created = MPI_COMM_NULL;
    const int status = topoloom_comm_order(PMPI_Comm_f2c(*comm), options[0] ? options : NULL, &created);
    *newcomm = PMPI_Comm_c2f(created);
    return status;
}
