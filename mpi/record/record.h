// SPDX-License-Identifier: BSD-3-Clause
// What the parts of the recorder offer each other.
//
// The recorder is a library that LD_PRELOAD puts before MPI. Each MPI call that moves data has a wrapper
// (generated from calls.txt) that forwards to the next definition, so that profiling tools stay in the chain, and
// then, when the call succeeded, notes who was sent what. PMPI_ names have wrappers, too: a tool before us, or one
// that is linked into the program, calls these. Nothing here may fail the program: where memory or a name is missing, the count is lost
// and `record_lost` says so.
#ifndef TOPOLOOM_RECORD_H
#define TOPOLOOM_RECORD_H

#include "shim.h"

// ---- state.c: whether we record at all, and who we are ---------------------------------------------------
extern bool record_active;  // between MPI_Init and MPI_Finalize, in a process that is to be recorded
extern int record_rank, record_size;  // in MPI_COMM_WORLD
extern int64_t record_lost;           // notes dropped: no memory, or a peer outside MPI_COMM_WORLD
extern MPI_Group record_world_group;
extern bool record_started;             // MPI_Init came by us
extern bool record_spawned;             // by another program, whose recording this is not
extern unsigned long long record_job;   // the same on all ranks, another in each world
extern _Thread_local int record_depth;  // MPI calls that this thread is inside of
void record_start(void);                // after MPI_Init; may be called again
void record_finish(void);               // before PMPI_Finalize; collective
int64_t record_nanoseconds(void);       // since record_start
void record_lock(void);
void record_unlock(void);

/// Where a call of MPI stands among those that this thread is inside of.
struct inside {
    int depth;
    bool outer;
};

/// Every wrapper is
///     RECORD_ENTER(...); result = next(...); if (record_counts(&inside, result)) { note...; record_unlock(); }
/// Only the outermost call counts: tools and MPI may call themselves, and Fortran's bindings call C's. An exception
/// that an error handler throws through us leaves, too.
#define RECORD_ENTER(how) __attribute__((cleanup(record_leave))) const struct inside inside = how
static inline void record_leave(const struct inside* inside) { record_depth = inside->depth; }

static inline struct inside record_enter(void) {
    const int depth = record_depth++;
    return (struct inside){depth, depth == 0};
}

// ---- caller.c --------------------------------------------------------------------------------------------
bool called_by_mpi(const void* caller);
#define CALLER __builtin_return_address(0)
/// For PMPI_ names, which tools before us and in the program call.
static inline struct inside record_enter_from(const void* caller) {
    const int depth = record_depth++;
    return (struct inside){depth, depth == 0 && !called_by_mpi(caller)};
}

static inline bool record_counts(const struct inside* inside, int status) {
    if (!inside->outer || !record_active || status != MPI_SUCCESS) return false;
    record_lock();
    return true;
}

static inline int fortran_status(const MPI_Fint* error) {
    return fortran_ok(error) ? MPI_SUCCESS : MPI_ERR_OTHER;
}

void enter_phase(int level);  // control.c

// ---- counters.c: bytes and messages per phase, kind and peer ---------------------------------------------
enum kind {
    KIND_SEND = 0,      // point-to-point
    KIND_NEIGHBOR = 1,  // neighborhood collectives
    KIND_PUT = 2,       // one-sided, from this rank to the peer
    KIND_GET = 3,       // one-sided, from the peer to this rank
    KIND_DIRECT = 4     // the part of a v-collective that this rank sends to the peer
};
struct counter {
    uint64_t key;  // 1 + 8 * peer + kind; 0 = free
    int64_t bytes, messages;
};
struct counter_table {
    uint64_t mask, used;
    struct counter slots[];
};

struct record {
    uint64_t communicator;
    int64_t bytes, count;  // count 0 = free
    int32_t operation, root;
};
struct record_table {
    uint64_t mask, used;
    struct record slots[];
};

struct phase {
    int level;  // the argument of MPI_Pcontrol; 0 before the first call
    struct counter_table* _Atomic counters;
    struct record_table* _Atomic records;
    struct phase* next;
};
extern struct phase* _Atomic record_phases;  // newest first
extern struct phase* record_phase;           // the current one
void phase_set(int level);
void counter_add(enum kind kind, int peer, int64_t bytes, int64_t messages);

// ---- collectives.c: calls of collectives, kept as they are -----------------------------------------------
enum operation {  // the order is part of the file format: only append
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
struct communicator {  // world ranks are start + i * stride, or members[i] where that does not fit
    uint64_t id;
    int size, start, stride;
    int* members;
    struct communicator* next;
};
extern struct communicator* _Atomic record_communicators;
struct group;
uint64_t communicator_id(struct group* group);  // 0 = no memory
void record_add(enum operation operation, uint64_t communicator, int root, int64_t bytes);

// ---- groups.c: ranks of communicators and windows are ranks of the world ---------------------------------
struct group {
    uintptr_t handle;
    bool is_window, is_world, is_inter;
    _Atomic bool is_freed;  // its handle may name another one by now
    int size;               // of the remote group, for an intercommunicator
    int my_rank;            // in the local group
    MPI_Group mpi_group;
    int *peers, *worlds;  // open addressing: rank here -> rank in the world, filled as ranks are met
    uint32_t peer_mask, peer_used;
    uint64_t communicator;  // communicator_id, once asked for
    int neighbor_count;     // -1 = not asked yet
    int* neighbors;  // ranks in the world that neighborhood collectives send to; -1 = none on that side
    struct group* next;
};
void groups_start(void);
struct group* group_of_comm(MPI_Comm comm);  // NULL = no memory
struct group* group_of_win(MPI_Win win);
int world_rank(struct group* group, int rank);  // -1: not in this MPI_COMM_WORLD

// ---- neighbors.c -----------------------------------------------------------------------------------------
void neighbors_find(struct group* group, MPI_Comm comm);

// ---- persistent.c: what a request stands for, noted at each start ----------------------------------------
void post(enum kind kind, int peer, int64_t bytes);  // into the counters, or into the plan being made
void post_collective(enum operation operation, uint64_t communicator, int root, int64_t bytes);
void plan_begin(void);
void plan_end(MPI_Request request);
void plan_play(MPI_Request request);
void plan_forget(MPI_Request request);

// ---- note.c, note_collective.c, note_onesided.c: what each call means ------------------------------------
struct counts {
    const int* small;
    const MPI_Count* large;
};  // of which one is set
struct types {
    const MPI_Datatype* c;
    const MPI_Fint* fortran;
};
static inline struct counts int_counts(const int* counts) { return (struct counts){counts, 0}; }
static inline struct types c_types(const MPI_Datatype* types) { return (struct types){types, 0}; }
static inline struct types fortran_types(const MPI_Fint* types) { return (struct types){0, types}; }
static inline struct counts large_counts(const MPI_Count* counts) { return (struct counts){0, counts}; }
static inline struct counts fortran_counts(
    const MPI_Fint* counts) {  // MPI may have been built with 8-byte integers
    return sizeof *counts == sizeof(int) ? int_counts((const int*)counts)
                                         : large_counts((const MPI_Count*)counts);
}
int64_t count_at(struct counts counts, int i);
MPI_Datatype type_at(struct types types, int i);
int64_t bytes_of(int64_t count, MPI_Datatype type);
bool in_place(const void* buffer);

void note_send(MPI_Comm comm, int dest, int64_t count, MPI_Datatype type);
void note_partitioned(MPI_Comm comm, int dest, int64_t partitions, int64_t count, MPI_Datatype type);
void note_neighbors(MPI_Comm comm, int64_t count, MPI_Datatype type);
void note_neighbors_v(MPI_Comm comm, struct counts counts, MPI_Datatype type);
void note_neighbors_w(MPI_Comm comm, struct counts counts, struct types types);

void note_put(MPI_Win win, int target, int64_t count, MPI_Datatype type);
void note_get(MPI_Win win, int target, int64_t count, MPI_Datatype type);
void note_get_accumulate(MPI_Win win, int target, int64_t count, MPI_Datatype type, int64_t result_count,
                         MPI_Datatype result_type, MPI_Op op);
void note_fetch_and_op(MPI_Win win, int target, MPI_Datatype type, MPI_Op op);
void note_compare_and_swap(MPI_Win win, int target, MPI_Datatype type);

void note_collective(enum operation operation, MPI_Comm comm, int root, int64_t count, MPI_Datatype type);
void note_blocks(enum operation operation, MPI_Comm comm, int root, const void* buffer, int64_t count,
                 MPI_Datatype type, int64_t other_count, MPI_Datatype other_type);
void note_total(enum operation operation, MPI_Comm comm, struct counts counts, MPI_Datatype type);
void note_total_block(MPI_Comm comm, int64_t count, MPI_Datatype type);
void note_gatherv(MPI_Comm comm, int root, int64_t count, MPI_Datatype type);
void note_scatterv(MPI_Comm comm, int root, struct counts counts, MPI_Datatype type);
void note_alltoallv(MPI_Comm comm, const void* sendbuf, struct counts sends, MPI_Datatype sendtype,
                    struct counts receives, MPI_Datatype recvtype);
void note_alltoallw(MPI_Comm comm, const void* sendbuf, struct counts sends, struct types sendtypes,
                    struct counts receives, struct types recvtypes);

// ---- block.c, gather.c, partial.c, others.c: out of the process ------------------------------------------
/// Where words go: a file, or memory that grows.
struct sink {
    int file;        // -1 = memory
    int64_t* words;  // memory, or a buffer before the file
    uint64_t capacity, used, written;
    bool failed;
};
void block_write(struct sink* sink, bool complete);  // async-signal-safe into a file
extern const char record_file_head[32];
bool sink_flush(struct sink* sink);
bool gather_to_file(const char* folder);  // collective
void partial_prepare(const char* folder);
bool partial_is_expected(void);  // in this process, not in a forked child
/// Once; the other ranks of this node are asked for theirs.
void partial_leave(const char* how, int number);
void partial_leaving(const char* how, int number);  // it will, unless MPI_Finalize still comes
void partial_release(void);
void others_ask(const char* folder);  // async-signal-safe

// ---- fatal.c ---------------------------------------------------------------------------------------------
void fatal_start(void);
void fatal_finish(void);

// ---- marks.c ---------------------------------------------------------------------------------------------
__attribute__((format(printf, 1, 2))) void mark(const char* format, ...);
void mark_other_mpi(void);

// ---- fortran.c -------------------------------------------------------------------------------------------
const void* fortran_in_place(void);

#endif
