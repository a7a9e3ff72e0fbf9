// SPDX-License-Identifier: BSD-3-Clause
// Decides on which communicators and for which sizes the calls of an unmodified program are replaced.
#include <stdlib.h>
#include <string.h>

#include "call_counters.h"
#include "preload.h"
#include "process_map.h"
#include "progress.h"
#include "replacement_report.h"
#include "wait_for_ranks.h"

static const struct shim shim_ = {"collective", "TOPOLOOM_COLLECTIVES", "collectives are not replaced", NULL};

static bool is_initialized;        // MPI was initialized by MPI_Init, not by a session
static atomic_bool is_finalizing;  // MPI_Finalize has begun and frees the attributes of communicators
/// All ranks of MPI_COMM_WORLD have set up a communicator together, so all have this library.
static atomic_bool is_loaded_on_all;

static void read_enabled(void) {
    const char* setting = getenv(shim_.variable);
    is_initialized = setting != NULL;
    const char* report = setting == NULL ? NULL : strstr(setting, "report=1");
    if (report != NULL && (report == setting || report[-1] == ',')) {
        enable_call_counters();
        defer_setup_reports();
    }
}

__attribute__((constructor)) static void load(int argc, char** argv) {
    (void)argc;
    restart_if_other_mpi(&shim_, argv);
    register_init_hook(read_enabled);
}

static bool is_mpi_running(void) {
    int finalized = 1;
    if (is_initialized && !atomic_load_explicit(&is_finalizing, memory_order_relaxed))
        PMPI_Finalized(&finalized);
    return !finalized;
}

static int call_finalize(const char* name) {
#ifndef SMPI_H  // SimGrid's ranks share the counters and this state, and end at different times
    if (is_mpi_running()) print_replacement_report(atomic_load(&is_loaded_on_all));
    atomic_store(&is_finalizing, true);
#endif
    return ((int (*)(void))(uintptr_t)find_next_symbol(name))();
}

// Fortran bindings call either function.
SHIM_EXPORT int MPI_Finalize(void) { return call_finalize("MPI_Finalize"); }
SHIM_EXPORT int PMPI_Finalize(void) { return call_finalize("PMPI_Finalize"); }

/// Whether all ranks are in MPI_COMM_WORLD. Processes of other worlds may lack the library, so such communicators are
/// left to MPI.
static bool is_within_world(MPI_Comm comm, int ranks) {
    enum { batch = 256 };
    int ranks_here[batch], ranks_there[batch];
    bool is_within = true;
    MPI_Group group = MPI_GROUP_NULL, world = MPI_GROUP_NULL;
    PMPI_Comm_group(comm, &group);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int first = 0; is_within && first < ranks; first += batch) {
        const int count = ranks - first < batch ? ranks - first : batch;
        for (int i = 0; i < count; ++i) ranks_here[i] = first + i;
        PMPI_Group_translate_ranks(group, count, ranks_here, world, ranks_there);
        for (int i = 0; i < count; ++i) is_within = is_within && ranks_there[i] != MPI_UNDEFINED;
    }
    PMPI_Group_free(&group);
    PMPI_Group_free(&world);
    return is_within;
}

static bool is_supported_comm(MPI_Comm comm) {
    int is_inter = 1, ranks = 0;
    MPI_Comm parent = MPI_COMM_NULL;
#ifndef SMPI_H  // SimGrid spawns no processes
    PMPI_Comm_get_parent(&parent);
#endif
    if (parent != MPI_COMM_NULL || PMPI_Comm_test_inter(comm, &is_inter) != MPI_SUCCESS || is_inter)
        return false;
    PMPI_Comm_size(comm, &ranks);
    return ranks > 1 && (comm == MPI_COMM_WORLD || is_within_world(comm, ranks));
}

static void note_participants(MPI_Comm comm) {
    int ranks = 0, world_ranks = 0;
    PMPI_Comm_size(comm, &ranks);
    PMPI_Comm_size(MPI_COMM_WORLD, &world_ranks);
    if (ranks == world_ranks) atomic_store(&is_loaded_on_all, true);
}

/// Allocates the state, and agrees on success, so that no rank waits for a rank whose memory is exhausted.
static bool reserve_state_on_all(MPI_Comm comm, struct comm_state** state) {
    int has_memory = reserve_state(comm, state);
    MPI_Request agreement = MPI_REQUEST_NULL;
    int status = PMPI_Iallreduce(MPI_IN_PLACE, &has_memory, 1, MPI_INT, MPI_MIN, comm, &agreement);
    if (status == MPI_SUCCESS) status = wait_for_ranks(comm, &shim_, &agreement);
    if (status == MPI_SUCCESS) note_participants(comm);
    if (status == MPI_SUCCESS && has_memory) return true;
    abandon_state(comm, *state);
    return false;
}

/// Sets up the communicator in the first blocking or persistent call on it. Returns NULL on all processes if
/// no call can become faster, or if setup fails on one process.
static struct comm_state* set_up_comm(MPI_Comm comm, struct comm_record* record) {
    struct comm_state* state = NULL;
    bool done = false;
    if (record != NULL) record->reason = left_unsupported_comm;
    if (!is_supported_comm(comm) || !reserve_state_on_all(comm, &state) ||
        open_state(comm, &state) != MPI_SUCCESS)
        return NULL;
    const bool is_ready = advance_setup(state, true, &done) == MPI_SUCCESS;
    if (is_ready) set_description(record, topoloom_strategy_description(state->strategy));
    if (is_ready && record != NULL) record->reason = left_one_host;
    if (is_ready &&
        (state->learner != NULL || state->trace != NULL || topoloom_strategy_can_save_time(state->strategy)))
        return state;
    detach_state(comm);
    return NULL;
}

static bool is_predefined_op(MPI_Op op) {
    const MPI_Op all[] = {MPI_MAX, MPI_MIN,  MPI_SUM, MPI_PROD, MPI_LAND,   MPI_BAND,
                          MPI_LOR, MPI_LXOR, MPI_BOR, MPI_BXOR, MPI_MAXLOC, MPI_MINLOC};
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
        if (op == all[i]) return true;
    return false;
}

static bool is_faster_call(struct comm_state* state, const struct call_info* call) {
    int commutes = 1;
    if (call->direct) return state->learner != NULL || state->trace != NULL;
    if (call->op != MPI_OP_NULL) PMPI_Op_commutative(call->op, &commutes);
    const bool is_blocking = call->form == blocking;
    return is_faster_than_mpi(state, call->operation, call->bytes, !commutes,
                              is_blocking ? 0 : 1e-9 * progress_pause_ns);
}

/// Whether the call can complete. Programs complete non-blocking calls by MPI functions, which do not advance our
/// collectives, so a progress thread must exist. This thread must not call reduction functions of the program, which
/// may be freed before completion.
static bool can_complete(const struct comm_state* state, const struct call_info* call) {
    return call->form == blocking ||
           (state->has_progress_threads && (call->op == MPI_OP_NULL || is_predefined_op(call->op)));
}

/// The reason for leaving a call to MPI on a communicator that is set up.
static enum left_reason find_left_reason(const struct comm_state* state, const struct call_info* call) {
    if (call->form != blocking && !state->has_progress_threads) return left_no_thread;
    if (!can_complete(state, call)) return left_program_op;
    return call->direct ? left_direct_sends : left_gains_nothing;
}

static int remove_excluded_comm(MPI_Comm comm, int key, void* value, void* extra) {
    (void)key, (void)value, (void)extra;
    include_comm(comm);
    return MPI_SUCCESS;
}

bool can_replace(MPI_Comm comm, const struct call_info* call) {
    static _Atomic int key = MPI_KEYVAL_INVALID;
    if (comm == MPI_COMM_NULL || !is_mpi_running()) return false;
    int found = 0;
    struct comm_state* state = NULL;
    if (create_keyval_once(&key, remove_excluded_comm) != MPI_SUCCESS ||
        PMPI_Comm_get_attr(comm, key, (void*)&state, &found) != MPI_SUCCESS)
        return false;
    struct comm_record* record = find_comm_record(comm);
    remember_left(record, left_before_setup);
    if (!found && call->form == nonblocking)
        return false;  // a non-blocking call must not wait for other processes
    if (!found) {
        state = set_up_comm(comm, record);
        found = PMPI_Comm_set_attr(comm, key, state) == MPI_SUCCESS;
    }
    if (found && state == NULL) exclude_comm(comm, record);
    if (state == NULL) remember_left(record, record == NULL ? left_unsupported_comm : record->reason);
    if (state == NULL) return false;
    const bool is_replaced = can_complete(state, call) && is_faster_call(state, call);
    if (is_replaced)
        remember_replaced(record, state, call);
    else
        remember_left(record, find_left_reason(state, call));
    return is_replaced;
}
