// SPDX-License-Identifier: BSD-3-Clause
// Declarations of the recorder, a library that is preloaded before MPI.
//
// Each MPI call that moves data has a wrapper, generated from calls.txt. The wrapper calls the next definition, so that
// profiling tools still work, and records the bytes per peer if the call succeeded. PMPI_ functions also have wrappers,
// because preceding tools, or tools linked into the program, call them. The recorder must never make the program fail:
// if memory is exhausted or the peer is unknown, the call is not recorded, but counted in `record_lost`.
#ifndef TOPOLOOM_RECORD_H
#define TOPOLOOM_RECORD_H

#include "call_timer.h"
#include "shim.h"

#define RECORD_VARIABLE "TOPOLOOM_RECORD"

// ---- state.c ---------------------------------------------------------------------------------------------
extern bool record_active;            // true between MPI_Init and MPI_Finalize if the process is recorded
extern int record_rank, record_size;  // rank and size in MPI_COMM_WORLD
extern int64_t record_lost;  // number of unrecorded calls: memory exhausted, or peer outside MPI_COMM_WORLD
extern MPI_Group record_world_group;
extern bool record_initialized;  // whether a wrapper of MPI_Init was called
extern bool record_spawned;      // the process was spawned by another program, whose recording excludes it
extern unsigned long long record_job;   // job id: equal on all ranks of a world, different between worlds
extern _Thread_local int record_depth;  // nesting depth of MPI calls in this thread
void activate_recording(bool is_multithreaded);  // with MPI_THREAD_MULTIPLE, counting requires a lock
void stop_recording(void);
/// Nanoseconds from activate_recording to stop_recording, or until now, in total and inside MPI calls.
struct durations {
    int64_t run, calls;
};
struct durations get_durations(void);  // async-signal-safe
void lock_recording(void);
void unlock_recording(void);

// ---- recording.c -----------------------------------------------------------------------------------------
void start_recording(void);   // called after MPI_Init; may be called again
void finish_recording(void);  // called before PMPI_Finalize; collective

// ---- caller.c --------------------------------------------------------------------------------------------
bool is_called_by_mpi(const void* caller);
#define CALLER __builtin_return_address(0)

/// How deeply an MPI call is nested in other MPI calls of its thread.
struct call_scope {
    int depth;
    bool outermost;
};

/// Every wrapper is
///     ENTER_CALL(...); result = next(...); if (lock_if_recorded(&scope, result)) { record...; unlock_recording(); }
/// Only the outermost call is timed and recorded: tools and MPI may call MPI functions themselves, and Fortran bindings
/// call the C functions. The cleanup also runs if an error handler throws an exception.
#define ENTER_CALL(enter) __attribute__((cleanup(leave_call))) const struct call_scope scope = enter
static inline void leave_call(const struct call_scope* scope) {
    if (scope->outermost) stop_call_timer();
    record_depth = scope->depth;
}

static inline struct call_scope enter_scope(bool outermost) {
    if (outermost && record_active) start_call_timer();
    return (struct call_scope){record_depth++, outermost};
}

static inline struct call_scope enter_call(void) { return enter_scope(record_depth == 0); }

/// For PMPI_ functions, which MPI itself may call.
static inline struct call_scope enter_pmpi_call(const void* caller) {
    return enter_scope(record_depth == 0 && !is_called_by_mpi(caller));
}

/// Returns whether the call must be recorded. If so, locks the recording.
static inline bool lock_if_recorded(const struct call_scope* scope, int status) {
    if (!scope->outermost || !record_active || status != MPI_SUCCESS) return false;
    lock_recording();
    return true;
}

static inline int fortran_status(const MPI_Fint* error) {
    return is_fortran_success(error) ? MPI_SUCCESS : MPI_ERR_OTHER;
}

void enter_phase(int level);  // wrappers.c

// ---- counters.c: bytes and messages per phase, kind and peer ---------------------------------------------
enum transfer_kind {
    KIND_SEND = 0,      // point-to-point messages
    KIND_NEIGHBOR = 1,  // neighborhood collectives
    KIND_PUT = 2,       // one-sided transfers from this rank to the peer
    KIND_GET = 3,       // one-sided transfers from the peer to this rank
    KIND_DIRECT = 4     // the part of a v-collective that this rank sends to the peer
};
struct counter {
    uint64_t key;  // 1 + kind + 8 * peer + 2^34 * number of the communicator; 0 = the slot is free
    int64_t bytes, messages;
};
struct counter_table {
    uint64_t mask, used;
    struct counter slots[];
};

struct collective_counter {
    uint64_t communicator;
    int64_t bytes, count;  // count 0 = free
    int32_t operation, root;
};
struct collective_table {
    uint64_t mask, used;
    struct collective_counter slots[];
};

struct phase {
    int level;  // argument of MPI_Pcontrol; 0 before its first call
    struct counter_table* _Atomic counters;
    struct collective_table* _Atomic collectives;
    struct phase* next;
};
extern struct phase* _Atomic record_phases;  // newest first
extern struct phase* record_phase;           // the current phase
void set_phase(int level);
/// `communicator` is the number of the communicator of a v-collective; 0 for other messages.
void count_messages(enum transfer_kind kind, uint32_t communicator, int peer, int64_t bytes,
                    int64_t messages);

// ---- collectives.c ---------------------------------------------------------------------------------------
enum operation {  // part of the file format: only append
    OP_BARRIER,
    OP_BCAST,
    OP_REDUCE,
    OP_ALLREDUCE,
    OP_GATHER,
    OP_SCATTER,
    OP_ALLGATHER,
    OP_ALLGATHERV,
    OP_ALLTOALL,
    OP_REDUCE_SCATTER,
    OP_SCAN,
    OP_EXSCAN
};
struct communicator {  // world rank i is members[i], or start + i * stride if `members` is NULL
    uint64_t id;       // equal on all ranks; communicators with the same members have the same id
    uint32_t number;   // from 1, on this rank
    bool is_listed;    // whether this rank writes the members
    int size, start, stride;
    int* members;
    struct communicator* next;
};
extern struct communicator* _Atomic record_communicators;
struct rank_group;
/// Returns NULL if memory is exhausted. Rank 0 of a communicator lists its members.
const struct communicator* get_communicator(struct rank_group* group);
void count_collective(enum operation operation, uint64_t communicator, int root, int64_t bytes);

// ---- groups.c: translates ranks of communicators and windows to ranks of MPI_COMM_WORLD ------------------
struct rank_group {
    uintptr_t handle;
    bool is_window, is_world, is_inter;
    _Atomic bool is_freed;  // MPI may have reused the handle
    int size;               // for an intercommunicator: size of the remote group
    int my_rank;            // rank of this process in the local group
    MPI_Group mpi_group;
    int *peers, *worlds;  // open addressing: rank in this group -> world rank, filled on first use
    uint32_t peer_mask, peer_used;
    const struct communicator* communicator;  // result of get_communicator; NULL = not yet computed
    int neighbor_count;                       // number of neighbors; -1 = not yet known
    int* neighbors;  // destinations of neighborhood collectives, as world ranks; -1 = MPI_PROC_NULL
    struct rank_group* next;
};
void create_group_keyvals(void);
struct rank_group* get_comm_group(MPI_Comm comm);  // NULL = memory exhausted
struct rank_group* get_win_group(MPI_Win win);
int to_world_rank(struct rank_group* group,
                  int rank);  // returns -1 if the process is not in this MPI_COMM_WORLD

// ---- neighbors.c -----------------------------------------------------------------------------------------
void find_neighbors(struct rank_group* group, MPI_Comm comm);

// ---- persistent.c ----------------------------------------------------------------------------------------
/// Add to the counters, or to the persistent request that is being created.
void add_transfer(enum transfer_kind kind, int peer, int64_t bytes);
void add_direct_transfer(const struct communicator* communicator, int peer, int64_t bytes);
void add_collective(enum operation operation, const struct communicator* communicator, int root,
                    int64_t bytes);
void begin_persistent_init(void);
void end_persistent_init(MPI_Request request);
void record_request_start(MPI_Request request);
void remove_request(MPI_Request request);

// ---- record_p2p.c, record_collective.c, record_rma.c: one function for each kind of call
// --------------------------
struct count_array {  // exactly one of the two pointers is set
    const int* small;
    const MPI_Count* large;
};
struct type_array {  // exactly one of the two pointers is set
    const MPI_Datatype* c;
    const MPI_Fint* fortran;
};
static inline struct count_array int_counts(const int* counts) { return (struct count_array){counts, 0}; }
static inline struct type_array c_types(const MPI_Datatype* types) { return (struct type_array){types, 0}; }
static inline struct type_array fortran_types(const MPI_Fint* types) { return (struct type_array){0, types}; }
static inline struct count_array large_counts(const MPI_Count* counts) {
    return (struct count_array){0, counts};
}
static inline struct count_array fortran_counts(
    const MPI_Fint* counts) {  // MPI may use 8-byte Fortran integers
    return sizeof *counts == sizeof(int) ? int_counts((const int*)counts)
                                         : large_counts((const MPI_Count*)counts);
}
int64_t get_count(struct count_array counts, int i);
MPI_Datatype get_type(struct type_array types, int i);
int64_t get_bytes(int64_t count, MPI_Datatype type);
bool is_in_place(const void* buffer);

void record_send(MPI_Comm comm, int dest, int64_t count, MPI_Datatype type);
void record_partitioned(MPI_Comm comm, int dest, int64_t partitions, int64_t count, MPI_Datatype type);
void record_neighbors(MPI_Comm comm, int64_t count, MPI_Datatype type);
void record_neighbors_v(MPI_Comm comm, struct count_array counts, MPI_Datatype type);
void record_neighbors_w(MPI_Comm comm, struct count_array counts, struct type_array types);

void record_put(MPI_Win win, int target, int64_t count, MPI_Datatype type);
void record_get(MPI_Win win, int target, int64_t count, MPI_Datatype type);
void record_get_accumulate(MPI_Win win, int target, int64_t count, MPI_Datatype type, int64_t result_count,
                           MPI_Datatype result_type, MPI_Op op);
void record_fetch_and_op(MPI_Win win, int target, MPI_Datatype type, MPI_Op op);
void record_compare_and_swap(MPI_Win win, int target, MPI_Datatype type);

void record_collective(enum operation operation, MPI_Comm comm, int root, int64_t count, MPI_Datatype type);
void record_blocks(enum operation operation, MPI_Comm comm, int root, const void* buffer, int64_t count,
                   MPI_Datatype type, int64_t other_count, MPI_Datatype other_type);
void record_total(enum operation operation, MPI_Comm comm, struct count_array counts, MPI_Datatype type);
void record_total_block(MPI_Comm comm, int64_t count, MPI_Datatype type);
void record_gatherv(MPI_Comm comm, int root, int64_t count, MPI_Datatype type);
void record_scatterv(MPI_Comm comm, int root, struct count_array counts, MPI_Datatype type);
void record_alltoallv(MPI_Comm comm, const void* sendbuf, struct count_array sends, MPI_Datatype sendtype,
                      struct count_array receives, MPI_Datatype recvtype);
void record_alltoallw(MPI_Comm comm, const void* sendbuf, struct count_array sends,
                      struct type_array sendtypes, struct count_array receives, struct type_array recvtypes);

// ---- rank_block.c ---------------------------------------------------------------------------------------------
/// Destination of 64-bit words: a file, or memory that grows.
struct sink {
    int file;        // -1 = memory
    int64_t* words;  // the growing memory, or the buffer of the file
    uint64_t capacity, used, written;
    bool failed;
};
extern const char record_file_header[32];
void write_rank_block(struct sink* sink, bool is_complete);  // async-signal-safe if the sink is a file
bool flush_sink(struct sink* sink);

// ---- gather.c --------------------------------------------------------------------------------------------
bool gather_recording(const char* folder);  // collective; returns whether the file was written

// ---- crash_dump.c ----------------------------------------------------------------------------------------
void prepare_crash_dump(const char* folder);
bool is_crash_dump_due(void);
/// Writes the dump unless it has been written. On the first call, also requests the dumps of the other ranks
/// on this node. Async-signal-safe.
void dump_and_notify(const char* cause, int number);
/// Sets the reason for a dump that is written at exit if MPI_Finalize has not been called.
void set_exit_reason(const char* cause, int number);
void cancel_crash_dump(void);

// ---- notify_peers.c --------------------------------------------------------------------------------------
/// Requests dumps of the other ranks on this node, and waits for them at most 1 s. Async-signal-safe.
void request_peer_dumps(const char* folder);

// ---- mpich_errhandler.c: does nothing in other MPIs --------------------------------------------------------
void install_errhandler(void);
void remove_errhandler(void);

// ---- status_log.c ----------------------------------------------------------------------------------------
__attribute__((format(printf, 1, 2))) void log_status(const char* format, ...);

// ---- fortran.c -------------------------------------------------------------------------------------------
const void* get_fortran_in_place(void);

#endif
