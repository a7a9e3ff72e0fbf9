// SPDX-License-Identifier: BSD-3-Clause
// Which communicators of an unmodified program are served, and what sizes there.
#include <stdlib.h>

#include "preload.h"
#include "progress.h"
#include "seats.h"

const struct shim shim = {"collective", "TOPOLOOM_COLLECTIVES", "collectives are not replaced", NULL};

static bool begun;           // by MPI_Init, not by a session
static atomic_bool leaving;  // MPI_Finalize has begun, which frees what communicators carry

_Atomic(MPI_Comm) preload_aside[1 << aside_bits];

void seats_start(void) { begun = getenv(shim.variable) != NULL; }

static int finalize(const char* name) {
    atomic_store(&leaving, true);
    return ((int (*)(void))(uintptr_t)next_symbol(name))();
}

// Fortran's bindings come by one of these.
SHIM_EXPORT int MPI_Finalize(void) { return finalize("MPI_Finalize"); }
SHIM_EXPORT int PMPI_Finalize(void) { return finalize("PMPI_Finalize"); }

static bool is_running(void) {
    int ended = 1;
    if (begun && !atomic_load_explicit(&leaving, memory_order_relaxed)) PMPI_Finalized(&ended);
    return !ended;
}

/// Processes of other worlds may lack the library: their communicators with ours are MPI's on either side.
static bool is_within_world(MPI_Comm comm, int ranks) {
    enum { piece = 256 };
    int own[piece], there[piece];
    bool within = true;
    MPI_Group group = MPI_GROUP_NULL, world = MPI_GROUP_NULL;
    PMPI_Comm_group(comm, &group);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int first = 0; within && first < ranks; first += piece) {
        const int count = ranks - first < piece ? ranks - first : piece;
        for (int i = 0; i < count; ++i) own[i] = first + i;
        PMPI_Group_translate_ranks(group, count, own, world, there);
        for (int i = 0; i < count; ++i) within = within && there[i] != MPI_UNDEFINED;
    }
    PMPI_Group_free(&group);
    PMPI_Group_free(&world);
    return within;
}

static bool suits(MPI_Comm comm) {
    int is_inter = 1, ranks = 0;
    MPI_Comm parent = MPI_COMM_NULL;
    PMPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL || PMPI_Comm_test_inter(comm, &is_inter) != MPI_SUCCESS || is_inter)
        return false;
    PMPI_Comm_size(comm, &ranks);
    return ranks > 1 && (comm == MPI_COMM_WORLD || is_within_world(comm, ranks));
}

/// A rank that lacks the memory to begin would leave the others waiting: it is found out before they do.
static bool all_reserve(MPI_Comm comm, struct comm_state** state) {
    int able = reserve_state(comm, state);
    const int status = PMPI_Allreduce(MPI_IN_PLACE, &able, 1, MPI_INT, MPI_MIN, comm);
    if (status == MPI_SUCCESS && able) return true;
    abandon_state(comm, *state);
    return false;
}

/// The first blocking or persistent call of a communicator learns where its processes are, and whether any call gains there;
/// NULL: none does, or one of the processes cannot set the communicator up, of which all know.
static struct comm_state* gaining_state(MPI_Comm comm) {
    struct comm_state* state = NULL;
    bool done = false;
    if (!suits(comm) || !all_reserve(comm, &state) || open_state(comm, &state) != MPI_SUCCESS) return NULL;
    const bool serves = advance_setup(state, true, &done) == MPI_SUCCESS;
    if (serves &&
        (state->learner != NULL || state->trace != NULL || topoloom_strategy_may_help(state->strategy)))
        return state;
    detach_state(comm);
    return NULL;
}

static bool is_predefined(MPI_Op op) {
    const MPI_Op all[] = {MPI_MAX, MPI_MIN,  MPI_SUM, MPI_PROD, MPI_LAND,   MPI_BAND,
                          MPI_LOR, MPI_LXOR, MPI_BOR, MPI_BXOR, MPI_MAXLOC, MPI_MINLOC};
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
        if (op == all[i]) return true;
    return false;
}

static bool gains(struct comm_state* state, const struct moved* moved) {
    int commutes = 1;
    if (moved->straight) return state->learner != NULL || state->trace != NULL;
    if (moved->op != MPI_OP_NULL) PMPI_Op_commutative(moved->op, &commutes);
    const bool is_blocking = moved->form == blocking;
    return is_worth_replacing(state, moved->operation, moved->bytes, !commutes,
                              is_blocking ? 0 : 1e-9 * progress_pause_ns);
}

/// The program waits for non-blocking ones by MPI's own calls, which drive nothing of ours: a thread has to. In that no function
/// of the program is called, nor needed after the program has freed it.
static bool can_go_on(const struct comm_state* state, const struct moved* moved) {
    return moved->form == blocking ||
           (state->has_progress_threads && (moved->op == MPI_OP_NULL || is_predefined(moved->op)));
}

static int forget_aside(MPI_Comm comm, int key, void* value, void* extra) {
    (void)key, (void)value, (void)extra;
    MPI_Comm freed = comm;
    atomic_compare_exchange_strong(place_aside(comm), &freed, (MPI_Comm)0);
    return MPI_SUCCESS;
}

bool preload_serves(MPI_Comm comm, const struct moved* moved) {
    static _Atomic int key = MPI_KEYVAL_INVALID;
    if (comm == MPI_COMM_NULL || !is_running()) return false;
    int found = 0;
    struct comm_state* state = NULL;
    if (create_keyval_once(&key, forget_aside) != MPI_SUCCESS ||
        PMPI_Comm_get_attr(comm, key, (void*)&state, &found) != MPI_SUCCESS)
        return false;
    if (!found && moved->form == nonblocking) return false;  // it must not wait for others
    if (!found) {
        state = gaining_state(comm);
        found = PMPI_Comm_set_attr(comm, key, state) == MPI_SUCCESS;
    }
    if (found && state == NULL) atomic_store_explicit(place_aside(comm), comm, memory_order_relaxed);
    return state != NULL && can_go_on(state, moved) && gains(state, moved);
}
