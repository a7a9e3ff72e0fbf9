// SPDX-License-Identifier: BSD-3-Clause
// What the parts of a stream offer each other. Functions that return int return what the public ones do.
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

/// Of an address: buckets with the item leave at once.
static const uint32_t urgent_bit = 1U << 31;

/// Of messages: axes twice, as the mesh may change, and what waves and the measurement take.
enum { tag_up = 2 * most_axes, tag_down, tag_small, tag_large };

enum {
    // To a next hop that receives nothing only that much is under way: MPI's memory there is bounded, too. Of a large message
    // MPI has the head only, and more of them keep a sender from waiting for each.
    most_in_flight = 4,
    most_large_in_flight = 16,
    large_bytes = 16384,
    most_arrivals = 4,
};

/// A message with what belongs to it. It begins with the stamp.
struct bucket {
    alignas(64) struct bucket* next;
    int hop, axis;
    int bytes;      // of the items
    int delivered;  // of these
    char gap[32];
    struct stamp stamp;
    char items[];
};
static_assert(offsetof(struct bucket, items) == 64, "items are aligned");
static_assert(offsetof(struct bucket, stamp) + sizeof(struct stamp) == 64, "a message has no gaps");

/// First in, first out.
struct queue {
    struct bucket *first, *last;
};

/// The rank that items for some ranks go to next.
struct hop {
    int rank, axis;
    struct bucket* open;  // how full it is, only the front knows
    struct bucket* seen;  // open when buckets were last looked at
    struct queue full;
    int in_flight;
};

struct arrival {
    MPI_Request request;
    struct bucket* bucket;
    bool counted;  // its message has come
};

/// Hops along an axis have buckets of their own: who waits for some waits for none of the axes before it.
struct axis {
    int first_hop, hops;
    struct bucket* idle;
    int made, most;  // buckets to send
    struct arrival arrivals[most_arrivals];
    int begin, count, most_count;
};

/// What is added up over all ranks in a wave. What stands behind the first two goes back down as a choice: none is 0.
enum {
    wave_sent,
    wave_received,
    wave_items,
    wave_bytes,
    wave_partners,
    wave_values,
    wave_dimensions = wave_items,
    wave_bucket = wave_bytes,
    wave_timeout = wave_partners  // ns
};

enum { most_children = 2 };
enum wave_state { wave_gathers, wave_waits };

/// What the rank does for a wave in the tree of ranks: sums come from children, and go to the parent.
struct wave {
    enum wave_state state;
    int64_t own[wave_values], from_children[most_children][wave_values], sums[wave_values];
    MPI_Request requests[1 + most_children];
    int request_count;
};

/// Between two looks at buckets, of an idle rank: whether anything came into them.
struct lull {
    double look_at;
    int64_t sent;
    long long filled;
};

/// For how long a rank that is done, or whose push finds no room, has waited in vain.
struct silence {
    double patience, since;  // 0: for ever; there is none now
};

/// What this rank has done in the phase, for the model.
struct tally {
    int64_t items, bytes;  // delivered
    int64_t partners;      // ranks that were pushed to
};

/// Where the program leaves the mesh to a model.
struct choice {
    bool is_open, is_bucket_given, is_timeout_given;
    double alpha, beta;  // of the network: s per message and per byte
    int least_bucket;
    bool* is_partner;  // by rank
};

struct stream {
    topoloom_stream_front front;
    MPI_Comm comm;
    int rank, ranks, own_hop;  // to itself: where items of other ranks go, too, when they are there
    int last_hops;             // in hops below it items end, and have no address
    topoloom_stream_handler* handler;
    void* context;
    int bucket_bytes, room;  // of a message, and of the items in it
    long long memory_bytes;  // that is given
    double timeout, look_at;
    struct lull lull;
    struct silence silence;
    struct tally tally;
    struct choice choice;
    int *order,
        node_share;  // ranks along nodes, where the mesh follows them, and how many each has; 0: they differ
    struct mesh mesh;
    uint32_t* next_hops;  // what front.hops shows
    struct hop* hops;
    int hop_count;
    int first_tag;  // of messages along axis 0: another after each change of the mesh, which ranks learn one by one
    struct axis axes[most_axes];
    int axis_count;
    MPI_Request* flights;   // sends under way, in no order
    struct bucket** flown;  // by these
    int flight_count, next_flight;
    int most_in_flight;  // to a hop
    struct queue own;    // from this rank to itself
    struct quiescence quiescence;
    struct wave tree;
    bool is_done, has_ended, is_busy, in_handler;
    bool lacks_room;  // for what the program pushes
    long long bytes, most_bytes;
    struct stream* next;      // of this process
    struct process* process;  // NULL: MPI is finalized
};

// ---- layout.c ----------------------------------------------------------------------------------------------------
/// Makes the mesh and its hops, without names. Gives what is wrong with the options, or NULL.
const char* lay_out(struct stream* stream, const topoloom_stream_options* options, char* why, size_t size);
/// The same where they are known to be right.
void lay_axes(struct stream* stream, int dimensions, const int* extents);
/// Of what has to be the same on all ranks.
int layout_hash(const struct stream* stream, const int* order);
/// Says by which hop each rank is reached, and where hops go.
void name_hops(struct stream* stream, const int* order);

// ---- nodes.c -----------------------------------------------------------------------------------------------------
/// Finds an order along the nodes where the options leave that open. Collective.
int find_order(struct stream* stream, const topoloom_stream_options* options);
/// Of a mesh that is laid along that order.
void extents_along(const struct stream* stream, int dimensions, int* extents);

// ---- create.c ----------------------------------------------------------------------------------------------------
/// Bytes of a bucket, unless the program says.
int standard_bucket(int hops, bool has_bound);
/// Whether the memory that is given is too small.
bool is_beyond(long long memory_bytes, int axes, int bucket_bytes);
/// Between two phases.
int change_layout(struct stream* stream, int dimensions, int bucket_bytes);

// ---- choice.c ----------------------------------------------------------------------------------------------------
/// Before anything is seen.
int first_dimensions(const struct stream* stream);
/// What the program has not given of alpha and beta. Collective.
int measure_network(struct stream* stream);
/// Of rank 0, when the sums over all ranks are there: writes the choice for the next phase into them.
void choose_next(const struct stream* stream, int64_t sums[wave_values]);
/// When a phase has ended.
int follow_choice(struct stream* stream, const int64_t sums[wave_values]);

// ---- buckets.c ---------------------------------------------------------------------------------------------------
static inline struct stream* behind(topoloom_stream stream) { return (struct stream*)stream; }
/// NULL: there is no memory.
struct bucket* make_bucket(struct stream* stream, int axis);
void drop_bucket(struct stream* stream, struct bucket* bucket);
void append(struct queue* queue, struct bucket* bucket);
struct bucket* take_first(struct queue* queue);
/// Makes room for a record to a hop, by sending what is full; `more`: beyond the bound if need be. NULL: there is none now.
int find_room(struct stream* stream, int hop, int bytes, bool more, char** room);
/// Writes a record to the room that was found, and counts it as taken. `address`: the rank, and urgent_bit.
void write_record(struct stream* stream, int hop, char* room, const void* item, int bytes, uint32_t address);
int record_bytes(const struct stream* stream, int hop, int bytes);

// ---- send.c ------------------------------------------------------------------------------------------------------
/// Sends what is in the bucket of a hop, now or after what is under way.
int close_bucket(struct stream* stream, int hop);
int close_all(struct stream* stream);
/// Of an idle rank: sends what nothing has been added to since the last look.
int close_idle(struct stream* stream);
/// Sends what has waited for the timeout.
int close_late(struct stream* stream);
int complete_sends(struct stream* stream, bool* moved);
bool is_filled(const struct stream* stream, int hop);
/// Whether there is anything to send or under way.
bool has_unsent(const struct stream* stream);

// ---- receive.c ---------------------------------------------------------------------------------------------------
int receive(struct stream* stream, bool* moved);
/// To next hops, and to the handler.
int deliver_arrivals(struct stream* stream, bool* moved);
bool has_undelivered(const struct stream* stream);
/// The next item for the program, which it has until the next call. NULL: there is none now.
int find_pulled(struct stream* stream, const void** item, int* bytes);

// ---- wave.c ------------------------------------------------------------------------------------------------------
/// `begun`: not so while sums of the wave before are under way.
int begin_wave(struct stream* stream, const int64_t numbers[wave_values], bool* begun);
/// Takes the wave on without waiting.
int end_of_wave(struct stream* stream, bool* has_sums);
/// Waits until the last sums have gone to children, who must have had them for the phase to end.
int leave_tree(struct stream* stream);

/// Children that have not sent their sums up or taken those of all, or else the parent; gives how many.
int awaited_ranks(const struct stream* stream, int ranks[most_children]);

// ---- silence.c ---------------------------------------------------------------------------------------------------
/// An error, if a rank that is done, or whose push finds no room, has waited for longer than its patience.
int check_silence(struct stream* stream, bool moved);

// ---- step.c ------------------------------------------------------------------------------------------------------
/// What can be done without waiting.
int step(struct stream* stream, bool polls, bool* moved);
/// For all streams of the process; lets others run if there was nothing to do. `polls`: the program has nothing to push.
int step_all(struct stream* stream, bool polls);
int enter_process(struct stream* stream);
/// Whether MPI has been finalized.
bool is_finalized(const struct stream* stream);
/// Whether a handler of any of its streams runs.
bool is_in_handler(const struct stream* stream);
void begin_handler(struct stream* stream);
void end_handler(struct stream* stream);
void leave_process(struct stream* stream);

#endif
