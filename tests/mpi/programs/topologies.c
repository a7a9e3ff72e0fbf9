// SPDX-License-Identifier: BSD-3-Clause
// Creates topologies of every kind with reorder=1. Checks that each process has the neighbors,
// weights and coordinates of its new rank, and prints sums of neighborhood collectives. The order
// must affect neither. The base communicator is the world, the reversed world, or half of it.
// Usage: topologies [TOPOLOGIES]. The last lines describe the order: `topologies moved N`, `moved
// N` ranks, `between hosts N` neighbors.
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { most = 6 };
static int topologies_moved, moved, between_hosts;
static MPI_Comm base;  // base of the next topology; `size` and `rank` refer to it
static int size, rank;
static MPI_Info info;

static uint32_t hash_numbers(uint32_t a, uint32_t b, uint32_t c) {
    uint32_t x = a * 0x9e3779b1u ^ b * 0x85ebca77u ^ c * 0xc2b2ae3du;
    x = (x ^ x >> 15) * 0x2c1b3c6du;
    return x ^ x >> 13;
}

static void require(int holds, const char* what, int seed) {
    if (holds) return;
    printf("topology %d: wrong %s on rank %d\n", seed, what, rank);
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

// ---- expected neighbors of rank r, computable on every process ------------------------------------------
static int compute_degree(int seed, int r) { return (int)(hash_numbers(seed, r, 77) % most); }
static int compute_target(int seed, int r, int i) {  // near r in a scrambled order of the ranks
    const int stride = 1 + (int)(hash_numbers(seed, 1, 2) % (unsigned)size);
    return (int)((r * 1u + (unsigned)stride * (1 + hash_numbers(seed, r, i) % 3)) % (unsigned)size);
}
static int compute_weight(int seed, int r, int i) { return 1 + (int)(hash_numbers(seed + 1, r, i) % 1000); }

static void exchange_with_neighbors(MPI_Comm comm, int seed, int in, int out) {
    int now = 0;
    MPI_Comm_rank(comm, &now);
    int moves = now != rank, anyone = 0;
    moved += moves;
    MPI_Reduce(&moves, &anyone, 1, MPI_INT, MPI_MAX, 0, comm);
    topologies_moved += anyone;
    int *sent = malloc((out + 1) * sizeof(int)), *got = malloc((in + 1) * sizeof(int));
    for (int i = 0; i < out; ++i) sent[i] = (int)(hash_numbers(seed, now, i) % 1000);
    for (int i = 0; i < in; ++i) got[i] = 0;
    MPI_Neighbor_alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, comm);
    long long sum = 0, total = 0;
    for (int i = 0; i < in; ++i) sum += (long long)got[i] * (1 + now);
    MPI_Reduce(&sum, &total, 1, MPI_LONG_LONG, MPI_SUM, 0, comm);
    if (now == 0) printf("topology %d: %lld\n", seed, total);
    char host[64] = "";
    gethostname(host, sizeof host - 1);
    int mine = 0;
    for (const char* c = host; *c; ++c) mine = mine * 31 + *c;
    for (int i = 0; i < in; ++i) got[i] = mine;
    MPI_Neighbor_allgather(&mine, 1, MPI_INT, got, 1, MPI_INT, comm);
    for (int i = 0; i < in; ++i) between_hosts += got[i] != mine;
    free(sent);
    free(got);
}

static void check_cart(int seed) {
    int dims[3] = {0}, periods[3], ndims = 1 + (int)(hash_numbers(seed, 3, 4) % 3), expected[3], got[3],
        old[3], around[3];
    const int used = size > 3 && seed % 4 == 0 ? size - 1 : size;  // one process is not in the topology
    MPI_Dims_create(used, ndims, dims);
    for (int i = 0; i < ndims; ++i) periods[i] = (int)(hash_numbers(seed, i, 5) % 2);
    MPI_Comm comm;
    MPI_Cart_create(base, ndims, dims, periods, 1, &comm);
    require((comm == MPI_COMM_NULL) == (rank >= used), "choice of processes", seed);
    if (comm == MPI_COMM_NULL) return;
    int now = 0, rest = 0;
    MPI_Comm_rank(comm, &now);
    MPI_Cart_get(comm, ndims, old, around, got);
    rest = now;
    for (int i = ndims; i-- > 0; rest /= dims[i]) expected[i] = rest % dims[i];
    require(memcmp(got, expected, ndims * sizeof(int)) == 0, "coordinates", seed);
    require(memcmp(old, dims, ndims * sizeof(int)) == 0, "extents", seed);
    for (int i = 0; i < ndims; ++i) require(!around[i] == !periods[i], "periods", seed);
    exchange_with_neighbors(comm, seed, 2 * ndims, 2 * ndims);
    MPI_Comm_free(&comm);
}

static void check_graph(int seed) {
    const int used = size > 2 && seed % 4 == 1 ? size - 1 : size;
    int *index = malloc(used * sizeof(int)), *edges = malloc((size_t)used * 2 * sizeof(int)), count = 0;
    const int stride = 1 + (int)(hash_numbers(seed, 6, 7) % (unsigned)used);
    for (int r = 0; r < used; ++r) {  // symmetric: neighbors at +-stride
        edges[count++] = (r + stride) % used;
        edges[count++] = (r + used - stride % used) % used;
        index[r] = count;
    }
    MPI_Comm comm;
    MPI_Graph_create(base, used, index, edges, 1, &comm);
    require((comm == MPI_COMM_NULL) == (rank >= used), "choice of processes", seed);
    if (comm != MPI_COMM_NULL) {
        int now = 0, neighbors[2], own = 0;
        MPI_Comm_rank(comm, &now);
        MPI_Graph_neighbors_count(comm, now, &own);
        require(own == 2, "degree", seed);
        MPI_Graph_neighbors(comm, now, 2, neighbors);
        require(memcmp(neighbors, edges + 2 * now, sizeof neighbors) == 0, "neighbors", seed);
        exchange_with_neighbors(comm, seed, 2, 2);
        MPI_Comm_free(&comm);
    }
    free(index);
    free(edges);
}

struct lists {
    int in, out, *sources, *source_weights, *targets, *target_weights;
};

static struct lists make_expected_lists(int seed, int r) {
    const int room = size * most + 1;
    int* all = calloc(2 * (size_t)room + 2 * most, sizeof(int));
    struct lists l = {0, compute_degree(seed, r), all, all + room, all + 2 * room, all + 2 * room + most};
    for (int i = 0; i < l.out; ++i) {
        l.targets[i] = compute_target(seed, r, i);
        l.target_weights[i] = compute_weight(seed, r, i);
    }
    for (int s = size; s-- > 0;)  // in descending order, which no MPI library uses
        for (int i = 0; i < compute_degree(seed, s); ++i)
            if (compute_target(seed, s, i) == r) {
                l.sources[l.in] = s;
                l.source_weights[l.in++] = compute_weight(seed, s, i);
            }
    return l;
}

static int compare_pairs(const void* a, const void* b) { return memcmp(a, b, 2 * sizeof(int)); }
static void sort_pairs(int* ranks, int* weights, int count) {
    int (*pairs)[2] = malloc((count + 1) * sizeof *pairs);
    for (int i = 0; i < count; ++i) pairs[i][0] = ranks[i], pairs[i][1] = weights[i];
    qsort(pairs, count, sizeof *pairs, compare_pairs);
    for (int i = 0; i < count; ++i) ranks[i] = pairs[i][0], weights[i] = pairs[i][1];
    free(pairs);
}

static void check_lists(MPI_Comm comm, int seed, int weighted, int in_order) {
    int now = 0, in = 0, out = 0, has = 0;
    MPI_Comm_rank(comm, &now);
    struct lists want = make_expected_lists(seed, now), have = make_expected_lists(seed, now);
    MPI_Dist_graph_neighbors_count(comm, &in, &out, &has);
    require(in == want.in && out == want.out, "degree", seed);
    require(!has == !weighted, "weightedness", seed);
    MPI_Dist_graph_neighbors(comm, in, have.sources, have.source_weights, out, have.targets,
                             have.target_weights);
    if (!in_order) {
        sort_pairs(want.sources, want.source_weights, in);
        sort_pairs(want.targets, want.target_weights, out);
        sort_pairs(have.sources, have.source_weights, in);
        sort_pairs(have.targets, have.target_weights, out);
    }
    require(memcmp(want.sources, have.sources, in * sizeof(int)) == 0, "sources", seed);
    require(memcmp(want.targets, have.targets, out * sizeof(int)) == 0, "destinations", seed);
    if (weighted) {
        require(memcmp(want.source_weights, have.source_weights, in * sizeof(int)) == 0, "source weights",
                seed);
        require(memcmp(want.target_weights, have.target_weights, out * sizeof(int)) == 0, "weights", seed);
    }
    free(want.sources);
    free(have.sources);
    exchange_with_neighbors(comm, seed, in, out);
}

static void check_dist_graph_adjacent(int seed) {
    struct lists l = make_expected_lists(seed, rank);
    const int weighted = hash_numbers(seed, 8, 9) % 2;
    int* from = !weighted ? MPI_UNWEIGHTED : l.in == 0 ? MPI_WEIGHTS_EMPTY : l.source_weights;
    int* to = !weighted ? MPI_UNWEIGHTED : l.out == 0 ? MPI_WEIGHTS_EMPTY : l.target_weights;
    MPI_Comm comm;
    MPI_Dist_graph_create_adjacent(base, l.in, l.sources, from, l.out, l.targets, to, info, 1, &comm);
    check_lists(comm, seed, weighted, 1);
    MPI_Comm_free(&comm);
    free(l.sources);
}

static void check_dist_graph(int seed) {  // each process passes the edges of the next process
    int source = (rank + 1) % size;
    struct lists l = make_expected_lists(seed, source);
    const int weighted = hash_numbers(seed, 8, 9) % 2, n = l.out > 0;
    MPI_Comm comm;
    MPI_Dist_graph_create(base, n, &source, &l.out, l.targets,
                          !weighted ? MPI_UNWEIGHTED
                          : n == 0  ? MPI_WEIGHTS_EMPTY
                                    : l.target_weights,
                          info, 1, &comm);
    check_lists(comm, seed, weighted, 0);
    MPI_Comm_free(&comm);
    free(l.sources);
}

static void choose_base(int seed) {
    int old = 0, color = 0, key = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &old);
    if (seed % 3 == 1) key = -old;
    if (seed % 3 == 2) color = old % 2;
    MPI_Comm_split(MPI_COMM_WORLD, color, key, &base);
    MPI_Comm_size(base, &size);
    MPI_Comm_rank(base, &rank);
    info = MPI_INFO_NULL;
    if (seed % 5 < 3) return;
    MPI_Info_create(&info);
    MPI_Info_set(info, "topologies", "known to nobody");
}

static void free_base(void) {
    if (info != MPI_INFO_NULL) MPI_Info_free(&info);
    MPI_Comm_free(&base);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const int count = argc > 1 ? atoi(argv[1]) : 20;
    static void (*const kinds[])(int) = {check_cart, check_graph, check_dist_graph_adjacent,
                                         check_dist_graph};
    // Each kind of topology gets all variants of seeds.
    for (int i = 0; i < count; ++i) {
        choose_base(i / 4);
        kinds[i % 4](i + i / 4 % 4);
        free_base();
    }
    int sums[3] = {topologies_moved, moved, between_hosts}, all[3];
    MPI_Reduce(sums, all, 3, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) printf("topologies moved %d\nmoved %d\nbetween hosts %d\n", all[0], all[1], all[2]);
    MPI_Finalize();
    return 0;
}
