// SPDX-License-Identifier: BSD-3-Clause
// Internal interface of libtopoloom-collective, by file from the lowest layer to the highest (README.md).
//
// Only PMPI_ functions are called, so that no tool counts these messages as the program's. Functions that return int return
// an MPI error code.
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
/// How elements of a datatype lie in memory.
struct type_desc {
    MPI_Datatype type;
    MPI_Aint size, extent, true_lb, true_extent;
    bool is_contiguous;  // without gaps, also between elements
};
int describe_type(MPI_Datatype type, struct type_desc* desc);
/// Whether the handle is never freed.
bool is_predefined_type(MPI_Datatype type, int* status);
/// Copies elements without what lies in their gaps.
int copy_elements(const struct type_desc* type, const char* from, char* to, int64_t count);
int pack_elements(const struct type_desc* type, const char* from, int64_t count, char* bytes);
int unpack_elements(const struct type_desc* type, const char* bytes, int64_t count, char* to);

// ---- arguments.c -------------------------------------------------------------------------------------------------
/// A buffer argument: one block of `count` elements, or one block per rank.
struct buffer_desc {
    const void* buffer;
    int64_t count;
    const int* counts;  // per rank, instead of count
    const int* displs;  // per rank, in extents; NULL: blocks are adjacent
    MPI_Datatype type;
    bool has_block_per_rank;
};
struct arguments {
    const char* name;  // of the function, without topoloom_
    enum topoloom_operation operation;
    MPI_Comm comm;            // on which errors are raised
    struct comm_state* line;  // of a grid, whose ranks take part; NULL: all ranks of the communicator
    int root;
    MPI_Op op;       // MPI_OP_NULL: no reduction
    bool is_vector;  // blocks of ranks may differ in size
    struct buffer_desc input, output;
};
/// Whether the operation has an input or output buffer on this rank.
bool has_input(const struct arguments* arguments, int rank);
bool has_output(const struct arguments* arguments, int rank);
/// Whether input in place must be copied, because output overwrites it while it is still needed.
bool must_copy_in_place(enum topoloom_operation operation);
/// Raises an error, as MPI does, if an argument is wrong.
int check_arguments(const struct arguments* arguments, int rank, int ranks);

// ---- buffers.c ---------------------------------------------------------------------------------------------------
int64_t get_total_count(const struct buffer_desc* desc, int ranks);
/// Writes the size and offset of the block of each rank, in 1/`unit` elements. In a copy blocks are adjacent.
void locate_blocks(const struct buffer_desc* desc, int64_t unit, int ranks, bool is_copy, int64_t* sizes,
                   int64_t* offsets);
/// Packs the block of one rank, or all blocks if `rank` is below 0, into a contiguous copy of the buffer.
int pack_buffer(const struct buffer_desc* desc, const struct type_desc* type, int ranks, int rank,
                char* copy);
int unpack_buffer(const struct buffer_desc* desc, const struct type_desc* type, int ranks, const char* copy);

// ---- active.c ----------------------------------------------------------------------------------------------------
/// Startup state of a process and its uses.
struct process_state {
    bool is_threaded;           // MPI_THREAD_MULTIPLE: the guard is used
    pthread_mutex_t guard;      // of both lists, and of active calls while they advance
    struct call* active;        // non-blocking and persistent calls that have been started
    struct comm_state* states;  // of its communicators
    MPI_Comm self;              // a private MPI_COMM_SELF that returns errors
    struct progress progress;   // with progress=1, a thread drives the active calls
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
/// How far a call advances: until messages are in flight, while they have completed, or to its end.
enum advance_mode { posting, testing, waiting };
// Under the guard of the process.
void activate_call(struct process_state* process, struct call* call);
/// Returns whether the call is complete. An error remains in the call until the program asks for it.
bool advance_active_call(struct call* call, enum advance_mode mode);
/// Advances all active calls and removes the complete ones. Returns the first of those to be notified.
struct call* advance_active_calls(struct process_state* process);
struct call* remove_complete_calls(struct process_state* process);
// Not under the guard.
void notify_complete(struct call* call);
/// Advances all active calls. False: none is left.
bool drive_active_calls(struct process_state* process);
bool has_other_active_calls(struct process_state* process, const struct call* call);
/// Runs a call that has begun and is not active.
int finish_call(struct call* call);

// ---- process_state.c ---------------------------------------------------------------------------------------------
int get_process_state(struct process_state** process);
/// Lets MPI check a datatype, and an operator unless it is MPI_OP_NULL. Raises nothing.
int check_type_and_op(struct process_state* process, MPI_Datatype type, MPI_Op op);
/// Creates a keyval for attributes once, however many threads call it.
int create_keyval_once(_Atomic int* keyval, MPI_Comm_delete_attr_function* delete_attribute);

// ---- run.c -------------------------------------------------------------------------------------------------------
struct plan_key {
    enum topoloom_operation operation;
    int root;
    int64_t units;
    int64_t unit_bytes;
    const char* schedule;  // compared by address: a strategy has one object per text
    bool in_place, in_rank_order, wants_result;
};
/// A program of the core, kept for later calls with the same key and blocks.
struct plan {
    struct plan_key key;
    int64_t* blocks;  // sizes and offsets of input and output, if blocks differ
    size_t blocks_length;
    topoloom_program program;
    size_t max_requests;  // of a round
    struct run* idle;     // for reuse
    int references;       // runs that are not idle, and the cache
    uint64_t last_used;
};
/// An execution of a plan.
struct run {
    struct plan* plan;
    struct run* next;  // among the idle runs of the plan
    MPI_Comm duplicate;
    MPI_Comm
        error_comm;  // the run ends at once after an error that is fatal there; MPI_COMM_NULL: it never does
    const int* members;  // of the state
    int tag;
    struct type_desc type;  // of messages: bytes, or elements of a reduction
    MPI_Op op;
    struct trace* trace;  // NULL: not traced
    char* base[3];        // by topoloom_memory
    char* scratch;        // owned
    size_t scratch_bytes;
    MPI_Request* requests;
    MPI_Status* statuses;     // of the requests of a round
    MPI_Request* persistent;  // of all rounds, some of them null; NULL: requests are created in each round
    size_t round;
    bool is_round_started;
    int in_flight;
    int error;  // the first
};
/// NULL: no memory.
struct run* create_run(struct plan* plan);
void free_run(struct run* run);
/// Sets the type of messages, and allocates scratch memory for it. False: no memory.
bool set_run_type(struct run* run, const struct type_desc* type);
/// Creates persistent requests for all rounds, if they are faster.
int create_persistent_requests(struct run* run);
/// After an error the other rounds follow before it is returned, so that no peer hangs.
int advance_run(struct run* run, enum advance_mode mode, bool* done);

// ---- plan.c ------------------------------------------------------------------------------------------------------
/// Finds a plan or creates it. Under the guard of the state. NULL with the error.
struct plan* find_plan(struct comm_state* state, const struct plan_key* key, const topoloom_call* call,
                       const int64_t* blocks, size_t length, char* error, size_t error_size);
void release_plan(struct plan* plan);
/// Takes an idle run of a plan, or creates one. NULL: no memory.
struct run* acquire_run(struct plan* plan, const struct type_desc* type);
void release_run(struct run* run);

// ---- setup.c -----------------------------------------------------------------------------------------------------
/// Begins the setup, unless it has begun. Collective. Nothing else may use the state before advance_setup is done.
int begin_setup(MPI_Comm comm, struct comm_state* state);
/// Raises nothing. An error is the same on all ranks and for all later calls.
int advance_setup(struct comm_state* state, bool wait, bool* done);
/// Waits for the setup while active calls advance, because other ranks may have to finish those first.
int finish_setup(struct comm_state* state);

// ---- comm_state.c ------------------------------------------------------------------------------------------------
enum { plan_capacity = 32, exchange_tags = 4, fence_size_count = 3, operation_count = TOPOLOOM_EXSCAN + 1 };
/// The last answer of is_worth_replacing for an operation.
struct comparison {
    bool is_known, in_rank_order, is_faster;
    int64_t bytes;
    double round_delay;
};
/// The last blocking call of an operation, if another one may reuse its plan.
struct repeated_call {
    struct plan* plan;  // NULL: none
    struct arguments arguments;
    struct type_desc type;  // of messages
    bool combines, reads_input, writes_output;
    int commutes;  // the operator
};
struct comm_state {
    struct process_state* process;  // NULL after MPI_Finalize
    struct comm_state* next;        // of the process
    int references;                 // the communicator, calls that have not ended, and states of lines
    MPI_Comm duplicate;             // private
    int rank, ranks;
    struct comm_state* parent;  // of a line of a grid: the state whose duplicate it uses; else NULL
    int* members;               // of a line: ranks in the duplicate; NULL: all
    bool has_begun_setup;
    bool is_freed;              // by the program
    bool has_progress_threads;  // on every process
    struct setup* setup;        // NULL: not begun, or done
    int error;                  // that ended this state, and that all later calls return
    topoloom_strategy* strategy;
    topoloom_learner* learner;  // NULL without learn=1
    struct run* fence_runs[fence_size_count];
    struct trace* trace;  // NULL without trace=
    // Tags of calls, then as many of persistent calls, then those of sparse exchanges.
    int tags_per_kind;
    int next_tag, next_persistent_tag;
    enum exchange_algorithm exchange;
    int exchange_parity;    // 0 or 1: which tags the next sparse exchange takes
    pthread_mutex_t guard;  // of setup, plans and learner: threads may wait for different requests
    uint64_t plan_uses;
    struct plan* plans[plan_capacity];
    struct repeated_call last_calls[operation_count];
    struct comparison comparisons[operation_count];
    MPI_Datatype checked_type;  // the last type and operator that MPI has accepted
    MPI_Op checked_op;
};
/// Finds the state of a communicator or attaches one, without setup: only this rank may have called, by mistake. Raises its
/// errors.
int attach_state(MPI_Comm comm, struct comm_state** state);
/// Attaches a state and begins its setup. Collective. Raises its errors.
int open_state(MPI_Comm comm, struct comm_state** state);
void release_state(struct comm_state* state);
/// Allocates what open_state needs. Local; raises nothing. If any rank returns false, all must abandon the state.
bool reserve_state(MPI_Comm comm, struct comm_state** state);
void abandon_state(MPI_Comm comm, struct comm_state* state);
/// Detaches a state that has been set up. Collective.
void detach_state(MPI_Comm comm);
/// The state of the ranks of a line; takes over `members` and `strategy`. NULL: no memory.
struct comm_state* create_line_state(struct comm_state* parent, int rank, int ranks, int* members,
                                     topoloom_strategy* strategy);
int raise_setup_error(MPI_Comm comm, const char* name, int status);
int take_tag(struct comm_state* state, bool persistent);
/// Whether our schedule is faster than MPI's collective though each round ends `round_delay` seconds late, or the user asked
/// for it. Equal on all ranks: one that cannot find out returns true and fails all later calls, so that no rank hangs.
bool is_worth_replacing(struct comm_state* state, enum topoloom_operation operation, int64_t bytes,
                        bool in_rank_order, double round_delay);
/// Finds the schedule that the strategy chooses. Raises errors as of a function of this name.
int find_schedule(struct comm_state* state, const char* name, MPI_Comm comm, const char* operation,
                  long long bytes, const char** schedule);

// ---- repeated_call.c ---------------------------------------------------------------------------------------------
/// Acquires a run for a call that equals the last one of its operation. NULL: it does not, or there is no memory.
struct run* acquire_repeated_run(struct call* call);
void remember_call(const struct call* call);

// ---- call.c ------------------------------------------------------------------------------------------------------
/// A collective call. Its creator sets only `arguments`, `is_persistent` and `is_blocking`.
struct call {
    struct arguments arguments;
    bool is_persistent, is_blocking;
    struct comm_state* state;
    struct call* next;  // of the active calls
    int (*advance)(struct call* call, enum advance_mode mode, bool* done);
    int tag;
    bool combines, in_place;                   // in place: input is in the output buffer
    bool reads_input, writes_output;           // by buffers that are not MPI_IN_PLACE
    struct type_desc input_type, output_type;  // of these
    bool owns_input_type, owns_output_type;
    bool is_prepared;
    struct run* run;                  // NULL: no data
    bool is_running;                  // since copies have been filled
    char* copies;                     // owned: of buffers with gaps, or that output overwrites
    char *input_copy, *output_copy;   // parts of them; NULL: not copied
    bool is_pending;                  // started, and its status not yet consumed
    bool is_complete;                 // since the last start
    void (*on_complete)(void* data);  // NULL: no callback
    void* on_complete_data;
    int error;
    char error_text[160];
    bool is_timed;
    double begin;  // of the time
};
/// Acquires the state, checks the arguments and takes a tag. Raises errors.
int begin_call(struct call* call);
/// Duplicates datatypes, which the program may free while the call is pending.
int duplicate_types(struct call* call);
/// Creates the run, once the communicator is set up.
int prepare_call(struct call* call, bool wait, bool* done);
/// Prepares the call if needed, and advances its run. After the end the next call starts it again.
int advance_call(struct call* call, enum advance_mode mode, bool* done);
void end_call(struct call* call);
void raise_call_error(const struct call* call);
/// Prints the error and aborts the program.
void abort_with_call_error(const struct call* call);

// ---- blocking.c --------------------------------------------------------------------------------------------------
int run_blocking(const struct arguments* arguments);

// ---- requests.c --------------------------------------------------------------------------------------------------
struct topoloom_request_state {
    struct call call;
    bool is_active;
};
int start_nonblocking(const struct arguments* arguments, topoloom_request* request);
int create_persistent(const struct arguments* arguments, topoloom_request* request);
/// Calls `on_complete` once, now or in the thread that completes the request. It may free the request.
void notify_when_complete(topoloom_request request, void (*on_complete)(void* data), void* data);
/// Consumes a completed request as MPI_Wait does. Returns its error without raising it.
int consume_status(topoloom_request* request);
/// Sets the empty status of MPI.
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
