// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/metric/judge.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <type_traits>
#include <utility>

#include "topoloom/base/error.hpp"
#include "topoloom/machine/network_view.hpp"
#include "topoloom/machine/slot_space.hpp"
#include "topoloom/metric/adaptive_split.hpp"
#include "topoloom/metric/hop_bytes.hpp"
#include "topoloom/metric/proxies.hpp"
#include "topoloom/metric/route_loads.hpp"

namespace topoloom {

namespace {

/// Accumulators of a worker, on separate cache lines.
struct alignas(128) Tally {
    std::int64_t hop_bytes = 0;
    std::int64_t message_hops = 0;
    std::uint32_t longest = 0;
    BigVector<double> loads;
    std::vector<Bytes> leaving;  // [host], like the next one
    std::vector<Bytes> entering;
    std::vector<Bytes> bytes_out, bytes_in;
    std::vector<std::int64_t> messages_out, messages_in;

    Tally(std::size_t nodes, std::size_t links)
        : loads(links),
          leaving(nodes),
          entering(nodes),
          bytes_out(nodes),
          bytes_in(nodes),
          messages_out(nodes),
          messages_in(nodes) {}

    void add(const Tally& other) {
        hop_bytes += other.hop_bytes;
        message_hops += other.message_hops;
        longest = std::max(longest, other.longest);
        const auto add_all = [](auto& sums, const auto& more) {
            for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += more[i];
        };
        add_all(loads, other.loads);
        add_all(leaving, other.leaving);
        add_all(entering, other.entering);
        add_all(bytes_out, other.bytes_out);
        add_all(bytes_in, other.bytes_in);
        add_all(messages_out, other.messages_out);
        add_all(messages_in, other.messages_in);
    }
};

void require_exact_dilation(const CommGraph& graph, const Machine& machine) {
    const std::int64_t farthest = with_topology(machine, [](const auto& t) { return t.diameter(); });
    if (farthest > 0 && graph.total_messages() > std::numeric_limits<std::int64_t>::max() / farthest) {
        fail("the pattern sends ", graph.total_messages(), " messages over up to ", farthest,
             " hops; their sum would exceed 2^63. Scale the messages down");
    }
}

/// Limits the number of workers, because each has separate loads: their memory must not exceed the memory of
/// the graph.
int affordable_workers(const CommGraph& graph, const Machine& machine, int threads) {
    const std::size_t graph_bytes = graph.edge_count() * 20 + graph.rank_count() * 8;
    const std::size_t tally_bytes = machine.link_count() * 8 + machine.node_count() * 40;
    return std::clamp(static_cast<int>(std::min<std::size_t>(graph_bytes / tally_bytes, 1024)), 1,
                      thread_count(threads));
}

/// Computes distances between ranks on a machine with a rare topology by virtual calls.
class SlotSpaceAdapter {
   public:
    using Network = void;
    using Point = std::uint32_t;  // rank

    SlotSpaceAdapter(const Machine& machine, const Placement& placement)
        : machine_(machine), ranks_(make_slot_space(machine, placement.slots())) {}
    [[nodiscard]] Node node(Slot slot) const { return machine_.node(slot); }
    [[nodiscard]] std::uint32_t distance(Point a, Point b) const { return ranks_->distance(a, b); }

   private:
    const Machine& machine_;
    std::unique_ptr<SlotSpace> ranks_;
};

template <class Network, class Space>
class GraphTraversal {
   public:
    /// `points` contains one point per rank.
    GraphTraversal(const Network& network, const Space& space, const CommGraph& graph,
                   const Placement& placement, std::vector<typename Space::Point> points)
        : network_(network), space_(space), graph_(graph), points_(std::move(points)) {
        for (const Slot slot : placement.slots()) nodes_.push_back(space.node(slot));
    }

    void count_messages(Chunk ranks, Tally& tally) const {
        RouteLoads<Network> loads(network_, tally.loads, LoadQuantizer(graph_.total_bytes()));
        for (std::size_t u = ranks.begin; u < ranks.end; ++u) count_messages(Rank{u}, tally, loads);
    }

   private:
    /// The rank's position on the network. If the network is its own geometry, the slot space already
    /// contains this position.
    [[nodiscard]] typename Network::Point network_point(Rank u) const {
        if constexpr (std::is_same_v<Network, typename Space::Network>) {
            return space_.network_point(points_[u.value]);
        } else {
            return network_.point(nodes_[u.value]);
        }
    }

    void count_messages(Rank u, Tally& tally, RouteLoads<Network>& loads) const {
        const Node from = nodes_[u.value];
        const auto here = points_[u.value];
        const auto start = network_point(u);
        const std::span<const Rank> peers = graph_.peers(u);
        const std::span<const Bytes> bytes = graph_.bytes(u);
        const std::span<const std::int64_t> messages = graph_.messages(u);
        loads.set_source(from, start);
        // Local sums stay in registers: the compiler cannot prove that `loads` and `tally` do not alias.
        std::int64_t hop_bytes = 0;
        std::int64_t message_hops = 0;
        std::uint32_t longest = 0;
        Bytes bytes_out;
        Bytes leaving;
        std::int64_t messages_out = 0;
        for (std::size_t i = 0; i < peers.size(); ++i) {
            const Node to = nodes_[peers[i].value];
            hop_bytes +=
                bytes[i].value * static_cast<std::int64_t>(space_.distance(here, points_[peers[i].value]));
            if (from == to) continue;
            bytes_out += bytes[i];
            if (const auto host = host_of(network_, to); host != host_of(network_, from)) {
                leaving += bytes[i];
                tally.entering[host] += bytes[i];
            }
            messages_out += messages[i];
            tally.bytes_in[to.value] += bytes[i];
            tally.messages_in[to.value] += messages[i];
            const auto end = network_point(peers[i]);
            const std::uint32_t hops = network_.hops(start, end);
            message_hops += messages[i] * static_cast<std::int64_t>(hops);
            if (messages[i] > 0) longest = std::max(longest, hops);
            loads.add_route_to(to, end, static_cast<double>(bytes[i].value));
        }
        tally.hop_bytes += hop_bytes;
        tally.message_hops += message_hops;
        tally.longest = std::max(tally.longest, longest);
        tally.leaving[host_of(network_, from)] += leaving;
        tally.bytes_out[from.value] += bytes_out;
        tally.messages_out[from.value] += messages_out;
    }

    const Network& network_;
    const Space& space_;
    const CommGraph& graph_;
    std::vector<typename Space::Point> points_;
    std::vector<Node> nodes_;
};

/// Returns the bytes on every link for the given routes.
template <class Routes>
BigVector<double> compute_loads(const Routes& routes, const CommGraph& graph, const Machine& machine,
                                const Placement& placement, int workers) {
    std::vector<BigVector<double>> parts(static_cast<std::size_t>(workers),
                                         BigVector<double>(machine.link_count()));
    const Chunks chunks(graph.rank_count(), ranks_per_chunk);
    parallel_for(chunks.size(), workers, [&](std::size_t c, int worker) {
        RouteLoads loads(routes, parts[static_cast<std::size_t>(worker)], LoadQuantizer(graph.total_bytes()));
        for (std::size_t u = chunks[c].begin; u < chunks[c].end; ++u) {
            loads.set_source(machine.node(placement[Rank{u}]), nullptr);
            for (const Edge edge : graph.sends(Rank{u})) {
                loads.add_route_to(machine.node(placement[edge.peer]), nullptr,
                                   static_cast<double>(edge.bytes.value));
            }
        }
    });
    BigVector<double> sum = std::move(parts.front());
    for (std::size_t w = 1; w < parts.size(); ++w) {
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += parts[w][i];
    }
    return sum;
}

/// Moves the share of traffic from minimal routes to detours that minimizes congestion.
void split_adaptively(const auto& network, const CommGraph& graph, const Machine& machine,
                      const Placement& placement, int workers, Judgement& result) {
    const BigVector<double> detours =
        compute_loads(network.with_minimal_share(0), graph, machine, placement, workers);
    const double share = best_minimal_share(result.loads, detours, network.bandwidth_runs());
    for (std::size_t i = 0; i < detours.size(); ++i) {
        result.loads[i] = share * result.loads[i] + (1 - share) * detours[i];
    }
    result.minimal_share = share;
}

double ratio(double value, double of) { return of == 0 ? 0 : value / of; }

template <class T>
void measure_loads(const T& network, Judgement& result) {
    double sum = 0;
    std::size_t loaded = 0;
    for (const LinkRun& run : network.bandwidth_runs()) {
        double most = 0;
        for (std::size_t i = run.first.value; i < run.first.value + run.count; ++i) {
            sum += result.loads[i];
            loaded += result.loads[i] > 0 ? 1 : 0;
            most = std::max(most, result.loads[i]);
        }
        result.congestion_max = std::max(result.congestion_max, most / run.bandwidth.value);
    }
    result.traffic_average = ratio(sum, static_cast<double>(loaded));
}

}  // namespace

Judgement judge(const CommGraph& graph, const Machine& machine, const Placement& placement, int threads) {
    require_placed(graph, machine, placement.slots());
    if (!graph.proxied().empty())
        return judge(apply_proxies(graph, placement.slots()), machine, placement, threads);
    require_exact_hop_bytes(graph, machine);
    require_exact_dilation(graph, machine);
    const Chunks chunks(graph.rank_count(), ranks_per_chunk);
    const int workers = affordable_workers(graph, machine, threads);
    std::vector<Tally> tallies;
    for (int w = 0; w < workers; ++w) tallies.emplace_back(machine.node_count(), machine.link_count());
    with_common_routes(machine, [&]<class Network>(const Network& network) {
        const auto traverse = [&](const auto& space, auto points) {
            const GraphTraversal traversal(network, space, graph, placement, std::move(points));
            parallel_for(chunks.size(), workers, [&](std::size_t c, int worker) {
                traversal.count_messages(chunks[c], tallies[static_cast<std::size_t>(worker)]);
            });
        };
        if constexpr (std::is_same_v<Network, NetworkView>) {
            std::vector<std::uint32_t> ranks(graph.rank_count());
            std::iota(ranks.begin(), ranks.end(), 0U);
            traverse(SlotSpaceAdapter(machine, placement), std::move(ranks));
        } else if constexpr (requires { network.router_network(); }) {
            const LeveledSpace space(network.geometry(), machine.node_spec());  // host links count as hops
            traverse(space, points_of(space, placement.slots()));
        } else {
            with_space(network.geometry(), machine.node_spec(),
                       [&](const auto& space) { traverse(space, points_of(space, placement.slots())); });
        }
    });
    Tally& all = tallies.front();
    for (std::size_t w = 1; w < tallies.size(); ++w) all.add(tallies[w]);

    Judgement result;
    result.hop_bytes = all.hop_bytes;
    result.hops_per_byte =
        ratio(static_cast<double>(all.hop_bytes), static_cast<double>(graph.total_bytes().value));
    result.dilation_average =
        ratio(static_cast<double>(all.message_hops), static_cast<double>(graph.total_messages()));
    result.dilation_max = all.longest;
    std::vector<double> load(machine.slot_count(), 0);
    for (const Rank u : ids<Rank>(graph.rank_count())) load[placement[u].value] += graph.load(u);
    result.load_max = *std::ranges::max_element(load);
    result.inter_node_bytes = std::accumulate(all.leaving.begin(), all.leaving.end(), Bytes{});
    result.inter_node_max =
        std::max(*std::ranges::max_element(all.leaving), *std::ranges::max_element(all.entering));
    result.loads = std::move(all.loads);
    result.bytes_out = std::move(all.bytes_out);
    result.bytes_in = std::move(all.bytes_in);
    result.messages_out = std::move(all.messages_out);
    result.messages_in = std::move(all.messages_in);
    with_common_routes(machine, [&]<class T>(const T& network) {
        convert_sums_to_loads(network, result.loads);
        if constexpr (requires { network.with_minimal_share(0); }) {
            if (network.is_adaptive()) split_adaptively(network, graph, machine, placement, workers, result);
        }
        measure_loads(network, result);
    });
    return result;
}

}  // namespace topoloom
