// SPDX-License-Identifier: BSD-3-Clause
// Times schedules and MPI's own collective alternately, so that temporary disturbances affect all of them.
//
// Usage: measure FOLDER; see job.h for its files. Times are measured from a common start until the last rank
// has finished.
#define _GNU_SOURCE
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common_start.h"
#include "job.h"
#include "topoloom_collective.h"

static bool is_mpi_variant(const struct job* job, int variant) {
    return strcmp(job->variants[variant], "mpi") == 0;
}

/// Creates a communicator that uses one schedule. During setup of a communicator, the library reads the environment
/// variable on rank 0.
static MPI_Comm create_comm(const struct job* job, int variant, const char* trace) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (is_mpi_variant(job, variant)) return comm;
    const char* used = NULL;
    char* setting = NULL;
    if (asprintf(&setting, "schedule=%s%s%s", job->variants[variant],
                 trace == NULL ? "" : ",trace=", trace == NULL ? "" : trace) >= 0)
        setenv("TOPOLOOM_COLLECTIVES", setting, 1);
    topoloom_schedule_of(comm, job->operation->name, 1, &used);
    if (strcmp(used, job->variants[variant]) != 0)
        exit_with_problem(job, "the schedule '%s' cannot be run among %d ranks", job->variants[variant],
                          job->ranks);
    free(setting);
    return comm;
}

/// Sets the arguments of a case. Returns the function to call.
static collective_call* prepare_case(const struct job* job, struct buffers* buffers,
                                     const struct sized_case* sized_case, MPI_Comm comm) {
    set_block(buffers, job->operation, sized_case->bytes);
    buffers->comm = comm;
    return is_mpi_variant(job, sized_case->variant) ? job->operation->run : job->our_call;
}

static struct buffers make_all_buffers(const struct job* job) {
    size_t max_bytes = 0;
    for (int i = 0; i < job->case_count; ++i)
        if ((size_t)job->cases[i].bytes > max_bytes) max_bytes = (size_t)job->cases[i].bytes;
    struct buffers buffers;
    int lacks_memory = !make_buffers(&buffers, job->operation, max_bytes, job->ranks);
    MPI_Allreduce(MPI_IN_PLACE, &lacks_memory, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (lacks_memory)
        exit_with_problem(job, "not enough memory for blocks of %zu bytes among %d ranks", max_bytes,
                          job->ranks);
    buffers.root = job->root;
    return buffers;
}

static void trace_all_variants(const struct job* job, struct buffers* buffers, struct common_start* start) {
    for (int i = 0; i < job->case_count && job->cases[i].bytes == job->cases[0].bytes; ++i) {
        const struct sized_case* one = &job->cases[i];
        if (is_mpi_variant(job, one->variant)) continue;
        MPI_Comm comm = create_comm(job, one->variant, job->trace);
        collective_call* call = prepare_case(job, buffers, one, comm);
        call(buffers);
        time_collective(start, call, buffers);
        MPI_Comm_free(&comm);
    }
}

static void measure_all_cases(const struct job* job) {
    struct buffers buffers = make_all_buffers(job);
    struct common_start start = make_common_start(MPI_COMM_WORLD);
    MPI_Comm* comms = malloc((size_t)job->variant_count * sizeof *comms);
    for (int v = 0; v < job->variant_count; ++v) comms[v] = create_comm(job, v, NULL);
    for (int i = 0; i < job->case_count; ++i)  // warm-up calls set up schedules and connections
        prepare_case(job, &buffers, &job->cases[i], comms[job->cases[i].variant])(&buffers);
    for (int turn = 0; turn < job->repeats; ++turn) {
        resync_clocks(&start);
        for (int i = 0; i < job->case_count; ++i) {
            const struct sized_case* one = &job->cases[i];
            collective_call* call = prepare_case(job, &buffers, one, comms[one->variant]);
            const double seconds = time_collective(&start, call, &buffers);
            if (job->output != NULL) fprintf(job->output, "sample %d %.9e\n", i, seconds);
        }
        if (job->output != NULL) fflush(job->output);  // flush, so that an interrupted job leaves its samples
    }
    if (job->trace != NULL) trace_all_variants(job, &buffers, &start);
    if (job->output != NULL) fputs("end\n", job->output);
    for (int v = 0; v < job->variant_count; ++v) MPI_Comm_free(&comms[v]);
    free(comms);
    free_buffers(&buffers);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    if (argc != 2) MPI_Abort(MPI_COMM_WORLD, 2);
    struct job job;
    read_job(&job, argv[1]);
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks != job.ranks) exit_with_problem(&job, "the launcher starts %d, not %d ranks", ranks, job.ranks);
    measure_all_cases(&job);
    free_job(&job);
    return MPI_Finalize();
}
