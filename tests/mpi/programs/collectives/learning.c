// SPDX-License-Identifier: BSD-3-Clause
// Makes equal calls on all ranks, checks the results, and regularly compares the schedules that the
// ranks would choose. Communicators are freed and recreated during calls; each rank waits in its
// own order. PMPI_Wtime is replaced by an unreliable clock.
// Usage: learning CALLS SEED [poor]. poor: rank 1 has no memory for the library from the time stamp
// of a call to its end.
#define _GNU_SOURCE
#include <math.h>
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <topoloom_collective.h>

#include "library_memory.h"
#include "shared_random.h"

enum { most_bytes = 8192, most_ranks = 16, asked_every = 10, comm_count = 2, late_count = 3 };

static int rank, ranks;
static bool is_poor, lacks_memory;
static unsigned noise = 1;
static long asked_clock = 0;

static bool may_allocate(void) { return !lacks_memory; }

static unsigned draw_local(unsigned below) {  // pseudo-random, different on each rank
    noise = noise * 1664525 + 1013904223;
    return (noise >> 8) % below;
}

double PMPI_Wtime(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    ++asked_clock;
    lacks_memory = is_poor && rank == 1;
    const double seconds = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    switch (draw_local(40)) {
        case 0:
            return NAN;
        case 1:
            return 0;
        case 2:
            return -seconds;
        case 3:
            return seconds + draw_local(100000);
        case 4:
            return INFINITY;
        default:
            return seconds + 1e-6 * draw_local(20);
    }
}

enum operation { alltoall, allgather, allreduce, bcast, barrier, scan, operation_count };
static const char* const operations[] = {"alltoall", "allgather", "allreduce", "bcast", "barrier", "scan"};

/// Arguments and buffers of a call.
struct call {
    enum operation operation;
    int bytes, root;
    topoloom_request request;
    char in[most_ranks * most_bytes], out[most_ranks * most_bytes];
};

static MPI_Comm comms[comm_count];
static struct call blocking, late[late_count];
static long calls_made, wrong, renewed;

static char compute_rank_mask(int r) { return (char)(1 << r % 8); }

static void set_call(struct call* call, enum operation operation, int bytes) {
    call->operation = operation;
    call->bytes = bytes;
    call->root = (int)draw((uint64_t)ranks);
    memset(call->in, compute_rank_mask(rank), (size_t)bytes * (size_t)ranks);
    memset(call->out, 0, (size_t)bytes * (size_t)ranks);
    if (operation == bcast && rank == call->root) memset(call->out, compute_rank_mask(rank), (size_t)bytes);
}

static void draw_call(struct call* call) {
    const enum operation operation = (enum operation)draw(operation_count);
    set_call(call, operation, (int)(16 + draw(16)) << draw(9));  // powers of two and sizes between them
}

static void call_collective(struct call* call, MPI_Comm comm) {
    const int bytes = call->bytes;
    char *in = call->in, *out = call->out;
    switch (call->operation) {
        case alltoall:
            topoloom_alltoall(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, comm);
            return;
        case allgather:
            topoloom_allgather(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, comm);
            return;
        case allreduce:
            topoloom_allreduce(in, out, bytes, MPI_BYTE, MPI_BOR, comm);
            return;
        case bcast:
            topoloom_bcast(out, bytes, MPI_BYTE, call->root, comm);
            return;
        case barrier:
            topoloom_barrier(comm);
            return;
        default:
            topoloom_scan(in, out, bytes, MPI_BYTE, MPI_BOR, comm);
    }
}

static void start_collective(struct call* call, MPI_Comm comm) {
    const int bytes = call->bytes;
    char *in = call->in, *out = call->out;
    topoloom_request* request = &call->request;
    switch (call->operation) {
        case alltoall:
            topoloom_ialltoall(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, comm, request);
            return;
        case allgather:
            topoloom_iallgather(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, comm, request);
            return;
        case allreduce:
            topoloom_iallreduce(in, out, bytes, MPI_BYTE, MPI_BOR, comm, request);
            return;
        case bcast:
            topoloom_ibcast(out, bytes, MPI_BYTE, call->root, comm, request);
            return;
        case barrier:
            topoloom_ibarrier(comm, request);
            return;
        default:
            topoloom_iscan(in, out, bytes, MPI_BYTE, MPI_BOR, comm, request);
    }
}

static void check_result(const struct call* call) {
    char all = 0, up_to_here = 0;
    for (int r = 0; r < ranks; ++r) {
        all |= compute_rank_mask(r);
        if (r == rank) up_to_here = all;
    }
    const int blocks = call->operation <= allgather ? ranks : call->operation == barrier ? 0 : 1;
    for (int i = 0; i < blocks * call->bytes; ++i) {
        const char right = call->operation == bcast       ? compute_rank_mask(call->root)
                           : call->operation == allreduce ? all
                           : call->operation == scan      ? up_to_here
                                                          : compute_rank_mask(i / call->bytes);
        if (call->out[i] != right) {
            ++wrong;
            return;
        }
    }
}

static void complete_pending_call(struct call* call) {
    if (call->request == TOPOLOOM_REQUEST_NULL) return;
    topoloom_wait(&call->request, MPI_STATUS_IGNORE);
    check_result(call);
}

static void start_pending_call(struct call* call, MPI_Comm comm) {
    start_collective(call, comm);
    ++calls_made;
}

static void draw_pending_call(struct call* call, MPI_Comm comm) {
    draw_call(call);
    start_pending_call(call, comm);
}

static void call_random_collective(MPI_Comm comm) {
    call_collective(&blocking, comm);
    ++calls_made;
    lacks_memory = false;
    check_result(&blocking);
}

/// Replaces a communicator; pending calls on the old one continue.
static void replace_communicator(MPI_Comm* comm) {
    if (*comm != MPI_COMM_NULL) MPI_Comm_free(comm);
    MPI_Comm_dup(MPI_COMM_WORLD, comm);
    const char* schedule;
    if (is_poor) topoloom_schedule_of(*comm, "barrier", 0, &schedule);  // initializes the communicator
    ++renewed;
}

/// Size classes (one power of two to the next) that learn together, although their smallest and
/// largest sizes start with different schedules.
static struct {
    enum operation operation;
    int smallest;
} splits[operation_count * 9];
static int split_count;

static void find_splits(MPI_Comm comm) {
    for (int operation = 0; operation < operation_count; ++operation) {
        for (int bytes = 16; bytes < most_bytes; bytes *= 2) {
            const char *small, *large;
            topoloom_schedule_of(comm, operations[operation], bytes, &small);
            topoloom_schedule_of(comm, operations[operation], bytes / 16 * 31, &large);
            if (strcmp(small, large) == 0) continue;
            splits[split_count].operation = (enum operation)operation;
            splits[split_count++].smallest = bytes;
        }
    }
}

/// Uses a communicator for few calls and frees it. Some ranks wait for the first call before they
/// start the second. Some wait for a call on another communicator before they initialize or free
/// this one, others only after they have freed it.
static void use_short_lived_communicator(struct call* first, struct call* second, struct call* other) {
    const int split = (int)draw((uint64_t)split_count), smallest = splits[split].smallest;
    MPI_Comm comm = MPI_COMM_NULL;
    if (other->request == TOPOLOOM_REQUEST_NULL) draw_pending_call(other, comms[0]);
    replace_communicator(&comm);
    if (draw(2) == 0) {
        if (draw_local(2) == 0) complete_pending_call(other);
        topoloom_collective_fence(comm);  // waits until the communicator is initialized
    }
    draw_pending_call(first, comm);
    if (draw(4) == 0) replace_communicator(&comms[1]);  // MPI duplicates a communicator during this call
    if (draw_local(2) == 0) complete_pending_call(first);
    set_call(second, splits[split].operation, smallest);
    start_pending_call(second, comm);
    set_call(&blocking, splits[split].operation, smallest / 16 * 31);
    if (draw(4) != 0) call_random_collective(comm);
    if (draw_local(2) == 0) complete_pending_call(other);
    MPI_Comm_free(&comm);
    complete_pending_call(first);
    complete_pending_call(other);
}

/// Hashes the schedules chosen after the previous calls.
static long hash_schedules(MPI_Comm comm) {
    unsigned long hash = 0xcbf29ce484222325;
    for (int operation = 0; operation < operation_count; ++operation) {
        for (int bytes = 1; bytes <= most_bytes; bytes *= 2) {
            const char* schedule = "";
            topoloom_schedule_of(comm, operations[operation], bytes, &schedule);
            for (; *schedule != '\0'; ++schedule) hash = (hash ^ (unsigned char)*schedule) * 0x100000001b3;
        }
    }
    return (long)(hash >> 1);
}

/// Each rank waits for the other call before, during or after this one, at random.
static void run_random_step(struct call* other) {
    MPI_Comm* comm = &comms[draw(comm_count)];
    if (draw(200) == 0) replace_communicator(comm);
    const bool begins = other->request == TOPOLOOM_REQUEST_NULL;
    if (begins && draw(2) == 0) draw_pending_call(other, *comm);
    if (!begins && draw_local(2) == 0) complete_pending_call(other);
    if (draw_local(50) == 0)
        for (int i = 0; i < 20; ++i) sched_yield();
    draw_call(&blocking);
    call_random_collective(*comm);
    if (!begins) complete_pending_call(other);
    lacks_memory = is_poor && rank == 1;
    if (draw(100) == 0) topoloom_collective_fence(*comm);
    lacks_memory = false;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const long calls = atol(argv[1]);
    chance = strtoul(argv[2], NULL, 10);
    is_poor = argc > 3;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    noise = (unsigned)rank + 1;
    record_library_spans();
    for (int c = 0; c < comm_count; ++c) {
        comms[c] = MPI_COMM_NULL;
        replace_communicator(&comms[c]);
    }
    find_splits(comms[0]);
    for (int i = 0; i < late_count; ++i) late[i].request = TOPOLOOM_REQUEST_NULL;
    long disagreements = 0, changes = 0, last = 0;
    for (long turn = 1; calls_made < calls; ++turn) {
        const int which = (int)draw(late_count);
        run_random_step(&late[which]);
        if (draw(10) == 0 && split_count > 0) {
            struct call *first = &late[(which + 1) % late_count], *second = &late[(which + 2) % late_count];
            complete_pending_call(first);
            complete_pending_call(second);
            use_short_lived_communicator(first, second, &late[which]);
        }
        if (turn % asked_every != 0) continue;
        const long hash = hash_schedules(comms[0]);
        long least, most;
        MPI_Allreduce(&hash, &least, 1, MPI_LONG, MPI_MIN, MPI_COMM_WORLD);
        MPI_Allreduce(&hash, &most, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
        disagreements += least != most;
        changes += hash != last;
        last = hash;
    }
    for (int i = 0; i < late_count; ++i) complete_pending_call(&late[i]);
    for (int c = 0; c < comm_count; ++c) MPI_Comm_free(&comms[c]);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf(
            "%ld calls on %ld communicators, %d classes of two schedules, %ld wrong, %ld disagreements, %s "
            "changes, %s clock\n",
            calls, renewed, split_count, wrong, disagreements, changes > 1 ? "some" : "no",
            asked_clock > 0 ? "our" : "another");
    MPI_Finalize();
    return 0;
}
