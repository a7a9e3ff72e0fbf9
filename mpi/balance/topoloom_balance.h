/* SPDX-License-Identifier: BSD-3-Clause */
/* Balancing of equal tasks: computes which rank sends how many tasks to which, and moves them.
 *
 * topoloom_balance computes a plan: each rank passes its number of tasks and gets its own part. topoloom_exchange carries out
 * plans. They are separate, so that programs can move several arrays by one plan, or compute while tasks travel.
 *
 * Functions return MPI error codes and invoke the error handler that the communicator had when it was first balanced.
 * Messages travel on a private duplicate of the communicator, which may be freed before its plans.
 */
#ifndef TOPOLOOM_BALANCE_H
#define TOPOLOOM_BALANCE_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TOPOLOOM_BALANCE_API __attribute__((visibility("default")))

/* NOLINTBEGIN(readability-identifier-naming): C */

/* How ranks decide on a plan: the faster way, from the gathered loads of all ranks, or by at most 2 log2 P + 9 messages per
 * rank, without any rank knowing all loads. Only the method sweep supports messages. */
enum { TOPOLOOM_DECIDE_FASTEST, TOPOLOOM_DECIDE_GATHERED, TOPOLOOM_DECIDE_BY_MESSAGES };

/* Zero or NULL selects the default, in brackets. All but the slot must be the same on all ranks; the first call with a
 * communicator checks that. */
typedef struct topoloom_balance_options {
    /* A balancer of `topoloom balance` that takes one round [auto with a machine, else sweep]. */
    const char* method;
    /* A machine whose near ranks are preferred, such as torus:8x8x8 [none]. */
    const char* machine;
    /* Slot of this rank on the machine; no two ranks share one. */
    int slot;
    /* TOPOLOOM_DECIDE_... */
    int decide;
    /* Seconds per short message and per byte of a long one, to find the faster way [3e-6 and 1e-10]. */
    double message_s, byte_s;
    /* Seconds without progress until an exchange fails [never]. */
    double stall_timeout;
    /* 1: all ranks guarantee capacity for before + after - kept tasks in topoloom_exchange; see there. */
    int reserve_capacity;
} topoloom_balance_options;

/* The tasks that this rank sends and receives. Ranks ascend. */
typedef struct topoloom_plan {
    long long before, after;                /* tasks of this rank */
    long long kept;                         /* the first ones of those before */
    int to_count, from_count;               /* receivers and sources */
    const int *to, *from;                   /* their ranks */
    const long long *tasks_to, *tasks_from; /* tasks sent to and received from each */
} topoloom_plan;

/* Computes a plan that evens out the numbers of tasks. Collective. options NULL: all defaults. Fails on all ranks if a load is
 * negative, loads overflow or an option is invalid. */
TOPOLOOM_BALANCE_API int topoloom_balance(MPI_Comm comm, long long count,
                                          const topoloom_balance_options* options, topoloom_plan** plan);
/* Creates a plan that the program has decided on, for tasks of different loads, say. Collective.
 *
 * The last of the `count` tasks go to the receivers, in their order: tasks_to[i] tasks to rank to[i]. Each other rank may occur
 * once; 0 tasks is the same as omitting it. stall_timeout is the only option used. Such a plan may contain cycles, so no
 * rank waits for others to make space: an exchange needs capacity for before + after - kept tasks. Fails on all ranks if one
 * passes invalid arguments. */
TOPOLOOM_BALANCE_API int topoloom_plan_create(MPI_Comm comm, long long count, int to_count, const int* to,
                                              const long long* tasks_to,
                                              const topoloom_balance_options* options, topoloom_plan** plan);
/* Frees a plan and sets it to NULL. Collective only for the last plan of a communicator that has been freed. */
TOPOLOOM_BALANCE_API int topoloom_plan_free(topoloom_plan** plan);

/* Moves tasks of task_bytes bytes each by a plan. All ranks of the plan call it, in the same order for several exchanges.
 *
 * `tasks` holds the plan's `before` tasks, in memory for `capacity` tasks. The first `kept` tasks stay in place. The others go
 * to the receivers, in order. Received tasks follow the kept ones, in the order of their sources.
 *
 * Without enough capacity, a rank refuses before anything is sent to it. This is an error on both sides, but no task is lost
 * or duplicated: refused tasks stay with their sender, after its kept ones. `held` (may be NULL) returns the number of tasks
 * on this rank, also after an error.
 *
 * With reserve_capacity, senders do not ask first. A rank with less capacity aborts the program with a message, since tasks
 * sent to it would be lost. Tasks sent to a rank that has died are lost as well.
 *
 * With stall_timeout, a rank that has died or hangs causes an error that names it. Tasks not yet sent to it are kept; tasks that
 * MPI had begun to send may also exist on that rank if it is alive. Do not use the communicator any more after that. */
TOPOLOOM_BALANCE_API int topoloom_exchange(topoloom_plan* plan, void* tasks, int task_bytes,
                                           long long capacity, long long* held);

/* Moves tasks of different sizes, stored consecutively: task i has sizes[i] bytes. `tasks` has memory for byte_capacity bytes,
 * `sizes` for `capacity` entries. */
TOPOLOOM_BALANCE_API int topoloom_exchange_sized(topoloom_plan* plan, void* tasks, long long byte_capacity,
                                                 long long* sizes, long long capacity, long long* held);

typedef struct topoloom_exchange_state* topoloom_exchange_request;

/* Start an exchange. Until topoloom_exchange_finish, the program may access the kept tasks only. */
TOPOLOOM_BALANCE_API int topoloom_exchange_start(topoloom_plan* plan, void* tasks, int task_bytes,
                                                 long long capacity, topoloom_exchange_request* request);
TOPOLOOM_BALANCE_API int topoloom_exchange_sized_start(topoloom_plan* plan, void* tasks,
                                                       long long byte_capacity, long long* sizes,
                                                       long long capacity,
                                                       topoloom_exchange_request* request);
/* Advances an exchange without waiting. `done` is 1 if topoloom_exchange_finish will not wait. Call it from time to time during
 * long computations: tasks leave only after the receiver's reply is seen. */
TOPOLOOM_BALANCE_API int topoloom_exchange_test(topoloom_exchange_request request, int* done);
/* Waits for an exchange, arranges the tasks as topoloom_exchange does, and sets the request to NULL. */
TOPOLOOM_BALANCE_API int topoloom_exchange_finish(topoloom_exchange_request* request, long long* held);

/* Explains the error code that a call of this thread has just returned. Empty for errors of MPI itself. Valid until the next
 * error. */
TOPOLOOM_BALANCE_API const char* topoloom_balance_error(int status);

/* NOLINTEND(readability-identifier-naming) */

#ifdef __cplusplus
}
#endif

#endif
