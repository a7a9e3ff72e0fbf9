// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/choose/machine_bisection.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "topoloom/base/extents.hpp"
#include "topoloom/machine/network_view.hpp"
#include "topoloom/metric/bisection_bound.hpp"
#include "topoloom/partition/bisection.hpp"
#include "topoloom/partition/weighted_graph.hpp"

namespace topoloom {

namespace {

constexpr std::size_t max_links = 4'000'000;  // largest number of links for multilevel partitioning

/// The extents of the routers' coordinates; the last coordinate varies fastest. Without coordinates, the
/// number of vertices.
std::vector<std::uint32_t> find_grid(const Machine& machine) {
    return with_topology(machine, [&](const auto& network) {
        if constexpr (requires { std::vector<std::uint32_t>(network.spec().size); }) {
            return network.spec().size;
        } else {
            return machine.grid();
        }
    });
}

/// Tries ways to halve a machine, and stores the one with the smallest bandwidth.
class MachineHalver {
   public:
    explicit MachineHalver(const Machine& machine)
        : halves_(halve_nodes(machine)), result_{bisection_lower_bound(machine), {}, 0} {
        const NetworkView view(machine.topology());
        with_topology(machine, [&](const auto& topology) {
            const auto& network = router_network(topology);
            nodes_on_.assign(network.vertex_count(), 0);
            for (const Node node : machine.usable_nodes()) ++nodes_on_[network.vertex(node)];
            for (const LinkRun& run : network.bandwidth_runs()) {
                for (std::uint32_t i = 0; i < run.count; ++i) {
                    const Link link{run.first.value + i};
                    if (!view.is_up(link)) continue;
                    ends_.push_back(network.ends(link));
                    bandwidth_.push_back(run.bandwidth.value);
                }
            }
        });
        result_.at_most = BytesPerSecond{std::numeric_limits<double>::infinity()};
    }

    /// Halves across each axis in turn: the first half consists of the positions before the middle. The
    /// middle position of an odd extent is halved in the same way across the other axes, longest first.
    void halve_across_axes(const Extents& grid) {
        const std::size_t positions =
            std::accumulate(grid.begin(), grid.end(), std::size_t{1}, std::multiplies<>());
        if (positions != nodes_on_.size() || grid.size() < 2) return;
        std::vector<std::size_t> order(grid.size());
        std::iota(order.begin(), order.end(), 0U);
        std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t axis) { return grid[axis]; });
        for (const std::size_t major : std::vector<std::size_t>(order)) {
            std::vector<std::size_t> axes{major};
            std::ranges::copy_if(order, std::back_inserter(axes), [&](std::size_t d) { return d != major; });
            std::vector<char> side(positions);
            for (std::size_t v = 0; v < positions; ++v)
                side[v] = static_cast<char>(index_in_order(v, grid, axes) >= positions / 2);
            offer_halving(side);
        }
    }

    /// Halves by node number. Switches up to a level join the side of their nodes; switches above it stay
    /// together. Tries every level.
    void halve_in_node_order() {
        std::vector<char> side(nodes_on_.size(), 1);
        std::uint64_t filled = 0;
        for (std::size_t v = 0; v < side.size(); ++v) {
            if (nodes_on_[v] == 0 || filled + nodes_on_[v] > halves_.larger) continue;
            side[v] = 0;
            filled += nodes_on_[v];
        }
        offer_halving(side);
        const partition::WeightedGraph& joined = build_graph();
        const std::vector<std::uint32_t> height = compute_heights();
        const std::uint32_t top = *std::ranges::max_element(height);
        for (std::uint32_t level = 1; level <= top; ++level) {
            for (std::uint32_t v = 0; v < side.size(); ++v) {
                if (height[v] != level) continue;
                std::int64_t to_first = 0;
                const auto weights = joined.weights(Vertex{v});
                for (std::uint32_t i = 0; i < joined.degree(Vertex{v}); ++i) {
                    const std::uint32_t u = joined.peers(Vertex{v})[i].value;
                    if (height[u] < level) to_first += side[u] == 0 ? weights[i] : -weights[i];
                }
                side[v] = static_cast<char>(to_first <= 0);
            }
            offer_halving(side);
        }
    }

    void halve_by_partitioning(std::uint64_t seed) {
        if (ends_.size() > max_links) return;
        const auto switches = static_cast<std::int64_t>(std::ranges::count(nodes_on_, 0U));
        const std::int64_t capacity = static_cast<std::int64_t>(halves_.larger) * node_mass() + switches;
        const partition::BisectionOptions options{.starts = 8, .passes = 8, .cycles = 2};
        offer_halving(partition::bisect(build_graph(), {}, {capacity, capacity}, options, Rng(seed)).side);
        offer_halving(
            partition::refine_bisection(build_graph(), {}, {capacity, capacity}, best_, options.passes).side);
    }

    [[nodiscard]] const MachineBisection& result() const { return result_; }

   private:
    static std::size_t index_in_order(std::size_t v, const Extents& grid,
                                      const std::vector<std::size_t>& axes) {
        std::vector<std::size_t> at(grid.size());
        for (std::size_t d = grid.size(); d-- > 0; v /= grid[d]) at[d] = v % grid[d];
        std::size_t rank = 0;
        for (const std::size_t d : axes) rank = rank * grid[d] + at[d];
        return rank;
    }

    void offer_halving(const std::vector<char>& side) {
        std::array<std::uint64_t, 2> nodes{};
        for (std::size_t v = 0; v < side.size(); ++v) nodes[side[v] != 0] += nodes_on_[v];
        if (std::max(nodes[0], nodes[1]) > halves_.larger) return;
        double bandwidth = 0;
        std::size_t links = 0;
        for (std::size_t link = 0; link < ends_.size(); ++link) {
            if (side[ends_[link].from] == side[ends_[link].to]) continue;
            bandwidth += bandwidth_[link];
            ++links;
        }
        if (bandwidth >= result_.at_most.value) return;
        result_.at_most = BytesPerSecond{bandwidth};
        result_.link_count = links;
        best_ = side;
    }

    /// A switch has mass 1, and a node has more than all switches together, so that only nodes are balanced.
    [[nodiscard]] std::int64_t node_mass() const { return static_cast<std::int64_t>(nodes_on_.size()) + 1; }

    /// The graph of vertices and links; both directions form one edge.
    const partition::WeightedGraph& build_graph() {
        if (graph_.size() > 0) return graph_;
        const double slowest = *std::ranges::min_element(bandwidth_);
        const auto vertices = static_cast<std::uint32_t>(nodes_on_.size());
        for (std::uint32_t v = 0; v < vertices; ++v)
            graph_.mass.push_back(nodes_on_[v] == 0 ? 1 : nodes_on_[v] * node_mass());
        graph_.first.assign(vertices + 1, 0);
        for (const LinkEnds& ends : ends_) {
            ++graph_.first[ends.from + 1];
            ++graph_.first[ends.to + 1];
        }
        std::partial_sum(graph_.first.begin(), graph_.first.end(), graph_.first.begin());
        std::vector<std::uint32_t> at(graph_.first.begin(), graph_.first.end() - 1);
        graph_.peer.resize(graph_.first.back());
        graph_.weight.resize(graph_.first.back());
        for (std::size_t link = 0; link < ends_.size(); ++link) {
            const auto weight = static_cast<std::int64_t>(std::min(1e9, 1000 * bandwidth_[link] / slowest));
            const auto [from, to] = ends_[link];
            graph_.peer[at[from]] = Vertex{to};
            graph_.weight[at[from]++] = weight;
            graph_.peer[at[to]] = Vertex{from};
            graph_.weight[at[to]++] = weight;
        }
        return graph_;
    }

    /// Number of links from each vertex to the nearest node.
    std::vector<std::uint32_t> compute_heights() {
        std::vector<std::uint32_t> height(nodes_on_.size(), 0);
        std::vector<Vertex> queue;
        std::vector<char> seen(nodes_on_.size(), 0);
        for (std::uint32_t v = 0; v < nodes_on_.size(); ++v) {
            if (nodes_on_[v] == 0) continue;
            queue.emplace_back(v);
            seen[v] = 1;
        }
        for (std::size_t i = 0; i < queue.size(); ++i) {
            for (const Vertex u : build_graph().peers(queue[i])) {
                if (seen[u.value] != 0) continue;
                seen[u.value] = 1;
                height[u.value] = height[queue[i].value] + 1;
                queue.push_back(u);
            }
        }
        return height;
    }

    NodeHalves halves_;
    MachineBisection result_;
    std::vector<std::uint32_t> nodes_on_;  // by vertex
    std::vector<LinkEnds> ends_;           // end vertices of all links that are up
    std::vector<double> bandwidth_;        // bandwidths of the same links
    std::vector<char> best_;               // side of each vertex in the best halving
    partition::WeightedGraph graph_;
};

}  // namespace

MachineBisection bisect_machine(const Machine& machine, std::uint64_t seed) {
    if (machine.node_count() < 2 || machine.link_count() == 0 || halve_nodes(machine).smaller == 0) return {};
    MachineHalver halver(machine);
    halver.halve_across_axes(find_grid(machine));
    if (!halver.result().is_exact()) halver.halve_in_node_order();
    if (!halver.result().is_exact()) halver.halve_by_partitioning(seed);
    return halver.result();
}

}  // namespace topoloom
