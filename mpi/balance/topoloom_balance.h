/* SPDX-License-Identifier: BSD-3-Clause */
/* Balances equal tasks: computes a redistribution of tasks, and moves the tasks.
 *
 * topoloom_balance computes a plan: each rank passes its number of tasks, and gets its own transfers. topoloom_exchange
 * executes a plan. A program can move several arrays by one plan, or compute while tasks are in flight.
 *
 * Functions return MPI error codes and invoke the error handler that the communicator had when it was first
 * passed to this library. Messages use a private duplicate of the communicator. The communicator may be freed
 * before its plans.
 */
#ifndef TOPOLOOM_BALANCE_H
#define TOPOLOOM_BALANCE_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TOPOLOOM_BALANCE_API __attribute__((visibility("default")))

/* NOLINTBEGIN(readability-identifier-naming): C */

/* How ranks decide on a plan: by the faster of the other two ways; from the gathered loads of all ranks; or
 * by at most 2 log2 P + 9 messages per rank, without gathering all loads. Only the method sweep supports
 * messages. */
enum { TOPOLOOM_DECIDE_FASTEST, TOPOLOOM_DECIDE_GATHERED, TOPOLOOM_DECIDE_BY_MESSAGES };

/* Zero or NULL selects the default, given in brackets. All members except slot must be equal on all ranks; the first
 * call on a communicator checks this. */
typedef struct topoloom_balance_options {
    /* Name of a one-round balancer of `topoloom balance` [auto with a machine, else sweep]. */
    const char* method;
    /* Machine, such as torus:8x8x8, for transfers over short distances [none]. */
    const char* machine;
    /* Slot of this rank on the machine; must differ between ranks. */
    int slot;
    /* TOPOLOOM_DECIDE_... */
    int decide;
    /* Message costs for the choice of the faster way: seconds per short message, and seconds per byte of a
     * long message [3e-6 and 1e-10]. */
    double message_s, byte_s;
    /* Seconds without progress after which an exchange fails [never]. */
    double stall_timeout;
    /* 1: all ranks guarantee capacity for before + after - kept tasks; see topoloom_exchange. */
    int reserve_capacity;
} topoloom_balance_options;

/* The tasks that this rank sends and receives. Ranks are in ascending order. */
typedef struct topoloom_plan {
    long long before, after;                /* number of tasks on this rank before and after the exchange */
    long long kept;                         /* number of leading tasks that stay */
    int to_count, from_count;               /* number of receivers, number of sources */
    const int *to, *from;                   /* their ranks */
    const long long *tasks_to, *tasks_from; /* number of tasks per receiver and per source */
} topoloom_plan;

/* Computes a plan that balances the numbers of tasks. Collective. If `options` is NULL, all options have their
 * defaults. Fails on all ranks if a load is negative, the sum of loads overflows, or an option is invalid. */
TOPOLOOM_BALANCE_API int topoloom_balance(MPI_Comm comm, long long count,
                                          const topoloom_balance_options* options, topoloom_plan** plan);
/* Creates a plan from transfers that the program has chosen, such as for tasks of different loads. Collective.
 *
 * The last of the `count` tasks go to the receivers, in their order: tasks_to[i] tasks to rank to[i]. Each
 * other rank may occur at most once; a rank with 0 tasks may be omitted. Of the options, only stall_timeout
 * is used. The plan may contain cycles, so no rank can wait for others to free capacity: an exchange needs
 * capacity for before + after - kept tasks. Fails on all ranks if arguments of one rank are invalid. */
TOPOLOOM_BALANCE_API int topoloom_plan_create(MPI_Comm comm, long long count, int to_count, const int* to,
                                              const long long* tasks_to,
                                              const topoloom_balance_options* options, topoloom_plan** plan);
/* Frees a plan and sets it to NULL. Collective if the communicator has been freed and this is its last plan. */
TOPOLOOM_BALANCE_API int topoloom_plan_free(topoloom_plan** plan);

/* Executes a plan for tasks of task_bytes bytes each. Collective; all ranks start several exchanges in the same order.
 *
 * `tasks` contains the plan's `before` tasks, and has memory for `capacity` tasks. The first `kept` tasks stay in
 * place. The others are sent to the receivers, in order. Received tasks are stored behind the kept tasks, in the order
 * of sources.
 *
 * A rank without enough capacity refuses its tasks before they are sent. This is an error on both sides, but no task is
 * lost or duplicated: refused tasks stay on the sender, behind its kept tasks. `held` (may be NULL) returns the number
 * of tasks on this rank, also after an error.
 *
 * With reserve_capacity, senders do not wait for the receiver's reply. A rank with less capacity prints a message and
 * aborts the program, because tasks sent to it would be lost. Tasks sent to a rank that has died are also lost.
 *
 * With stall_timeout, a rank that has died or hangs causes an error that names this rank. Tasks not yet sent to it stay
 * on this rank. If that rank is alive, tasks whose send had started may exist on both ranks. After this error, do not
 * use the communicator. */
TOPOLOOM_BALANCE_API int topoloom_exchange(topoloom_plan* plan, void* tasks, int task_bytes,
                                           long long capacity, long long* held);

/* Executes a plan for tasks of different sizes, stored consecutively: task i has sizes[i] bytes. `tasks` has memory for
 * byte_capacity bytes, `sizes` for `capacity` entries. */
TOPOLOOM_BALANCE_API int topoloom_exchange_sized(topoloom_plan* plan, void* tasks, long long byte_capacity,
                                                 long long* sizes, long long capacity, long long* held);

typedef struct topoloom_exchange_state* topoloom_exchange_request;

/* Start an exchange. Until topoloom_exchange_finish, the program may access only the kept tasks. */
TOPOLOOM_BALANCE_API int topoloom_exchange_start(topoloom_plan* plan, void* tasks, int task_bytes,
                                                 long long capacity, topoloom_exchange_request* request);
TOPOLOOM_BALANCE_API int topoloom_exchange_sized_start(topoloom_plan* plan, void* tasks,
                                                       long long byte_capacity, long long* sizes,
                                                       long long capacity,
                                                       topoloom_exchange_request* request);
/* Advances an exchange without waiting. `done` is 1 if topoloom_exchange_finish would not wait. Call this function
 * repeatedly during long computations: tasks are sent only after the receiver's reply has been received. */
TOPOLOOM_BALANCE_API int topoloom_exchange_test(topoloom_exchange_request request, int* done);
/* Waits for an exchange, arranges the tasks as topoloom_exchange does, and sets the request to NULL. */
TOPOLOOM_BALANCE_API int topoloom_exchange_finish(topoloom_exchange_request* request, long long* held);

/* Returns the message of the last error in this thread, which must have returned `status`. The message is empty for
 * errors of MPI, and valid until the next error. */
TOPOLOOM_BALANCE_API const char* topoloom_balance_error(int status);

/* NOLINTEND(readability-identifier-naming) */

#ifdef __cplusplus
}
#endif

#endif
