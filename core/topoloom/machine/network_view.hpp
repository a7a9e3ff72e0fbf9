// SPDX-License-Identifier: BSD-3-Clause
// A type-erased topology, for code that is not compiled for each topology.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "topoloom/machine/machine.hpp"

namespace topoloom {

/// A type-erased reference to a topology. Each query costs one dispatch, a route also one call per link.
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
        visit_route(a, b, RouteVisitor(visit));
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
    /// Whether routes depend on the load.
    [[nodiscard]] bool is_adaptive() const;
    [[nodiscard]] bool is_up(Link link) const;

   private:
    void visit_route(Node a, Node b, const RouteVisitor& visit) const;

    const AnyTopology* topology_;
};

/// A NetworkView with a geometry, for topologies for which no link searches are compiled.
template <Geometry G>
class RareTopology : public NetworkView {
   public:
    RareTopology(const AnyTopology& topology, const G& geometry)
        : NetworkView(topology), geometry_(&geometry) {}
    [[nodiscard]] const G& geometry() const { return *geometry_; }

   private:
    const G* geometry_;
};

/// The topologies for which link searches are compiled. Other topologies are rare or small.
#define TOPOLOOM_COMMON_TOPOLOGIES(USE) \
    USE(Torus) USE(Hosted<Torus>) USE(Tree) USE(FatTree) USE(Hosted<Dragonfly>)

#define TOPOLOOM_OR_SAME(TYPE) || std::is_same_v<T, TYPE>
template <class T>
inline constexpr bool is_common_topology = false TOPOLOOM_COMMON_TOPOLOGIES(TOPOLOOM_OR_SAME);
#undef TOPOLOOM_OR_SAME

/// Calls use(topology) with the topology itself if it is common, else with a NetworkView.
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

/// Calls use(topology) with the topology itself if it is common, else with a RareTopology.
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
