// SPDX-License-Identifier: BSD-3-Clause
// Writes the counts of one rank as a block, and defines the file format.
//
// A recording is the 32-byte header "topoloom-recording 3\n" (zero-filled), then one block per rank, in any order. All
// numbers are 64-bit signed integers. The first word of a block determines the byte order.
//   block:        0x746f706f6c6f6f6d ("topoloom"), words in this block, rank, world size,
//                 1 if written at MPI_Finalize, nanoseconds since MPI_Init, nanoseconds inside MPI calls, lost calls,
//                 numbers of counters, records and communicators; then all counters, records and communicators
//   counter:      phase, kind (enum transfer_kind), number of the communicator or 0, peer (world rank), bytes,
//                 messages
//   record:       phase, operation (enum operation), communicator id, root or -1, bytes, calls
//   communicator: number, id, size, then 0, start, stride; or 1, world ranks in order; or 2 if rank 0 of the
//                 communicator writes its members
// `bytes` of a record is the size of the message (bcast, reduce, allreduce, scan, exscan), of the block of one rank
// (gather, scatter, allgather, alltoall), or the sum over all ranks (allgatherv, reduce_scatter).
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record.h"

enum { header_words = 11, length_word = 1, counters_word = 8 };

const char record_file_header[32] = "topoloom-recording 3\n";

bool flush_sink(struct sink* sink) {
    const char* bytes = (const char*)sink->words;
    size_t left = sink->used * sizeof *sink->words;
    while (left > 0 && !sink->failed) {
        const ssize_t done = write(sink->file, bytes, left);
        if (done <= 0) {
            sink->failed = true;
            break;
        }
        bytes += done;
        left -= (size_t)done;
    }
    sink->used = 0;
    return !sink->failed;
}

static void append_word(struct sink* sink, int64_t word) {
    if (sink->failed) return;
    if (sink->used == sink->capacity) {
        if (sink->file >= 0) {
            flush_sink(sink);
        } else {
            const uint64_t capacity = sink->capacity == 0 ? 1024 : 2 * sink->capacity;
            int64_t* words = realloc(sink->words, capacity * sizeof *words);
            sink->failed = words == NULL;
            if (sink->failed) return;
            sink->words = words;
            sink->capacity = capacity;
        }
    }
    sink->words[sink->used++] = word;
    ++sink->written;
}

static int64_t append_counters(struct sink* sink) {
    int64_t count = 0;
    for (const struct phase* phase = record_phases; phase != NULL; phase = phase->next) {
        const struct counter_table* table = phase->counters;
        for (uint64_t i = 0; i <= table->mask; ++i) {
            const struct counter* counter = &table->slots[i];
            if (counter->key == 0) continue;
            append_word(sink, phase->level);
            append_word(sink, (int64_t)((counter->key - 1) & 7));
            append_word(sink, (int64_t)((counter->key - 1) >> 34));
            append_word(sink, (int64_t)((counter->key - 1) >> 3 & INT32_MAX));
            append_word(sink, counter->bytes);
            append_word(sink, counter->messages);
            ++count;
        }
    }
    return count;
}

static int64_t append_collectives(struct sink* sink) {
    int64_t count = 0;
    for (const struct phase* phase = record_phases; phase != NULL; phase = phase->next) {
        const struct collective_table* table = phase->collectives;
        for (uint64_t i = 0; i <= table->mask; ++i) {
            const struct collective_counter* counter = &table->slots[i];
            if (counter->count == 0) continue;
            append_word(sink, phase->level);
            append_word(sink, counter->operation);
            append_word(sink, (int64_t)counter->communicator);
            append_word(sink, counter->root);
            append_word(sink, counter->bytes);
            append_word(sink, counter->count);
            ++count;
        }
    }
    return count;
}

static int64_t append_communicators(struct sink* sink) {
    int64_t count = 0;
    for (const struct communicator* comm = record_communicators; comm != NULL; comm = comm->next, ++count) {
        append_word(sink, comm->number);
        append_word(sink, (int64_t)comm->id);
        append_word(sink, comm->size);
        append_word(sink, !comm->is_listed ? 2 : comm->members != NULL);
        if (comm->is_listed && comm->members == NULL) {
            append_word(sink, comm->start);
            append_word(sink, comm->stride);
        }
        for (int i = 0; comm->members != NULL && i < comm->size; ++i) append_word(sink, comm->members[i]);
    }
    return count;
}

void write_rank_block(struct sink* sink, bool is_complete) {
    const struct durations durations = get_durations();
    const int64_t header[header_words] = {0x746f706f6c6f6f6d,
                                          0,
                                          record_rank,
                                          record_size,
                                          is_complete,
                                          durations.run,
                                          durations.calls,
                                          record_lost,
                                          0,
                                          0,
                                          0};
    const uint64_t first = sink->written;
    const off_t offset = sink->file >= 0 ? lseek(sink->file, 0, SEEK_END) : 0;
    for (int i = 0; i < header_words; ++i) append_word(sink, header[i]);
    int64_t counts[3];
    counts[0] = append_counters(sink);
    counts[1] = append_collectives(sink);
    counts[2] = append_communicators(sink);
    const int64_t length = (int64_t)(sink->written - first);
    if (sink->file < 0) {
        if (sink->failed) return;
        sink->words[first + length_word] = length;
        memcpy(&sink->words[first + counters_word], counts, sizeof counts);
        return;
    }
    // Patch the lengths now: other threads may have counted during writing.
    if (!flush_sink(sink)) return;
    const off_t word = sizeof(int64_t);
    sink->failed = pwrite(sink->file, &length, sizeof length, offset + length_word * word) != sizeof length ||
                   pwrite(sink->file, counts, sizeof counts, offset + counters_word * word) != sizeof counts;
}
