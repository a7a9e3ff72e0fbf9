// SPDX-License-Identifier: BSD-3-Clause
// Internal interfaces of libtopoloom-stream. Functions of type int return MPI error codes or TOPOLOOM_STREAM_*.
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

/// Flag in the address of an item whose bucket is sent at once.
static const uint32_t urgent_bit = 1U << 31;

/// Message tags: first two alternating sets with one tag per axis, used before and after a change of the mesh; then the
/// tags of waves and network measurements.
enum { tag_up = 2 * max_axes, tag_down, tag_small, tag_large };

enum {
    // Maximum number of messages in flight to a next hop that does not receive, to bound MPI's memory. MPI buffers only
    // the envelope of a large message, so more large messages are allowed.
    max_in_flight_small = 4,
    max_in_flight_large = 16,
    large_bytes = 16384,
    max_incoming_buckets = 4,
};

/// A message buffer. The message begins at `stamp`.
struct bucket {
    alignas(64) struct bucket* next;
    int hop, axis;
    int bytes;      // bytes of the items
    int delivered;  // bytes of items already delivered or forwarded
    char padding[32];
    struct stamp stamp;
    char items[];
};
static_assert(offsetof(struct bucket, items) == 64, "items are aligned");
static_assert(offsetof(struct bucket, stamp) + sizeof(struct stamp) == 64, "a message has no gaps");

/// A first-in, first-out queue.
struct queue {
    struct bucket *first, *last;
};

/// A next hop: a rank to which this rank sends directly.
struct hop {
    int rank, axis;
    struct bucket* open;          // bucket being filled; its fill level is in the fast path
    struct bucket* last_checked;  // open bucket at the last check of flush timeouts
    struct queue full;            // full buckets, which wait for sends in flight
    int in_flight;
};

struct incoming {
    MPI_Request request;
    struct bucket* bucket;
    bool is_counted;  // whether the bucket is received and counted as received
};

/// Each axis has separate buckets, so that waiting for buckets of one axis cannot block lower axes.
struct axis {
    int first_hop, hop_count;
    struct bucket* free_buckets;
    int bucket_count, max_buckets;                   // to send
    struct incoming incoming[max_incoming_buckets];  // ring buffer
    int first_incoming, incoming_count, max_incoming;
};

/// Values that a wave sums over all ranks. On the way down, settings of the next phase replace all but the first two
/// values; 0 dimensions: no change.
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

/// A reduction along the tree of ranks: sums are sent from children to parent, totals from parent to children.
struct wave {
    enum wave_state state;
    int64_t own[wave_value_count], from_children[max_children][wave_value_count], sums[wave_value_count];
    MPI_Request requests[1 + max_children];
    int request_count;
};

/// State of an idle rank at its last check for an idle flush. If the state is unchanged at the next check, the buckets
/// are sent.
struct idle_flush {
    double next_check;
    int64_t sent;
    long long filled_bytes;
};

/// For how long a rank that is done, or blocked in a push, has made no progress.
struct stall {
    double timeout, since;  // timeout: 0 = never; since: 0 = restart the measurement
};

/// Traffic of this rank in the phase; input of the cost model.
struct phase_traffic {
    int64_t items, bytes;  // delivered
    int64_t destinations;  // number of ranks pushed to
};

/// Automatic choice of mesh, bucket size and flush timeout.
struct tuning {
    bool is_enabled, is_bucket_fixed, is_timeout_fixed;
    double alpha, beta;  // seconds per message and per byte
    int min_bucket_bytes;
    bool* is_destination;  // by rank
};

struct stream {
    topoloom_stream_fast_path fast;
    MPI_Comm comm;
    int rank, ranks;
    int local_hop;   // hop to this rank itself: for own items, and for forwarded items that have arrived
    int final_hops;  // items for next hops below this end there, so they have no address
    topoloom_stream_handler* handler;
    void* context;
    int bucket_bytes, payload_bytes;  // maximum bytes of a message, and of its items
    long long memory_bytes;           // limit; 0: none
    double flush_timeout, next_flush_check;
    struct idle_flush idle_flush;
    struct stall stall;
    struct phase_traffic traffic;
    struct tuning tuning;
    int* order;          // ranks node by node; NULL: the program specifies the mesh
    int ranks_per_node;  // 0: nodes differ
    struct mesh mesh;
    uint32_t* next_hops;
    struct hop* hops;
    int hop_count;
    int first_tag;  // tag of axis 0; alternates with each change of the mesh, because ranks change it at different times
    struct axis axes[max_axes];
    int axis_count;
    MPI_Request* sends;            // requests in flight, unordered
    struct bucket** sent_buckets;  // bucket of each request in `sends`
    int send_count, next_send;
    int max_in_flight;   // maximum number of messages in flight to a next hop
    struct queue local;  // full buckets that this rank sends to itself
    struct quiescence quiescence;
    struct wave wave;
    bool is_done, has_ended, is_advancing, is_in_handler;
    bool is_blocked;  // whether a push is waiting for bucket space
    long long bytes, peak_bytes;
    struct stream* next;            // link in the process's list of streams
    struct process_state* process;  // NULL after MPI_Finalize
};

/// The streams of a process.
struct process_state {
    struct stream* streams;
    int handlers;  // number of running handlers, which may be nested
};

static inline struct stream* get_stream(topoloom_stream handle) { return (struct stream*)handle; }

// ---- process.c ---------------------------------------------------------------------------------------------------
int register_stream(struct stream* stream);
void unregister_stream(struct stream* stream);
static inline bool is_finalized(const struct stream* stream) { return stream->process == NULL; }
/// Whether a handler of any stream of the process is running.
bool is_process_in_handler(const struct stream* stream);
void enter_handler(struct stream* stream);
void leave_handler(struct stream* stream);

// ---- node_order.c ------------------------------------------------------------------------------------------------
/// Finds a rank order node by node, unless the options specify the mesh. Collective.
int find_rank_order(struct stream* stream, const topoloom_stream_options* options);
/// Chooses extents of a mesh for this order.
void choose_extents_by_node(const struct stream* stream, int dimensions, int* extents);

// ---- layout.c ----------------------------------------------------------------------------------------------------
/// Computes the mesh specified by the options. Returns a description of an invalid option, or NULL.
const char* compute_mesh_layout(struct stream* stream, const topoloom_stream_options* options, char* reason,
                                size_t size);
/// Sets a mesh with valid extents.
void set_mesh(struct stream* stream, int dimensions, const int* extents);
/// Hashes the values that must be equal on all ranks.
int hash_layout(const struct stream* stream, const int* order);
/// Sets the rank of each next hop, and the next hop to each rank.
void assign_hops(struct stream* stream, const int* order);

// ---- buckets.c ---------------------------------------------------------------------------------------------------
/// Allocates a bucket. Returns NULL if memory is exhausted.
struct bucket* allocate_bucket(struct stream* stream, int axis);
/// Acquires a free bucket, or allocates one. Exceeds the limit only if `may_exceed`. Returns NULL if no bucket is
/// available.
struct bucket* acquire_bucket(struct stream* stream, int axis, bool may_exceed);
void release_bucket(struct stream* stream, struct bucket* bucket);
void enqueue(struct queue* queue, struct bucket* bucket);
struct bucket* dequeue(struct queue* queue);

// ---- send.c ------------------------------------------------------------------------------------------------------
/// Sends the open bucket of a next hop now, or after the sends in flight.
int close_bucket(struct stream* stream, int hop);
int flush_all_buckets(struct stream* stream);
/// Sends buckets of an idle rank that have not changed since the last check.
int flush_idle_buckets(struct stream* stream);
/// Sends buckets that have waited longer than the flush timeout.
int flush_timed_out_buckets(struct stream* stream);
int complete_sends(struct stream* stream, bool* has_progressed);
/// Returns the bytes in the open bucket of a next hop.
ptrdiff_t get_filled_bytes(const struct stream* stream, int hop);
/// Whether any items are in a bucket or in flight.
bool has_unsent_items(const struct stream* stream);

// ---- records.c: items in buckets, with their address and length -------------------------------------------------
int get_record_bytes(const struct stream* stream, int hop, int item_bytes);
/// Reserves space for a record to a next hop. If the open bucket has no space, it is sent. `space` is NULL if no bucket
/// is available; never if `may_exceed` the limit.
int reserve_record(struct stream* stream, int hop, int bytes, bool may_exceed, char** space);
/// Writes a record to reserved space. `address` is the destination rank, possibly with urgent_bit.
void write_record(struct stream* stream, int hop, char* space, const void* item, int bytes, uint32_t address);

// ---- receive.c ---------------------------------------------------------------------------------------------------
int receive_buckets(struct stream* stream, bool* has_progressed);
/// Forwards items to next hops, and delivers items for this rank to the handler.
int deliver_arrivals(struct stream* stream, bool* has_progressed);
bool has_undelivered_items(const struct stream* stream);
/// Returns the next item for a program that pulls, valid until the next call. `item` is NULL if no item has arrived.
int pull_item(struct stream* stream, const void** item, int* bytes);

// ---- layout_memory.c ---------------------------------------------------------------------------------------------
enum { max_default_bucket_bytes = 65536 };
int get_default_bucket_bytes(int hops, bool has_limit);
/// Minimum memory limit: one bucket to send and one to receive per axis.
long long get_min_memory(int axes, int bucket_bytes);
bool fits_memory(long long memory_bytes, int axes, int bucket_bytes);
/// Divides the memory limit into buckets. On each axis, up to a third of the buckets is for receiving.
void divide_memory(struct stream* stream);
/// Allocates the memory of a mesh, except for send buckets. Returns false if memory is exhausted.
bool allocate_layout(struct stream* stream);
void free_layout(struct stream* stream);
/// Assigns next hops, and enables inline pushes if possible.
void enable_fast_path(struct stream* stream, const int* order);
/// Replaces the mesh; called between two phases.
int change_layout(struct stream* stream, int dimensions, int bucket_bytes);

// ---- tuning.c ----------------------------------------------------------------------------------------------------
int choose_initial_dimensions(const struct stream* stream);
/// Measures alpha and beta unless the program specifies them. Collective.
int measure_network(struct stream* stream);
/// Chooses settings of the next phase from the sums over all ranks, on rank 0. Replaces the sums by the settings.
void choose_settings(const struct stream* stream, int64_t sums[wave_value_count]);
/// Applies new settings at the end of a phase.
int apply_settings(struct stream* stream, const int64_t sums[wave_value_count]);

// ---- wave.c ------------------------------------------------------------------------------------------------------
/// Begins a wave. `has_begun` is false if sums of the previous wave are still in flight.
int begin_wave(struct stream* stream, const int64_t values[wave_value_count], bool* has_begun);
/// Advances the wave without waiting.
int advance_wave(struct stream* stream, bool* has_sums);
/// Waits until the last sums have been sent to the children.
int finish_wave(struct stream* stream);
/// Lists the children whose messages are outstanding, or else the parent. Returns the number of listed ranks.
int list_awaited_ranks(const struct stream* stream, int ranks[max_children]);

// ---- stall.c -----------------------------------------------------------------------------------------------------
/// Raises an error after the stall timeout if this rank is done, or blocked in a push.
int check_stall(struct stream* stream, bool has_progressed);

// ---- advance.c ---------------------------------------------------------------------------------------------------
/// Advances a stream without waiting. `is_polling` means that the program has no items to push.
int advance_stream(struct stream* stream, bool is_polling, bool* has_progressed);
/// Advances all streams of the process. Yields the CPU if there was no progress.
int advance_all_streams(struct stream* stream, bool is_polling);

#endif
