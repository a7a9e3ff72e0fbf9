// SPDX-License-Identifier: BSD-3-Clause
// Internal interfaces of libtopoloom-stream. Functions that return int return MPI error codes or TOPOLOOM_STREAM_*.
#ifndef TOPOLOOM_STREAM_PARTS_H
#define TOPOLOOM_STREAM_PARTS_H

#include <assert.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>

#include "errors.h"
#include "mesh.h"
#include "quiescence.h"
#include "topoloom_stream.h"

/// Set in the address of an item whose bucket leaves at once.
static const uint32_t urgent_bit = 1U << 31;

/// Tags: two sets of one per axis, used alternately as the mesh changes; then those of waves and of network measurement.
enum { tag_up = 2 * max_axes, tag_down, tag_small, tag_large };

enum {
    // Limits messages in flight to a next hop that does not receive, so that MPI's memory is bounded, too. MPI buffers only
    // the envelope of a large message, so more of these are allowed.
    max_in_flight_small = 4,
    max_in_flight_large = 16,
    large_bytes = 16384,
    max_incoming_buckets = 4,
};

/// A message buffer. The message begins with the stamp.
struct bucket {
    alignas(64) struct bucket* next;
    int hop, axis;
    int bytes;      // of the items
    int delivered;  // bytes of items delivered or forwarded
    char padding[32];
    struct stamp stamp;
    char items[];
};
static_assert(offsetof(struct bucket, items) == 64, "items are aligned");
static_assert(offsetof(struct bucket, stamp) + sizeof(struct stamp) == 64, "a message has no gaps");

/// First in, first out.
struct queue {
    struct bucket *first, *last;
};

/// A next hop: a rank that this one sends to directly.
struct hop {
    int rank, axis;
    struct bucket* open;          // being filled; the fast path knows how full it is
    struct bucket* last_checked;  // the open one at the last check of flush timeouts
    struct queue full;            // wait until fewer are in flight
    int in_flight;
};

struct incoming {
    MPI_Request request;
    struct bucket* bucket;
    bool is_counted;  // complete, and counted as received
};

/// Each axis has buckets of its own: waiting for those of one axis never depends on those of lower axes.
struct axis {
    int first_hop, hop_count;
    struct bucket* free_buckets;
    int bucket_count, max_buckets;                   // to send
    struct incoming incoming[max_incoming_buckets];  // ring buffer
    int first_incoming, incoming_count, max_incoming;
};

/// Values that a wave sums over all ranks. On the way down, settings of the next phase replace all but the first two;
/// 0 dimensions: no change.
enum {
    wave_sent,
    wave_received,
    wave_items,
    wave_bytes,
    wave_partners,
    wave_value_count,
    wave_dimensions = wave_items,
    wave_bucket_bytes = wave_bytes,
    wave_flush_timeout = wave_partners  // ns
};

enum { max_children = 2 };
enum wave_state { wave_gathering, wave_waiting };

/// A reduction along the tree of ranks: sums go from children to the parent, and totals come back.
struct wave {
    enum wave_state state;
    int64_t own[wave_value_count], from_children[max_children][wave_value_count], sums[wave_value_count];
    MPI_Request requests[1 + max_children];
    int request_count;
};

/// State of an idle rank at its last check for an idle flush: unchanged at the next one, its buckets leave.
struct idle_flush {
    double next_check;
    int64_t sent;
    long long filled_bytes;
};

/// How long a rank that is done, or blocked in a push, has seen no progress.
struct stall {
    double timeout, since;  // timeout 0: none; since 0: restart
};

/// Traffic of this rank in the phase, for the cost model.
struct phase_traffic {
    int64_t items, bytes;  // delivered
    int64_t partners;      // ranks pushed to
};

/// Automatic choice of mesh, bucket size and flush timeout.
struct tuning {
    bool is_enabled, is_bucket_fixed, is_timeout_fixed;
    double alpha, beta;  // s per message and per byte
    int min_bucket_bytes;
    bool* is_partner;  // by rank
};

struct stream {
    topoloom_stream_fast_path fast;
    MPI_Comm comm;
    int rank, ranks;
    int local_hop;   // this rank: also the hop of forwarded items that have arrived
    int final_hops;  // next hops below this are destinations: their items have no address
    topoloom_stream_handler* handler;
    void* context;
    int bucket_bytes, payload_bytes;  // of a message, and of its items
    long long memory_bytes;           // limit; 0: none
    double flush_timeout, next_flush_check;
    struct idle_flush idle_flush;
    struct stall stall;
    struct phase_traffic traffic;
    struct tuning tuning;
    int* order;          // ranks node by node; NULL: the program determines the mesh
    int ranks_per_node;  // 0: nodes differ
    struct mesh mesh;
    uint32_t* next_hops;
    struct hop* hops;
    int hop_count;
    int first_tag;  // of axis 0; alternates with each change of the mesh, which ranks notice one by one
    struct axis axes[max_axes];
    int axis_count;
    MPI_Request* sends;            // in flight, in no order
    struct bucket** sent_buckets;  // of these requests
    int send_count, next_send;
    int max_in_flight;   // per next hop
    struct queue local;  // full buckets from this rank to itself
    struct quiescence quiescence;
    struct wave wave;
    bool is_done, has_ended, is_advancing, is_in_handler;
    bool is_blocked;  // a push waits for bucket space
    long long bytes, peak_bytes;
    struct stream* next;      // of this process
    struct process* process;  // NULL: MPI is finalized
};

/// The streams of a process.
struct process {
    struct stream* streams;
    int handlers;  // that run, nested
};

static inline struct stream* stream_of(topoloom_stream handle) { return (struct stream*)handle; }

// ---- process.c ---------------------------------------------------------------------------------------------------
int register_stream(struct stream* stream);
void unregister_stream(struct stream* stream);
static inline bool is_finalized(const struct stream* stream) { return stream->process == NULL; }
/// Whether a handler of any stream of the process runs.
bool is_process_in_handler(const struct stream* stream);
void enter_handler(struct stream* stream);
void leave_handler(struct stream* stream);

// ---- node_order.c ------------------------------------------------------------------------------------------------
/// Finds an order of ranks node by node unless the options determine the mesh. Collective.
int find_order(struct stream* stream, const topoloom_stream_options* options);
/// Chooses extents of a mesh in this order.
void choose_extents_by_node(const struct stream* stream, int dimensions, int* extents);

// ---- layout.c ----------------------------------------------------------------------------------------------------
/// Lays out the mesh that the options describe. Returns what is wrong with them, or NULL.
const char* lay_out_mesh(struct stream* stream, const topoloom_stream_options* options, char* why,
                         size_t size);
/// Lays out a mesh whose extents are valid.
void set_mesh(struct stream* stream, int dimensions, const int* extents);
/// Hashes what must be the same on all ranks.
int hash_layout(const struct stream* stream, const int* order);
/// Fills in the ranks of next hops and the next hop to each rank.
void assign_hops(struct stream* stream, const int* order);

// ---- buckets.c ---------------------------------------------------------------------------------------------------
/// Allocates a bucket. NULL: out of memory.
struct bucket* allocate_bucket(struct stream* stream, int axis);
/// Takes a free bucket, or allocates one: beyond the limit only if `may_exceed`. NULL: there is none.
struct bucket* take_bucket(struct stream* stream, int axis, bool may_exceed);
void release_bucket(struct stream* stream, struct bucket* bucket);
void enqueue(struct queue* queue, struct bucket* bucket);
struct bucket* dequeue(struct queue* queue);

// ---- send.c ------------------------------------------------------------------------------------------------------
/// Sends the open bucket of a next hop now, or after those in flight.
int close_bucket(struct stream* stream, int hop);
int flush_all(struct stream* stream);
/// On an idle rank: sends buckets that have not changed since the last check.
int flush_idle(struct stream* stream);
/// Sends buckets that have waited for the flush timeout.
int flush_late(struct stream* stream);
int complete_sends(struct stream* stream, bool* moved);
/// Bytes in the open bucket of a next hop.
ptrdiff_t filled_bytes(const struct stream* stream, int hop);
/// Whether anything is in a bucket or in flight.
bool has_unsent(const struct stream* stream);

// ---- records.c: items as they travel, with their address and length -------------------------------------------------
int record_bytes(const struct stream* stream, int hop, int item_bytes);
/// Reserves space for a record to a next hop, closing a bucket without it. NULL: none now; never if `may_exceed` the limit.
int reserve_record(struct stream* stream, int hop, int bytes, bool may_exceed, char** space);
/// Writes a record to reserved space. `address`: the destination rank, and urgent_bit.
void write_record(struct stream* stream, int hop, char* space, const void* item, int bytes, uint32_t address);

// ---- receive.c ---------------------------------------------------------------------------------------------------
int receive(struct stream* stream, bool* moved);
/// Forwards items to next hops, and delivers others to the handler.
int deliver_arrivals(struct stream* stream, bool* moved);
bool has_undelivered(const struct stream* stream);
/// Returns the next item for a program that pulls, valid until the next call. NULL: none now.
int pull_item(struct stream* stream, const void** item, int* bytes);

// ---- layout_memory.c ---------------------------------------------------------------------------------------------
enum { max_default_bucket_bytes = 65536 };
int default_bucket_bytes(int hops, bool has_limit);
/// Least memory limit: a bucket to send and one to receive per axis.
long long min_memory(int axes, int bucket_bytes);
bool fits_memory(long long memory_bytes, int axes, int bucket_bytes);
/// Divides the memory limit into buckets: a third of each axis receives, as far as useful.
void divide_memory(struct stream* stream);
/// Allocates what the mesh needs, except for buckets to send. False: out of memory.
bool allocate_layout(struct stream* stream);
void free_layout(struct stream* stream);
/// Assigns next hops, and enables the inline push where it applies.
void open_fast_path(struct stream* stream, const int* order);
/// Replaces the mesh between two phases.
int change_layout(struct stream* stream, int dimensions, int bucket_bytes);

// ---- tuning.c ----------------------------------------------------------------------------------------------------
int initial_dimensions(const struct stream* stream);
/// Measures alpha and beta unless the program gives them. Collective.
int measure_network(struct stream* stream);
/// On rank 0, with the sums over all ranks: replaces them by the settings of the next phase.
void choose_settings(const struct stream* stream, int64_t sums[wave_value_count]);
/// Applies settings at the end of a phase.
int apply_settings(struct stream* stream, const int64_t sums[wave_value_count]);

// ---- wave.c ------------------------------------------------------------------------------------------------------
/// `has_begun` is false while sums of the previous wave are in flight.
int begin_wave(struct stream* stream, const int64_t values[wave_value_count], bool* has_begun);
/// Advances the wave without waiting.
int advance_wave(struct stream* stream, bool* has_sums);
/// Waits until the last sums have reached the children.
int finish_wave(struct stream* stream);
/// Lists the children whose messages are outstanding, or else the parent. Returns how many.
int list_awaited(const struct stream* stream, int ranks[max_children]);

// ---- stall.c -----------------------------------------------------------------------------------------------------
/// Raises an error after the stall timeout on a rank that is done or blocked in a push.
int check_stall(struct stream* stream, bool moved);

// ---- advance.c ---------------------------------------------------------------------------------------------------
/// Advances a stream without waiting. `polls`: the program has nothing to push.
int advance(struct stream* stream, bool polls, bool* moved);
/// Advances all streams of the process; yields the processor if there was nothing to do.
int advance_all(struct stream* stream, bool polls);

#endif
