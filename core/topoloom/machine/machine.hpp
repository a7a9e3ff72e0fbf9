// SPDX-License-Identifier: BSD-3-Clause
// A machine: a network, the structure of its nodes, and the only definition of distance.
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
#include "topoloom/machine/degraded_topology.hpp"
#include "topoloom/machine/geometry/hop_table.hpp"
#include "topoloom/machine/geometry/levels.hpp"
#include "topoloom/machine/topology.hpp"
#include "topoloom/machine/topology_list.hpp"

namespace topoloom {

/// Any topology, intact or with failures.
using AnyTopology = ExtendedVariant<IntactTopology, DegradedTopology>::type;

/// The geometry of a topology. Searches are compiled once per geometry instead of once per topology.
using AnyGeometry = std::variant<const Torus*, const WideTorus*, const Tree*, const HopTable*>;

/// The structure of a node: slots in levels, their distances, and the speeds in the description.
/// Machine::speeds() adds defaults for missing speeds.
struct NodeSpec {
    Levels levels{{1}, {0}};
    /// The distance per hop. If 0, Machine chooses a weight such that the nearest other node is twice as far
    /// as the farthest slot of the same node.
    std::uint32_t hop_weight = 0;
    /// Distances from slots to the node's network port. The i-th of n distances applies to the i-th of n
    /// equal runs of slots. If empty, all distances are 0.
    std::vector<std::uint32_t> port_distances{};
    /// The distance of the links between a node and its router; set by Machine.
    std::uint32_t host_distance = 0;
    BytesPerSecond port_bandwidth{std::numeric_limits<double>::infinity()};
    std::optional<BytesPerSecond> memory{};
    std::optional<Seconds> startup{};
    std::optional<Seconds> latency{};
    std::optional<Seconds> memory_startup{};

    /// The distance from slot number `local` of the node to the router.
    [[nodiscard]] std::uint32_t port_distance(std::uint32_t local) const {
        return host_distance +
               (port_distances.empty() ? 0 : port_distances[local / (levels.size() / port_distances.size())]);
    }
    [[nodiscard]] std::uint32_t max_port_distance() const {
        return host_distance + (port_distances.empty() ? 0 : *std::ranges::max_element(port_distances));
    }
    [[nodiscard]] std::uint32_t min_port_distance() const {
        return host_distance + (port_distances.empty() ? 0 : *std::ranges::min_element(port_distances));
    }
    /// The length of runs of interchangeable slots: slots of a run have the same distances to all slots
    /// outside it.
    [[nodiscard]] std::uint32_t interchangeable_run_length() const {
        std::uint32_t alike = 1;
        for (std::uint32_t level = 0; level < levels.count(); ++level) {
            if (levels.distances()[level] == levels.distances()[0]) alike *= levels.arity()[level];
        }
        if (port_distances.empty()) return alike;
        return std::gcd(alike, levels.size() / static_cast<std::uint32_t>(port_distances.size()));
    }
    /// Whether the distance between two slots always equals the distance between their nodes.
    [[nodiscard]] bool is_flat() const {
        return hop_weight == 1 && levels.distances().back() == 0 && max_port_distance() == 0;
    }
};

/// Bandwidths and message costs of a node.
struct NodeSpeeds {
    /// Bandwidth of the network port in each direction. Infinity means that only links limit the rate.
    BytesPerSecond port{std::numeric_limits<double>::infinity()};
    /// Memory bandwidth: a limit for the reads of all messages, and the same limit for their writes.
    BytesPerSecond memory{std::numeric_limits<double>::infinity()};
    Seconds startup{0};         // sender overhead of an inter-node message (LogGP's o)
    Seconds latency{0};         // latency of an inter-node message, without startup and links (L)
    Seconds memory_startup{0};  // sender overhead of an intra-node message
};

/// Slot distances of machines without distances inside nodes: the distance between two slots is the network
/// distance of their nodes.
template <Geometry T>
class FlatSpace {
   public:
    using Network = T;
    using Point = typename T::Point;

    FlatSpace(const T& network, const NodeSpec& node_spec)
        : network_(&network), slots_per_node_(node_spec.levels.size()) {}
    [[nodiscard]] const T& network() const { return *network_; }
    [[nodiscard]] Node node(Slot slot) const { return Node{slot.value / slots_per_node_}; }
    [[nodiscard]] Point point(Slot slot) const { return network_->point(node(slot)); }
    [[nodiscard]] std::uint32_t distance(const Point& a, const Point& b) const {
        return network_->distance(a, b);
    }
    [[nodiscard]] std::vector<SplitKey> split_keys(std::span<const Point> points) const {
        return network_->split_keys(points);
    }
    [[nodiscard]] static const Point& network_point(const Point& p) { return p; }
    [[nodiscard]] static constexpr std::uint32_t port_distance(const Point&) { return 0; }
    [[nodiscard]] static constexpr std::uint32_t hop_weight() { return 1; }
    static constexpr bool has_levels = false;

   private:
    const T* network_;
    std::uint32_t slots_per_node_;
};

/// Slot distances that include node levels, distances to ports, and the weight of a hop.
template <Geometry T>
class LeveledSpace {
   public:
    using Network = T;
    struct Point {
        typename T::Point network;
        std::uint32_t node;
        std::uint32_t port;  // distance to the port
        Levels::Key inside;
    };

    LeveledSpace(const T& network, const NodeSpec& node_spec) : network_(&network), node_spec_(&node_spec) {}
    [[nodiscard]] const T& network() const { return *network_; }
    [[nodiscard]] Node node(Slot slot) const { return Node{slot.value / node_spec_->levels.size()}; }
    [[nodiscard]] Point point(Slot slot) const {
        const std::uint32_t local = slot.value % node_spec_->levels.size();
        return {network_->point(node(slot)), node(slot).value, node_spec_->port_distance(local),
                node_spec_->levels.key(local)};
    }
    [[nodiscard]] std::uint32_t distance(const Point& a, const Point& b) const {
        if (a.node == b.node) return node_spec_->levels.distance(a.inside, b.inside);
        return node_spec_->hop_weight * network_->distance(a.network, b.network) + a.port + b.port;
    }
    /// Returns keys of the network, or node numbers if all network keys are equal. If all points are on one
    /// node, returns keys of the levels.
    [[nodiscard]] std::vector<SplitKey> split_keys(std::span<const Point> points) const {
        std::vector<typename T::Point> network;
        std::vector<Levels::Key> inside;
        bool one_node = true;
        for (const Point& p : points) {
            network.push_back(p.network);
            inside.push_back(p.inside);
            one_node = one_node && p.node == points.front().node;
        }
        if (node_spec_->is_flat()) return network_->split_keys(network);
        if (one_node) return node_spec_->levels.split_keys(inside);
        std::vector<SplitKey> keys = network_->split_keys(network);
        if (std::ranges::adjacent_find(keys, std::not_equal_to{}) == keys.end()) {
            for (std::size_t i = 0; i < points.size(); ++i) keys[i] = {points[i].node, 0};
        }
        return keys;
    }
    [[nodiscard]] static const typename T::Point& network_point(const Point& p) { return p.network; }
    [[nodiscard]] static std::uint32_t port_distance(const Point& p) { return p.port; }
    [[nodiscard]] std::uint32_t hop_weight() const { return node_spec_->hop_weight; }
    static constexpr bool has_levels = true;

   private:
    const T* network_;
    const NodeSpec* node_spec_;
};

class Machine {
   public:
    /// `text` is the short description that make_machine() reads back into this machine.
    Machine(AnyTopology topology, NodeSpec node_spec, std::string text);

    [[nodiscard]] const AnyTopology& topology() const { return *topology_; }
    [[nodiscard]] const NodeSpec& node_spec() const { return node_spec_; }
    [[nodiscard]] const std::string& text() const { return *text_; }
    /// The machine text, shared with objects made for this machine. Machines with equal texts are equal.
    [[nodiscard]] std::shared_ptr<const std::string> shared_text() const { return text_; }
    /// Whether bandwidths are absolute, so that loads are times. If not, bandwidths are relative and loads
    /// are bytes.
    [[nodiscard]] bool has_bandwidths() const { return has_bandwidths_; }
    /// The speeds of a node. If bandwidths are known, missing speeds have default values, listed in
    /// remarks(). Otherwise missing speeds are unlimited.
    [[nodiscard]] const NodeSpeeds& speeds() const { return speeds_; }
    /// Assumptions about the machine and warnings about its description, one line each.
    [[nodiscard]] const std::vector<std::string>& remarks() const { return remarks_; }
    void add_remark(std::string remark) { remarks_.push_back(std::move(remark)); }

    [[nodiscard]] std::size_t node_count() const { return node_count_; }
    [[nodiscard]] std::uint32_t slots_per_node() const { return node_spec_.levels.size(); }
    [[nodiscard]] std::size_t slot_count() const { return node_count_ * slots_per_node(); }
    [[nodiscard]] std::size_t link_count() const;
    /// The nodes that are not down, ascending.
    [[nodiscard]] std::vector<Node> usable_nodes() const;
    /// Throws Error if one of the nodes is down, or if failures disconnect two of the nodes.
    void require_usable(std::span<const Node> nodes, std::string_view whose = "the allocation") const;
    /// Whether both nodes are up and a route leads from the first to the second. Otherwise hops, distances
    /// and routes between the nodes are undefined.
    [[nodiscard]] bool connected(Node from, Node to) const;
    /// Throws Error unless the nodes are connected.
    void require_connected(Node from, Node to) const;
    [[nodiscard]] Node node(Slot slot) const { return Node{slot.value / slots_per_node()}; }
    [[nodiscard]] Slot slot(Node node, std::uint32_t local) const {
        return Slot{node.value * slots_per_node() + local};
    }

    /// The distance between two slots, by which bytes are multiplied in hop-bytes. Inside a node it is the
    /// distance of the levels. Between nodes it is the weighted hops plus the distances of both slots to
    /// their ports.
    [[nodiscard]] std::uint32_t distance(Slot a, Slot b) const;
    [[nodiscard]] std::uint32_t max_distance() const;
    [[nodiscard]] std::uint32_t hops(Node a, Node b) const;
    /// Whether all slot distances are hops: links have no weights, and slots of a node are at distance 0.
    [[nodiscard]] bool distances_are_hops() const;

    /// Mean network distance over ordered pairs of different nodes that reach each other; 0 if there are none.
    [[nodiscard]] double average_distance() const;

    /// Whether nodes have coordinates.
    [[nodiscard]] bool has_grid() const;
    /// Extents of the coordinates. wraps() tells which axes are rings. Without coordinates, the grid is a
    /// line of all nodes.
    [[nodiscard]] std::vector<std::uint32_t> grid() const;
    [[nodiscard]] std::vector<bool> wraps() const;
    [[nodiscard]] std::vector<std::uint32_t> coordinates(Node node) const;
    /// The first node of the router at these coordinates. Throws Error for coordinates outside the extents.
    [[nodiscard]] Node node_at(const std::vector<std::uint32_t>& coordinates) const;
    [[nodiscard]] std::string describe() const;

   private:
    void choose_hop_weight();
    void check_bandwidths();
    void complete_speeds();

    /// Immutable, so copies of a machine share it.
    std::shared_ptr<const AnyTopology> topology_;
    NodeSpec node_spec_;
    std::shared_ptr<const std::string> text_;
    std::size_t node_count_;
    bool has_bandwidths_ = false;
    NodeSpeeds speeds_;
    std::vector<std::string> remarks_;
};

/// Throws Error unless `machine` has this machine text. In the message, `what` names the object that was made
/// for the machine with this text.
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

/// Whether searches are also compiled for the flat space, which has no distances inside nodes. Few machines
/// with a hop table are flat, so hop tables use only the leveled space.
template <class T>
inline constexpr bool may_be_flat = !std::is_same_v<T, HopTable>;

/// Calls use(space) with the cheapest space that represents the slot distances in this geometry.
template <Geometry T, class Use>
decltype(auto) with_space(const T& geometry, const NodeSpec& node_spec, Use&& use) {
    if constexpr (may_be_flat<T>) {
        if (node_spec.is_flat()) return use(FlatSpace<T>(geometry, node_spec));
    }
    return use(LeveledSpace<T>(geometry, node_spec));
}

/// Calls use(space) with the machine's space, after a single dispatch on its geometry.
template <class Use>
decltype(auto) with_space(const Machine& machine, Use&& use) {
    return with_geometry(machine, [&](const auto& geometry) -> decltype(auto) {
        return with_space(geometry, machine.node_spec(), use);
    });
}

}  // namespace topoloom
