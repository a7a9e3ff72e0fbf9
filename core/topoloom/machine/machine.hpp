// SPDX-License-Identifier: BSD-3-Clause
// A machine: a network, what is inside a node, and the one definition of distance.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "topoloom/base/id.hpp"
#include "topoloom/base/unit.hpp"
#include "topoloom/machine/degraded.hpp"
#include "topoloom/machine/geometry/hop_table.hpp"
#include "topoloom/machine/geometry/levels.hpp"
#include "topoloom/machine/topologies.hpp"
#include "topoloom/machine/topology.hpp"

namespace topoloom {

/// Every topology there is, and any of them with failures.
using AnyTopology = Extended<WholeTopology, Degraded>::type;

/// The geometry of a topology: searches are compiled once for each of these, however many topologies there are.
using AnyGeometry = std::variant<const Torus*, const WideTorus*, const Tree*, const HopTable*>;

/// What is inside every node, as it was given: slots in levels, distances between them, what one hop of the network
/// weighs, and what the path between a slot and the node's network port costs: one number for each of as many equal
/// runs of slots, or none. And speeds; Machine::speeds() completes them.
struct NodeInside {
    Levels levels{{1}, {0}};
    /// 0: chosen such that other nodes are twice as far as the farthest slot of the own node.
    std::uint32_t hop_weight = 0;
    std::vector<std::uint32_t> port{};
    /// What the links between a node and its router add to the distance to that node; set by Machine.
    std::uint32_t host = 0;
    BytesPerSecond port_bandwidth{std::numeric_limits<double>::infinity()};
    std::optional<BytesPerSecond> memory{};
    std::optional<Seconds> startup{};
    std::optional<Seconds> latency{};
    std::optional<Seconds> memory_startup{};

    /// Of a slot by its number in the node.
    [[nodiscard]] std::uint32_t port_cost(std::uint32_t local) const {
        return host + (port.empty() ? 0 : port[local / (levels.size() / port.size())]);
    }
    [[nodiscard]] std::uint32_t max_port_cost() const {
        return host + (port.empty() ? 0 : *std::ranges::max_element(port));
    }
    [[nodiscard]] std::uint32_t min_port_cost() const {
        return host + (port.empty() ? 0 : *std::ranges::min_element(port));
    }
    /// How many slots in a row are alike: as far as each other from every slot of the other rows, which are as long.
    [[nodiscard]] std::uint32_t slots_alike() const {
        std::uint32_t alike = 1;
        for (std::uint32_t level = 0; level < levels.count(); ++level) {
            if (levels.distances()[level] == levels.distances()[0]) alike *= levels.arity()[level];
        }
        return port.empty() ? alike
                            : std::gcd(alike, levels.size() / static_cast<std::uint32_t>(port.size()));
    }
    /// Slots are as far apart as their nodes.
    [[nodiscard]] bool is_flat() const {
        return hop_weight == 1 && levels.distances().back() == 0 && max_port_cost() == 0;
    }
};

/// How fast nodes are: what a node sends, and receives, per second over the network (inf: only its links limit it),
/// what its messages read from memory per second, and write there, also those over the network, what every message
/// takes its sender to start (LogGP's o), and what one over the network takes beside that and its links (L).
struct NodeSpeeds {
    BytesPerSecond port{std::numeric_limits<double>::infinity()};
    BytesPerSecond memory{std::numeric_limits<double>::infinity()};
    Seconds startup{0};
    Seconds latency{0};
    Seconds memory_startup{0};
};

/// Distances between slots of a machine whose nodes cost nothing inside: those of the network.
template <Geometry T>
class FlatSpace {
   public:
    using Network = T;
    using Point = typename T::Point;

    FlatSpace(const T& network, const NodeInside& inside)
        : network_(&network), slots_per_node_(inside.levels.size()) {}
    [[nodiscard]] const T& network() const { return *network_; }
    [[nodiscard]] Node node(Slot slot) const { return Node{slot.value / slots_per_node_}; }
    [[nodiscard]] Point point(Slot slot) const { return network_->point(node(slot)); }
    [[nodiscard]] std::uint32_t distance(const Point& a, const Point& b) const {
        return network_->distance(a, b);
    }
    [[nodiscard]] std::vector<SplitKey> split_keys(std::span<const Point> points) const {
        return network_->split_keys(points);
    }
    [[nodiscard]] static const Point& on_network(const Point& p) { return p; }
    [[nodiscard]] static constexpr std::uint32_t port_cost(const Point&) { return 0; }
    [[nodiscard]] static constexpr std::uint32_t hop_weight() { return 1; }
    static constexpr bool has_inside = false;

   private:
    const T* network_;
    std::uint32_t slots_per_node_;
};

/// Distances that also count inside nodes or to their ports, or weigh the network's hops.
template <Geometry T>
class LeveledSpace {
   public:
    using Network = T;
    struct Point {
        typename T::Point network;
        std::uint32_t node;
        std::uint32_t port;  // distance to it
        Levels::Key inside;
    };

    LeveledSpace(const T& network, const NodeInside& inside) : network_(&network), inside_(&inside) {}
    [[nodiscard]] const T& network() const { return *network_; }
    [[nodiscard]] Node node(Slot slot) const { return Node{slot.value / inside_->levels.size()}; }
    [[nodiscard]] Point point(Slot slot) const {
        const std::uint32_t local = slot.value % inside_->levels.size();
        return {network_->point(node(slot)), node(slot).value, inside_->port_cost(local),
                inside_->levels.key(local)};
    }
    [[nodiscard]] std::uint32_t distance(const Point& a, const Point& b) const {
        if (a.node == b.node) return inside_->levels.distance(a.inside, b.inside);
        return inside_->hop_weight * network_->distance(a.network, b.network) + a.port + b.port;
    }
    /// Of the network; where that does not tell points apart, by node; of the slots where all are on one node.
    [[nodiscard]] std::vector<SplitKey> split_keys(std::span<const Point> points) const {
        std::vector<typename T::Point> network;
        std::vector<Levels::Key> inside;
        bool one_node = true;
        for (const Point& p : points) {
            network.push_back(p.network);
            inside.push_back(p.inside);
            one_node = one_node && p.node == points.front().node;
        }
        if (inside_->is_flat()) return network_->split_keys(network);
        if (one_node) return inside_->levels.split_keys(inside);
        std::vector<SplitKey> keys = network_->split_keys(network);
        if (std::ranges::adjacent_find(keys, std::not_equal_to{}) == keys.end()) {
            for (std::size_t i = 0; i < points.size(); ++i) keys[i] = {points[i].node, 0};
        }
        return keys;
    }
    [[nodiscard]] static const typename T::Point& on_network(const Point& p) { return p.network; }
    [[nodiscard]] static std::uint32_t port_cost(const Point& p) { return p.port; }
    [[nodiscard]] std::uint32_t hop_weight() const { return inside_->hop_weight; }
    static constexpr bool has_inside = true;

   private:
    const T* network_;
    const NodeInside* inside_;
};

class Machine {
   public:
    /// `text` is the short description that make_machine() reads back into this machine.
    Machine(AnyTopology topology, NodeInside inside, std::string text);

    [[nodiscard]] const AnyTopology& topology() const { return *topology_; }
    [[nodiscard]] const NodeInside& inside() const { return inside_; }
    [[nodiscard]] const std::string& text() const { return *text_; }
    /// The same, for what was made for this machine: machines of one text are the same.
    [[nodiscard]] std::shared_ptr<const std::string> shared_text() const { return text_; }
    /// Whether bandwidths are known, so that loads have times. If not, all are relative: loads count in bytes.
    [[nodiscard]] bool has_bandwidths() const { return has_bandwidths_; }
    /// Where bandwidths are known, what was not given is assumed; see remarks(). Else there are no limits.
    [[nodiscard]] const NodeSpeeds& speeds() const { return speeds_; }
    /// What was assumed of the machine, and what is odd about it: one line each.
    [[nodiscard]] const std::vector<std::string>& remarks() const { return remarks_; }
    /// Of what was assumed where the machine was described.
    void add_remark(std::string remark) { remarks_.push_back(std::move(remark)); }

    [[nodiscard]] std::size_t node_count() const { return node_count_; }
    [[nodiscard]] std::uint32_t slots_per_node() const { return inside_.levels.size(); }
    [[nodiscard]] std::size_t slot_count() const { return node_count_ * slots_per_node(); }
    [[nodiscard]] std::size_t link_count() const;
    /// Those that are not down.
    [[nodiscard]] std::vector<Node> usable_nodes() const;
    /// Throws Error if one of the nodes is down, or failures leave two of them without a route between them.
    void require_usable(std::span<const Node> nodes, std::string_view whose = "the allocation") const;
    /// Whether both are up, and failures leave a route from one to the other. Without it, hops, distances and routes
    /// between the two mean nothing.
    [[nodiscard]] bool connected(Node from, Node to) const;
    /// Throws Error unless they are.
    void require_connected(Node from, Node to) const;
    [[nodiscard]] Node node(Slot slot) const { return Node{slot.value / slots_per_node()}; }
    [[nodiscard]] Slot slot(Node node, std::uint32_t local) const {
        return Slot{node.value * slots_per_node() + local};
    }

    /// The distance that hop-bytes multiply with; inside a node from its levels, else hops times their weight and the
    /// paths between both slots and their nodes' ports.
    [[nodiscard]] std::uint32_t distance(Slot a, Slot b) const;
    [[nodiscard]] std::uint32_t max_distance() const;
    [[nodiscard]] std::uint32_t hops(Node a, Node b) const;
    /// Whether distances are hops between all slots: nothing weighs links, nor counts inside nodes.
    [[nodiscard]] bool distances_are_hops() const;

    /// Mean network distance over ordered pairs of different nodes that reach each other; 0 if there are none.
    [[nodiscard]] double average_distance() const;

    /// Whether nodes have coordinates.
    [[nodiscard]] bool has_grid() const;
    /// Extents of the network's coordinates and which of them close to a ring; {nodes}, a line, where there are none.
    [[nodiscard]] std::vector<std::uint32_t> grid() const;
    [[nodiscard]] std::vector<bool> wraps() const;
    [[nodiscard]] std::vector<std::uint32_t> coordinates(Node node) const;
    /// Throws Error if there is no node at these coordinates. With several nodes per router: the first of them.
    [[nodiscard]] Node node_at(const std::vector<std::uint32_t>& coordinates) const;
    [[nodiscard]] std::string describe() const;

   private:
    void weigh_hops();
    void find_bandwidths();
    void complete_speeds();

    /// Immutable, so copies of a machine share it.
    std::shared_ptr<const AnyTopology> topology_;
    NodeInside inside_;
    std::shared_ptr<const std::string> text_;
    std::size_t node_count_;
    bool has_bandwidths_ = false;
    NodeSpeeds speeds_;
    std::vector<std::string> remarks_;
};

/// Throws Error unless what was made for a machine of this text was made for `machine`.
void require_made_for(const Machine& machine, const std::shared_ptr<const std::string>& text,
                      std::string_view what);

/// Calls use(topology) with the concrete topology.
template <class Use>
decltype(auto) with_topology(const Machine& machine, Use&& use) {
    return std::visit(std::forward<Use>(use), machine.topology());
}

/// Calls use(geometry) with the concrete geometry.
template <class Use>
decltype(auto) with_geometry(const Machine& machine, Use&& use) {
    const AnyGeometry any =
        with_topology(machine, [](const auto& t) -> AnyGeometry { return &t.geometry(); });
    return std::visit([&](const auto* geometry) -> decltype(auto) { return use(*geometry); }, any);
}

/// Searches are compiled for every space, so tables always count levels: few machines without any have one.
template <class T>
inline constexpr bool may_be_flat = !std::is_same_v<T, HopTable>;

/// Calls use(space) with a cheap and correct distance between slots in this geometry.
template <Geometry T, class Use>
decltype(auto) with_space(const T& geometry, const NodeInside& inside, Use&& use) {
    if constexpr (may_be_flat<T>) {
        if (inside.is_flat()) return use(FlatSpace<T>(geometry, inside));
    }
    return use(LeveledSpace<T>(geometry, inside));
}

/// The same in the machine's: dispatch once, then run.
template <class Use>
decltype(auto) with_space(const Machine& machine, Use&& use) {
    return with_geometry(machine, [&](const auto& geometry) -> decltype(auto) {
        return with_space(geometry, machine.inside(), use);
    });
}

}  // namespace topoloom
