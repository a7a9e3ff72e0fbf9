// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/bound/time_bound.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "topoloom/base/step_budget.hpp"
#include "topoloom/machine/network_view.hpp"
#include "topoloom/metric/loads/phase_time.hpp"
#include "topoloom/pattern/rounds.hpp"

namespace topoloom {

namespace {

/// Latencies of routes between the nodes of an allocation, and the rank capacity within reach of each
/// latency.
class NearLatencies {
   public:
    NearLatencies(const BoundProblem& problem, Meter& meter) {
        const Allocation& allocation = problem.allocation();
        std::vector<std::uint64_t> capacity(allocation.nodes().size(), 0);
        for (std::size_t i = 0; i < allocation.slot_count(); ++i)
            capacity[allocation.node_of_slot()[i]] += problem.capacity()[i];
        std::vector<Node> nodes;
        for (std::size_t n = 0; n < capacity.size(); ++n) {
            if (capacity[n] == 0) continue;
            nodes.push_back(allocation.nodes()[n]);
            capacity_.push_back(capacity[n]);
        }
        max_on_node_ = *std::ranges::max_element(capacity_);
        const bool fits_on_node = max_on_node_ >= problem.rank_count();
        if (!fits_on_node) measure_latencies(problem.machine(), nodes, meter);
        for (const bool outward : {true, false}) {
            std::vector<double>& within = outward ? to_ : from_;
            within.assign(problem.rank_count(), fits_on_node ? 0 : std::numeric_limits<double>::infinity());
            for (std::size_t n = 0; n < nodes.size() && !fits_on_node; ++n)
                lower_latencies(n, outward, within);
        }
    }

    [[nodiscard]] std::size_t node_count() const { return capacity_.size(); }
    [[nodiscard]] std::uint64_t max_on_node() const { return max_on_node_; }
    /// The latency from a node to the farthest of the nearest nodes that have room for this many other ranks;
    /// minimum over all nodes.
    [[nodiscard]] double max_latency_to(std::size_t ranks) const { return to_[ranks]; }
    [[nodiscard]] double max_latency_from(std::size_t ranks) const { return from_[ranks]; }
    /// Minimum latency between two nodes; 0 if all ranks fit on one node.
    [[nodiscard]] double nearest() const { return nearest_; }
    /// Minimum seconds per byte on the links of any route.
    [[nodiscard]] double seconds_per_byte() const { return seconds_per_byte_; }

   private:
    void measure_latencies(const Machine& machine, const std::vector<Node>& nodes, Meter& meter) {
        constexpr double max_visits = 2e7;
        const NetworkView network(machine.topology());
        const auto pairs = static_cast<double>(nodes.size()) * static_cast<double>(nodes.size());
        if (nodes.size() < 2) return;
        nearest_ = machine.speeds().latency.value;
        const double visits = pairs * static_cast<double>(network.diameter());
        if (visits > max_visits || !spend_step(meter, visits)) return;
        latency_.assign(nodes.size() * nodes.size(), 0);
        double least = std::numeric_limits<double>::infinity();
        seconds_per_byte_ = least;
        for (std::size_t a = 0; a < nodes.size(); ++a) {
            for (std::size_t b = 0; b < nodes.size(); ++b) {
                if (a == b) continue;
                double& latency = latency_[a * nodes.size() + b];
                latency = nearest_;
                double narrowest = 0;
                network.route(nodes[a], nodes[b], [&](Link link, double share) {
                    latency += share * network.latency(link).value;
                    narrowest = std::max(narrowest, share / network.bandwidth(link).value);
                });
                least = std::min(least, latency);
                seconds_per_byte_ = std::min(seconds_per_byte_, narrowest);
            }
        }
        nearest_ = least;
    }

    /// Lowers within[k] to the latency for reaching k other ranks from node n, if that is lower.
    void lower_latencies(std::size_t n, bool outward, std::vector<double>& within) const {
        std::size_t k = 0;
        const auto up_to = [&](std::uint64_t count, double seconds) {
            for (; k < within.size() && k <= count; ++k) within[k] = std::min(within[k], seconds);
        };
        std::uint64_t reached = capacity_[n] - 1;
        up_to(reached, 0);
        if (latency_.empty())
            return up_to(within.size(), nearest_);  // all ranks have room, as the caller has checked
        std::vector<std::pair<double, std::uint64_t>> others;
        for (std::size_t other = 0; other < capacity_.size(); ++other) {
            if (other == n) continue;
            const std::size_t pair = outward ? n * capacity_.size() + other : other * capacity_.size() + n;
            others.emplace_back(latency_[pair], capacity_[other]);
        }
        // A heap, because only the nearest nodes are needed.
        std::ranges::make_heap(others, std::greater());
        while (k < within.size()) {
            std::ranges::pop_heap(others, std::greater());
            const auto [seconds, capacity] = others.back();
            others.pop_back();
            up_to(reached += capacity, seconds);
        }
    }

    std::vector<std::uint64_t> capacity_;  // rank capacity per node; no entry is 0
    std::uint64_t max_on_node_ = 0;
    std::vector<double> latency_;  // latency by pair of nodes; empty if unknown
    std::vector<double> to_, from_;
    double nearest_ = 0;
    double seconds_per_byte_ = 0;
};

/// The messages of a rank, largest first.
struct RankTraffic {
    std::vector<std::int64_t> out, in;  // bytes by peer: sent, and received
    std::vector<std::int64_t> sent;     // bytes by peer with at least one message
    std::int64_t messages = 0;          // number of messages sent
    std::int64_t fewest = 0;            // minimum number of messages to any peer
    std::uint32_t senders = 0;          // number of ranks that send messages to this rank
};

std::vector<RankTraffic> list_traffic(const CommGraph& graph) {
    std::vector<RankTraffic> traffic(graph.rank_count());
    for (const Rank u : ids<Rank>(graph.rank_count())) {
        RankTraffic& mine = traffic[u.value];
        mine.fewest = std::numeric_limits<std::int64_t>::max();
        for (const Edge edge : graph.sends(u)) {
            mine.out.push_back(edge.bytes.value);
            traffic[edge.peer.value].in.push_back(edge.bytes.value);
            if (edge.messages == 0) continue;
            mine.sent.push_back(edge.bytes.value);
            mine.messages += edge.messages;
            mine.fewest = std::min(mine.fewest, edge.messages);
            ++traffic[edge.peer.value].senders;
        }
    }
    for (RankTraffic& one : traffic) {
        for (auto* const bytes : {&one.out, &one.in, &one.sent}) std::ranges::sort(*bytes, std::greater());
    }
    return traffic;
}

double sum_from(const std::vector<std::int64_t>& bytes, std::uint64_t first) {
    const auto skipped = static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(first, bytes.size()));
    return static_cast<double>(std::accumulate(bytes.begin() + skipped, bytes.end(), std::int64_t{0}));
}

/// Whether inter-node messages are unavoidable: a connected component exceeds the capacity of a node.
bool has_unavoidable_messages(const CommGraph& graph, std::uint64_t max_on_node) {
    std::vector<std::uint32_t> above(graph.rank_count());
    std::iota(above.begin(), above.end(), 0U);
    std::vector<std::uint64_t> size(graph.rank_count(), 1);
    const auto top = [&](std::uint32_t u) {
        while (above[u] != u) u = above[u] = above[above[u]];
        return u;
    };
    for (const Rank u : ids<Rank>(graph.rank_count())) {
        for (const Edge edge : graph.sends(u)) {
            if (edge.messages == 0) continue;
            const std::uint32_t a = top(u.value);
            const std::uint32_t b = top(edge.peer.value);
            if (a == b) continue;
            above[a] = b;
            size[b] += size[a];
            if (size[b] > max_on_node) return true;
        }
    }
    return false;
}

/// Minimum bytes of the busiest node, given the bytes of every rank: at least the most bytes of any rank, and
/// at least the mean per node. If more than i * nodes ranks have at least some value, i + 1 of them share a node,
/// which therefore has at least (i + 1) times this value.
double bound_busiest_node(std::vector<double> of_rank, std::size_t nodes) {
    std::ranges::sort(of_rank, std::greater());
    double most = std::accumulate(of_rank.begin(), of_rank.end(), 0.0) / static_cast<double>(nodes);
    for (std::size_t i = 0; i * nodes < of_rank.size(); ++i)
        most = std::max(most, static_cast<double>(i + 1) * of_rank[i * nodes]);
    return most;
}

/// Seconds of the busiest link or NIC, and of the busiest memory, in one or several phases.
struct PhaseLoad {
    double network = 0;
    double memory = 0;
    std::string where{};
};

/// Minimum loads of NICs and memories.
PhaseLoad bound_node_loads(const std::vector<RankTraffic>& traffic, const NearLatencies& near,
                           const NodeSpeeds& speeds) {
    PhaseLoad load{.where = "network cards"};
    for (const auto bytes : {&RankTraffic::out, &RankTraffic::in}) {
        std::vector<double> all;
        double leaving = 0;
        for (const RankTraffic& one : traffic) {
            all.push_back(sum_from(one.*bytes, 0));
            const double leaves = sum_from(one.*bytes, near.max_on_node() - 1);
            leaving += leaves;
            load.network = std::max(load.network, leaves / speeds.port.value);
        }
        load.network =
            std::max(load.network, leaving / static_cast<double>(near.node_count()) / speeds.port.value);
        load.memory = std::max(load.memory,
                               bound_busiest_node(std::move(all), near.node_count()) / speeds.memory.value);
    }
    return load;
}

void raise_bound(PhaseLoad& load, const CongestionBound& congestion) {
    if (congestion.value <= load.network) return;
    load.network = congestion.value;
    load.where = congestion.by + (congestion.where.empty() ? "" : " of " + congestion.where);
}

/// Lower bounds on the parts of PhaseTime.
struct PhaseBounds {
    double first = 0;         // seconds until the first byte reaches the network
    double first_inside = 0;  // the same for memory
    TimeBound all{};          // the largest
};

void raise_bound(TimeBound& bound, double value, const char* by, const std::string& where) {
    if (value > bound.value) bound = {value, by, where};
}

PhaseBounds bound_phase(const CommGraph& graph, const Machine& machine, const NearLatencies& near,
                        const PhaseLoad& load, const std::vector<RankTraffic>& traffic) {
    const NodeSpeeds& speeds = machine.speeds();
    const double tick = startup_tick(graph, machine);
    const auto counted = [&](Seconds startup) { return std::floor(startup.value / tick + 0.5) * tick; };
    const double leaving_startup = counted(speeds.startup);
    const double inside_startup = counted(speeds.memory_startup);
    const std::uint64_t kept = near.max_on_node() - 1;  // maximum number of peers on a rank's own node
    double rounds = 0;
    for (const std::int64_t messages : graph.all_messages())
        rounds = std::max(rounds, static_cast<double>(messages));

    const bool leaves = has_unavoidable_messages(graph, near.max_on_node());
    double longest = leaves ? near.nearest() : 0;
    double starting = 0;
    std::size_t pairs = 0;
    std::size_t senders = 0;
    std::size_t max_peers = 1;
    PhaseBounds parts;
    std::string starter;
    for (std::size_t u = 0; u < traffic.size(); ++u) {
        const RankTraffic& one = traffic[u];
        longest =
            std::max({longest, near.max_latency_to(one.sent.size()), near.max_latency_from(one.senders)});
        if (one.sent.empty()) continue;
        pairs += one.sent.size();
        ++senders;
        max_peers = std::max(max_peers, one.sent.size());
        double startups = static_cast<double>(one.messages) * std::min(leaving_startup, inside_startup);
        double largest = static_cast<double>(one.sent.front()) / speeds.memory.value;
        if (one.sent.size() > kept) {
            startups += static_cast<double>(one.sent.size() - kept) * static_cast<double>(one.fewest) *
                        std::max(0.0, leaving_startup - inside_startup);
            // At least one message of this size is inter-node.
            const auto bytes = static_cast<double>(one.sent[kept]);
            largest = std::max({largest, bytes / speeds.port.value, bytes * near.seconds_per_byte()});
        }
        const double start = startups + rounds * near.max_latency_to(one.sent.size());
        const std::string name = "rank " + std::to_string(u);
        raise_bound(parts.all, start + largest, "sender", name);
        if (start > starting) {
            starting = start;
            starter = name;
        }
    }
    const double startup = std::min(speeds.startup.value, speeds.memory_startup.value);
    parts.first = rounds * (leaves ? longest + speeds.startup.value : startup);
    parts.first_inside = kept == 0 ? parts.first : rounds * startup;
    raise_bound(parts.all, parts.first + load.network, "network", load.where);
    raise_bound(parts.all, parts.first_inside + load.memory, "memory", "nodes");
    const double per_sender =
        static_cast<double>(pairs) / static_cast<double>(std::max<std::size_t>(1, senders));
    double last = load.memory / std::max(1.0, per_sender);
    if (leaves) last = std::max(last, load.network / static_cast<double>(max_peers));
    raise_bound(parts.all, starting + last, "sender", starter);
    return parts;
}

/// Adds a phase to the sum; `largest` keeps the largest phase, which names the bound.
void add_phase(PhaseBounds& sum, const PhaseBounds& parts, TimeBound& largest) {
    sum.first += parts.first;
    sum.first_inside += parts.first_inside;
    sum.all.value += parts.all.value;
    if (parts.all.value > largest.value) largest = parts.all;
}

/// Combines consecutive rounds or phases. Adds up their bounds. The load of the busiest link over all phases
/// never exceeds the sum of the maxima of single phases.
PhaseBounds combine_phases(const std::vector<PhaseBounds>& each, const PhaseLoad& load) {
    PhaseBounds sum;
    TimeBound largest;
    for (const PhaseBounds& parts : each) add_phase(sum, parts, largest);
    sum.all.by = largest.by;
    sum.all.where = largest.where;
    raise_bound(sum.all, sum.first + load.network, "network", load.where);
    raise_bound(sum.all, sum.first_inside + load.memory, "memory", "nodes");
    return sum;
}

}  // namespace

TimeBound time_bound(const BoundProblem& problem, std::span<const CommGraph* const> phases,
                     const CongestionBound& congestion, Meter& meter) {
    const Machine& machine = problem.machine();
    const CommGraph* const whole = &problem.graph();
    if (phases.empty()) phases = {&whole, 1};
    const NearLatencies latencies(problem, meter);
    const auto load_of = [&](const CommGraph& graph, const std::vector<RankTraffic>& traffic, bool is_phase) {
        PhaseLoad load = bound_node_loads(traffic, latencies, machine.speeds());
        if (&graph == whole || (phases.size() == 1 && phases.front() == &graph)) {
            raise_bound(load, congestion);
            return load;
        }
        const BoundProblem part(graph, problem.allocation(),
                                {problem.capacity().begin(), problem.capacity().end()}, problem.threads());
        if (!is_phase) {
            // The background is divided among rounds; it is in the load of their phase.
            raise_bound(load, injection_bound(part));
            return load;
        }
        const BoundProblem loaded = part.with_background(problem.background());
        raise_bound(load, background_load(loaded));
        raise_bound(load, meter.poll() ? congestion_bound(loaded, meter) : injection_bound(loaded));
        return load;
    };
    const auto bound_of = [&](const CommGraph& graph) {
        const std::vector<RankTraffic> traffic = list_traffic(graph);
        const PhaseLoad load = load_of(graph, traffic, true);
        const std::vector<CommGraph> rounds = split_into_rounds(graph);
        if (rounds.empty()) return bound_phase(graph, machine, latencies, load, traffic);
        std::vector<PhaseBounds> each;
        for (const CommGraph& round : rounds) {
            const std::vector<RankTraffic> its = list_traffic(round);
            each.push_back(bound_phase(round, machine, latencies, load_of(round, its, false), its));
        }
        return combine_phases(each, load);
    };
    std::vector<PhaseBounds> each;
    for (const CommGraph* const phase : phases) each.push_back(bound_of(*phase));
    if (phases.size() > 1) each = {combine_phases(each, load_of(*whole, list_traffic(*whole), true))};
    TimeBound found = std::move(each.front().all);
    found.value *= rounding_margin;
    return found;
}

}  // namespace topoloom
