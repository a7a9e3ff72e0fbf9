// SPDX-License-Identifier: BSD-3-Clause
// Times schedules and MPI's own collective in turns, so that what disturbs a machine for a while disturbs all of them.
//
// Usage: measure FOLDER, of `job.h`. Times are from a common start to the end of the last rank.
#define _GNU_SOURCE
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common_start.h"
#include "job.h"
#include "topoloom_collective.h"

static bool is_mpi(const struct job* job, int way) { return strcmp(job->ways[way], "mpi") == 0; }

/// The communicator's own setting: rank 0 reads it as the communicator is set up.
static MPI_Comm open_way(const struct job* job, int way, const char* trace) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (is_mpi(job, way)) return comm;
    const char* named = NULL;
    char* setting = NULL;
    if (asprintf(&setting, "schedule=%s%s%s", job->ways[way],
                 trace == NULL ? "" : ";trace=", trace == NULL ? "" : trace) >= 0)
        setenv("TOPOLOOM_COLLECTIVES", setting, 1);
    topoloom_schedule_of(comm, job->operation->name, 1, &named);
    if (strcmp(named, job->ways[way]) != 0)
        give_up(job, "the schedule '%s' cannot be run among %d ranks", job->ways[way], job->ranks);
    free(setting);
    return comm;
}

static void run(const struct job* job, struct buffers* buffers, const struct sized_case* one, MPI_Comm comm) {
    set_block(buffers, job->operation, one->bytes);
    buffers->comm = comm;
    (is_mpi(job, one->way) ? job->operation->run : job->ours)(buffers);
}

static double seconds_of(const struct job* job, struct buffers* buffers, const struct sized_case* one,
                         MPI_Comm comm, struct start* start) {
    for (;;) {
        int came_late = 0;
        const double began = start_together(start, &came_late);
        run(job, buffers, one, comm);
        const double seconds = end_together(start, began, came_late);
        if (seconds >= 0) return seconds;
    }
}

static struct buffers buffers_of(const struct job* job) {
    size_t most = 0;
    for (int i = 0; i < job->case_count; ++i)
        if ((size_t)job->cases[i].bytes > most) most = (size_t)job->cases[i].bytes;
    struct buffers buffers;
    int lack = !make_buffers(&buffers, job->operation, most, job->ranks);
    MPI_Allreduce(MPI_IN_PLACE, &lack, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (lack) give_up(job, "not enough memory for blocks of %zu bytes among %d ranks", most, job->ranks);
    buffers.root = job->root;
    return buffers;
}

static void trace_all(const struct job* job, struct buffers* buffers, struct start* start) {
    for (int i = 0; i < job->case_count && job->cases[i].bytes == job->cases[0].bytes; ++i) {
        const struct sized_case* one = &job->cases[i];
        if (is_mpi(job, one->way)) continue;
        MPI_Comm comm = open_way(job, one->way, job->trace);
        run(job, buffers, one, comm);
        seconds_of(job, buffers, one, comm, start);
        MPI_Comm_free(&comm);
    }
}

static void measure(const struct job* job) {
    struct buffers buffers = buffers_of(job);
    struct start start = make_start(MPI_COMM_WORLD);
    MPI_Comm* comms = malloc((size_t)job->way_count * sizeof *comms);
    for (int way = 0; way < job->way_count; ++way) comms[way] = open_way(job, way, NULL);
    for (int i = 0; i < job->case_count; ++i)  // first calls make plans and connections
        run(job, &buffers, &job->cases[i], comms[job->cases[i].way]);
    for (int turn = 0; turn < job->repeats; ++turn) {
        compare_again(&start);
        for (int i = 0; i < job->case_count; ++i) {
            const double seconds =
                seconds_of(job, &buffers, &job->cases[i], comms[job->cases[i].way], &start);
            if (job->answer != NULL) fprintf(job->answer, "sample %d %.9e\n", i, seconds);
        }
        if (job->answer != NULL) fflush(job->answer);  // what is there if the job is interrupted
    }
    if (job->trace != NULL) trace_all(job, &buffers, &start);
    if (job->answer != NULL) fputs("end\n", job->answer);
    for (int way = 0; way < job->way_count; ++way) MPI_Comm_free(&comms[way]);
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
    if (ranks != job.ranks) give_up(&job, "the launcher starts %d, not %d ranks", ranks, job.ranks);
    measure(&job);
    free_job(&job);
    return MPI_Finalize();
}
