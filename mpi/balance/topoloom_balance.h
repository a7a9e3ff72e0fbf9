/* SPDX-License-Identifier: BSD-3-Clause */
/* Balancing: who hands how many equal tasks to whom, and the messages that move them.
 *
 * topoloom_balance decides: each rank says how many tasks it has, and gets its part of a plan. topoloom_exchange carries
 * plans out. They are apart, so that programs may move several arrays by one plan, or compute while tasks travel.
 *
 * Functions return what MPI's do, and raise errors by the error handler that the communicator had when it was first
 * balanced. Messages travel on a private duplicate of the communicator, which a plan may outlive.
 */
#ifndef TOPOLOOM_BALANCE_H
#define TOPOLOOM_BALANCE_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TOPOLOOM_BALANCE_API __attribute__((visibility("default")))

/* NOLINTBEGIN(readability-identifier-naming): C */

/* How ranks decide. By messages, none knows all loads, and each sends at most 2 log2 ranks + 9; only the method sweep can. */
enum { TOPOLOOM_DECIDE_FASTEST, TOPOLOOM_DECIDE_GATHERED, TOPOLOOM_DECIDE_BY_MESSAGES };

/* The same on all ranks, except for the slot, which the first call with a communicator checks. */
typedef struct topoloom_balance_options {
    const char* method;  /* as for `topoloom balance`, in one round; NULL: with a machine auto, else sweep */
    const char* machine; /* whose near ranks are to be chosen, a short text such as torus:8x8x8; NULL: none */
    int slot;            /* of this rank on the machine, of no other one */
    int decide;          /* one of the above */
    double message_s;    /* until a short message has come, for the fastest way; 0: 3e-6 */
    double byte_s;       /* of a long message; 0: 1e-10 */
    double patience;     /* seconds for which an exchange waits in vain until that is an error; 0: for ever */
    int makes_room; /* 1: all ranks promise room for before + after - kept tasks in topoloom_exchange; see there */
} topoloom_balance_options;

/* What this rank hands over and is given; ranks ascend. */
typedef struct topoloom_plan {
    long long before, after; /* tasks of this rank */
    long long kept;          /* of those before; they are the first ones */
    int to_count, from_count;
    const int *to, *from;
    const long long *tasks_to, *tasks_from;
} topoloom_plan;

/* Collective. options NULL: the standard ones. */
TOPOLOOM_BALANCE_API int topoloom_balance(MPI_Comm comm, long long count,
                                          const topoloom_balance_options* options, topoloom_plan** plan);
/* The plan of a program that has decided itself, such as on tasks of different loads: tasks_to[i] tasks go to rank to[i], each
 * other rank at most once; to 0 tasks is as if the rank was not named; they are the last of `count` tasks, in this order. Of the
 * options patience alone counts, and makes_room is 0. Collective: ranks learn from each other what comes. Ranks may hand tasks
 * over in a circle, so none waits for room that others make: to exchange, a rank needs room for all that come beside all that are
 * there before. */
TOPOLOOM_BALANCE_API int topoloom_plan_given(MPI_Comm comm, long long count, int to_count, const int* to,
                                             const long long* tasks_to,
                                             const topoloom_balance_options* options, topoloom_plan** plan);
/* Sets the plan to NULL. Where the communicator has been freed, the last plan of it is freed collectively. */
TOPOLOOM_BALANCE_API int topoloom_plan_free(topoloom_plan** plan);

/* Moves tasks of task_bytes each, the same on all ranks. `tasks` has the plan's `before` tasks, and room for `room`. The first
 * `kept` ones stay where they are; the others go to the plan's receivers, in order. Then come those that arrive, in the order of
 * their sources, and in that in which they were there.
 *
 * A rank that has no room for all refuses before anything is sent to it, and tasks stay where they were: after the kept ones. That
 * is an error on both sides, but nothing is lost or doubled; held, which may be NULL, has the number of tasks that
 * are here now. All ranks of the plan call it, each time in the same order.
 *
 * Where all have promised room for the tasks that come beside all that are there before, none is asked, and tasks leave at once.
 * A rank that breaks the promise, or has no tasks to put them behind, ends the program with a line that says so: what has been sent
 * to it would be lost. So is what was sent to a rank that has died.
 *
 * With patience, a rank that has died or hangs is an error whose text names it. The tasks that were not handed over to it stay; of those
 * that MPI had begun to send, a rank that is alive may have a copy. The communicator should then not be used any more. */
TOPOLOOM_BALANCE_API int topoloom_exchange(topoloom_plan* plan, void* tasks, int task_bytes, long long room,
                                           long long* held);

/* The same for tasks of any sizes, which lie one after another: sizes[i] bytes for each, and room for as many
 * sizes as tasks. byte_room is that of `tasks`. */
TOPOLOOM_BALANCE_API int topoloom_exchange_sized(topoloom_plan* plan, void* tasks, long long byte_room,
                                                 long long* sizes, long long room, long long* held);

typedef struct topoloom_tasks_moving* topoloom_exchange_request;

/* Start to move them: until it is done, the program may use the kept tasks, and no others. */
TOPOLOOM_BALANCE_API int topoloom_exchange_start(topoloom_plan* plan, void* tasks, int task_bytes,
                                                 long long room, topoloom_exchange_request* moving);
TOPOLOOM_BALANCE_API int topoloom_exchange_sized_start(topoloom_plan* plan, void* tasks, long long byte_room,
                                                       long long* sizes, long long room,
                                                       topoloom_exchange_request* moving);
/* Does what can be done without waiting; done: topoloom_exchange_finish will not wait. Programs that compute for long
 * call it now and then, since receivers say first that they have room. */
TOPOLOOM_BALANCE_API int topoloom_exchange_test(topoloom_exchange_request moving, int* done);
/* Waits, puts tasks in order, and sets `moving` to NULL. */
TOPOLOOM_BALANCE_API int topoloom_exchange_finish(topoloom_exchange_request* moving, long long* held);

/* Why a call of this thread has just returned this error; empty where the error is MPI's own. Valid until the next error. */
TOPOLOOM_BALANCE_API const char* topoloom_balance_error(int status);

/* NOLINTEND(readability-identifier-naming) */

#ifdef __cplusplus
}
#endif

#endif
