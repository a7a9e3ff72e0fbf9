// SPDX-License-Identifier: BSD-3-Clause
// Makes every kind of MPI 3 call that moves data, on 4 ranks, with one phase per kind, so that
// edges are known exactly.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { room = 4096 };
static char out[room], in[room];
static int me;

static int get_next_rank(void) { return (me + 1) % 4; }
static int get_previous_rank(void) { return (me + 3) % 4; }

static void start_phase(int level) {
    PMPI_Barrier(MPI_COMM_WORLD);
    MPI_Pcontrol(level);
}

static void call_blocking_sends(void) {
    MPI_Request posted;
    MPI_Send(out, 100, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    if (me == 1) MPI_Irecv(in, 9, MPI_BYTE, 0, 9, MPI_COMM_WORLD, &posted);
    PMPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) {
        static char attached[room];
        void* detached;
        int size = room;
        MPI_Buffer_attach(attached, size);
        MPI_Send(out, 3, MPI_INT, 1, 0, MPI_COMM_WORLD);
        MPI_Ssend(out, 5, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        MPI_Bsend(out, 7, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        MPI_Rsend(out, 9, MPI_BYTE, 1, 9, MPI_COMM_WORLD);
        MPI_Buffer_detach(&detached, &size);
    }
    if (me == 1) {
        for (int i = 0; i < 3; ++i) MPI_Recv(in, room, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&posted, MPI_STATUS_IGNORE);
    }
}

static void call_nonblocking_sends(void) {
    static char attached[room];
    void* detached;
    int size = room;
    MPI_Request requests[8];
    for (int i = 0; i < 4; ++i)
        MPI_Irecv(in + 64 * i, 64, MPI_BYTE, get_previous_rank(), i, MPI_COMM_WORLD, &requests[i]);
    PMPI_Barrier(MPI_COMM_WORLD);
    MPI_Buffer_attach(attached, size);
    MPI_Isend(out, 8, MPI_BYTE, get_next_rank(), 0, MPI_COMM_WORLD, &requests[4]);
    MPI_Issend(out, 16, MPI_BYTE, get_next_rank(), 1, MPI_COMM_WORLD, &requests[5]);
    MPI_Ibsend(out, 32, MPI_BYTE, get_next_rank(), 2, MPI_COMM_WORLD, &requests[6]);
    MPI_Irsend(out, 64, MPI_BYTE, get_next_rank(), 3, MPI_COMM_WORLD, &requests[7]);
    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
    MPI_Buffer_detach(&detached, &size);
}

static void call_persistent_sends(void) {
    static char attached[room];
    void* detached;
    int size = room;
    MPI_Request receives[4], sends[4];
    MPI_Buffer_attach(attached, size);
    for (int i = 0; i < 4; ++i)
        MPI_Recv_init(in + 64 * i, 64, MPI_BYTE, get_previous_rank(), i, MPI_COMM_WORLD, &receives[i]);
    MPI_Send_init(out, 1, MPI_BYTE, get_next_rank(), 0, MPI_COMM_WORLD, &sends[0]);
    MPI_Ssend_init(out, 2, MPI_BYTE, get_next_rank(), 1, MPI_COMM_WORLD, &sends[1]);
    MPI_Bsend_init(out, 4, MPI_BYTE, get_next_rank(), 2, MPI_COMM_WORLD, &sends[2]);
    MPI_Rsend_init(out, 8, MPI_BYTE, get_next_rank(), 3, MPI_COMM_WORLD, &sends[3]);
    for (int round = 0; round < 3; ++round) {
        MPI_Startall(4, receives);
        PMPI_Barrier(MPI_COMM_WORLD);
        if (round == 0)
            MPI_Startall(4, sends);
        else
            for (int i = 0; i < 4; ++i) MPI_Start(&sends[i]);
        MPI_Waitall(4, sends, MPI_STATUSES_IGNORE);
        MPI_Waitall(4, receives, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < 4; ++i) MPI_Request_free(&sends[i]);
    for (int i = 0; i < 4; ++i) MPI_Request_free(&receives[i]);
    // Freed handles may be reused: these receives must not count as the earlier sends.
    for (int i = 0; i < 4; ++i)
        MPI_Recv_init(in, 64, MPI_BYTE, MPI_PROC_NULL, i, MPI_COMM_WORLD, &receives[i]);
    MPI_Startall(4, receives);
    MPI_Waitall(4, receives, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 4; ++i) MPI_Request_free(&receives[i]);
    MPI_Buffer_detach(&detached, &size);
}

static void call_sendrecv(void) {
    MPI_Sendrecv(out, 11, MPI_BYTE, get_next_rank(), 0, in, 11, MPI_BYTE, get_previous_rank(), 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv_replace(in, 13, MPI_BYTE, get_previous_rank(), 0, get_next_rank(), 0, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    MPI_Sendrecv(out, 6, MPI_BYTE, me, 0, in, 6, MPI_BYTE, me, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void send_first_to_second(MPI_Comm comm, int bytes) {
    int rank;
    MPI_Comm_rank(comm, &rank);
    if (rank == 0) MPI_Send(out, bytes, MPI_BYTE, 1, 0, comm);
    if (rank == 1) MPI_Recv(in, bytes, MPI_BYTE, 0, 0, comm, MPI_STATUS_IGNORE);
}

static void send_in_communicators(void) {
    MPI_Comm parity, twin, half;
    MPI_Comm_split(MPI_COMM_WORLD, me % 2, -me, &parity);  // {2, 0} and {3, 1}
    send_first_to_second(parity, 17);
    MPI_Comm_dup(parity, &twin);
    MPI_Comm_free(&parity);
    send_first_to_second(twin, 1);
    MPI_Comm_free(&twin);
    MPI_Comm_split(MPI_COMM_WORLD, me / 2, me, &half);  // {0, 1} and {2, 3}, possibly with equal handles
    send_first_to_second(half, 19);
    MPI_Comm_disconnect(&half);
}

static void send_between_groups(void) {
    MPI_Comm half, across;
    MPI_Comm_split(MPI_COMM_WORLD, me / 2, me, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, me < 2 ? 2 : 0, 7, &across);
    if (me < 2)
        MPI_Send(out, 23, MPI_BYTE, me, 0, across);
    else
        MPI_Recv(in, 23, MPI_BYTE, me - 2, 0, across, MPI_STATUS_IGNORE);
    if (me == 3) MPI_Send(out, 29, MPI_BYTE, 0, 0, across);
    if (me == 0) MPI_Recv(in, 29, MPI_BYTE, 1, 0, across, MPI_STATUS_IGNORE);
    MPI_Comm_free(&across);
    MPI_Comm_free(&half);
}

static void call_neighborhood_collectives(void) {
    const int dims[1] = {4}, line[1] = {0};
    int counts[2] = {1, 2}, back[2] = {2, 1}, places[2] = {0, 100};
    MPI_Comm cart, ring, star;
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, line, 0, &cart);  // a line: 0 - 1 - 2 - 3
    MPI_Neighbor_allgather(out, 31, MPI_BYTE, in, 31, MPI_BYTE, cart);
    MPI_Neighbor_alltoallv(out, counts, places, MPI_INT, in, back, places, MPI_INT, cart);  // 1 down, 2 up
    const int source[1] = {get_previous_rank()}, target[1] = {get_next_rank()}, weight[1] = {1};
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, source, weight, 1, target, weight, MPI_INFO_NULL, 0,
                                   &ring);
    MPI_Request request;
    MPI_Ineighbor_alltoall(out, 37, MPI_BYTE, in, 37, MPI_BYTE, ring, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    const int one[1] = {1};
    const MPI_Aint nowhere[1] = {0};
    const MPI_Datatype type[1] = {MPI_DOUBLE};
    MPI_Neighbor_alltoallw(out, one, nowhere, type, in, one, nowhere, type, ring);
    const int index[4] = {3, 4, 5, 6}, edges[6] = {1, 2, 3, 0, 0, 0};  // from and to rank 0
    MPI_Graph_create(MPI_COMM_WORLD, 4, index, edges, 0, &star);
    const int all_ones[4] = {1, 1, 1, 1}, offsets[4] = {0, 1, 2, 3};
    MPI_Neighbor_allgatherv(out, 1, MPI_SHORT, in, all_ones, offsets, MPI_SHORT, star);
    MPI_Comm_free(&star);
    MPI_Comm_free(&ring);
    MPI_Comm_free(&cart);
}

static void call_one_sided(void) {
    static int memory[room];
    int value = 5, compare = 0, results[8];
    MPI_Win win;
    MPI_Request request;
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    if (me == 0) {
        MPI_Put(out, 41, MPI_BYTE, 1, 0, 41, MPI_BYTE, win);
        MPI_Get(in, 43, MPI_BYTE, 2, 0, 43, MPI_BYTE, win);
        MPI_Accumulate(results, 5, MPI_INT, 3, 0, 5, MPI_INT, MPI_SUM, win);
        MPI_Put(out, 99, MPI_BYTE, MPI_PROC_NULL, 0, 99, MPI_BYTE, win);
    }
    MPI_Win_fence(0, win);
    if (me == 1) {
        MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, win);
        MPI_Get_accumulate(memory, 2, MPI_INT, results, 2, MPI_INT, 2, 0, 2, MPI_INT, MPI_SUM, win);
        MPI_Get_accumulate(NULL, 0, MPI_INT, results, 3, MPI_INT, 2, 4, 3, MPI_INT, MPI_NO_OP, win);
        MPI_Win_unlock(2, win);
        MPI_Win_lock(MPI_LOCK_SHARED, 3, 0, win);
        MPI_Fetch_and_op(&value, results, MPI_INT, 3, 0, MPI_SUM, win);
        MPI_Compare_and_swap(&value, &compare, results, MPI_INT, 3, 9, win);
        MPI_Win_unlock(3, win);
    }
    if (me == 2) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        MPI_Rput(out, 51, MPI_BYTE, 0, 0, 51, MPI_BYTE, win, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Rget(in, 53, MPI_BYTE, 0, 0, 53, MPI_BYTE, win, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Raccumulate(memory, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Rget_accumulate(memory, 1, MPI_INT, results, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win,
                            &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Win_unlock(0, win);
    }
    MPI_Win_free(&win);
    MPI_Comm reversed;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -me, &reversed);
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, reversed, &win);
    MPI_Win_fence(0, win);
    if (me == 3) MPI_Put(out, 61, MPI_BYTE, 2, 0, 61, MPI_BYTE, win);  // to rank 1 of the world
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    MPI_Comm_free(&reversed);
}

static void call_vector_collectives(void) {
    int sends[4], receives[4], send_places[4], receive_places[4];
    MPI_Datatype types[4] = {MPI_BYTE, MPI_BYTE, MPI_BYTE, MPI_BYTE};
    for (int peer = 0; peer < 4; ++peer) {
        sends[peer] = 10 * me + peer;
        receives[peer] = 10 * peer + me;
        send_places[peer] = receive_places[peer] = 100 * peer;
    }
    MPI_Alltoallv(out, sends, send_places, MPI_BYTE, in, receives, receive_places, MPI_BYTE, MPI_COMM_WORLD);
    MPI_Alltoallw(out, sends, send_places, types, in, receives, receive_places, types, MPI_COMM_WORLD);
    for (int peer = 0; peer < 4; ++peer) receives[peer] = me + peer;
    MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_BYTE, in, receives, receive_places, MPI_SHORT,
                  MPI_COMM_WORLD);
    for (int peer = 0; peer < 4; ++peer) receives[peer] = peer + 1;
    MPI_Gatherv(out, me + 1, MPI_BYTE, in, receives, receive_places, MPI_BYTE, 2, MPI_COMM_WORLD);
    MPI_Request request;
    MPI_Iscatterv(out, receives, receive_places, MPI_INT, in, me + 1, MPI_INT, 1, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void call_collectives(void) {
    const int counts[4] = {1, 2, 3, 4}, places[4] = {0, 10, 20, 30};
    MPI_Comm half;
    MPI_Request request;
    for (int i = 0; i < 3; ++i) MPI_Bcast(out, 25, MPI_INT, 2, MPI_COMM_WORLD);
    MPI_Ibcast(out, 25, MPI_INT, 2, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Reduce(out, in, 7, MPI_INT, MPI_SUM, 1, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, in, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0)
        MPI_Gather(MPI_IN_PLACE, 0, MPI_BYTE, in, 9, MPI_BYTE, 0, MPI_COMM_WORLD);
    else
        MPI_Gather(out, 9, MPI_BYTE, NULL, 0, MPI_BYTE, 0, MPI_COMM_WORLD);
    MPI_Scatter(out, 15, MPI_BYTE, in, 15, MPI_BYTE, 3, MPI_COMM_WORLD);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_BYTE, in, 21, MPI_BYTE, MPI_COMM_WORLD);
    MPI_Allgatherv(out, me + 1, MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD);
    MPI_Alltoall(out, 33, MPI_BYTE, in, 33, MPI_BYTE, MPI_COMM_WORLD);
    MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Reduce_scatter_block(out, in, 5, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Scan(out, in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Exscan(out, in, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Comm_split(MPI_COMM_WORLD, me / 2, -me, &half);  // {1, 0} and {3, 2}
    MPI_Bcast(out, 50, MPI_BYTE, 0, half);
    MPI_Comm_free(&half);
}

int main(int argc, char** argv) {
    int size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 4) return 2;
    void (*const parts[])(void) = {
        call_blocking_sends,     call_nonblocking_sends, call_persistent_sends,         call_sendrecv,
        send_in_communicators,   send_between_groups,    call_neighborhood_collectives, call_one_sided,
        call_vector_collectives, call_collectives};
    for (int i = 0; i < (int)(sizeof parts / sizeof parts[0]); ++i) {
        start_phase(i + 1);
        parts[i]();
    }
    MPI_Finalize();
    return 0;
}
