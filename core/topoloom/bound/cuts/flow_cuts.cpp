// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/bound/cuts/flow_cuts.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "topoloom/base/parallel.hpp"
#include "topoloom/base/step_budget.hpp"

namespace topoloom::bound {

namespace {

constexpr std::size_t max_senders = 512;
constexpr std::size_t max_round_steps = std::size_t{1} << 26;  // senders times arcs; takes about two seconds
constexpr double infinity = std::numeric_limits<double>::infinity();

/// An undirected graph whose edges have a capacity.
struct FlowNetwork {
    struct Arc {
        std::uint32_t to;
        std::uint32_t edge;
    };

    explicit FlowNetwork(const CommGraph& symmetric) : first(1, 0) {
        for (const Rank u : ids<Rank>(symmetric.rank_count())) {
            for (const Edge edge : symmetric.sends(u)) {
                if (edge.bytes.value == 0) continue;
                if (u < edge.peer) {
                    arcs.push_back({edge.peer.value, static_cast<std::uint32_t>(capacity.size())});
                    capacity.push_back(static_cast<double>(edge.bytes.value));
                } else {
                    arcs.push_back({edge.peer.value, edge_between(edge.peer.value, u.value)});
                }
            }
            first.push_back(arcs.size());
        }
    }

    [[nodiscard]] std::size_t vertex_count() const { return first.size() - 1; }
    [[nodiscard]] std::span<const Arc> neighbors(std::uint32_t u) const {
        return std::span(arcs).subspan(first[u], first[u + 1] - first[u]);
    }
    [[nodiscard]] std::uint32_t edge_between(std::uint32_t u, std::uint32_t v) const {
        return std::ranges::lower_bound(neighbors(u), v, {}, &Arc::to)->edge;
    }

    std::vector<std::size_t> first;
    std::vector<Arc> arcs;  // ascending by vertex
    std::vector<double> capacity;
};

/// Shortest paths from one vertex (Dijkstra 1959).
class ShortestPaths {
   public:
    explicit ShortestPaths(const FlowNetwork& network)
        : network_(network), distance_(network.vertex_count()) {}

    /// Adds the flow of a unit from `source` to every other vertex, divided evenly where several shortest
    /// paths meet. Returns whether all were reached.
    bool send_to_all(std::uint32_t source, std::span<const double> length, std::vector<double>& flow) {
        search(source, length);
        if (order_.size() != network_.vertex_count()) return false;
        arriving_.assign(network_.vertex_count(), 1);
        for (std::size_t i = order_.size(); i-- > 1;) {
            const std::uint32_t v = order_[i];
            before_.clear();
            for (const FlowNetwork::Arc arc : network_.neighbors(v)) {
                if (is_before(arc.to, v, length[arc.edge])) before_.push_back(arc);
            }
            const double share = arriving_[v] / static_cast<double>(before_.size());
            for (const FlowNetwork::Arc arc : before_) {
                flow[arc.edge] += share;
                arriving_[arc.to] += share;
            }
        }
        return true;
    }

   private:
    void search(std::uint32_t source, std::span<const double> length) {
        using Entry = std::pair<double, std::uint32_t>;
        std::ranges::fill(distance_, infinity);
        order_.clear();
        heap_.assign(1, {0.0, source});
        distance_[source] = 0;
        while (!heap_.empty()) {
            std::ranges::pop_heap(heap_, std::greater());
            const auto [distance, u] = heap_.back();
            heap_.pop_back();
            if (distance > distance_[u]) continue;
            order_.push_back(u);
            for (const FlowNetwork::Arc arc : network_.neighbors(u)) {
                const double through = distance + length[arc.edge];
                if (through >= distance_[arc.to]) continue;
                distance_[arc.to] = through;
                heap_.push_back(Entry{through, arc.to});
                std::ranges::push_heap(heap_, std::greater());
            }
        }
    }

    /// Whether a shortest path to v, or one that rounding makes longer, ends with the arc from u to v.
    [[nodiscard]] bool is_before(std::uint32_t u, std::uint32_t v, double length) const {
        constexpr double rounding_slack = 1 + 1e-6;
        return distance_[u] < distance_[v] && distance_[u] + length <= distance_[v] * rounding_slack;
    }

    const FlowNetwork& network_;
    std::vector<double> distance_;
    std::vector<std::uint32_t> order_;  // vertices by distance
    std::vector<std::pair<double, std::uint32_t>> heap_;
    std::vector<double> arriving_;
    std::vector<FlowNetwork::Arc> before_;  // arcs to the previous vertices on shortest paths
};

/// A flow from all senders to all vertices that avoids loaded edges.
class UniformFlow {
   public:
    UniformFlow(const FlowNetwork& network, std::vector<std::uint32_t> senders, int threads)
        : network_(network), senders_(std::move(senders)), threads_(threads) {}

    /// Returns the minimum found of the maximum of flow / capacity; infinity if the graph is not connected.
    double minimize_congestion(Meter& meter) {
        constexpr int max_rounds = 40;
        constexpr int patience = 5;
        constexpr double min_gain = 1e-3;  // relative, over `patience` rounds
        std::vector<double> load = route(std::vector<double>(network_.capacity.size(), 1));
        double least = max_of(load);
        double sharpness = 4;  // of the penalty for the most loaded edges
        double before = infinity;
        for (int round = 1; round < max_rounds && least < infinity; ++round) {
            if (round % patience == 0 && least > std::exchange(before, least) * (1 - min_gain)) break;
            if (!meter.spend(senders_.size() * network_.arcs.size() / 8 + 1)) break;
            std::vector<double> length(load.size());
            const double most = max_of(load);
            for (std::size_t e = 0; e < load.size(); ++e)
                length[e] = (std::exp(sharpness * (load[e] / most - 1)) + 1e-9) / network_.capacity[e];
            const std::vector<double> other = route(length);
            const double step = find_step(load, other, sharpness / most);
            for (std::size_t e = 0; e < load.size(); ++e) load[e] += step * (other[e] - load[e]);
            least = std::min(least, max_of(load));
            sharpness = 1.07 * sharpness;
        }
        return least;
    }

   private:
    static double max_of(std::span<const double> load) { return std::ranges::max(load); }

    /// Flow / capacity of all edges if the flow follows shortest paths; infinity if a path is missing.
    std::vector<double> route(const std::vector<double>& length) const {
        const Chunks chunks(senders_.size(), 32);
        std::vector<std::vector<double>> parts(chunks.size());
        parallel_for(chunks.size(), threads_, [&](std::size_t c, int) {
            parts[c].assign(length.size(), 0);
            ShortestPaths paths(network_);
            for (std::size_t i = chunks[c].begin; i < chunks[c].end; ++i) {
                if (!paths.send_to_all(senders_[i], length, parts[c])) parts[c].front() = infinity;
            }
        });
        std::vector<double> load(length.size(), 0);
        for (const std::vector<double>& part : parts)
            std::ranges::transform(load, part, load.begin(), std::plus());
        for (std::size_t e = 0; e < load.size(); ++e) load[e] /= network_.capacity[e];
        return load;
    }

    /// The step from `load` to `other` that minimizes the sum of exp(sharpness * load).
    static double find_step(std::span<const double> load, std::span<const double> other, double sharpness) {
        constexpr int bisections = 12;
        double low = 0;
        double high = 1;
        for (int i = 0; i < bisections; ++i) {
            const double step = (low + high) / 2;
            double most = 0;
            for (std::size_t e = 0; e < load.size(); ++e)
                most = std::max(most, load[e] + step * (other[e] - load[e]));
            double slope = 0;
            for (std::size_t e = 0; e < load.size(); ++e) {
                const double change = other[e] - load[e];
                slope += change * std::exp(sharpness * (load[e] + step * change - most));
            }
            (slope < 0 ? low : high) = step;
        }
        return low;
    }

    const FlowNetwork& network_;
    std::vector<std::uint32_t> senders_;
    int threads_;
};

}  // namespace

std::vector<std::int64_t> flow_cuts(const CommGraph& symmetric, int threads, Meter& meter) {
    const FlowNetwork network(symmetric);
    const std::size_t ranks = symmetric.rank_count();
    if (network.capacity.empty()) return {};
    const std::size_t count = std::min({ranks, max_senders, max_round_steps / network.arcs.size()});
    // Searches of shortest paths cost about this many steps per arc.
    constexpr double search_work = 4;
    if (count == 0 || !spend_step(meter, search_work * static_cast<double>(count * network.arcs.size())))
        return {};
    std::vector<std::uint32_t> senders;
    for (std::size_t i = 0; i < count; ++i) senders.push_back(static_cast<std::uint32_t>(i * ranks / count));
    const double most = UniformFlow(network, std::move(senders), threads).minimize_congestion(meter);
    if (most == infinity) return {};
    std::vector<std::int64_t> cuts(ranks + 1, 0);
    for (std::size_t k = 1; 2 * k <= ranks; ++k) {
        const double crossing =
            static_cast<double>(k) * static_cast<double>(count == ranks ? 2 * (ranks - k) : count);
        const double bytes = crossing / most * (1 - 1e-9);
        cuts[k] = cuts[ranks - k] = static_cast<std::int64_t>(std::ceil(bytes - 1e-9));
    }
    return cuts;
}

}  // namespace topoloom::bound
