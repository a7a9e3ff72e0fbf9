// SPDX-License-Identifier: BSD-3-Clause
// A topology behind one type, for what need not be compiled for each of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "topoloom/machine/machine.hpp"

namespace topoloom {

/// Answers as the topology does, at the cost of one call; a route costs a call for each of its links. Refers to the
/// topology.
class NetworkView {
   public:
    using Point = Node;

    explicit NetworkView(const AnyTopology& topology) : topology_(&topology) {}

    [[nodiscard]] std::size_t node_count() const;
    [[nodiscard]] std::size_t link_count() const;
    [[nodiscard]] std::size_t vertex_count() const;
    [[nodiscard]] Point point(Node node) const { return node; }
    [[nodiscard]] std::uint32_t hops(Node a, Node b) const;
    [[nodiscard]] std::uint32_t diameter() const;
    template <class Visit>
    void route(Node a, Node b, const Visit& visit) const {
        show_route(a, b, RouteVisitor(visit));
    }
    [[nodiscard]] std::uint32_t vertex(Node node) const;
    [[nodiscard]] LinkEnds ends(Link link) const;
    [[nodiscard]] BytesPerSecond bandwidth(Link link) const;
    [[nodiscard]] std::vector<LinkRun> bandwidth_runs() const;
    [[nodiscard]] Seconds latency(Link link) const;
    [[nodiscard]] std::string link_name(Link link) const;
    [[nodiscard]] std::string describe() const;
    [[nodiscard]] std::uint32_t host(Node node) const;
    [[nodiscard]] std::uint32_t host_hops() const;
    [[nodiscard]] bool forwards(std::uint32_t vertex) const;
    [[nodiscard]] bool takes_shortest_routes() const;
    /// Whether routes depend on the load.
    [[nodiscard]] bool adapts() const;
    [[nodiscard]] bool is_up(Link link) const;

   private:
    void show_route(Node a, Node b, const RouteVisitor& visit) const;

    const AnyTopology* topology_;
};

/// The same with a geometry: a topology for which searches on links are not compiled.
template <Geometry G>
class RareTopology : public NetworkView {
   public:
    RareTopology(const AnyTopology& topology, const G& geometry)
        : NetworkView(topology), geometry_(&geometry) {}
    [[nodiscard]] const G& geometry() const { return *geometry_; }

   private:
    const G* geometry_;
};

/// Searches on links are compiled for these; the others are rare, or small.
#define TOPOLOOM_COMMON_TOPOLOGIES(USE) \
    USE(Torus) USE(Hosted<Torus>) USE(Tree) USE(FatTree) USE(Hosted<Dragonfly>)

#define TOPOLOOM_OR_SAME(TYPE) || std::is_same_v<T, TYPE>
template <class T>
inline constexpr bool is_common_topology = false TOPOLOOM_COMMON_TOPOLOGIES(TOPOLOOM_OR_SAME);
#undef TOPOLOOM_OR_SAME

/// Calls use(topology) with the topology itself if it is common, with a NetworkView if it is rare.
template <class Use>
decltype(auto) with_common_routes(const Machine& machine, Use&& use) {
    return with_topology(machine, [&]<class T>(const T& topology) -> decltype(auto) {
        if constexpr (is_common_topology<T>) {
            return use(topology);
        } else {
            return use(NetworkView(machine.topology()));
        }
    });
}

/// Calls use(topology) with a common topology, or with a rare one by its geometry.
template <class Use>
decltype(auto) with_common_topology(const Machine& machine, Use&& use) {
    return with_topology(machine, [&]<class T>(const T& topology) -> decltype(auto) {
        if constexpr (is_common_topology<T>) {
            return use(topology);
        } else {
            using G = std::remove_cvref_t<decltype(topology.geometry())>;
            return use(RareTopology<G>(machine.topology(), topology.geometry()));
        }
    });
}

}  // namespace topoloom
