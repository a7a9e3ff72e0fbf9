// SPDX-License-Identifier: BSD-3-Clause
// Sets up what a communicator carries, waiting only if the caller wants to, as other calls may have to go on meanwhile.
#define _GNU_SOURCE
#include "setup.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "learning.h"
#include "machine_file.h"
#include "settings.h"

enum step { duplicating, counting, making_room, reading, seating, choosing };

/// What ranks say of themselves: what the settings call their place, what only their host has, whether they have the thread
/// of progress.h.
enum { of_place, of_host, of_thread, seat_numbers };

struct setup {
    enum step step;
    MPI_Request request;
    int64_t length;  // of the settings
    char* text;
    int64_t seat[seat_numbers];  // of this process
    int64_t* seats;              // of all ranks
    int64_t least[2];            // what this process could do, and its negative; then the least of all
};

bool reserve_setup(struct state* state) {
    if (state->setup == NULL) state->setup = calloc(1, sizeof *state->setup);
    return state->setup != NULL;
}

int begin_setup(MPI_Comm comm, struct state* state) {
    if (!reserve_setup(state)) return MPI_ERR_NO_MEM;
    struct setup* setup = state->setup;
#ifdef SMPI_H  // SimGrid's MPI, which has no other
    setup->request = MPI_REQUEST_NULL;
    const int status = PMPI_Comm_dup(comm, &state->own);
#else
    const int status = PMPI_Comm_idup(comm, &state->own, &setup->request);
#endif
    if (status != MPI_SUCCESS) free_setup(state);
    return status;
}

void free_setup(struct state* state) {
    if (state->setup == NULL) return;
    struct setup* setup = state->setup;
    __atomic_store_n(&state->setup, NULL, __ATOMIC_RELEASE);
    free(setup->text);
    free(setup->seats);
    free(setup);
}

static void say(const struct state* state, const char* what) {
    if (state->rank == 0) fprintf(stderr, "topoloom: collectives: %s\n", what);
}

/// Rank 0 reads them; where something is wrong with them it says so, and there are none.
static int start_counting(struct state* state, struct setup* setup) {
    PMPI_Comm_set_errhandler(state->own, MPI_ERRORS_RETURN);
    if (state->rank == 0) {
        char why[512];
        size_t length = 0;
        setup->text = read_settings(&length, why, sizeof why);
        if (setup->text == NULL) say(state, why[0] == '\0' ? "not enough memory" : why);
        setup->length = setup->text == NULL ? 0 : (int64_t)length;
    }
    return PMPI_Ibcast(&setup->length, 1, MPI_INT64_T, 0, state->own, &setup->request);
}

/// What one rank cannot do alone, mostly for want of memory, ends the setup of all: with another strategy, or
/// none, it would keep the others waiting. `able` is above 0 where it can, and the same on all ranks that do the
/// same.
static int start_agreeing(struct state* state, struct setup* setup, int64_t able) {
    setup->least[0] = able;
    setup->least[1] = -able;
#ifdef SMPI_H  // as below
    setup->request = MPI_REQUEST_NULL;
    return PMPI_Allreduce(MPI_IN_PLACE, setup->least, 2, MPI_INT64_T, MPI_MIN, state->own);
#else
    return PMPI_Iallreduce(MPI_IN_PLACE, setup->least, 2, MPI_INT64_T, MPI_MIN, state->own, &setup->request);
#endif
}

static bool have_agreed(const struct setup* setup) {
    return setup->least[0] > 0 && setup->least[0] == -setup->least[1];
}

/// For what all ranks are going to say.
static int start_making_room(struct state* state, struct setup* setup) {
    if (state->rank != 0) setup->text = malloc((size_t)setup->length + 1);
    setup->seats = malloc(seat_numbers * (size_t)state->ranks * sizeof *setup->seats);
    const bool has_room = setup->seats != NULL && (setup->text != NULL || setup->length == 0);
    return start_agreeing(state, setup, has_room);
}

static int start_reading(struct state* state, struct setup* setup) {
    if (!have_agreed(setup)) return MPI_ERR_NO_MEM;
    return PMPI_Ibcast(setup->text, (int)setup->length, MPI_CHAR, 0, state->own, &setup->request);
}

static uint64_t hash_of(const char* text) {  // FNV-1a
    uint64_t hash = 0xcbf29ce484222325;
    for (; *text != '\0'; ++text) hash = (hash ^ (unsigned char)*text) * 0x100000001b3;
    return hash;
}

static int64_t rank_in_world(const struct state* state) {
    MPI_Group own = MPI_GROUP_NULL, world = MPI_GROUP_NULL;
    int there = MPI_UNDEFINED;
    PMPI_Comm_group(state->own, &own);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Group_translate_ranks(own, 1, &state->rank, world, &there);
    PMPI_Group_free(&own);
    PMPI_Group_free(&world);
    return there == MPI_UNDEFINED ? -1 : there;
}

/// The number of the host's node, -1 where that is not known; without a machine what is given.
static int64_t node_in_machine(const char* text, const char* host, int64_t without) {
    struct machine_file machine;
    char why[256];
    FILE* stream = fmemopen((void*)text, strlen(text), "r");
    if (stream == NULL) return -1;
    int64_t node = -1;
    if (read_machine_stream(stream, "the machine file", &machine, why, sizeof why)) {
        node = machine.text == NULL ? without : node_of_host(&machine, host);
        free_machine_file(&machine);
    }
    fclose(stream);
    return node;
}

static bool starts_progress(const struct state* state) {
    const char* reason = NULL;
    if (!state->process->threaded)
        reason =
            "progress=1 needs a program that asks for MPI_THREAD_MULTIPLE: calls go on when they are tested";
    else if (!start_progress(&state->process->progress))
        reason = "no thread can be made for progress=1: calls go on when they are tested";
    if (reason != NULL) say(state, reason);
    return reason == NULL;
}

static int start_seating(struct state* state, struct setup* setup) {
    const char* parts[setting_count];
    const bool given = setup->length > 0 && split_settings(setup->text, (size_t)setup->length, parts);
    char host[MPI_MAX_PROCESSOR_NAME];
    int length = 0;
    PMPI_Get_processor_name(host, &length);
    setup->seat[of_place] = setup->seat[of_host] = (int64_t)(hash_of(host) >> 1);
    if (given && parts[of_placement][0] != '\0')
        setup->seat[of_place] = rank_in_world(state);
    else if (given && parts[of_machine][0] != '\0')
        setup->seat[of_place] = node_in_machine(parts[of_machine], host, setup->seat[of_host]);
    setup->seat[of_thread] = given && parts[of_progress][0] == '1' && starts_progress(state);
#ifdef SMPI_H  // whose non-blocking one takes hours to be simulated for a thousand ranks
    setup->request = MPI_REQUEST_NULL;
    return PMPI_Allgather(setup->seat, seat_numbers, MPI_INT64_T, setup->seats, seat_numbers, MPI_INT64_T,
                          state->own);
#else
    return PMPI_Iallgather(setup->seat, seat_numbers, MPI_INT64_T, setup->seats, seat_numbers, MPI_INT64_T,
                           state->own, &setup->request);
#endif
}

/// The numbers of each rank become all of the first, then all of the next.
static bool separate_seats(int64_t* seats, size_t ranks) {
    int64_t* separate = malloc(seat_numbers * ranks * sizeof *separate);
    if (separate == NULL) return false;
    for (size_t i = 0; i < seat_numbers * ranks; ++i)
        separate[i % seat_numbers * ranks + i / seat_numbers] = seats[i];
    memcpy(seats, separate, seat_numbers * ranks * sizeof *separate);
    free(separate);
    return true;
}

static bool all_have_threads(const int64_t* threads, size_t ranks) {
    for (size_t r = 0; r < ranks; ++r)
        if (threads[r] == 0) return false;
    return true;
}

/// Makes the strategy, of the first of these settings by which that can be done. Returns which, from 1; 0: none.
static int64_t make_strategy(struct state* state, const topoloom_setting* const settings[], int64_t count) {
    char why[512];
    for (int64_t i = 0; i < count; ++i) {
        if (topoloom_strategy_make(settings[i], &state->strategy, why, sizeof why) == 0) return i + 1;
        state->strategy = NULL;
        if (i == 0) say(state, why);
    }
    return 0;
}

/// What the settings ask for besides.
static bool make_others(struct state* state, const char* const parts[setting_count]) {
    char why[512];
    find_exchange(parts[of_exchange], &state->exchange);
    if (parts[of_trace][0] != '\0') {
        state->trace = make_trace(parts[of_trace]);
        if (state->trace == NULL) return false;
    }
    if (parts[of_learn][0] == '1' && !make_learning(state, why, sizeof why)) {
        say(state, why);
        return false;
    }
    return true;
}

static int start_choosing(struct state* state, struct setup* setup) {
    const char* parts[setting_count] = {"", "", "", "", "", "", "", "", ""};
    if (setup->length > 0) split_settings(setup->text, (size_t)setup->length, parts);
    const size_t ranks = (size_t)state->ranks;
    if (!separate_seats(setup->seats, ranks)) return start_agreeing(state, setup, 0);
    state->goes_on = all_have_threads(setup->seats + of_thread * ranks, ranks);
    const topoloom_setting setting = {.ranks = ranks,
                                      .locations = setup->seats,
                                      .machine = parts[of_machine],
                                      .placement = parts[of_placement],
                                      .decisions = parts[of_decisions],
                                      .schedule = parts[of_schedule]};
    const topoloom_setting without_machine = {.ranks = ranks,
                                              .locations = setup->seats + of_host * ranks,
                                              .machine = "",
                                              .placement = "",
                                              .decisions = parts[of_decisions],
                                              .schedule = parts[of_schedule]};
    const topoloom_setting nothing = {.ranks = ranks, .locations = setup->seats + of_host * ranks};
    const topoloom_setting* const settings[] = {&setting, &without_machine, &nothing};
    int64_t made = make_strategy(state, settings, 3);
    if (made > 0 && !make_others(state, parts)) made = 0;
    if (made > 0 && parts[of_report][0] == '1') say(state, topoloom_strategy_about(state->strategy));
    return start_agreeing(state, setup, made);
}

/// What follows the step that is done.
static int next_step(struct state* state, struct setup* setup, bool* ready) {
    switch (setup->step++) {
        case duplicating:
            return start_counting(state, setup);
        case counting:
            return start_making_room(state, setup);
        case making_room:
            return start_reading(state, setup);
        case reading:
            return start_seating(state, setup);
        case seating:
            return start_choosing(state, setup);
        default:
            *ready = true;
            return have_agreed(setup) ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    }
}

/// A step further, if what that waits for is there. Under the guard of the state.
static int advance_once(struct state* state, bool wait, bool* went_on) {
    struct setup* setup = state->setup;
    int complete = 1, status = MPI_SUCCESS;
    bool done = false;
    *went_on = true;
    if (setup == NULL || state->failed != MPI_SUCCESS) return state->failed;  // another thread was faster
    status = wait ? PMPI_Wait(&setup->request, MPI_STATUS_IGNORE)
                  : PMPI_Test(&setup->request, &complete, MPI_STATUS_IGNORE);
    *went_on = complete != 0;
    if (status == MPI_SUCCESS && complete) status = next_step(state, setup, &done);
    state->failed = status;
    // Where MPI has failed, it may still write to what is there.
    if (done || (status != MPI_SUCCESS && setup->request == MPI_REQUEST_NULL)) free_setup(state);
    return status;
}

int advance_setup(struct state* state, bool wait, bool* done) {
    int status = MPI_SUCCESS;
    bool went_on = true;
    for (;;) {
        *done = __atomic_load_n(&state->setup, __ATOMIC_ACQUIRE) == NULL;
        if (*done) return state->failed;
        if (status != MPI_SUCCESS || (!went_on && !wait)) return status;
        if (!went_on) sched_yield();
        // Threads of the program and that of progress.h may get here at once: none waits with the guard.
        pthread_mutex_lock(&state->guard);
        status = advance_once(state, wait && !state->process->threaded, &went_on);
        pthread_mutex_unlock(&state->guard);
    }
}

int finish_setup(struct state* state) {
    int status = MPI_SUCCESS;
    for (bool done = false; status == MPI_SUCCESS && !done;) {
        const bool alone = !drive_active(state->process) && !state->process->threaded;
        status = advance_setup(state, alone, &done);
        if (!done) sched_yield();
    }
    return status;
}
