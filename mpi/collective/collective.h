// SPDX-License-Identifier: BSD-3-Clause
// What the parts of libtopoloom-collective offer each other. They call PMPI_ only, so that no tool takes our
// messages for the program's. Functions that return int return what MPI functions do.
#ifndef TOPOLOOM_COLLECTIVE_PARTS_H
#define TOPOLOOM_COLLECTIVE_PARTS_H

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

// ---- asked.c: a call with its arguments, whatever the operation ------------------------------------------------
/// One buffer: a block of `count` elements, or one for each rank, one after another or where displs say.
struct side {
    const void* buffer;
    int64_t count;
    const int* counts;  // by rank, instead of count
    const int* displs;  // by rank, in extents; NULL: one after another
    MPI_Datatype type;
    bool by_rank;  // whether there is a block for each rank
};
struct state;
struct asked {
    const char* name;
    enum topoloom_operation operation;
    MPI_Comm comm;        // on which errors are raised
    struct state* among;  // NULL: all ranks of the communicator
    int root;
    MPI_Op op;    // MPI_OP_NULL: nothing is combined
    bool vector;  // whether blocks of ranks may differ in size
    struct side input, output;
};
/// Whether this rank gives or gets a result, and thus has that side.
bool has_input(const struct asked* asked, int rank);
bool has_output(const struct asked* asked, int rank);
/// Whether the operation combines elements, so that there has to be an operator.
bool needs_op(enum topoloom_operation operation);
/// Raises an error where an argument is wrong, as MPI does.
int check_asked(const struct asked* asked, int rank, int ranks);

// ---- the files of the operations: what they ask ------------------------------------------------------------------
struct asked ask_bcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm);
struct asked ask_reduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                        int root, MPI_Comm comm);
struct asked ask_gather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                        int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
struct asked ask_scatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                         int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
struct asked ask_allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                           int recvcount, MPI_Datatype recvtype, MPI_Comm comm);
struct asked ask_allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                           MPI_Comm comm);

// ---- elements.c: elements in memory ------------------------------------------------------------------------------
struct elements {
    MPI_Datatype type;
    MPI_Aint size, extent;
    MPI_Aint low, span;  // where the data of one begin, and how far they reach from there
    bool plain;          // without gaps, so that any number of them is one piece of memory
};
int describe_type(MPI_Datatype type, struct elements* elements);
/// Copies elements, whatever lies between them.
int copy_elements(const struct elements* elements, const char* from, char* to, int64_t count);
int pack_elements(const struct elements* elements, const char* from, int64_t count, char* bytes);
int unpack_elements(const struct elements* elements, const char* bytes, int64_t count, char* to);

// ---- plan.c: what the core answered, kept for the next call of its kind -----------------------------------------
struct plan_key {
    enum topoloom_operation operation;
    int root;
    int64_t units;
    int64_t unit_bytes;
    const char* schedule;  // the text of the strategy, which is one object for each text
    bool in_place, in_rank_order, wants_result;
};
struct run;
struct plan {
    struct plan_key key;
    int64_t* counts;  // of input and output with their offsets, where blocks differ
    size_t count_length;
    topoloom_program program;
    size_t most_requests;  // of a round
    struct run* idle;      // to be used again
    int users;             // runs that are not idle, and the state as long as it keeps it
    uint64_t last_used;
};
/// Finds or makes it, for a run to be taken from it; `counts` are those that the call points to. NULL with the reason.
struct plan* find_plan(struct state* state, const struct plan_key* key, const topoloom_call* call,
                       const int64_t* counts, size_t length, char* why, size_t why_size);
/// Frees it when nobody holds it any more.
void release_plan(struct plan* plan);

// ---- process.c: what this process has under way, whatever the communicator --------------------------------------
struct call;
struct process {
    bool threaded;          // MPI_THREAD_MULTIPLE: the guard is in use
    pthread_mutex_t guard;  // of both lists, and of the calls in the first while they go on
    struct call* active;    // non-blocking and persistent ones that have been started
    struct state* states;
    MPI_Comm alone;            // this process, where errors are returned
    struct progress progress;  // where it was asked for, a thread drives the active calls
#ifdef SMPI_H
    _Atomic int state_key;
#endif
};
/// The process's own: an attribute of MPI_COMM_SELF.
int find_process(struct process** process);
/// What MPI says of a datatype, and of an operator if it is not MPI_OP_NULL, without raising an error.
int check_with_mpi(struct process* process, MPI_Datatype type, MPI_Op op);
void lock_process(struct process* process);
void unlock_process(struct process* process);
/// Makes a key of attributes once, however many threads ask for it.
int attribute_key(_Atomic int* key, MPI_Comm_delete_attr_function* forget);

// ---- state.c: what a communicator carries ------------------------------------------------------------------------
enum { plan_count = 32, exchange_tags = 4, sum_count = 3, operation_count = TOPOLOOM_EXSCAN + 1 };
struct setup;
/// What the strategy has said of the last call of an operation.
struct gain {
    bool known, in_rank_order, helps;
    int64_t bytes;
    double round_delay;
};
struct state {
    struct process* process;
    struct state* next;  // of the process
    int users;           // the communicator, calls that have not ended, and states of lines
    MPI_Comm own;        // a private duplicate
    int rank, ranks;
    struct state* whole;  // whose duplicate this is, where only some of its ranks are meant; NULL: its own
    int* members;         // these ranks; NULL: all
    bool begun;           // to be set up
    bool is_freed;        // by the program
    bool goes_on;         // each of its processes has a thread that drives what has been started
    struct setup* setup;  // while it is being set up
    int failed;           // the error that this has ended with, and every call since
    topoloom_strategy* strategy;
    topoloom_learner* learner;    // NULL: nothing is to be learned
    struct run* sums[sum_count];  // for its fences
    struct trace* trace;          // of blocking calls; NULL: none
    int tag_half;                 // tags below are of calls, those above of persistent ones
    int next_tag, next_persistent;
    enum exchange_algorithm exchange;
    int odd_exchange;       // 0 or 1: which tags the next sparse exchange takes, above all others
    pthread_mutex_t guard;  // of the plans and the learner, as threads may wait for different requests
    uint64_t uses;
    struct plan* plans[plan_count];
    struct gain gains[operation_count];
    MPI_Datatype right_type;  // and operator: MPI has said that they go together
    MPI_Op right_op;
};
/// The state of a communicator, which the first call begins to set up: collective. Then advance_setup must say that it is
/// done before anything else is used. Raises its errors.
int find_state(MPI_Comm comm, struct state** state);
/// The same in two steps: wrong calls, which other ranks may not make, begin nothing. The second raises nothing.
int locate_state(MPI_Comm comm, struct state** state);
int begin_state(MPI_Comm comm, struct state* state);
void release_state(struct state* state);
/// Takes the memory that it needs to begin, alone, and raises nothing. Where a rank lacks that, all of them forgo the state.
bool reserve_state(MPI_Comm comm, struct state** state);
void forgo_state(MPI_Comm comm, struct state* state);
/// As if no call had begun to set it up: collective.
void drop_state(MPI_Comm comm);
/// Whether a call gains by our schedule, though each of its rounds is noticed `round_delay` seconds after its end: the same
/// answer for all its processes. One that cannot find out says yes, and fails each call from then on: no other rank is
/// left waiting without a word.
bool state_helps(struct state* state, enum topoloom_operation operation, int64_t bytes, bool in_rank_order,
                 double round_delay);
/// A state of the ranks of a line, among whom this one is at `rank`. It takes over the strategy and the members; NULL: no
/// memory.
struct state* make_line_state(struct state* whole, int rank, int ranks, int* members,
                              topoloom_strategy* strategy);
/// Raises nothing; an error is the same on all ranks, and of every later call, too.
int advance_setup(struct state* state, bool wait, bool* done);
/// Waits for it, while what else the process has started goes on: another rank may wait for that before it comes here.
int finish_setup(struct state* state);
/// Raises the error of a setup.
int cannot_set_up(MPI_Comm comm, const char* name, int status);
/// What the state's strategy chooses; errors are raised on the communicator, as of a function of this name.
int schedule_of(struct state* state, const char* name, MPI_Comm comm, const char* operation, long long bytes,
                const char** schedule);

// ---- run.c: moves the data -----------------------------------------------------------------------------------------
struct run {
    struct plan* plan;
    struct run* next;  // in the plan's list of idle ones
    MPI_Comm own;
    MPI_Comm comm;       // on which errors that end the program end the run; null: they wait until its end
    const int* members;  // of the state
    int tag;
    struct elements elements;  // what is sent: bytes, or elements to be combined
    MPI_Op op;
    struct trace* trace;  // NULL: it is not traced
    char* base[3];        // by topoloom_memory
    char* scratch;        // owned
    size_t scratch_bytes;
    MPI_Request* requests;
    MPI_Status* statuses;   // of the requests of a round
    MPI_Request* prepared;  // of all rounds, persistent or null; NULL: they are made as they come
    size_t round;
    int in_flight;
    int failed;  // the first error so far
    bool started;
};
/// Room for a run of a plan, which may have been used before. NULL: no memory.
struct run* take_run(struct plan* plan, const struct elements* elements);
void give_back_run(struct run* run);
void free_run(struct run* run);
/// Makes persistent messages of all rounds, where they are of use.
int prepare_run(struct run* run);
/// How far a step goes: to messages that are under way, whether or not they have arrived; to those that have not; to the end.
enum effort { posting, testing, waiting };
/// Messages that fail hold up no peer: the other rounds follow before the error is reported.
int advance_run(struct run* run, enum effort effort, bool* done);

// ---- sides.c: sizes of what the program gives and wants, and copies of it -----------------------------------------
int64_t total_count(const struct side* side, int ranks);
/// Whether the input of a call in place would lie below the result, so that it has to be copied first.
bool needs_input(enum topoloom_operation operation);
/// Where the block of each rank is, in units of `unit` bytes; in a copy they lie one after another.
void list_blocks(const struct side* side, int64_t unit, int ranks, bool is_copy, int64_t* units,
                 int64_t* offsets);
/// The whole of a side into a copy, or the other way; `rank` < 0 or the only block that counts.
int pack_side(const struct side* side, const struct elements* elements, int ranks, int rank, char* copy);
int unpack_side(const struct side* side, const struct elements* elements, int ranks, const char* copy);

// ---- call.c: from the arguments to a run -------------------------------------------------------------------------
/// A collective in all its parts. All but `asked`, `persistent` and `blocking` is zero before it is begun.
struct call {
    struct asked asked;
    bool persistent, blocking;
    struct state* state;
    struct call* next;              // of the active ones
    struct elements input, output;  // of the program's buffers
    int tag;
    bool in_place;                   // what would be in the input is in the output
    bool complete;                   // since it was started last
    void (*awaits)(void* awaiting);  // NULL: nobody wants to be called when it is
    void* awaiting;
    bool ready, started, owns_input_type, owns_output_type;
    struct run* run;                 // NULL: there is nothing to do
    char* copies;                    // owned: what lies in gaps, or on top of each other, goes through copies
    char *input_copy, *output_copy;  // parts of them; NULL: the program's own buffer serves
    bool under_way;                  // started, and not waited for since
    int failed;                      // the error that it has ended with
    char why[160];
    bool is_timed;  // what it takes from when it was ready is to be learned from
    double began;
};
/// Finds the state, takes a place among its calls, and checks the arguments.
int begin_call(struct call* call);
/// The tag of another call, the same on all ranks.
int next_tag(struct state* state, bool persistent);
/// Keeps what the program may free while the call is under way.
int keep_types(struct call* call);
/// Makes the run. Until then `done` is false.
int ready_call(struct call* call, bool wait, bool* done);
/// Goes on. After the end the next call of it starts it again.
int advance_call(struct call* call, enum effort effort, bool* done);
void end_call(struct call* call);
/// Raises the error that it has ended with.
void raise_failed(const struct call* call);
/// Says in a line with what error a call has ended, and ends the program.
void end_program(const struct call* call);

// ---- requests.c ------------------------------------------------------------------------------------------------------
struct topoloom_request_state {
    struct call call;
    bool active;
};
/// Takes all active calls a step on. False: there are none.
bool drive_active(struct process* process);
/// Runs a call that has begun, and is not among the active ones.
int finish_call(struct call* call);
/// The same, and ends it.
int finish_blocking(struct call* call);
int run_blocking(const struct asked* asked);
int start_nonblocking(const struct asked* asked, topoloom_request* request);
int make_persistent(const struct asked* asked, topoloom_request* request);
/// Calls `awaits` once, now or when it is complete, in the thread that notices it. That may free the request.
void when_complete(topoloom_request request, void (*awaits)(void* awaiting), void* awaiting);
/// As of what was not to be waited for.
void set_empty(MPI_Status* status);
/// Ends a complete one as a wait does, and returns its error, which is not raised.
int take_outcome(topoloom_request* request);

#endif
