// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/machine/machine.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "topoloom/base/error.hpp"

namespace topoloom {

namespace {

template <class... Ts>
constexpr bool are_topologies(const std::variant<Ts...>*) {
    return (Topology<Ts> && ...);
}
static_assert(are_topologies(static_cast<AnyTopology*>(nullptr)));

/// Returns use(topology) if the topology has coordinates, else `otherwise`.
template <class Use, class Value>
Value with_grid(const Machine& machine, const Use& use, const Value& otherwise) {
    const auto apply = [&]<class T>(const T& topology) -> Value {
        if constexpr (GridTopology<T>) {
            return use(topology);
        } else {
            return otherwise;
        }
    };
    return with_topology(machine, [&]<class T>(const T& topology) -> Value {
        if constexpr (std::is_same_v<T, DegradedTopology>) {
            return std::visit(apply, topology.intact());
        } else {
            return apply(topology);
        }
    });
}

/// The largest bandwidth that words such as `double` can produce if no absolute bandwidth is given.
constexpr BytesPerSecond max_relative{8};

std::string format_bandwidth(BytesPerSecond bandwidth) {
    std::ostringstream text;
    text << bandwidth.value / 1e9 << " GB/s";
    return text.str();
}

/// Returns the minimum of distance(node, node + 1) over all nodes. Only the first ones are visited, because a short text
/// can describe 2^31 nodes: further pairs repeat, or differ in more coordinates.
template <class Distance>
std::uint32_t min_neighbor_distance(std::size_t nodes, const Distance& distance) {
    constexpr std::size_t visited = std::size_t{1} << 24;
    std::uint32_t nearest = std::numeric_limits<std::uint32_t>::max();
    for (std::size_t node = 1; node < std::min(nodes, visited) && nearest > 0; ++node)
        nearest = std::min(nearest, distance(Node{node - 1}, Node{node}));
    return nearest;
}

/// Returns the minimum distance between two nodes, excluding host links. Except in graphs, the nearest nodes
/// have consecutive numbers. With failures, distances are hops, and no distance is shorter than in the intact
/// topology.
template <class T>
std::uint32_t min_node_distance(const T& network) {
    const std::size_t nodes = network.node_count();
    if (nodes == 1) return 0;
    if constexpr (std::is_same_v<T, DegradedTopology>) {
        return std::visit(
            [&]<class W>(const W& whole) {
                if constexpr (std::is_same_v<W, ExplicitGraph>) return min_node_distance(whole);
                return min_neighbor_distance(
                    nodes, [&](Node a, Node b) { return whole.hops(whole.point(a), whole.point(b)); });
            },
            network.intact());
    } else if constexpr (std::is_same_v<T, ExplicitGraph>) {
        const auto joins_nodes = [&](const ExplicitLink& l) { return l.from < nodes && l.to < nodes; };
        return std::ranges::any_of(network.spec().links, joins_nodes) ? 1 : 2;
    } else {
        const auto& geometry = network.geometry();
        return min_neighbor_distance(
            nodes, [&](Node a, Node b) { return geometry.distance(geometry.point(a), geometry.point(b)); });
    }
}

}  // namespace

Machine::Machine(AnyTopology topology, NodeSpec node_spec, std::string text)
    : topology_(std::make_shared<const AnyTopology>(std::move(topology))),
      node_spec_(std::move(node_spec)),
      text_(std::make_shared<const std::string>(std::move(text))) {
    node_count_ = with_topology(*this, [](const auto& t) { return t.node_count(); });
    if (slot_count() > std::numeric_limits<std::int32_t>::max()) fail("the machine has more than 2^31 slots");
    choose_hop_weight();
    const std::uint64_t network = with_geometry(*this, [](const auto& g) { return g.max_distance(); });
    const std::uint64_t ports = std::uint64_t{2} * node_spec_.max_port_distance();
    if (std::max<std::uint64_t>(network * node_spec_.hop_weight + ports,
                                node_spec_.levels.distances().back()) >
        std::numeric_limits<std::int32_t>::max()) {
        fail("distances of the machine exceed 2^31; use smaller weights");
    }
    check_bandwidths();
    if (has_bandwidths_) complete_speeds();
}

void Machine::choose_hop_weight() {
    const std::uint32_t to_routers = 2 * with_topology(*this, [](const auto& t) { return host_hops(t); });
    const std::uint32_t nearest =
        with_topology(*this, [](const auto& t) { return min_node_distance(t); }) + to_routers;
    const std::uint32_t farthest_inside = node_spec_.levels.distances().back();
    if (node_spec_.hop_weight == 0) {
        const std::uint64_t weight =
            nearest == 0 ? 1 : (2 * std::uint64_t{farthest_inside} + nearest - 1) / nearest;
        if (weight > std::numeric_limits<std::int32_t>::max())
            fail("distances of the machine exceed 2^31; use smaller weights");
        node_spec_.hop_weight = static_cast<std::uint32_t>(std::max<std::uint64_t>(1, weight));
    }
    node_spec_.host_distance = node_spec_.hop_weight * to_routers / 2;
    const std::uint64_t leaving =
        std::uint64_t{node_spec_.hop_weight} * nearest +
        2 * std::uint64_t{node_spec_.min_port_distance() - node_spec_.host_distance};
    if (node_count_ > 1 && leaving < farthest_inside) {
        remarks_.push_back(
            "another node may be nearer (" + std::to_string(leaving) + ") than a slot of the own node (" +
            std::to_string(farthest_inside) +
            (nearest > 0 ? "), as the distances were given; leave out the weight of a hop to have it fit"
                         : "), as hosts=free leaves out the links to routers"));
    }
}

void Machine::check_bandwidths() {
    const auto name = [&](Link link) {
        return with_topology(*this, [&](const auto& network) { return network.link_name(link); });
    };
    std::optional<LinkRun> least;
    std::optional<LinkRun> most;
    for (const LinkRun& run : with_topology(*this, [](const auto& t) { return t.bandwidth_runs(); })) {
        if (run.count == 0) continue;
        if (!least || run.bandwidth < least->bandwidth) least = run;
        if (!most || run.bandwidth > most->bandwidth) most = run;
    }
    has_bandwidths_ = least ? least->bandwidth >= min_known : node_spec_.memory.has_value();
    if (least && least->bandwidth <= max_relative && most->bandwidth >= min_known) {
        fail("link '", name(most->first), "' has a bandwidth, ", format_bandwidth(most->bandwidth),
             ", but link '", name(least->first), "' has none; give the bandwidth of all links");
    }
    if (least && least->bandwidth > max_relative && least->bandwidth < min_known) {
        remarks_.push_back("no times are known, as bandwidths below 100 kB/s count as relative ('" +
                           name(least->first) + "': " + format_bandwidth(least->bandwidth) + ")");
    }
    const bool nodes_have_speeds = std::isfinite(node_spec_.port_bandwidth.value) || node_spec_.memory ||
                                   node_spec_.startup || node_spec_.latency || node_spec_.memory_startup;
    if (!has_bandwidths_ && nodes_have_speeds)
        remarks_.push_back("how fast nodes are counts nowhere, as links have no bandwidth (bandwidth=)");
}

void Machine::complete_speeds() {
    constexpr BytesPerSecond assumed_memory{200e9};
    constexpr Seconds assumed_startup{0.5e-6};
    constexpr Seconds assumed_latency{0.5e-6};
    constexpr Seconds assumed_memory_startup{0.3e-6};
    speeds_.port = node_spec_.port_bandwidth;
    speeds_.startup = node_spec_.startup.value_or(assumed_startup);
    speeds_.latency = node_spec_.latency.value_or(node_spec_.startup ? Seconds{0} : assumed_latency);
    const auto add_card_remark = [&]<class T>(const T& network) {
        if constexpr (requires { network.hosts(); }) {
            const HostLinks& hosts = network.hosts();
            if (hosts.cards > 0 && hosts.is_assumed) {
                remarks_.push_back("assumed: one network card per node, of " +
                                   format_bandwidth(hosts.bandwidth) + " (cards=, bandwidth.host=)");
            }
        }
    };
    with_topology(*this, [&]<class T>(const T& network) {
        if constexpr (std::is_same_v<T, DegradedTopology>) {
            std::visit(add_card_remark, network.intact());
        } else {
            add_card_remark(network);
        }
    });
    if (!node_spec_.startup && node_count_ > 1) {
        remarks_.push_back("assumed: a message over the network takes its sender 0.5 us" +
                           std::string(node_spec_.latency ? "" : ", and 0.5 us more to arrive") +
                           " (in +node: startup=, latency=)");
    }
    if (slots_per_node() == 1) return;
    speeds_.memory = node_spec_.memory.value_or(assumed_memory);
    speeds_.memory_startup = node_spec_.memory_startup.value_or(assumed_memory_startup);
    if (!node_spec_.memory)
        remarks_.push_back(
            "assumed: the messages of a node read 200 GB/s from its memory, and write as much (in +node: "
            "memory=)");
    if (!node_spec_.memory_startup)
        remarks_.push_back(
            "assumed: a message inside a node takes its sender 0.3 us (in +node: memory-startup=)");
}

std::size_t Machine::link_count() const {
    return with_topology(*this, [](const auto& t) { return t.link_count(); });
}

std::vector<Node> Machine::usable_nodes() const {
    if (const auto* degraded = std::get_if<DegradedTopology>(topology_.get()))
        return degraded->usable_nodes();
    const ids<Node> all(node_count_);
    return {all.begin(), all.end()};
}

void Machine::require_usable(std::span<const Node> nodes, std::string_view whose) const {
    if (const auto* degraded = std::get_if<DegradedTopology>(topology_.get()))
        degraded->require_usable(nodes, whose);
}

bool Machine::connected(Node from, Node to) const {
    const auto* degraded = std::get_if<DegradedTopology>(topology_.get());
    return degraded == nullptr || degraded->connected(from, to);
}

void Machine::require_connected(Node from, Node to) const {
    if (connected(from, to)) return;
    const auto& degraded = std::get<DegradedTopology>(*topology_);
    for (const Node node : {from, to}) {
        if (!degraded.is_up(node)) fail("node ", node.value, " is down");
    }
    fail("failures leave no route from node ", from.value, " to node ", to.value);
}

std::uint32_t Machine::distance(Slot a, Slot b) const {
    return with_space(*this,
                      [&](const auto& space) { return space.distance(space.point(a), space.point(b)); });
}

std::uint32_t Machine::max_distance() const {
    const std::uint32_t network = with_geometry(*this, [](const auto& g) { return g.max_distance(); });
    const Levels& levels = node_spec_.levels;
    const std::uint32_t ports = node_count_ == 1 ? 0 : 2 * node_spec_.max_port_distance();
    return std::max(network * node_spec_.hop_weight + ports,
                    levels.distance(levels.key(0), levels.key(levels.size() - 1)));
}

bool Machine::distances_are_hops() const {
    if (node_spec_.hop_weight != 1 || node_spec_.levels.distances().back() != 0 ||
        !node_spec_.port_distances.empty())
        return false;
    return with_topology(*this, [](const auto& t) {
        if constexpr (requires { t.distances_are_hops(); }) return t.distances_are_hops();
        return true;
    });
}

std::uint32_t Machine::hops(Node a, Node b) const {
    return with_topology(*this, [&](const auto& t) { return t.hops(t.point(a), t.point(b)); });
}

double Machine::average_distance() const {
    if (node_count_ < 2) return 0;
    const double to_routers = 2 * with_topology(*this, [](const auto& t) { return host_hops(t); });
    return with_geometry(*this, [&]<class T>(const T& g) {
        std::vector<typename T::Point> points;
        for (const Node node : usable_nodes()) points.push_back(g.point(node));
        const auto totals = g.total_distances(points);
        double sum = 0;
        for (const std::uint64_t total : totals) sum += static_cast<double>(total);
        if constexpr (std::is_same_v<T, HopTable>) {
            const std::uint64_t pairs = g.count_reached_pairs(points);
            return pairs == 0 ? 0.0 : to_routers + sum / static_cast<double>(pairs);
        } else {
            return to_routers + sum / static_cast<double>(node_count_) / static_cast<double>(node_count_ - 1);
        }
    });
}

bool Machine::has_grid() const {
    return with_grid(*this, [](const auto&) { return true; }, false);
}

std::vector<std::uint32_t> Machine::grid() const {
    const std::vector<std::uint32_t> line{static_cast<std::uint32_t>(node_count_)};
    return with_grid(*this, [](const auto& t) -> std::vector<std::uint32_t> { return t.grid(); }, line);
}

std::vector<bool> Machine::wraps() const {
    const auto wraps_of = [](const auto& t) {
        std::vector<bool> wraps;
        for (std::uint32_t d = 0; d < t.grid().size(); ++d) wraps.push_back(t.wraps(d));
        return wraps;
    };
    return with_grid(*this, wraps_of, std::vector<bool>{false});
}

std::vector<std::uint32_t> Machine::coordinates(Node node) const {
    return with_grid(*this, [&](const auto& t) { return t.coordinates(node); }, std::vector{node.value});
}

Node Machine::node_at(const std::vector<std::uint32_t>& at) const {
    const std::vector<std::uint32_t> extents = grid();
    if (at.size() != extents.size()) {
        fail("coordinates of this machine have ", extents.size(), " numbers, not ", at.size());
    }
    std::size_t vertex = 0;
    std::size_t vertices = 1;
    for (std::size_t d = 0; d < at.size(); ++d) {
        if (at[d] >= extents[d]) {
            fail("coordinate ", at[d], " is outside 0..", extents[d] - 1, " on axis ", d, " of the machine");
        }
        vertex = vertex * extents[d] + at[d];
        vertices *= extents[d];
    }
    return Node{vertex * (node_count_ / vertices)};
}

std::string Machine::describe() const {
    std::ostringstream text;
    text << with_topology(*this, [](const auto& t) { return t.describe(); });
    if (slots_per_node() > 1) text << "; " << slots_per_node() << " slots per node";
    return text.str();
}

void require_made_for(const Machine& machine, const std::shared_ptr<const std::string>& text,
                      std::string_view what) {
    if (text == machine.shared_text() || *text == machine.text()) return;
    const auto short_text = [](const std::string& whole) {
        constexpr std::size_t longest = 60;
        return whole.size() <= longest ? whole : whole.substr(0, longest) + "...";
    };
    fail(what, " was made for another machine, '", short_text(*text), "', not for '",
         short_text(machine.text()), "'");
}

}  // namespace topoloom
