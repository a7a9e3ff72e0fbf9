// SPDX-License-Identifier: BSD-3-Clause
// Sets up the state of a communicator. Each step starts one MPI collective. Advancing the setup waits only if
// requested, because other calls may have to advance first.
#define _GNU_SOURCE
#include "setup.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "learner.h"
#include "machine_file.h"
#include "settings.h"

/// The MPI collective in flight.
enum setup_step {
    duplicate_communicator,
    broadcast_length,
    agree_on_memory,
    broadcast_settings,
    gather_locations,
    agree_on_strategy
};

/// Fields that each rank broadcasts: its location, numbered as in the settings, a hash of its host name, and
/// whether it has a progress thread.
enum { field_location, field_host, field_has_thread, field_count };

struct setup {
    enum setup_step step;
    MPI_Request request;
    int64_t length;  // length of the settings text in bytes
    char* text;
    int64_t own_location[field_count];
    int64_t* locations;    // field_count values for each rank
    int64_t agreement[2];  // minimum of `value` over ranks, and minimum of -value
};

/// Whether report=1 prints the strategy of each communicator at its setup.
static bool reports_setup = true;

void defer_setup_reports(void) { reports_setup = false; }

static void print_once(const struct comm_state* state, const char* message) {
    if (state->rank == 0) fprintf(stderr, "topoloom: collectives: %s\n", message);
}

// ---- begin -------------------------------------------------------------------------------------------------------

bool reserve_setup(struct comm_state* state) {
    if (state->setup == NULL) state->setup = calloc(1, sizeof *state->setup);
    return state->setup != NULL;
}

int begin_setup(MPI_Comm comm, struct comm_state* state) {
    if (state->has_begun_setup) return MPI_SUCCESS;
    if (!reserve_setup(state)) return MPI_ERR_NO_MEM;
    struct setup* setup = state->setup;
#ifdef SMPI_H  // SimGrid has no MPI_Comm_idup
    setup->request = MPI_REQUEST_NULL;
    const int status = PMPI_Comm_dup(comm, &state->duplicate);
#else
    const int status = PMPI_Comm_idup(comm, &state->duplicate, &setup->request);
#endif
    if (status != MPI_SUCCESS) free_setup(state);
    state->has_begun_setup = status == MPI_SUCCESS;
    return status;
}

void free_setup(struct comm_state* state) {
    if (state->setup == NULL) return;
    struct setup* setup = state->setup;
    __atomic_store_n(&state->setup, NULL, __ATOMIC_RELEASE);
    free(setup->text);
    free(setup->locations);
    free(setup);
}

// ---- agreement ---------------------------------------------------------------------------------------------------

/// Starts an agreement of all ranks. An error on one rank, usually exhausted memory, ends the setup on all
/// ranks, because ranks with different strategies would deadlock. `value` is positive on success; it must be
/// equal on all ranks.
static int start_agreement(struct comm_state* state, struct setup* setup, int64_t value) {
    setup->agreement[0] = value;
    setup->agreement[1] = -value;
#ifdef SMPI_H  // SimGrid takes hours to simulate non-blocking collectives of a thousand ranks
    setup->request = MPI_REQUEST_NULL;
    return PMPI_Allreduce(MPI_IN_PLACE, setup->agreement, 2, MPI_INT64_T, MPI_MIN, state->duplicate);
#else
    return PMPI_Iallreduce(MPI_IN_PLACE, setup->agreement, 2, MPI_INT64_T, MPI_MIN, state->duplicate,
                           &setup->request);
#endif
}

static bool has_agreed(const struct setup* setup) {
    return setup->agreement[0] > 0 && setup->agreement[0] == -setup->agreement[1];
}

// ---- settings ----------------------------------------------------------------------------------------------------

/// Reads the settings on rank 0. If they are invalid, rank 0 prints the reason, and all ranks use the defaults.
static int start_length_broadcast(struct comm_state* state, struct setup* setup) {
    PMPI_Comm_set_errhandler(state->duplicate, MPI_ERRORS_RETURN);
    if (state->rank == 0) {
        char error[512];
        size_t length = 0;
        setup->text = read_settings(&length, error, sizeof error);
        if (setup->text == NULL) print_once(state, error[0] == '\0' ? "not enough memory" : error);
        setup->length = setup->text == NULL ? 0 : (int64_t)length;
    }
    return PMPI_Ibcast(&setup->length, 1, MPI_INT64_T, 0, state->duplicate, &setup->request);
}

static int start_memory_agreement(struct comm_state* state, struct setup* setup) {
    if (state->rank != 0) setup->text = malloc((size_t)setup->length + 1);
    setup->locations = malloc(field_count * (size_t)state->ranks * sizeof *setup->locations);
    const bool has_memory = setup->locations != NULL && (setup->text != NULL || setup->length == 0);
    return start_agreement(state, setup, has_memory);
}

static int start_settings_broadcast(struct comm_state* state, struct setup* setup) {
    if (!has_agreed(setup)) return MPI_ERR_NO_MEM;
    return PMPI_Ibcast(setup->text, (int)setup->length, MPI_CHAR, 0, state->duplicate, &setup->request);
}

// ---- locations ---------------------------------------------------------------------------------------------------

static uint64_t compute_hash(const char* text) {  // FNV-1a
    uint64_t hash = 0xcbf29ce484222325;
    for (; *text != '\0'; ++text) hash = (hash ^ (unsigned char)*text) * 0x100000001b3;
    return hash;
}

/// Returns the rank in MPI_COMM_WORLD, or -1 if this process is not in MPI_COMM_WORLD.
static int64_t get_world_rank(const struct comm_state* state) {
    MPI_Group own = MPI_GROUP_NULL, world = MPI_GROUP_NULL;
    int rank = MPI_UNDEFINED;
    PMPI_Comm_group(state->duplicate, &own);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Group_translate_ranks(own, 1, &state->rank, world, &rank);
    PMPI_Group_free(&own);
    PMPI_Group_free(&world);
    return rank == MPI_UNDEFINED ? -1 : rank;
}

/// Returns the node of a host in a machine file; -1: unknown. Returns `fallback` if the file describes no machine.
static int64_t find_node(const char* text, const char* host, int64_t fallback) {
    struct machine_file machine;
    char error[256];
    FILE* stream = fmemopen((void*)text, strlen(text), "r");
    if (stream == NULL) return -1;
    int64_t node = -1;
    if (read_machine_stream(stream, "the machine file", &machine, error, sizeof error)) {
        node = machine.text == NULL ? fallback : find_node_of_host(&machine, host);
        free_machine_file(&machine);
    }
    fclose(stream);
    return node;
}

static bool start_progress_thread(const struct comm_state* state) {
    const char* reason = NULL;
    if (!state->process->is_threaded)
        reason =
            "progress=1 needs a program that asks for MPI_THREAD_MULTIPLE: calls advance only when tested";
    else if (!start_progress(&state->process->progress))
        reason = "no thread can be created for progress=1: calls advance only when tested";
    static atomic_bool was_printed;
    if (reason != NULL && !atomic_exchange(&was_printed, true)) print_once(state, reason);
    return reason == NULL;
}

static int start_location_gather(struct comm_state* state, struct setup* setup) {
    const char* parts[setting_count];
    const bool has_settings = setup->length > 0 && split_settings(setup->text, (size_t)setup->length, parts);
    char host[MPI_MAX_PROCESSOR_NAME];
    int length = 0;
    PMPI_Get_processor_name(host, &length);
    int64_t* location = setup->own_location;
    location[field_location] = location[field_host] = (int64_t)(compute_hash(host) >> 1);
    if (has_settings && parts[setting_placement][0] != '\0')
        location[field_location] = get_world_rank(state);
    else if (has_settings && parts[setting_machine][0] != '\0')
        location[field_location] = find_node(parts[setting_machine], host, location[field_host]);
    location[field_has_thread] =
        has_settings && parts[setting_progress][0] == '1' && start_progress_thread(state);
#ifdef SMPI_H  // as in start_agreement
    setup->request = MPI_REQUEST_NULL;
    return PMPI_Allgather(location, field_count, MPI_INT64_T, setup->locations, field_count, MPI_INT64_T,
                          state->duplicate);
#else
    return PMPI_Iallgather(location, field_count, MPI_INT64_T, setup->locations, field_count, MPI_INT64_T,
                           state->duplicate, &setup->request);
#endif
}

/// Transposes the values, so that the values of each field are adjacent.
static bool transpose_locations(int64_t* locations, size_t ranks) {
    int64_t* transposed = malloc(field_count * ranks * sizeof *transposed);
    if (transposed == NULL) return false;
    for (size_t i = 0; i < field_count * ranks; ++i)
        transposed[i % field_count * ranks + i / field_count] = locations[i];
    memcpy(locations, transposed, field_count * ranks * sizeof *transposed);
    free(transposed);
    return true;
}

static bool has_thread_on_all_ranks(const int64_t* has_thread, size_t ranks) {
    for (size_t r = 0; r < ranks; ++r)
        if (has_thread[r] == 0) return false;
    return true;
}

// ---- strategy ----------------------------------------------------------------------------------------------------

/// Creates the strategy from the first valid settings. Returns their index, from 1 on, or 0 if none are valid.
static int64_t create_strategy(struct comm_state* state, const topoloom_setting* const settings[],
                               int64_t count) {
    char error[512];
    for (int64_t i = 0; i < count; ++i) {
        if (topoloom_strategy_make(settings[i], &state->strategy, error, sizeof error) == 0) return i + 1;
        state->strategy = NULL;
        if (i == 0) print_once(state, error);
    }
    return 0;
}

/// Applies the settings exchange=, trace= and learn=.
static bool apply_other_settings(struct comm_state* state, const char* const parts[setting_count]) {
    char error[512];
    parse_exchange_algorithm(parts[setting_exchange], &state->exchange);
    if (parts[setting_trace][0] != '\0') {
        state->trace = make_trace(parts[setting_trace]);
        if (state->trace == NULL) return false;
    }
    if (parts[setting_learn][0] == '1' && !create_learner(state, error, sizeof error)) {
        print_once(state, error);
        return false;
    }
    return true;
}

static int start_strategy_agreement(struct comm_state* state, struct setup* setup) {
    const char* parts[setting_count] = {"", "", "", "", "", "", "", "", ""};
    if (setup->length > 0) split_settings(setup->text, (size_t)setup->length, parts);
    const size_t ranks = (size_t)state->ranks;
    if (!transpose_locations(setup->locations, ranks)) return start_agreement(state, setup, 0);
    const int64_t* hosts = setup->locations + field_host * ranks;
    state->has_progress_threads = has_thread_on_all_ranks(setup->locations + field_has_thread * ranks, ranks);
    const topoloom_setting user_setting = {.ranks = ranks,
                                           .locations = setup->locations + field_location * ranks,
                                           .machine = parts[setting_machine],
                                           .placement = parts[setting_placement],
                                           .decisions = parts[setting_decisions],
                                           .schedule = parts[setting_schedule]};
    const topoloom_setting without_machine = {.ranks = ranks,
                                              .locations = hosts,
                                              .decisions = parts[setting_decisions],
                                              .schedule = parts[setting_schedule]};
    const topoloom_setting only_hosts = {.ranks = ranks, .locations = hosts};
    const topoloom_setting* const settings[] = {&user_setting, &without_machine, &only_hosts};
    int64_t used = create_strategy(state, settings, 3);
    if (used > 0 && !apply_other_settings(state, parts)) used = 0;
    if (used > 0 && reports_setup && parts[setting_report][0] == '1')
        print_once(state, topoloom_strategy_description(state->strategy));
    return start_agreement(state, setup, used);
}

// ---- steps -------------------------------------------------------------------------------------------------------

/// Starts the step that follows the current one.
static int start_next_step(struct comm_state* state, struct setup* setup, bool* done) {
    switch (setup->step++) {
        case duplicate_communicator:
            return start_length_broadcast(state, setup);
        case broadcast_length:
            return start_memory_agreement(state, setup);
        case agree_on_memory:
            return start_settings_broadcast(state, setup);
        case broadcast_settings:
            return start_location_gather(state, setup);
        case gather_locations:
            return start_strategy_agreement(state, setup);
        default:
            *done = true;
            return has_agreed(setup) ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    }
}

/// If the current step is complete, starts the next. Caller holds the state's mutex.
static int advance_step(struct comm_state* state, bool wait, bool* has_advanced) {
    struct setup* setup = state->setup;
    int complete = 1, status = MPI_SUCCESS;
    bool done = false;
    *has_advanced = true;
    if (setup == NULL || state->error != MPI_SUCCESS)
        return state->error;  // another thread has completed the setup
    status = wait ? PMPI_Wait(&setup->request, MPI_STATUS_IGNORE)
                  : PMPI_Test(&setup->request, &complete, MPI_STATUS_IGNORE);
    *has_advanced = complete != 0;
    if (status == MPI_SUCCESS && complete) status = start_next_step(state, setup, &done);
    state->error = status;
    // after an error, MPI may still write to the memory
    if (done || (status != MPI_SUCCESS && setup->request == MPI_REQUEST_NULL)) free_setup(state);
    return status;
}

int advance_setup(struct comm_state* state, bool wait, bool* done) {
    int status = MPI_SUCCESS;
    bool has_advanced = true;
    for (;;) {
        *done = __atomic_load_n(&state->setup, __ATOMIC_ACQUIRE) == NULL;
        if (*done) return state->error;
        if (status != MPI_SUCCESS || (!has_advanced && !wait)) return status;
        if (!has_advanced) sched_yield();
        // Several threads may reach this point concurrently: none may block while it holds the mutex.
        pthread_mutex_lock(&state->guard);
        status = advance_step(state, wait && !state->process->is_threaded, &has_advanced);
        pthread_mutex_unlock(&state->guard);
    }
}

int finish_setup(struct comm_state* state) {
    int status = MPI_SUCCESS;
    for (bool done = false; status == MPI_SUCCESS && !done;) {
        const bool may_block = !drive_active_calls(state->process) && !state->process->is_threaded;
        status = advance_setup(state, may_block, &done);
        if (!done) sched_yield();
    }
    return status;
}
