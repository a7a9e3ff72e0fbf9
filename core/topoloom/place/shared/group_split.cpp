// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/shared/group_split.hpp"

#include <numeric>

namespace topoloom {

namespace {

/// All different places are 1 apart: hop-bytes are then the weight of what is cut.
struct UniformSpace {
    using Point = std::uint32_t;
    static constexpr bool uniform = true;
    [[nodiscard]] static std::uint32_t distance(Point a, Point b) { return a == b ? 0 : 1; }
    [[nodiscard]] static constexpr std::uint32_t port_cost(Point) { return 0; }
};

/// Bisects until every range of groups is a single one.
class RecursiveBisection {
   public:
    RecursiveBisection(const WeightedGraph& graph, std::span<const std::int64_t> capacity,
                       const BisectionOptions& options, std::uint64_t seed)
        : graph_(graph),
          capacity_(capacity),
          options_(options),
          rng_(seed, 0),
          local_(graph.size()),
          group_(graph.size()) {}

    std::vector<std::uint32_t> run(std::uint64_t& work) {
        std::vector<std::uint32_t> all(graph_.size());
        std::iota(all.begin(), all.end(), 0U);
        split(all, 0, static_cast<std::uint32_t>(capacity_.size()));
        work += work_;
        return std::move(group_);
    }

   private:
    [[nodiscard]] std::int64_t room(std::uint32_t begin, std::uint32_t end) const {
        return std::accumulate(capacity_.begin() + begin, capacity_.begin() + end, std::int64_t{0});
    }

    void split(const std::vector<std::uint32_t>& vertices, std::uint32_t begin, std::uint32_t end) {
        if (end - begin == 1) {
            for (const std::uint32_t v : vertices) group_[v] = begin;
            return;
        }
        const std::uint32_t middle = begin + (end - begin) / 2;
        const WeightedGraph sub = subgraph(graph_, vertices, local_);
        const Bisection halves = bisect(sub, {}, {room(begin, middle), room(middle, end)}, options_,
                                        Rng(rng_.next(), rng_.next()));
        work_ += halves.work;
        std::array<std::vector<std::uint32_t>, 2> side;
        for (std::size_t i = 0; i < vertices.size(); ++i)
            side[static_cast<std::size_t>(halves.side[i])].push_back(vertices[i]);
        split(side[0], begin, middle);
        split(side[1], middle, end);
    }

    const WeightedGraph& graph_;
    std::span<const std::int64_t> capacity_;
    BisectionOptions options_;
    Rng rng_;
    std::vector<std::uint32_t> local_;
    std::vector<std::uint32_t> group_;
    std::uint64_t work_ = 0;
};

}  // namespace

WeightedGraph subgraph(const WeightedGraph& graph, std::span<const std::uint32_t> vertices,
                       std::vector<std::uint32_t>& local) {
    constexpr std::uint32_t outside = std::numeric_limits<std::uint32_t>::max();
    std::ranges::fill(local, outside);
    for (std::uint32_t i = 0; i < vertices.size(); ++i) local[vertices[i]] = i;
    WeightedGraph sub;
    for (const std::uint32_t v : vertices) {
        for (std::uint32_t e = graph.first[v]; e < graph.first[v + 1]; ++e) {
            if (local[graph.peer[e]] == outside) continue;
            sub.peer.push_back(local[graph.peer[e]]);
            sub.weight.push_back(graph.weight[e]);
        }
        sub.first.push_back(static_cast<std::uint32_t>(sub.peer.size()));
        sub.mass.push_back(graph.mass[v]);
    }
    return sub;
}

std::vector<std::uint32_t> split_in_groups(const WeightedGraph& graph, std::span<const std::int64_t> capacity,
                                           const BisectionOptions& bisection,
                                           const EvolutionOptions& evolution, std::uint64_t seed, int threads,
                                           Meter& meter) {
    std::vector<std::uint32_t> points(capacity.size());
    std::iota(points.begin(), points.end(), 0U);
    const UniformSpace space;
    const auto make = [&](const WeightedGraph& coarse, std::size_t, std::uint64_t start,
                          std::uint64_t& work) {
        return RecursiveBisection(coarse, capacity, bisection, start).run(work);
    };
    auto best = Evolution<UniformSpace>(space, graph, points, capacity, evolution, seed, threads)
                    .run_multilevel(make, meter);
    if (!best.places.empty()) return std::move(best.places);
    // What does not fit even so is left to those who split on: a later split may even it out.
    std::uint64_t work = 0;
    std::vector<std::uint32_t> group = make(graph, 0, seed, work);
    meter.spend(work);
    return group;
}

}  // namespace topoloom
