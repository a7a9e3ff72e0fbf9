// SPDX-License-Identifier: BSD-3-Clause
#include "call_counters.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_enabled;
static struct comm_group* groups;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;  // protects the groups and their sums of times

/// The decision on the call that this thread is about to make.
static _Thread_local struct {
    struct comm_record* record;  // NULL: the call is not counted
    enum left_reason reason;
    struct comm_state* state;
    enum topoloom_operation operation;
    int64_t bytes;
    bool in_rank_order, is_direct;
} decision;

void enable_call_counters(void) { is_enabled = true; }

bool is_counting_calls(void) { return is_enabled; }

// ---- groups and records ------------------------------------------------------------------------------------------

/// Reads the name that the program gave. Open MPI names other communicators by how they were made.
static void read_comm_name(MPI_Comm comm, char name[max_comm_name]) {
    char text[MPI_MAX_OBJECT_NAME] = "";
    int length = 0;
    PMPI_Comm_get_name(comm, text, &length);
    const bool is_generated = strncmp(text, "MPI COMM", 8) == 0;
    snprintf(name, max_comm_name, "%s", is_generated ? "" : text);
}

static struct comm_group* find_or_create_group(MPI_Comm comm, int ranks) {
    char name[max_comm_name];
    read_comm_name(comm, name);
    pthread_mutex_lock(&guard);
    struct comm_group* group = groups;
    while (group != NULL && (group->ranks != ranks || strcmp(group->name, name) != 0)) group = group->next;
    if (group == NULL) group = calloc(1, sizeof *group);
    if (group != NULL && group->comms == 0) {
        memcpy(group->name, name, sizeof name);
        group->ranks = ranks;
        group->next = groups;
        groups = group;
    }
    if (group != NULL) ++group->comms;
    pthread_mutex_unlock(&guard);
    return group;
}

static int free_record(MPI_Comm comm, int key, void* value, void* extra) {
    (void)comm, (void)key, (void)extra;
    free(value);
    return MPI_SUCCESS;
}

static struct comm_record* create_record(MPI_Comm comm, int key) {
    int rank = 0, ranks = 0;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &ranks);
    struct comm_record* record = calloc(1, sizeof *record);
    if (record == NULL) return NULL;
    if (rank == 0 && ranks > 1) record->group = find_or_create_group(comm, ranks);
    if (PMPI_Comm_set_attr(comm, key, record) == MPI_SUCCESS) return record;
    free(record);
    return NULL;
}

struct comm_record* find_comm_record(MPI_Comm comm) {
    static _Atomic int key = MPI_KEYVAL_INVALID;
    struct comm_record* record = NULL;
    int found = 0;
    if (!is_enabled || create_keyval_once(&key, free_record) != MPI_SUCCESS ||
        PMPI_Comm_get_attr(comm, atomic_load(&key), (void*)&record, &found) != MPI_SUCCESS)
        return NULL;
    if (!found) record = create_record(comm, atomic_load(&key));
    return record == NULL || record->group == NULL ? NULL : record;
}

void set_description(struct comm_record* record, const char* description) {
    if (record == NULL) return;
    pthread_mutex_lock(&guard);
    snprintf(record->group->description, max_description, "%s", description);
    pthread_mutex_unlock(&guard);
}

static struct call_counts* find_counts(struct comm_group* group, enum wrapped_call call,
                                       enum call_form form) {
    struct call_counts* counts = atomic_load(&group->calls[form][call]);
    if (counts != NULL) return counts;
    struct call_counts* created = calloc(1, sizeof *created);
    if (created == NULL || atomic_compare_exchange_strong(&group->calls[form][call], &counts, created))
        return created;
    free(created);
    return counts;
}

void visit_comm_groups(void (*visit)(const struct comm_group* group, void* data), void* data) {
    pthread_mutex_lock(&guard);
    for (const struct comm_group* group = groups; group != NULL; group = group->next) visit(group, data);
    pthread_mutex_unlock(&guard);
}

// ---- counting ----------------------------------------------------------------------------------------------------

static void count_left(struct comm_record* record, enum wrapped_call call, enum call_form form,
                       enum left_reason reason) {
    struct call_counts* counts = find_counts(record->group, call, form);
    if (counts != NULL) atomic_fetch_add_explicit(&counts->left[reason], 1, memory_order_relaxed);
}

void count_excluded_call(struct comm_record* record, enum wrapped_call call, enum call_form form) {
    count_left(record, call, form, record->reason);
}

void remember_replaced(struct comm_record* record, struct comm_state* state, const struct call_info* call) {
    int commutes = 1;
    decision.record = record;
    if (record == NULL) return;
    if (call->op != MPI_OP_NULL) PMPI_Op_commutative(call->op, &commutes);
    decision.state = state;
    decision.operation = call->operation;
    decision.bytes = call->bytes;
    decision.in_rank_order = !commutes;
    decision.is_direct = call->direct;
}

void remember_left(struct comm_record* record, enum left_reason reason) {
    decision.record = record;
    decision.reason = reason;
}

bool count_decision(bool is_replaced, enum wrapped_call call, enum call_form form) {
    if (is_replaced || decision.record == NULL) return is_replaced;
    count_left(decision.record, call, form, decision.reason);
    decision.record = NULL;
    return false;
}

double get_start_time(void) { return decision.record == NULL ? 0 : PMPI_Wtime(); }

static void add_schedule(struct call_counts* counts, const char* schedule) {
    for (int i = 0; i < max_schedules; ++i) {
        char* known = counts->schedules[i];
        if (known[0] == '\0') snprintf(known, max_schedule_text, "%s", schedule);
        if (strncmp(known, schedule, max_schedule_text - 1) == 0) return;
    }
    counts->has_more_schedules = true;
}

/// Adds the schedule, and the predicted times of the call unless measured times override them (learn=1).
static void add_prediction(struct call_counts* counts) {
    const char* schedule = "at-once";
    double ours = -1, usual = -1;
    char error[256];
    topoloom_strategy* strategy = decision.state->strategy;
    if (decision.is_direct && decision.operation != TOPOLOOM_ALLTOALL) schedule = "linear";
    if (decision.state->learner != NULL)
        schedule = "learned";
    else if (!decision.is_direct &&
             topoloom_strategy_choose(strategy, decision.operation, decision.bytes, decision.in_rank_order,
                                      &schedule, error, sizeof error) != 0)
        return;
    add_schedule(counts, schedule);
    if (decision.is_direct || decision.state->learner != NULL ||
        topoloom_strategy_predict(strategy, decision.operation, decision.bytes, decision.in_rank_order, &ours,
                                  &usual, error, sizeof error) != 0)
        return;
    if (ours < 0) return;
    ++counts->predicted;
    counts->ours += ours;
    counts->usual += usual;
}

int count_replaced_call(int status, enum wrapped_call call, enum call_form form, double start) {
    struct comm_record* record = decision.record;
    decision.record = NULL;
    struct call_counts* counts =
        record == NULL || status != MPI_SUCCESS ? NULL : find_counts(record->group, call, form);
    if (counts == NULL) return status;
    const double seconds = PMPI_Wtime() - start;
    atomic_fetch_add_explicit(&counts->replaced, 1, memory_order_relaxed);
    pthread_mutex_lock(&guard);
    if (form == blocking) {
        ++counts->measured;
        counts->measured_seconds += seconds;
    }
    add_prediction(counts);
    pthread_mutex_unlock(&guard);
    return status;
}
