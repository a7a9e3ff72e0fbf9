// SPDX-License-Identifier: BSD-3-Clause
// Internal interface of libtopoloom-collective, by file, from the lowest layer to the highest (see README.md).
//
// The library calls only PMPI_ functions, so that tools do not count its messages as the program's. Functions of type
// int return an MPI error code.
#ifndef TOPOLOOM_COLLECTIVE_INTERNAL_H
#define TOPOLOOM_COLLECTIVE_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "errors.h"
#include "progress.h"
#include "settings.h"
#include "topoloom_collective.h"
#include "topoloom_schedules.h"
#include "trace.h"

struct call;
struct comm_state;
struct run;

// ---- datatypes.c -------------------------------------------------------------------------------------------------
/// Memory layout of a datatype's elements.
struct type_desc {
    MPI_Datatype type;
    MPI_Aint size, extent, true_lb, true_extent;
    bool is_contiguous;  // elements have no gaps within or between them
};
int describe_type(MPI_Datatype type, struct type_desc* desc);
/// Whether the datatype is predefined, so that its handle is never freed.
bool is_predefined_type(MPI_Datatype type, int* status);
/// Copies elements, but not their gaps.
int copy_elements(const struct type_desc* type, const char* from, char* to, int64_t count);
int pack_elements(const struct type_desc* type, const char* from, int64_t count, char* bytes);
int unpack_elements(const struct type_desc* type, const char* bytes, int64_t count, char* to);

// ---- arguments.c -------------------------------------------------------------------------------------------------
/// A buffer argument: one block of `count` elements, or one block per rank.
struct buffer_desc {
    const void* buffer;
    int64_t count;
    const int* counts;  // element count per rank, instead of `count`
    const int* displs;  // displacement per rank in extents; NULL: blocks are adjacent
    MPI_Datatype type;
    bool has_block_per_rank;
};
struct arguments {
    const char* name;  // name of the function without topoloom_
    enum topoloom_operation operation;
    MPI_Comm comm;            // communicator whose error handler is called
    struct comm_state* line;  // restricts the call to a line of a grid; NULL: all ranks
    int root;
    MPI_Op op;       // MPI_OP_NULL: no reduction
    bool is_vector;  // blocks may differ in size between ranks
    struct buffer_desc input, output;
};
/// Whether the operation has an input or output buffer on this rank.
bool has_input(const struct arguments* arguments, int rank);
bool has_output(const struct arguments* arguments, int rank);
/// Whether in-place input must be copied, because output overwrites it before it is used.
bool must_copy_in_place(enum topoloom_operation operation);
/// Raises an error if an argument is invalid.
int check_arguments(const struct arguments* arguments, int rank, int ranks);

// ---- buffers.c ---------------------------------------------------------------------------------------------------
int64_t get_total_count(const struct buffer_desc* desc, int ranks);
/// Writes the size and offset of each rank's block in units, with `unit` units per element. In a copy, blocks are
/// adjacent.
void locate_blocks(const struct buffer_desc* desc, int64_t unit, int ranks, bool is_copy, int64_t* sizes,
                   int64_t* offsets);
/// Packs the block of one rank, or all blocks if `rank` is negative, into a contiguous copy of the buffer.
int pack_buffer(const struct buffer_desc* desc, const struct type_desc* type, int ranks, int rank,
                char* copy);
int unpack_buffer(const struct buffer_desc* desc, const struct type_desc* type, int ranks, const char* copy);

// ---- active_calls.c ----------------------------------------------------------------------------------------------
/// State of a process: its active calls and communicators.
struct process_state {
    bool is_threaded;           // MPI_THREAD_MULTIPLE: the guard is needed
    pthread_mutex_t guard;      // mutex of both lists, and of active calls while they advance
    struct call* active;        // list of started non-blocking and persistent calls
    struct comm_state* states;  // list of the communicator states of this process
    MPI_Comm self;              // private duplicate of MPI_COMM_SELF that returns errors
    struct progress progress;   // progress thread (progress=1), which advances the active calls
#ifdef SMPI_H
    _Atomic int state_keyval;
#endif
};
static inline void lock_process(struct process_state* process) {
    if (process->is_threaded) pthread_mutex_lock(&process->guard);
}
static inline void unlock_process(struct process_state* process) {
    if (process->is_threaded) pthread_mutex_unlock(&process->guard);
}
/// How far to advance a call: only post messages, also test them, or wait until the call is complete.
enum advance_mode { posting, testing, waiting };
// Callers hold the mutex of the process.
void activate_call(struct process_state* process, struct call* call);
/// Returns whether the call is complete. An error is stored in the call until the program completes the request.
bool advance_active_call(struct call* call, enum advance_mode mode);
/// Advances all active calls and removes complete calls. Returns a list of the calls to notify.
struct call* advance_active_calls(struct process_state* process);
struct call* remove_complete_calls(struct process_state* process);
// Callers do not hold the mutex.
void notify_complete(struct call* call);
/// Advances all active calls. Returns whether active calls remain.
bool drive_active_calls(struct process_state* process);
bool has_other_active_calls(struct process_state* process, const struct call* call);
/// Finishes a call that has begun and is not in the list of active calls.
int finish_call(struct call* call);

// ---- process_state.c ---------------------------------------------------------------------------------------------
int get_process_state(struct process_state** process);
/// Lets MPI check a datatype and, unless it is MPI_OP_NULL, an operator. Raises no error.
int check_type_and_op(struct process_state* process, MPI_Datatype type, MPI_Op op);
/// Creates a keyval once per process; thread-safe.
int create_keyval_once(_Atomic int* keyval, MPI_Comm_delete_attr_function* delete_attribute);

// ---- run.c -------------------------------------------------------------------------------------------------------
struct plan_key {
    enum topoloom_operation operation;
    int root;
    int64_t units;
    int64_t unit_bytes;
    const char* schedule;  // strings are compared by address, because a strategy stores each name once
    bool in_place, in_rank_order, wants_result;
};
/// A program of the core, cached for later calls with the same key and blocks.
struct plan {
    struct plan_key key;
    int64_t* blocks;  // sizes and offsets of input and output; NULL if blocks are equal
    size_t blocks_length;
    topoloom_program program;
    size_t max_requests;  // of a round
    struct run* idle;     // for reuse
    int references;       // reference count: one per active run, one for the cache
    uint64_t last_used;
};
/// One execution of a plan.
struct run {
    struct plan* plan;
    struct run* next;  // link in the plan's list of idle runs
    MPI_Comm duplicate;
    MPI_Comm error_comm;  // if its errors are fatal, the first one ends the run; MPI_COMM_NULL: none does
    const int* members;   // ranks of the run in the duplicate; NULL: all ranks
    int tag;
    struct type_desc type;  // type of messages: bytes, or elements of a reduction
    MPI_Op op;
    struct trace* trace;  // NULL: not traced
    char* base[3];        // base address of each memory (enum topoloom_memory)
    char* scratch;        // owned
    size_t scratch_bytes;
    MPI_Request* requests;
    MPI_Status* statuses;     // statuses of the requests in a round
    MPI_Request* persistent;  // requests of all rounds, some null; NULL: requests are created in each round
    size_t round;
    bool is_round_started;
    int in_flight;
    int error;  // the first
};
/// Creates a run. Returns NULL if memory is exhausted.
struct run* create_run(struct plan* plan);
void free_run(struct run* run);
/// Sets the type of messages, and allocates scratch memory. Returns false if memory is exhausted.
bool prepare_run_for_type(struct run* run, const struct type_desc* type);
/// Creates persistent requests for all rounds, except for messages that are faster without one.
int create_persistent_requests(struct run* run);
/// Advances a run. After an error, executes the remaining rounds before returning it, so that no peer hangs.
int advance_run(struct run* run, enum advance_mode mode, bool* done);

// ---- plan.c ------------------------------------------------------------------------------------------------------
/// Finds or creates a plan. Caller holds the state's mutex. Returns NULL, and writes `error`, on failure.
struct plan* find_or_create_plan(struct comm_state* state, const struct plan_key* key,
                                 const topoloom_call* call, const int64_t* blocks, size_t length, char* error,
                                 size_t error_size);
void release_plan(struct plan* plan);
/// Acquires an idle run of a plan, or creates one. Returns NULL if memory is exhausted.
struct run* acquire_run(struct plan* plan, const struct type_desc* type);
void release_run(struct run* run);

// ---- setup.c -----------------------------------------------------------------------------------------------------
/// Begins the setup, unless it has begun. Collective. The state cannot be used until advance_setup is done.
int begin_setup(MPI_Comm comm, struct comm_state* state);
/// Advances the setup. Raises no error. An error occurs on all ranks, and is returned by all later calls.
int advance_setup(struct comm_state* state, bool wait, bool* done);
/// Completes the setup. Meanwhile advances active calls, because other ranks may have to finish these first.
int finish_setup(struct comm_state* state);

/// Leaves the report of strategies (report=1) to the caller instead of setup.
void defer_setup_reports(void);

// ---- comm_state.c ------------------------------------------------------------------------------------------------
enum { plan_capacity = 32, exchange_tags = 4, fence_size_count = 3, operation_count = TOPOLOOM_EXSCAN + 1 };
/// Cached result of is_faster_than_mpi() for an operation.
struct cached_comparison {
    bool is_known, in_rank_order, is_faster;
    int64_t bytes;
    double round_delay;
};
/// The last blocking call of an operation, if later calls may reuse its plan.
struct repeated_call {
    struct plan* plan;  // NULL: none
    struct arguments arguments;
    struct type_desc type;  // of messages
    bool combines, reads_input, writes_output;
    int commutes;  // whether the reduction operator commutes
};
struct comm_state {
    struct process_state* process;  // NULL after MPI_Finalize
    struct comm_state* next;        // link in the process's list of states
    int references;      // reference count: the communicator, unfinished calls, and states of lines
    MPI_Comm duplicate;  // private
    int rank, ranks;
    struct comm_state* parent;  // for a line of a grid: state that owns the duplicate; otherwise NULL
    int* members;               // for a line: its ranks in the duplicate; NULL: all ranks
    bool has_begun_setup;
    bool is_freed;              // the program has freed the communicator
    bool has_progress_threads;  // all ranks have a progress thread
    struct setup* setup;        // NULL: not begun, or complete
    _Atomic int error;          // permanent error, returned by all later calls; read without the mutex
    topoloom_strategy* strategy;
    topoloom_learner* learner;  // NULL without learn=1
    struct run* fence_runs[fence_size_count];
    struct trace* trace;  // NULL without trace=
    // Tags of non-persistent calls, followed by an equal number of tags of persistent calls, and tags of sparse
    // exchanges.
    int tags_per_kind;
    int next_tag, next_persistent_tag;
    enum exchange_algorithm exchange;
    int exchange_parity;    // 0 or 1: selects the tags of the next sparse exchange
    pthread_mutex_t guard;  // mutex of setup, plans and learner: threads may wait for different requests
    uint64_t plan_uses;
    struct plan* plans[plan_capacity];
    struct repeated_call last_calls[operation_count];
    struct cached_comparison comparisons[operation_count];
    MPI_Datatype checked_type;  // last datatype and operator that MPI has accepted
    MPI_Op checked_op;
};
/// Finds or attaches the state of a communicator, but begins no setup, because an incorrect program may call on this
/// rank only. Raises errors.
int attach_state(MPI_Comm comm, struct comm_state** state);
/// Finds or attaches the state, and begins its setup. Collective. Raises errors.
int open_state(MPI_Comm comm, struct comm_state** state);
void release_state(struct comm_state* state);
/// Allocates the memory that open_state needs. Local; raises no error. If any rank returns false, all ranks must call
/// abandon_state.
bool reserve_state(MPI_Comm comm, struct comm_state** state);
void abandon_state(MPI_Comm comm, struct comm_state* state);
/// Detaches a state whose setup is complete. Collective.
void detach_state(MPI_Comm comm);
/// Creates the state for a line of a grid. Takes ownership of `members` and `strategy`. Returns NULL if memory is
/// exhausted.
struct comm_state* create_line_state(struct comm_state* parent, int rank, int ranks, int* members,
                                     topoloom_strategy* strategy);
int raise_setup_error(MPI_Comm comm, const char* name, int status);
int allocate_tag(struct comm_state* state, bool persistent);
/// Whether the user requests our schedule, or it is faster than MPI's collective even if each of its rounds
/// takes `round_delay` seconds longer. The result is equal on all ranks: if it cannot be computed, a rank
/// returns true and fails all later calls, so that no rank hangs.
bool is_faster_than_mpi(struct comm_state* state, enum topoloom_operation operation, int64_t bytes,
                        bool in_rank_order, double round_delay);
/// Finds the schedule that the strategy chooses. Raises errors in the name of function `name`.
int find_schedule(struct comm_state* state, const char* name, MPI_Comm comm, const char* operation,
                  long long bytes, const char** schedule);

// ---- repeated_call.c ---------------------------------------------------------------------------------------------
/// Acquires a run for a call that equals the last call of its operation. Returns NULL if it differs, or if memory is
/// exhausted.
struct run* acquire_repeated_run(struct call* call);
void cache_repeated_call(const struct call* call);

// ---- call.c ------------------------------------------------------------------------------------------------------
/// A collective call. Before begin_call, the caller sets only `arguments`, `is_persistent` and `is_blocking`.
struct call {
    struct arguments arguments;
    bool is_persistent, is_blocking;
    struct comm_state* state;
    struct call* next;  // link in the list of active calls
    int (*advance)(struct call* call, enum advance_mode mode, bool* done);
    int tag;
    bool combines, in_place;                   // in_place: input is passed in the output buffer
    bool reads_input, writes_output;           // false for MPI_IN_PLACE and absent buffers
    struct type_desc input_type, output_type;  // datatypes of the two buffers
    bool owns_input_type, owns_output_type;
    bool is_prepared;
    struct run* run;  // NULL: no data to transfer
    bool is_running;  // the run has started, and the copies are filled
    char* copies;     // memory for copies of buffers that have gaps or that output would overwrite
    char *input_copy, *output_copy;   // pointers into `copies`; NULL: the buffer is not copied
    bool is_pending;                  // the call has started, and its status is not yet consumed
    bool is_complete;                 // the call has completed since its last start
    void (*on_complete)(void* data);  // NULL: no callback
    void* on_complete_data;
    int error;
    char error_text[160];
    bool is_timed;
    double begin;  // start time of the call in s
};
/// Acquires the state, checks the arguments and assigns a tag. Raises errors.
int begin_call(struct call* call);
/// Duplicates the datatypes, because the program may free them while the call is pending.
int duplicate_types(struct call* call);
/// Creates the run, after the setup of the communicator.
int prepare_call(struct call* call, bool wait, bool* done);
/// Prepares the collective call if needed, and advances its run. After the run is complete, calling this
/// function starts it again.
int advance_call(struct call* call, enum advance_mode mode, bool* done);
void end_call(struct call* call);
void raise_call_error(const struct call* call);
/// Prints the error, and aborts the program.
void abort_with_call_error(const struct call* call);

// ---- blocking_call.c ---------------------------------------------------------------------------------------------
int run_blocking_call(const struct arguments* arguments);

// ---- requests.c --------------------------------------------------------------------------------------------------
struct topoloom_request_state {
    struct call call;
    bool is_active;
};
int start_nonblocking_call(const struct arguments* arguments, topoloom_request* request);
int create_persistent_call(const struct arguments* arguments, topoloom_request* request);
/// Calls `on_complete` once: now, or in the thread that completes the request. The callback may free the request.
void notify_when_complete(topoloom_request request, void (*on_complete)(void* data), void* data);
/// Consumes a completed request, as MPI_Wait does. Returns its error without raising it.
int consume_status(topoloom_request* request);
/// Sets MPI's empty status.
void set_empty_status(MPI_Status* status);

// ---- operations/: the arguments of calls -------------------------------------------------------------------------
struct arguments describe_bcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm);
struct arguments describe_reduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                                 MPI_Op op, int root, MPI_Comm comm);
struct arguments describe_gather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                 int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
struct arguments describe_scatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                  int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
struct arguments describe_allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                    int recvcount, MPI_Datatype recvtype, MPI_Comm comm);
struct arguments describe_allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                                    MPI_Op op, MPI_Comm comm);

#endif
