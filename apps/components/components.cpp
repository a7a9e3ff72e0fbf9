// SPDX-License-Identifier: BSD-3-Clause
// Connected components of a distributed random graph: `components [VERTICES [EDGES [DIMENSIONS]]]`, with VERTICES and
// EDGES per rank. The virtual mesh of the streams has DIMENSIONS dimensions.
//
// Labels propagate without rounds: a vertex that receives a lower label sends it to its neighbors at once, in the
// handler. The phase ends when no label is in flight. Then the label of each vertex is the lowest vertex number in its
// component. Each rank compares its labels with those of a serial run over all edges, and rank 0 prints the rate and the
// time of the propagation on the slowest rank.
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <topoloom_stream.hpp>
#include <utility>
#include <vector>

namespace {

using Vertex = std::uint32_t;

/// Distributes vertices cyclically over ranks.
struct CyclicDistribution {
    Vertex ranks;
    [[nodiscard]] int owner(Vertex v) const { return static_cast<int>(v % ranks); }
    [[nodiscard]] Vertex local_index(Vertex v) const { return v / ranks; }
};

/// Generates the random edges of a rank, and calls `use` for each edge.
template <typename Use>
void for_each_edge(Vertex vertices, long edges, int rank, Use use) {
    std::mt19937_64 draw(static_cast<std::uint64_t>(rank));
    for (long i = 0; i < edges; ++i) {
        const auto one = static_cast<Vertex>(draw() % vertices);
        use(one, static_cast<Vertex>(draw() % vertices));
    }
}

/// Computes, for each vertex, the lowest vertex of its component, by union-find.
std::vector<Vertex> compute_serial_labels(Vertex vertices, long edges, int ranks) {
    std::vector<Vertex> parent(vertices);
    std::iota(parent.begin(), parent.end(), 0);
    const auto lowest = [&](Vertex v) {
        while (parent[v] != v) v = parent[v] = parent[parent[v]];
        return v;
    };
    for (int rank = 0; rank < ranks; ++rank) {
        for_each_edge(vertices, edges, rank, [&](Vertex a, Vertex b) {
            const auto [low, high] = std::minmax({lowest(a), lowest(b)});
            parent[high] = low;
        });
    }
    for (Vertex v = 0; v < vertices; ++v) parent[v] = lowest(v);
    return parent;
}

/// The items that the two streams carry.
struct Edge {
    Vertex from, to;
};
struct Label {
    Vertex vertex, label;
};

class Graph {
   public:
    Graph(MPI_Comm comm, Vertex own_vertices, const topoloom_stream_options& options)
        : distribution_(get_distribution(comm)),
          rank_(get_rank(comm)),
          neighbors_(own_vertices),
          labels_(own_vertices),
          edge_stream_(
              comm,
              [this](const Edge& edge) {
                  neighbors_[distribution_.local_index(edge.from)].push_back(edge.to);
              },
              options),
          label_stream_(comm, [this](const Label& received) { apply_label(received); }, options) {
        // Initialize labels early: other ranks may send labels as soon as all edges are delivered.
        for (Vertex i = 0; i < own_vertices; ++i) labels_[i] = global_vertex(i);
    }
    // Not copyable: the handlers capture `this`.
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;

    void add_edges(Vertex vertices, long edges) {
        for_each_edge(vertices, edges, rank_, [&](Vertex a, Vertex b) {
            edge_stream_.push({a, b}, distribution_.owner(a));
            edge_stream_.push({b, a}, distribution_.owner(b));
        });
        edge_stream_.wait();
    }
    void find_components() {
        for (Vertex i = 0; i < labels_.size(); ++i) send_label(i);
        label_stream_.wait();
    }
    [[nodiscard]] const std::vector<Vertex>& labels() const { return labels_; }
    [[nodiscard]] Vertex global_vertex(Vertex local_index) const {
        return local_index * distribution_.ranks + static_cast<Vertex>(rank_);
    }
    [[nodiscard]] long sent_labels() const { return sent_labels_; }

   private:
    static CyclicDistribution get_distribution(MPI_Comm comm) {
        int ranks = 1;
        MPI_Comm_size(comm, &ranks);
        return {static_cast<Vertex>(ranks)};
    }
    static int get_rank(MPI_Comm comm) {
        int rank = 0;
        MPI_Comm_rank(comm, &rank);
        return rank;
    }
    void apply_label(const Label& received) {
        const Vertex at = distribution_.local_index(received.vertex);
        if (received.label >= labels_[at]) return;
        labels_[at] = received.label;
        send_label(at);
    }
    /// Sends the label of a vertex to its neighbors, except to neighbors with lower numbers.
    void send_label(Vertex local_index) {
        for (const Vertex neighbor : neighbors_[local_index]) {
            if (labels_[local_index] >= neighbor) continue;
            label_stream_.push({neighbor, labels_[local_index]}, distribution_.owner(neighbor));
            ++sent_labels_;
        }
    }

    CyclicDistribution distribution_;
    int rank_;
    std::vector<std::vector<Vertex>> neighbors_;
    std::vector<Vertex> labels_;
    long sent_labels_ = 0;
    topoloom::Stream<Edge> edge_stream_;
    topoloom::Stream<Label> label_stream_;
};

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0, ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const long own = argc > 1 ? std::atol(argv[1]) : 100'000, edges = argc > 2 ? std::atol(argv[2]) : 2 * own;
    topoloom_stream_options options{};
    options.dimensions = argc > 3 ? std::atoi(argv[3]) : 1;
    if (own < 1 || edges < 0 || own > UINT32_MAX / ranks) {
        if (rank == 0)
            std::fprintf(stderr,
                         "components: VERTICES are 1 or more, below 2^32 on all ranks, EDGES 0 or more\n");
        MPI_Finalize();
        return 2;
    }
    const auto vertices = static_cast<Vertex>(own * ranks);
    int is_right = 1;
    double seconds = 0, slowest = 0;
    long counts[2] = {0, 0}, all[2];  // counts: number of components, number of labels sent
    {
        Graph graph(MPI_COMM_WORLD, static_cast<Vertex>(own), options);
        graph.add_edges(vertices, edges);
        MPI_Barrier(MPI_COMM_WORLD);
        const double begin = MPI_Wtime();
        graph.find_components();
        seconds = MPI_Wtime() - begin;
        const std::vector<Vertex> expected = compute_serial_labels(vertices, edges, ranks);
        for (Vertex i = 0; i < graph.labels().size(); ++i) {
            const Vertex v = graph.global_vertex(i);
            is_right = is_right && graph.labels()[i] == expected[v];
            counts[0] += expected[v] == v;
        }
        counts[1] = graph.sent_labels();
    }
    MPI_Allreduce(counts, all, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &is_right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        std::printf(
            "%s: %ld components, %.2f labels per edge, %.2f million edges per second and rank\n"
            "time: %.4g s\n",
            is_right ? "right" : "WRONG", all[0],
            static_cast<double>(all[1]) / static_cast<double>(std::max(1L, edges * ranks)),
            1e-6 * static_cast<double>(edges) / slowest, slowest);
    MPI_Finalize();
    return is_right ? 0 : 1;
}
