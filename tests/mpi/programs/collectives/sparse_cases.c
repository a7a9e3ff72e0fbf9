// SPDX-License-Identifier: BSD-3-Clause
// Sparse exchanges. Usage:
// sparse_cases SEED CASES: random exchanges, compared with MPI_Alltoallv of the dense matrix
// sparse_cases many CALLS: many calls on one communicator
// sparse_cases crossed: concurrent with other messages and collectives
// sparse_cases wrong WHICH: a wrong argument on all ranks; WHICH `returned`: all mistakes, with
// MPI_ERRORS_RETURN
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <topoloom_collective.h>
#include <topoloom_exchange.h>

#include "shared_random.h"

static void require(int right, const char* what, long number) {
    if (right) return;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fprintf(stderr, "case %ld: %s is wrong on rank %d\n", number, what, rank);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

// ---- types -------------------------------------------------------------------------------------------------------

/// A sent element equals `times` received elements; send counts are multiples of `step`.
struct pair_of_types {
    MPI_Datatype sent, received;
    int times, step;
};
enum { type_count = 5, widest = 40, before = 64 };
#ifdef SMPI_H
enum { drawn_types = 2 };  // SimGrid's MPI_Alltoallv misplaces elements with gaps
#else
enum { drawn_types = type_count };
#endif
static struct pair_of_types types[type_count];

static void make_types(void) {
    MPI_Datatype strided, shifted, pair, gap, mixed;
    MPI_Type_vector(3, 2, 4, MPI_SHORT, &strided);
    MPI_Type_create_resized(strided, -4, 40, &shifted);  // lower bound below the address, gap at the end
    MPI_Type_contiguous(2, MPI_UINT64_T, &pair);
    MPI_Type_create_resized(pair, 0, 24, &gap);
    MPI_Type_indexed(2, (int[]){1, 2}, (int[]){3, 0}, MPI_INT, &mixed);  // decreasing displacements
    MPI_Type_free(&strided);
    MPI_Type_free(&pair);
    MPI_Type_commit(&shifted);
    MPI_Type_commit(&gap);
    MPI_Type_commit(&mixed);
    types[0] = (struct pair_of_types){MPI_INT, MPI_INT, 1, 1};
    types[1] = (struct pair_of_types){MPI_BYTE, MPI_BYTE, 1, 1};
    types[2] = (struct pair_of_types){shifted, shifted, 1, 1};
    types[3] = (struct pair_of_types){gap, MPI_UINT64_T, 2, 1};
    types[4] = (struct pair_of_types){MPI_INT, mixed, 1, 3};
}

static void free_types(void) {
    MPI_Type_free(&types[2].sent);
    MPI_Type_free(&types[3].sent);
    MPI_Type_free(&types[4].received);
}

// ---- a case ------------------------------------------------------------------------------------------------------

enum pattern {
    empty,
    few,
    to_one,
    to_self,
    to_all,
    repeated,
    bundled,
    without_length,
    ring,
    big,
    pattern_count
};
enum { most_messages = 256 };

struct message_list {
    int count, destinations[most_messages], counts[most_messages], displs[most_messages];
    int elements;  // total length of the buffer
};

static void add_message(struct message_list* sent, int destination, int count) {
    if (sent->count == most_messages) return;
    sent->destinations[sent->count] = destination;
    sent->counts[sent->count++] = count;
}

static void draw_messages(enum pattern pattern, const struct pair_of_types* type, int rank, int ranks,
                          struct message_list* sent) {
    // Lengths around the limits between bundled messages, separate messages, and messages in parts.
    static const int lengths[] = {1, 3, 60, 255, 258, 1023, 1026, 6000, 20001};
    static const int long_ones[] = {4194303, 4194304, 4194306, 8388608};
    enum { bundled_bytes = 1024 };
    const int step = type->step;
    int size = 0;
    MPI_Type_size(type->sent, &size);
    sent->count = 0;
    const int one = (int)draw(ranks), often = 1 + (int)draw(4), length = lengths[draw(9)] / step * step;
    const int long_one = long_ones[draw(4)] / step * step;
    for (int i = 0; i < rank; ++i) draw(2);  // from here on, ranks draw different numbers
    const int other = (int)draw(ranks);
    switch (pattern) {
        case few:
            for (int i = 0; i < often; ++i) add_message(sent, (int)draw(ranks), (int)draw(8) * step);
            break;
        case to_one:
            if (draw(8) > 0) add_message(sent, one, length);
            break;
        case to_self:
            if (draw(3) > 0) add_message(sent, rank, length);
            break;
        case to_all:
            for (int i = 0; i < ranks; ++i) add_message(sent, (rank + i) % ranks, (int)draw(5) * step);
            break;
        case repeated:
            for (int i = 0; i < 8; ++i)
                add_message(sent, draw(2) ? other : one, draw(3) ? (int)draw(9) * step : length);
            break;
        case bundled:  // each short, together long
            for (int i = 0; i < 8; ++i) add_message(sent, other, bundled_bytes / size / step * step);
            break;
        case without_length:
            for (int i = 0; i < often; ++i) add_message(sent, (int)draw(ranks), 0);
            break;
        case ring:
            add_message(sent, (rank + 1) % ranks, length);
            add_message(sent, (rank + ranks - 1) % ranks, step);
            break;
        case big:
            if (rank < 2) add_message(sent, other, long_one);
            break;
        default:
            break;
    }
}

/// Places messages in order, or in reverse order with gaps.
static int set_displacements(struct message_list* sent, int backward) {
    sent->elements = 0;
    for (int n = 0; n < sent->count; ++n) {
        const int i = backward ? sent->count - 1 - n : n;
        sent->displs[i] = sent->elements;
        sent->elements += sent->counts[i] + backward;
    }
    return backward;
}

static char* allocate_buffer(int64_t elements) {
    const size_t bytes = (size_t)(elements + 1) * widest + 2 * before;
    char* memory = malloc(bytes);
    memset(memory, 0x5a, bytes);
    return memory;
}

struct received_messages {
    int count, *sources, *counts;
    int elements;
    char* memory;
};

/// Computes displacements of consecutive blocks; returns the total count.
static int compute_displacements(const int* counts, int* displs, int ranks) {
    int sum = 0;
    for (int i = 0; i < ranks; ++i) {
        displs[i] = sum;
        sum += counts[i];
    }
    return sum;
}

/// Performs the same exchange by dense collectives: message counts first, then lengths, then data.
static struct received_messages exchange_densely(const struct message_list* sent, const char* buffer,
                                                 const struct pair_of_types* type, MPI_Comm comm, int ranks) {
    int* lists = calloc(8 * (size_t)ranks, sizeof *lists);
    int *out = lists, *out_at = out + ranks, *in = out_at + ranks, *in_at = in + ranks;
    int *give = in_at + ranks, *give_at = give + ranks, *take = give_at + ranks, *take_at = take + ranks;
    MPI_Aint low, extent;
    MPI_Type_get_extent(type->sent, &low, &extent);
    for (int i = 0; i < sent->count; ++i) {
        ++out[sent->destinations[i]];
        give[sent->destinations[i]] += sent->counts[i];
    }
    const int outgoing = compute_displacements(out, out_at, ranks);
    int* lengths = malloc(((size_t)outgoing + 1) * sizeof *lengths);
    char* dense = allocate_buffer(compute_displacements(give, give_at, ranks));
    int next = 0;
    for (int destination = 0, at = 0; destination < ranks; ++destination) {
        for (int i = 0; i < sent->count; ++i) {
            if (sent->destinations[i] != destination) continue;
            lengths[next++] = sent->counts[i] * type->times;
            memcpy(dense + before + at * extent + low, buffer + before + sent->displs[i] * extent + low,
                   (size_t)(sent->counts[i] * extent));
            at += sent->counts[i];
        }
    }
    struct received_messages expected = {0};
    MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm);
    expected.count = compute_displacements(in, in_at, ranks);
    expected.sources = malloc(((size_t)expected.count + 1) * sizeof(int));
    expected.counts = malloc(((size_t)expected.count + 1) * sizeof(int));
    MPI_Alltoallv(lengths, out, out_at, MPI_INT, expected.counts, in, in_at, MPI_INT, comm);
    // One type's element is `times` of the other's, or counts are multiples of `step`.
    for (int source = 0, i = 0; source < ranks; ++source) {
        for (int n = 0; n < in[source]; ++n, ++i) {
            expected.sources[i] = source;
            expected.counts[i] /= type->step;
            take[source] += expected.counts[i];
        }
    }
    expected.elements = compute_displacements(take, take_at, ranks);
    expected.memory = allocate_buffer(expected.elements);
    MPI_Alltoallv(dense + before, give, give_at, type->sent, expected.memory + before, take, take_at,
                  type->received, comm);
    free(dense);
    free(lengths);
    free(lists);
    return expected;
}

/// Packs elements without their gaps.
static char* pack_elements(const char* buffer, int elements, MPI_Datatype type, MPI_Comm comm, int* length) {
    int size = 0;
    MPI_Pack_size(elements, type, comm, &size);
    char* bytes = malloc((size_t)size + 1);
    *length = 0;
    if (elements > 0) MPI_Pack(buffer, elements, type, bytes, size, length, comm);
    return bytes;
}

static void run_case(long number, MPI_Comm comm) {
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    const struct pair_of_types* type = &types[draw(drawn_types)];
    enum pattern pattern = (enum pattern)draw(pattern_count);
    // Big messages are rare, and exclude types with an extent of 40 or 24 bytes.
    if (pattern == big && (draw(6) > 0 || type->sent == types[2].sent || type->sent == types[3].sent))
        pattern = few;
    struct message_list sent;
    const uint64_t backward = draw(2), kept = chance;
    draw_messages(pattern, type, rank, ranks, &sent);
    chance = kept + 12345;
    const int has_displs = set_displacements(&sent, (int)backward);
    char* buffer = allocate_buffer(sent.elements);
    for (int64_t i = 0; i < (sent.elements + 1) * (int64_t)widest; ++i)
        buffer[i] = (char)(i * 7 + rank * 131 + (i >> 8) * (rank + 3) + number);
    const struct received_messages expected = exchange_densely(&sent, buffer, type, comm, ranks);
    int count, *sources, *counts;
    char* data;
    const int status = topoloom_sparse_exchange(sent.count, sent.destinations, sent.counts, buffer + before,
                                                has_displs ? sent.displs : NULL, type->sent, &count, &sources,
                                                &counts, &data, type->received, comm);
    require(status == MPI_SUCCESS, "the status", number);
    require(count == expected.count, "the number of messages", number);
    for (int i = 0; i < count; ++i) {
        require(sources[i] == expected.sources[i], "a source", number);
        require(counts[i] == expected.counts[i], "a count", number);
    }
    int length, expected_length;
    char* bytes = pack_elements(data, expected.elements, type->received, comm, &length);
    char* expected_bytes =
        pack_elements(expected.memory + before, expected.elements, type->received, comm, &expected_length);
    require(length == expected_length && memcmp(bytes, expected_bytes, (size_t)length) == 0, "the data",
            number);
    topoloom_sparse_free(&sources, &counts, &data);
    require(sources == NULL && counts == NULL && data == NULL, "a pointer after it is freed", number);
    free(bytes);
    free(expected_bytes);
    free(buffer);
    free(expected.sources);
    free(expected.counts);
    free(expected.memory);
}

static void run_cases(uint64_t seed, long cases) {
    enum { comm_count = 3 };
    int rank, ranks;
    MPI_Comm comms[comm_count];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, ranks - rank, &comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comms[2]);
    make_types();
    for (long i = 0; i < cases; ++i) {
        chance = seed * 1000003 + (uint64_t)i;
        run_case(i, comms[draw(comm_count)]);
    }
    free_types();
    for (int i = 0; i < comm_count; ++i) MPI_Comm_free(&comms[i]);
    if (rank == 0) printf("%ld cases are equal\n", cases);
}

/// A rank's data differ from call to call, so that a message of another call would be detected.
static void call_repeatedly(long calls) {
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks, one = 1;
    for (long call = 0; call < calls; ++call) {
        const long sent = call * ranks + rank;
        int count, *sources, *counts;
        long* data;
        topoloom_sparse_exchange((call + rank) % 3 > 0, &next, &one, &sent, NULL, MPI_LONG, &count, &sources,
                                 &counts, &data, MPI_LONG, MPI_COMM_WORLD);
        require(count == ((call + previous) % 3 > 0), "the number of messages", call);
        if (count > 0)
            require(sources[0] == previous && data[0] == call * ranks + previous, "the data", call);
        topoloom_sparse_free(&sources, &counts, &data);
    }
    if (rank == 0) printf("%ld calls are right\n", calls);
}

// ---- among others ------------------------------------------------------------------------------------------------

/// Exchanges among concurrent messages of the program, with any tag. Half of the ranks complete a collective
/// before they enter the exchange; the other ranks must progress the collective inside the exchange.
static void cross_rounds(void) {
    int rank, ranks, count, *sources, *counts;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    enum { rounds = 40, block = 3000 };
    int* given = malloc((size_t)ranks * block * sizeof *given);
    int* taken = malloc((size_t)ranks * block * sizeof *taken);
    for (int round = 0; round < rounds; ++round) {
        int other = -1, *data, sent[2] = {rank + round, -round};
        const int destinations[] = {(rank + round) % ranks, rank}, ones[] = {1, 1};
        MPI_Request requests[2];
        topoloom_request collective;
        MPI_Irecv(&other, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);
        for (int i = 0; i < ranks * block; ++i) given[i] = rank * 7 + i + round;
        topoloom_ialltoall(given, block, MPI_INT, taken, block, MPI_INT, MPI_COMM_WORLD, &collective);
        const int waits_first = (rank + round) % 2;
        if (waits_first) topoloom_wait(&collective, MPI_STATUS_IGNORE);
        topoloom_sparse_exchange(2, destinations, ones, sent, NULL, MPI_INT, &count, &sources, &counts, &data,
                                 MPI_INT, MPI_COMM_WORLD);
        int mark = 1000 + rank;
        MPI_Isend(&mark, 1, MPI_INT, (rank + 1) % ranks, round, MPI_COMM_WORLD, &requests[1]);
        if (!waits_first) topoloom_wait(&collective, MPI_STATUS_IGNORE);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        require(other == 1000 + (rank + ranks - 1) % ranks, "the program's message", round);
        require(count == 2, "the number of messages", round);
        int from = (rank + ranks - round % ranks) % ranks;
        for (int i = 0; i < 2; ++i) {
            const int is_own = from == rank ? i == 1 : sources[i] == rank;
            require(data[i] == (is_own ? -round : from + round), "the data", round);
        }
        for (int i = 0; i < ranks * block; ++i)
            require(taken[i] == i / block * 7 + rank * block + i % block + round, "the alltoall", round);
        topoloom_sparse_free(&sources, &counts, &data);
    }
    free(given);
    free(taken);
    if (rank == 0) puts("crossed rounds are right");
}

// ---- wrong arguments ---------------------------------------------------------------------------------------------

static int make_invalid_call(const char* which) {
    int ranks, count, *sources, *counts, zero = 0, one = 1, less = -1, none;
    long data = 0, *received;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    none = ranks;
#define CALL(number, to, lengths, buffer, sent, got)                                                  \
    topoloom_sparse_exchange(number, to, lengths, buffer, NULL, sent, &count, &sources, &counts, got, \
                             MPI_LONG, MPI_COMM_WORLD)
    if (strcmp(which, "number") == 0) return CALL(-2, &zero, &one, &data, MPI_LONG, &received);
    if (strcmp(which, "destination") == 0) return CALL(1, &none, &one, &data, MPI_LONG, &received);
    if (strcmp(which, "count") == 0) return CALL(1, &zero, &less, &data, MPI_LONG, &received);
    if (strcmp(which, "list") == 0) return CALL(1, NULL, &one, &data, MPI_LONG, &received);
    if (strcmp(which, "buffer") == 0) return CALL(1, &zero, &one, NULL, MPI_LONG, &received);
    if (strcmp(which, "type") == 0) return CALL(1, &zero, &one, &data, MPI_DATATYPE_NULL, &received);
    if (strcmp(which, "address") == 0) return CALL(1, &zero, &one, &data, MPI_LONG, NULL);
    return CALL(1, &zero, &one, &data, MPI_CHAR, &received);  // MPI_CHAR is too short for a long
#undef CALL
}

static void check_returned_errors(void) {
    static const struct wrong {
        const char* which;
        int error_class;
    } all[] = {{"number", MPI_ERR_COUNT}, {"destination", MPI_ERR_RANK}, {"count", MPI_ERR_COUNT},
               {"list", MPI_ERR_ARG},     {"buffer", MPI_ERR_BUFFER},    {"type", MPI_ERR_TYPE},
               {"address", MPI_ERR_ARG}};
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
        require(make_invalid_call(all[i].which) == all[i].error_class, all[i].which, (long)i);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    // Only rank 0 receives truncated data; the next exchange is not affected.
    const int status = make_invalid_call("length");
    require(status == (rank == 0 ? MPI_ERR_TRUNCATE : MPI_SUCCESS), "length", 0);
    call_repeatedly(3);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    if (argc == 3 && strcmp(argv[1], "many") == 0) {
        call_repeatedly(atol(argv[2]));
    } else if (argc == 2 && strcmp(argv[1], "crossed") == 0) {
        cross_rounds();
    } else if (argc == 3 && strcmp(argv[1], "wrong") == 0) {
        if (strcmp(argv[2], "returned") == 0) {
            check_returned_errors();
        } else {
            make_invalid_call(argv[2]);
        }
    } else {
        run_cases(strtoull(argv[1], NULL, 10), atol(argv[2]));
    }
    MPI_Finalize();
    return 0;
}
