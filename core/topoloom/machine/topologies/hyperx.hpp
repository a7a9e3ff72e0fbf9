// SPDX-License-Identifier: BSD-3-Clause
// HyperX and hypercube: any two routers that differ on one axis are linked.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "topoloom/base/divisor.hpp"
#include "topoloom/base/id.hpp"
#include "topoloom/base/unit.hpp"
#include "topoloom/machine/geometry/hop_table.hpp"
#include "topoloom/machine/geometry/packed_coordinates.hpp"
#include "topoloom/machine/geometry/row_major.hpp"
#include "topoloom/machine/notation/topology_notation.hpp"
#include "topoloom/machine/routing/link.hpp"
#include "topoloom/machine/topologies/hosted.hpp"
#include "topoloom/machine/topologies/torus.hpp"

namespace topoloom {

/// Parameters of a HyperX. Vectors have one entry per axis.
struct HyperXSpec {
    std::vector<std::uint32_t> size;
    std::uint32_t nodes_per_router = 1;     // nodes of one router are 0 hops apart
    std::vector<std::uint32_t> order;       // axes in routing order; empty: 0, 1, 2 ...
    std::vector<BytesPerSecond> bandwidth;  // empty: 1 B/s
    std::vector<Seconds> latency;           // empty: 0
};

/// A HyperX (Ahn, Binkert, Davis, McLaren, Schreiber, SC 2009) with one link in each direction between any
/// two routers that differ on one axis; also called flattened butterfly or Hamming graph. Routers are
/// numbered row-major, nodes router by router. A message corrects one axis after the other, with one link per
/// axis. Links are numbered by axis, then by origin, then by target coordinate.
///
/// `Space` is the geometry: HopTable for any extents, or a torus if no extent exceeds 2, because its rings
/// then link the same routers.
template <class Space>
class BasicHyperX {
   public:
    using Point = PackedCoordinates::Key;

    /// Throws Error for bad extents, orders that are not permutations, or vectors of the wrong length.
    explicit BasicHyperX(HyperXSpec spec);

    [[nodiscard]] std::size_t node_count() const { return vertex_count() * spec_.nodes_per_router; }
    [[nodiscard]] std::size_t link_count() const { return first_.back(); }
    [[nodiscard]] std::size_t vertex_count() const { return router_count_; }

    [[nodiscard]] Point point(Node node) const { return routers_.key(vertex(node)); }
    [[nodiscard]] std::uint32_t hops(Point a, Point b) const { return routers_.count_differing_axes(a, b); }
    [[nodiscard]] std::uint32_t diameter() const {
        return static_cast<std::uint32_t>(routers_.routed_fields().size());
    }
    [[nodiscard]] const Space& geometry() const { return space_; }

    template <class Visit>
    void route(Node a, Node b, const Visit& visit) const {
        std::uint32_t at = vertex(a);
        const std::uint32_t end = vertex(b);
        const Point from = routers_.key(at);
        const Point to = routers_.key(end);
        if constexpr (std::is_same_v<Space, WideTorus>) {
            // Half of the axes differ, at random: a branch per axis would be unpredictable.
            routers_.for_each_differing_field(from, to, [&](const Field& field) {
                visit(Link{first_[field.axis] + at}, 1.0);
                at ^= field.step;
            });
        } else {
            for (const Field& field : routers_.routed_fields()) {
                const std::uint32_t x = routers_.coordinate(from, field);
                const std::uint32_t y = routers_.coordinate(to, field);
                if (x == y) continue;
                visit(Link{link(field, at, x, y)}, 1.0);
                at += (y - x) * field.step;
            }
        }
    }

    [[nodiscard]] const std::vector<std::uint32_t>& grid() const { return spec_.size; }
    [[nodiscard]] bool wraps(std::uint32_t) const { return false; }
    [[nodiscard]] std::vector<std::uint32_t> coordinates(Node node) const {
        return row_major_coordinates(vertex(node), spec_.size);
    }

    [[nodiscard]] std::uint32_t vertex(Node node) const { return nodes_per_router_.quotient(node.value); }
    [[nodiscard]] LinkEnds ends(Link link) const;
    [[nodiscard]] BytesPerSecond bandwidth(Link link) const { return spec_.bandwidth[axis_of(link)]; }
    [[nodiscard]] std::vector<LinkRun> bandwidth_runs() const;
    [[nodiscard]] Seconds latency(Link link) const { return spec_.latency[axis_of(link)]; }
    [[nodiscard]] std::string link_name(Link link) const;
    [[nodiscard]] std::string describe() const;
    [[nodiscard]] const HyperXSpec& spec() const { return spec_; }

   private:
    using Field = PackedCoordinates::Field;

    /// Each router has a link to every coordinate except its own. Branch-free, because a branch would be
    /// unpredictable.
    [[nodiscard]] std::size_t link(const Field& field, std::uint32_t router, std::uint32_t from,
                                   std::uint32_t to) const {
        return first_[field.axis] + std::size_t{router} * field.last + to -
               static_cast<std::uint32_t>(to > from);
    }
    [[nodiscard]] std::size_t axis_of(Link link) const;

    HyperXSpec spec_;
    PackedCoordinates routers_;
    Divisor nodes_per_router_;
    std::uint32_t router_count_;
    std::vector<std::size_t> first_;  // [axis]: first link of the axis; last entry: number of links
    Space space_;
};

using HyperX = BasicHyperX<HopTable>;
using Hypercube = BasicHyperX<WideTorus>;

extern template class BasicHyperX<HopTable>;
extern template class BasicHyperX<WideTorus>;

/// Returns a Hypercube if no extent exceeds 2.
using AnyHyperX = std::variant<Hosted<HyperX>, Hosted<Hypercube>>;
extern const TopologyNotation<AnyHyperX> hyperx_notation;
extern const TopologyNotation<AnyHyperX> hypercube_notation;

}  // namespace topoloom
