// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/shared/group_split.hpp"

#include <numeric>

namespace topoloom::shared {

namespace {

/// A space in which all parts are at distance 1 from each other, so that hop-bytes equal the cut weight.
struct UniformSpace {
    using Point = Part;
    static constexpr bool uniform = true;
    [[nodiscard]] static std::uint32_t distance(Point a, Point b) { return a == b ? 0 : 1; }
    [[nodiscard]] static constexpr std::uint32_t port_distance(Point) { return 0; }
};

/// Bisects ranges of parts down to single parts.
class RecursiveBisection {
   public:
    RecursiveBisection(const partition::WeightedGraph& graph, std::span<const std::int64_t> capacity,
                       const partition::BisectionOptions& options, std::uint64_t seed)
        : graph_(graph),
          capacity_(capacity),
          options_(options),
          rng_(seed, 0),
          local_(graph.size()),
          part_(graph.size()) {}

    std::vector<Part> run(std::uint64_t& work) {
        split(id_list<Vertex>(graph_.size()), 0, static_cast<std::uint32_t>(capacity_.size()));
        work += work_;
        return std::move(part_);
    }

   private:
    [[nodiscard]] std::int64_t capacity(std::uint32_t begin, std::uint32_t end) const {
        return std::accumulate(capacity_.begin() + begin, capacity_.begin() + end, std::int64_t{0});
    }

    void split(const std::vector<Vertex>& vertices, std::uint32_t begin, std::uint32_t end) {
        if (end - begin == 1) {
            for (const Vertex v : vertices) part_[v.value] = Part{begin};
            return;
        }
        const std::uint32_t middle = begin + (end - begin) / 2;
        const partition::WeightedGraph sub = make_subgraph(graph_, vertices, local_);
        const partition::Bisection halves =
            partition::bisect(sub, {}, {capacity(begin, middle), capacity(middle, end)}, options_,
                              Rng(rng_.next(), rng_.next()));
        work_ += halves.work;
        std::array<std::vector<Vertex>, 2> side;
        for (std::size_t i = 0; i < vertices.size(); ++i)
            side[static_cast<std::size_t>(halves.side[i])].push_back(vertices[i]);
        split(side[0], begin, middle);
        split(side[1], middle, end);
    }

    const partition::WeightedGraph& graph_;
    std::span<const std::int64_t> capacity_;
    partition::BisectionOptions options_;
    Rng rng_;
    std::vector<Vertex> local_;
    std::vector<Part> part_;
    std::uint64_t work_ = 0;
};

}  // namespace

partition::WeightedGraph make_subgraph(const partition::WeightedGraph& graph,
                                       std::span<const Vertex> vertices, std::vector<Vertex>& local) {
    std::ranges::fill(local, Vertex::none);
    for (std::size_t i = 0; i < vertices.size(); ++i) local[vertices[i].value] = Vertex{i};
    partition::WeightedGraph sub;
    for (const Vertex v : vertices) {
        const auto peers = graph.peers(v);
        const auto weights = graph.weights(v);
        for (std::size_t e = 0; e < peers.size(); ++e) {
            if (local[peers[e].value] == Vertex::none) continue;
            sub.peer.push_back(local[peers[e].value]);
            sub.weight.push_back(weights[e]);
        }
        sub.first.push_back(static_cast<std::uint32_t>(sub.peer.size()));
        sub.mass.push_back(graph.mass[v.value]);
    }
    return sub;
}

std::vector<Part> split_into_groups(const partition::WeightedGraph& graph,
                                    std::span<const std::int64_t> capacity,
                                    const partition::BisectionOptions& bisection,
                                    const EvolutionOptions& evolution, std::uint64_t seed, int threads,
                                    Meter& meter) {
    const std::vector<Part> points = id_list<Part>(capacity.size());
    const UniformSpace space;
    const auto make = [&](const partition::WeightedGraph& coarse, std::size_t, std::uint64_t start,
                          std::uint64_t& work) {
        return RecursiveBisection(coarse, capacity, bisection, start).run(work);
    };
    auto best = Evolution<UniformSpace>(space, graph, points, capacity, evolution, seed, threads)
                    .run_multilevel(make, meter);
    if (!best.parts.empty()) return std::move(best.parts);
    // If ranks do not fit, returns a split that exceeds capacities; later splits may balance it.
    std::uint64_t work = 0;
    std::vector<Part> part_of = make(graph, 0, seed, work);
    meter.spend(work);
    return part_of;
}

}  // namespace topoloom::shared
