// SPDX-License-Identifier: BSD-3-Clause
// Exchange along a virtual mesh: parts are combined along one dimension after another.
//
// Ranks form a ring. Stage i covers digit i of the distance to the destination, in base `extent` (Bruck et al., IEEE
// TPDS 1997, section 3). So the mesh has no holes for any number of ranks. In stage i, each rank sends to all ranks at
// distances digit * extent^i, even if it has no parts for them, so that every receiver can compute its senders. With
// 2 dimensions it sends 2 (sqrt P - 1) messages (Kumar, Kale, IPDPS 2003). Long parts are only announced along the
// mesh, and sent directly.
#include <string.h>

#include "exchange.h"
#include "messages.h"

// An additional message costs about 2 us on both sides, an additional stage about 3 us. From 8 to 4,096 ranks, an
// extent of 4 is optimal or nearly so.
enum { max_extent = 4 };
// Parts of up to this many bytes are cheaper in a bundle than as a separate message.
enum { max_bundled_bytes = 1024 };
// Size of a bundle's head, which is sent first; with MPI's header it must not exceed common eager limits. The
// tail follows when the receiver knows its length.
enum { head_bytes = 4032, max_neighbors = 3 * 16 };

/// Announces a part. Bundled parts follow their entry, padded to a multiple of 8 bytes.
struct bundle_entry {
    int32_t source, destination;
    int64_t bytes;
};

/// The length of a bundle, followed by entries for a neighbor.
struct bundle {
    char* data;
    int64_t length, capacity;
};

struct neighbor {
    int distance, stage;
    struct bundle out;
    char* head;
    int64_t length;  // length of the received bundle in bytes
    MPI_Request heads[2], tails[2];
};

struct mesh {
    struct exchange* exchange;
    int extent, stages, count;
    struct neighbor neighbors[max_neighbors];
};

enum direction_index { in, out };

static void create_stages(struct mesh* mesh, int ranks) {
    int64_t reach = 1;
    for (; reach < ranks; reach *= max_extent) ++mesh->stages;
    for (reach = 1, mesh->extent = 1;
         reach < ranks;) {  // find the smallest extent that suffices for this number of stages
        ++mesh->extent;
        reach = 1;
        for (int i = 0; i < mesh->stages; ++i) reach *= mesh->extent;
    }
    int64_t step = 1;
    for (int stage = 0; stage < mesh->stages; ++stage, step *= mesh->extent) {
        for (int digit = 1; digit < mesh->extent && digit * step < ranks; ++digit) {
            mesh->neighbors[mesh->count++] = (struct neighbor){.distance = (int)(digit * step),
                                                               .stage = stage,
                                                               .heads = {MPI_REQUEST_NULL, MPI_REQUEST_NULL},
                                                               .tails = {MPI_REQUEST_NULL, MPI_REQUEST_NULL}};
        }
    }
}

/// Returns the next hop, which covers the lowest non-zero digit of the distance.
static struct neighbor* get_next_hop_neighbor(struct mesh* mesh, int distance) {
    int stage = 0;
    for (; distance % mesh->extent == 0; distance /= mesh->extent) ++stage;
    return &mesh->neighbors[stage * (mesh->extent - 1) + distance % mesh->extent - 1];
}

static int get_source(const struct mesh* mesh, const struct neighbor* neighbor) {
    const struct comm_state* state = mesh->exchange->state;
    return (int)(((int64_t)state->rank + state->ranks - neighbor->distance) % state->ranks);
}

static int get_target(const struct mesh* mesh, const struct neighbor* neighbor) {
    const struct comm_state* state = mesh->exchange->state;
    return (int)(((int64_t)state->rank + neighbor->distance) % state->ranks);
}

static int post_heads(struct mesh* mesh) {
    const struct comm_state* state = mesh->exchange->state;
    char* heads = allocate_exchange_memory(mesh->exchange, 2 * (size_t)mesh->count * head_bytes);
    if (heads == NULL) return MPI_ERR_NO_MEM;
    int status = MPI_SUCCESS;
    for (int i = 0; i < mesh->count && status == MPI_SUCCESS; ++i) {
        struct neighbor* neighbor = &mesh->neighbors[i];
        neighbor->head = heads + 2 * i * head_bytes;
        neighbor->out = (struct bundle){neighbor->head + head_bytes, sizeof(int64_t), head_bytes};
        status = PMPI_Irecv(neighbor->head, head_bytes, MPI_BYTE, get_source(mesh, neighbor),
                            mesh->exchange->bundle_tag, state->duplicate, &neighbor->heads[in]);
    }
    return status;
}

// ---- bundles -----------------------------------------------------------------------------------------------------

static int64_t get_bundled_bytes(const struct bundle_entry* entry) {
    return entry->bytes > max_bundled_bytes ? 0 : (entry->bytes + 7) / 8 * 8;
}

static int append_entry(struct exchange* exchange, struct bundle* bundle, const struct bundle_entry* entry,
                        const char* data) {
    const int64_t length = bundle->length + (int64_t)sizeof *entry + get_bundled_bytes(entry);
    if (length > bundle->capacity) {
        char* larger = allocate_exchange_memory(exchange, 2 * (size_t)length);
        if (larger == NULL) return MPI_ERR_NO_MEM;
        memcpy(larger, bundle->data, (size_t)bundle->length);
        bundle->data = larger;
        bundle->capacity = 2 * length;
    }
    char* at = bundle->data + bundle->length;
    memcpy(at, entry, sizeof *entry);
    if (get_bundled_bytes(entry) > 0) memcpy(at + sizeof *entry, data, (size_t)entry->bytes);
    bundle->length = length;
    return MPI_SUCCESS;
}

/// Appends an entry to the bundle for the next hop, or to the arrivals if this rank is the destination.
static int forward_entry(struct mesh* mesh, const struct bundle_entry* entry, const char* data) {
    const struct comm_state* state = mesh->exchange->state;
    if (entry->destination != state->rank) {
        const int64_t distance = (int64_t)entry->destination - state->rank;
        const int positive = (int)(distance < 0 ? distance + state->ranks : distance);
        return append_entry(mesh->exchange, &get_next_hop_neighbor(mesh, positive)->out, entry, data);
    }
    const char* there = entry->bytes > max_bundled_bytes ? NULL : data;
    return add_arrival(mesh->exchange, entry->source, (int)entry->bytes, there) == NULL ? MPI_ERR_NO_MEM
                                                                                        : MPI_SUCCESS;
}

static int bundle_outgoing_parts(struct mesh* mesh) {
    const struct exchange* exchange = mesh->exchange;
    int status = MPI_SUCCESS;
    for (size_t i = 0; i < exchange->outgoing_count && status == MPI_SUCCESS; ++i) {
        const struct outgoing_part* part = &exchange->outgoing[i];
        if (part->destination == exchange->state->rank) continue;
        const struct bundle_entry entry = {exchange->state->rank, part->destination, part->bytes};
        status = forward_entry(mesh, &entry, part->data);
    }
    return status;
}

static int forward_entries(struct mesh* mesh, const char* entries, int64_t length) {
    int status = MPI_SUCCESS;
    for (const char* end = entries + length; entries < end && status == MPI_SUCCESS;) {
        struct bundle_entry entry;
        memcpy(&entry, entries, sizeof entry);
        status = forward_entry(mesh, &entry, entries + sizeof entry);
        entries += (int64_t)sizeof entry + get_bundled_bytes(&entry);
    }
    return status;
}

// ---- stages ------------------------------------------------------------------------------------------------------

static int post_tail(struct mesh* mesh, char* tail, int64_t length, int peer,
                     enum message_direction direction, MPI_Request* request) {
    struct type_desc bytes;
    describe_type(MPI_BYTE, &bytes);
    const struct message message = {.type = &bytes,
                                    .count = length,
                                    .buffer = tail,
                                    .peer = peer,
                                    .tag = mesh->exchange->bundle_tag,
                                    .comm = mesh->exchange->state->duplicate};
    return post_message(&message, direction, false, request);
}

static int send_bundle(struct mesh* mesh, struct neighbor* neighbor) {
    const struct comm_state* state = mesh->exchange->state;
    struct bundle* bundle = &neighbor->out;
    const int peer = get_target(mesh, neighbor);
    memcpy(bundle->data, &bundle->length, sizeof bundle->length);
    const int64_t head = bundle->length < head_bytes ? bundle->length : head_bytes;
    const int status = PMPI_Isend(bundle->data, (int)head, MPI_BYTE, peer, mesh->exchange->bundle_tag,
                                  state->duplicate, &neighbor->heads[out]);
    if (status != MPI_SUCCESS || head == bundle->length) return status;
    return post_tail(mesh, bundle->data + head, bundle->length - head, peer, sending, &neighbor->tails[out]);
}

/// Waits for the head of a bundle, and posts a receive for the tail.
static int receive_head(struct mesh* mesh, struct neighbor* neighbor) {
    const int status = wait_for_request(mesh->exchange, &neighbor->heads[in]);
    if (status != MPI_SUCCESS) return status;
    memcpy(&neighbor->length, neighbor->head, sizeof neighbor->length);
    if (neighbor->length <= head_bytes) return MPI_SUCCESS;
    char* whole = allocate_exchange_memory(mesh->exchange, (size_t)neighbor->length);
    if (whole == NULL) return MPI_ERR_NO_MEM;
    memcpy(whole, neighbor->head, head_bytes);
    neighbor->head = whole;
    return post_tail(mesh, whole + head_bytes, neighbor->length - head_bytes, get_source(mesh, neighbor),
                     receiving, &neighbor->tails[in]);
}

static int receive_tail(struct mesh* mesh, struct neighbor* neighbor) {
    const int status = wait_for_request(mesh->exchange, &neighbor->tails[in]);
    if (status != MPI_SUCCESS) return status;
    const int64_t before = sizeof neighbor->length;
    return forward_entries(mesh, neighbor->head + before, neighbor->length - before);
}

static int for_each_in_stage(struct mesh* mesh, int stage, int (*process)(struct mesh*, struct neighbor*)) {
    int status = MPI_SUCCESS;
    for (int i = 0; i < mesh->count && status == MPI_SUCCESS; ++i)
        if (mesh->neighbors[i].stage == stage) status = process(mesh, &mesh->neighbors[i]);
    return status;
}

int exchange_by_mesh(struct exchange* exchange) {
    struct mesh mesh = {.exchange = exchange};
    create_stages(&mesh, exchange->state->ranks);
    exchange->announced_above = max_bundled_bytes;
    int status = post_heads(&mesh);
    if (status == MPI_SUCCESS) status = bundle_outgoing_parts(&mesh);
    for (int stage = 0; stage < mesh.stages && status == MPI_SUCCESS; ++stage) {
        status = for_each_in_stage(&mesh, stage, send_bundle);
        if (status == MPI_SUCCESS) status = for_each_in_stage(&mesh, stage, receive_head);
        if (status == MPI_SUCCESS) status = for_each_in_stage(&mesh, stage, receive_tail);
    }
    for (int i = 0; i < mesh.count && status == MPI_SUCCESS; ++i) {
        status = wait_for_request(exchange, &mesh.neighbors[i].heads[out]);
        if (status == MPI_SUCCESS) status = wait_for_request(exchange, &mesh.neighbors[i].tails[out]);
    }
    return status;
}
