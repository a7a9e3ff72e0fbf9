// SPDX-License-Identifier: BSD-3-Clause
// Twisted tori: wrapping around one axis also shifts along other axes.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "topoloom/base/divisor.hpp"
#include "topoloom/base/id.hpp"
#include "topoloom/base/unit.hpp"
#include "topoloom/machine/geometry/hop_table.hpp"
#include "topoloom/machine/geometry/row_major.hpp"
#include "topoloom/machine/notation/topology_notation.hpp"
#include "topoloom/machine/routing/link.hpp"
#include "topoloom/machine/topologies/hosted.hpp"

namespace topoloom {

/// Parameters of a twisted torus. Vectors have one entry per axis.
struct TwistedTorusSpec {
    std::vector<std::uint32_t> size;
    /// [a][b]: the shift of coordinate b when wrapping around axis a; [a][a] is 0. Empty: no twist.
    std::vector<std::vector<std::uint32_t>> twist;
    std::uint32_t nodes_per_router = 1;                    // nodes of one router are 0 hops apart
    std::vector<std::array<BytesPerSecond, 2>> bandwidth;  // bandwidths of the + and - links; empty: 1 B/s
    std::vector<std::array<Seconds, 2>> latency;           // empty: 0
};

/// Routers are the integer vectors modulo a lattice: size_a steps along axis a equal its twist (Camara,
/// Moreto, Vallejo, Beivide, Miguel-Alonso, Martinez, Navaridas, TPDS 2010). The network is
/// vertex-transitive, so one table, indexed by coordinate difference, contains all distances and a shortest
/// vector of steps per difference. Messages take these steps axis by axis. Of several shortest vectors, the
/// table has the one with the most + steps along the first axis, then along the next.
class TwistedTorus {
   public:
    /// Coordinates as a number, such that the difference of two numbers identifies the difference of
    /// coordinates.
    using Point = std::uint32_t;

    static constexpr std::size_t max_axes = 8;
    static constexpr std::uint32_t max_extent = 16384;  // steps along an axis must fit 16 bits

    /// Throws Error for bad extents, vectors of the wrong length, and twists that depend on each other in a cycle.
    explicit TwistedTorus(TwistedTorusSpec spec);

    [[nodiscard]] std::size_t node_count() const {
        return vertex_count() * std::size_t{spec_.nodes_per_router};
    }
    [[nodiscard]] std::size_t link_count() const { return next_.size(); }
    [[nodiscard]] std::size_t vertex_count() const { return key_.size(); }

    [[nodiscard]] Point point(Node node) const { return key_[vertex(node)]; }
    [[nodiscard]] std::uint32_t hops(Point a, Point b) const { return hops_[b - a + center_]; }
    [[nodiscard]] std::uint32_t diameter() const { return table_.max_distance(); }
    [[nodiscard]] const HopTable& geometry() const { return table_; }

    template <class Visit>
    void route(Node a, Node b, const Visit& visit) const {
        std::uint32_t at = vertex(a);
        const std::uint32_t difference = difference_[point(b) - point(a) + center_];
        for (std::size_t i = way_[difference]; i < way_[difference + 1]; ++i) {
            const std::size_t link = first_[step_[i]] + at;
            visit(Link{link}, 1.0);
            at = next_[link];
        }
    }

    [[nodiscard]] const std::vector<std::uint32_t>& grid() const { return spec_.size; }
    [[nodiscard]] bool wraps(std::uint32_t) const { return true; }
    [[nodiscard]] std::vector<std::uint32_t> coordinates(Node node) const {
        return row_major_coordinates(vertex(node), spec_.size);
    }

    [[nodiscard]] std::uint32_t vertex(Node node) const { return nodes_per_router_.quotient(node.value); }
    [[nodiscard]] LinkEnds ends(Link link) const;
    [[nodiscard]] BytesPerSecond bandwidth(Link link) const;
    [[nodiscard]] std::vector<LinkRun> bandwidth_runs() const;
    [[nodiscard]] Seconds latency(Link link) const;
    [[nodiscard]] std::string link_name(Link link) const;
    [[nodiscard]] std::string describe() const;
    [[nodiscard]] const TwistedTorusSpec& spec() const { return spec_; }

   private:
    using Vector = std::vector<std::int64_t>;

    [[nodiscard]] Vector position(std::uint32_t router) const;
    /// The router at these coordinates, which may lie outside the extents.
    [[nodiscard]] std::uint32_t router_at(Vector at) const;
    void link_routers();
    void find_step_vectors();
    void fill_tables();
    /// The line number of a link: 2 * axis, plus 1 for the - direction.
    [[nodiscard]] std::size_t line_of(Link link) const;

    TwistedTorusSpec spec_;
    std::vector<std::size_t> wrap_order_;  // an axis precedes the axes that it shifts
    Divisor nodes_per_router_;
    std::vector<std::uint32_t> key_;         // [router]: coordinates as a number in mixed radix 2 * size - 1
    std::uint32_t center_ = 0;               // key of the last router; makes differences nonnegative
    std::vector<std::uint16_t> hops_;        // [difference of keys + center]
    std::vector<std::uint32_t> difference_;  // [difference of keys + center]: router reached from router 0
    std::vector<std::size_t> way_;  // [router]: index of the first step from router 0; last entry: all steps
    std::vector<std::uint8_t> step_;   // 2 * axis + sign
    std::vector<std::size_t> first_;   // [step]: first link; an axis with one router has no links
    std::vector<std::uint32_t> next_;  // [link]: target router
    HopTable table_;
};

extern const TopologyNotation<Hosted<TwistedTorus>> twisted_notation;

}  // namespace topoloom
