// SPDX-License-Identifier: BSD-3-Clause
// Connected components of a random graph that is spread over all ranks: `components [VERTICES [EDGES [DIMENSIONS]]]`, the first two
// per rank, the last of the mesh that items travel over.
//
// Labels travel without rounds: a vertex that hears of a lower one than its own passes it on to its neighbors at once, from within
// the handler, and the phase ends when nobody has anything to pass on. Then every vertex has the lowest number of its component. Each rank
// compares its labels with those of a serial run over all edges, and rank 0 prints how fast it was.
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

/// Vertices are dealt out like cards.
struct Deal {
    Vertex ranks;
    [[nodiscard]] int owner(Vertex v) const { return static_cast<int>(v % ranks); }
    [[nodiscard]] Vertex place(Vertex v) const { return v / ranks; }
};

/// Those that a rank draws.
template <typename Use>
void each_edge(Vertex vertices, long edges, int rank, Use use) {
    std::mt19937_64 draw(static_cast<std::uint64_t>(rank));
    for (long i = 0; i < edges; ++i) {
        const auto one = static_cast<Vertex>(draw() % vertices);
        use(one, static_cast<Vertex>(draw() % vertices));
    }
}

/// The lowest vertex of each one's component: by sets that are united.
std::vector<Vertex> serial_labels(Vertex vertices, long edges, int ranks) {
    std::vector<Vertex> parent(vertices);
    std::iota(parent.begin(), parent.end(), 0);
    const auto lowest = [&](Vertex v) {
        while (parent[v] != v) v = parent[v] = parent[parent[v]];
        return v;
    };
    for (int rank = 0; rank < ranks; ++rank) {
        each_edge(vertices, edges, rank, [&](Vertex a, Vertex b) {
            const auto [low, high] = std::minmax({lowest(a), lowest(b)});
            parent[high] = low;
        });
    }
    for (Vertex v = 0; v < vertices; ++v) parent[v] = lowest(v);
    return parent;
}

/// What the two streams carry: where an edge leads, and what a neighbor has heard of.
struct Edge {
    Vertex from, to;
};
struct Label {
    Vertex vertex, label;
};

class Graph {
   public:
    Graph(MPI_Comm comm, Vertex own_vertices, const topoloom_stream_options& options)
        : deal_(deal_of(comm)),
          rank_(rank_of(comm)),
          neighbors_(own_vertices),
          labels_(own_vertices),
          edges_(
              comm, [this](const Edge& edge) { neighbors_[deal_.place(edge.from)].push_back(edge.to); },
              options),
          told_(comm, [this](const Label& heard) { hear(heard); }, options) {
        // Before other ranks tell anything, which they may do as soon as all edges are there.
        for (Vertex i = 0; i < own_vertices; ++i) labels_[i] = vertex(i);
    }
    // Handlers know where it is.
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;

    void add_edges(Vertex vertices, long edges) {
        each_edge(vertices, edges, rank_, [&](Vertex a, Vertex b) {
            edges_.push({a, b}, deal_.owner(a));
            edges_.push({b, a}, deal_.owner(b));
        });
        edges_.wait();
    }
    void find_components() {
        for (Vertex i = 0; i < labels_.size(); ++i) tell(i);
        told_.wait();
    }
    [[nodiscard]] const std::vector<Vertex>& labels() const { return labels_; }
    [[nodiscard]] Vertex vertex(Vertex place) const {
        return place * deal_.ranks + static_cast<Vertex>(rank_);
    }
    [[nodiscard]] long messages() const { return messages_; }

   private:
    static Deal deal_of(MPI_Comm comm) {
        int ranks = 1;
        MPI_Comm_size(comm, &ranks);
        return {static_cast<Vertex>(ranks)};
    }
    static int rank_of(MPI_Comm comm) {
        int rank = 0;
        MPI_Comm_rank(comm, &rank);
        return rank;
    }
    void hear(const Label& heard) {
        const Vertex at = deal_.place(heard.vertex);
        if (heard.label >= labels_[at]) return;
        labels_[at] = heard.label;
        tell(at);
    }
    /// Not to those whose own number is lower.
    void tell(Vertex at) {
        for (const Vertex neighbor : neighbors_[at]) {
            if (labels_[at] >= neighbor) continue;
            told_.push({neighbor, labels_[at]}, deal_.owner(neighbor));
            ++messages_;
        }
    }

    Deal deal_;
    int rank_;
    std::vector<std::vector<Vertex>> neighbors_;
    std::vector<Vertex> labels_;
    long messages_ = 0;
    topoloom::Stream<Edge> edges_;
    topoloom::Stream<Label> told_;
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
    double seconds = 0;
    long counts[2] = {0, 0}, all[2];  // components, and labels that were sent
    {
        Graph graph(MPI_COMM_WORLD, static_cast<Vertex>(own), options);
        graph.add_edges(vertices, edges);
        MPI_Barrier(MPI_COMM_WORLD);
        const double begin = MPI_Wtime();
        graph.find_components();
        seconds = MPI_Wtime() - begin;
        const std::vector<Vertex> expected = serial_labels(vertices, edges, ranks);
        for (Vertex i = 0; i < graph.labels().size(); ++i) {
            const Vertex v = graph.vertex(i);
            is_right = is_right && graph.labels()[i] == expected[v];
            counts[0] += expected[v] == v;
        }
        counts[1] = graph.messages();
    }
    MPI_Allreduce(counts, all, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &is_right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (rank == 0)
        std::printf("%s: %ld components, %.2f labels per edge, %.2f million edges per second and rank\n",
                    is_right ? "right" : "WRONG", all[0],
                    static_cast<double>(all[1]) / static_cast<double>(std::max(1L, edges * ranks)),
                    1e-6 * static_cast<double>(edges) / seconds);
    MPI_Finalize();
    return is_right ? 0 : 1;
}
