// SPDX-License-Identifier: BSD-3-Clause
// Counts the calls that are replaced, and those that are left to MPI, for the summary at MPI_Finalize (report=1).
// Rank 0 of each communicator counts; communicators of one process are not counted.
#ifndef TOPOLOOM_PRELOAD_CALL_COUNTERS_H
#define TOPOLOOM_PRELOAD_CALL_COUNTERS_H

#include "preload.h"

enum { max_comm_name = 64, max_description = 512, max_schedule_text = 48, max_schedules = 3 };

/// Reasons for leaving a call to MPI.
enum left_reason {
    left_gains_nothing,
    left_one_host,
    left_direct_sends,
    left_unsupported_comm,
    left_no_thread,
    left_before_setup,
    left_program_op,
    left_reason_count
};

/// Counts of one function with one form, in a group of communicators.
struct call_counts {
    _Atomic uint64_t replaced, left[left_reason_count];
    uint64_t predicted, measured;  // calls in the sums below
    double ours, usual;            // predicted time of our schedule, and of an MPI library's, in s
    double measured_seconds;
    char schedules[max_schedules][max_schedule_text];  // an empty text ends the list
    bool has_more_schedules;
};

/// Communicators with the same name and size, whose calls are counted together.
struct comm_group {
    struct comm_group* next;
    char name[max_comm_name];  // empty: the program gave none
    int ranks;
    uint64_t comms;
    char description[max_description];  // of the last strategy
    _Atomic(struct call_counts*) calls[call_form_count][wrapped_call_count];
};

/// Attribute of a communicator whose calls are counted.
struct comm_record {
    struct comm_group* group;
    enum left_reason reason;  // why no calls on the communicator are replaced
};

/// Enables counting for this process; called once, before the first call.
void enable_call_counters(void);
bool is_counting_calls(void);
/// Finds or creates the record of a communicator. Local. Returns NULL if calls on it are not counted.
struct comm_record* find_comm_record(MPI_Comm comm);
void set_description(struct comm_record* record, const char* description);

/// Remembers the decision on a call until the wrapper counts it. `record` may be NULL.
void remember_replaced(struct comm_record* record, struct comm_state* state, const struct call_info* call);
void remember_left(struct comm_record* record, enum left_reason reason);

/// Calls `visit` for each group of this process.
void visit_comm_groups(void (*visit)(const struct comm_group* group, void* data), void* data);

#endif
