// SPDX-License-Identifier: BSD-3-Clause
// A ring bus: stations on rings in both directions, such as the Element Interconnect Bus (EIB) of the Cell
// processor.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "topoloom/base/id.hpp"
#include "topoloom/base/unit.hpp"
#include "topoloom/machine/notation/topology_notation.hpp"
#include "topoloom/machine/routing/link.hpp"
#include "topoloom/machine/topologies/torus.hpp"

namespace topoloom {

struct RingBusSpec {
    std::uint32_t stations = 0;
    std::uint32_t rings = 1;      // number of rings per direction
    std::uint32_t transfers = 0;  // limit of simultaneous transfers per ring; 0: as many as do not overlap
    /// Whether messages half-way around use both directions, as an arbiter may choose, or only clockwise.
    bool split_ties = true;
    BytesPerSecond bandwidth{1};  // per ring
    Seconds latency{0};           // between neighboring stations
};

/// Stations are numbered clockwise. A message takes the shorter arc (Sudheer 2012, ch. 4). The rings of one
/// direction form one link between neighboring stations, with their total bandwidth. The limit of
/// simultaneous transfers affects times, not loads.
class RingBus {
   public:
    using Point = Torus::Point;

    /// Throws the same errors as Torus, and Error for 0 rings.
    explicit RingBus(const RingBusSpec& spec);

    [[nodiscard]] std::size_t node_count() const { return ring_.node_count(); }
    [[nodiscard]] std::size_t link_count() const { return ring_.link_count(); }
    [[nodiscard]] std::size_t vertex_count() const { return ring_.vertex_count(); }
    [[nodiscard]] Point point(Node node) const { return ring_.point(node); }
    [[nodiscard]] std::uint32_t hops(const Point& a, const Point& b) const { return ring_.hops(a, b); }
    [[nodiscard]] std::uint32_t diameter() const { return ring_.diameter(); }
    [[nodiscard]] const Torus& geometry() const { return ring_; }

    /// The torus route, without the overhead of several axes.
    template <class Visit>
    void route(Node a, Node b, const Visit& visit) const {
        const std::uint32_t n = spec_.stations;
        const std::uint32_t clockwise = b.value >= a.value ? b.value - a.value : b.value + n - a.value;
        const std::uint32_t back = n - clockwise;
        const double share = clockwise == back && spec_.split_ties ? 0.5 : 1.0;
        if (clockwise <= back) {
            for (std::uint32_t i = clockwise, at = a.value; i > 0; --i) {
                visit(Link{at}, share);
                at = at + 1 == n ? 0 : at + 1;
            }
        }
        if (clockwise > back || share < 1) {
            // The index of a counter-clockwise link is its target station.
            for (std::uint32_t i = back, at = a.value; i > 0; --i) {
                at = at == 0 ? n - 1 : at - 1;
                visit(Link{n + at}, share);
            }
        }
    }

    [[nodiscard]] const std::vector<std::uint32_t>& grid() const { return ring_.grid(); }
    [[nodiscard]] bool wraps(std::uint32_t axis) const { return ring_.wraps(axis); }
    [[nodiscard]] std::vector<std::uint32_t> coordinates(Node node) const { return ring_.coordinates(node); }

    [[nodiscard]] std::uint32_t vertex(Node node) const { return node.value; }
    [[nodiscard]] LinkEnds ends(Link link) const { return ring_.ends(link); }
    [[nodiscard]] BytesPerSecond bandwidth(Link link) const { return ring_.bandwidth(link); }
    [[nodiscard]] std::vector<LinkRun> bandwidth_runs() const { return ring_.bandwidth_runs(); }
    [[nodiscard]] Seconds latency(Link link) const { return ring_.latency(link); }
    [[nodiscard]] std::string link_name(Link link) const;
    [[nodiscard]] std::string describe() const;
    [[nodiscard]] const RingBusSpec& spec() const { return spec_; }

   private:
    RingBusSpec spec_;
    Torus ring_;
};

extern const TopologyNotation<RingBus> ring_notation;

}  // namespace topoloom
