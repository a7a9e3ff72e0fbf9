// SPDX-License-Identifier: BSD-3-Clause
// Rail-optimized GPU clusters: NVLink inside a domain, and a switch per rail, which links GPUs with the same
// index in their domain.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "topoloom/base/divisor.hpp"
#include "topoloom/base/id.hpp"
#include "topoloom/base/unit.hpp"
#include "topoloom/machine/geometry/hop_table.hpp"
#include "topoloom/machine/notation/topology_notation.hpp"
#include "topoloom/machine/routing/link.hpp"

namespace topoloom {

/// How messages reach another rail.
enum class RailCrossing : std::uint8_t {
    nvlink,  // by NVLink to the GPU on the target's rail, then along that rail
    spine    // over a spine switch to the other rail
};

/// Parameters of a rail cluster. Array entries are for NVLinks, GPU-leaf links and leaf-spine links.
struct RailClusterSpec {
    std::uint32_t gpus = 0;     // in a domain
    std::uint32_t domains = 1;  // domains per scalable unit
    std::uint32_t units = 1;
    std::uint32_t rails = 0;  // GPU g of a domain is on rail g mod rails; 0: one rail per GPU
    std::uint32_t host = 0;   // GPUs per host; a host is part of a domain; 0: each domain is a host
    /// Number of spine switches, each linked to all leaves. Default: the number of GPUs per leaf, or 0 if no
    /// route needs spines.
    std::optional<std::uint32_t> spines;
    RailCrossing crossing = RailCrossing::nvlink;
    std::array<BytesPerSecond, 3> bandwidth{BytesPerSecond{1}, BytesPerSecond{1}, BytesPerSecond{1}};
    std::array<Seconds, 3> latency{};
};

/// A rail-optimized cluster. Nodes are GPUs, domain by domain. A domain has one NVSwitch; a unit has one leaf
/// switch per rail.
///
///     same domain              GPU - NVSwitch - GPU
///     same rail, same unit     GPU - leaf - GPU
///     same rail, other unit    GPU - leaf - spine - leaf - GPU, in equal parts over all spines
///     other rail               by NVLink first (NCCL's PXN: NVIDIA, "Doubling all2all Performance with NCCL 2.12",
///                              2022), or over the spines
///
/// NVLink first may use more links than a route over the spines, but avoids traffic on the spines.
class RailCluster {
   public:
    struct Point {
        std::uint32_t node;
        std::uint32_t domain;
        std::uint32_t unit;
        std::uint32_t rail;
    };

    /// Throws Error for sizes of 0, a rail count that does not divide the GPUs of a domain, and missing
    /// spines.
    explicit RailCluster(RailClusterSpec spec);

    [[nodiscard]] std::size_t node_count() const { return gpus_; }
    [[nodiscard]] std::size_t link_count() const { return first_.back(); }
    [[nodiscard]] std::size_t vertex_count() const {
        return std::size_t{gpus_} + domains_ + leaves_ + *spec_.spines;
    }
    [[nodiscard]] Point point(Node node) const {
        const std::uint32_t domain = per_domain_.quotient(node.value);
        const std::uint32_t gpu = node.value - domain * spec_.gpus;
        return {node.value, domain, per_unit_.quotient(domain), per_rails_.remainder(gpu)};
    }
    [[nodiscard]] std::uint32_t hops(const Point& a, const Point& b) const {
        if (a.domain == b.domain) return a.node == b.node ? 0 : 2;
        return hops_[a.rail == b.rail ? 0 : 1][a.unit == b.unit ? 0 : 1];
    }
    [[nodiscard]] std::uint32_t diameter() const;
    /// If all bandwidths are known, the weight of a link in distances is NVLink's bandwidth divided by the
    /// link's bandwidth.
    [[nodiscard]] const HopTable& geometry() const { return table_; }
    [[nodiscard]] bool distances_are_hops() const { return weight_[1] == 1 && weight_[2] == 1; }
    [[nodiscard]] bool takes_shortest_routes() const { return spec_.crossing == RailCrossing::spine; }

    template <class Visit>
    void route(Node a, Node b, const Visit& visit) const {
        if (a == b) return;
        Point from = point(a);
        const Point to = point(b);
        if (from.domain == to.domain) {
            visit(Link{first_[nvlink_up] + a.value}, 1.0);
            visit(Link{first_[nvlink_down] + b.value}, 1.0);
            return;
        }
        if (from.rail != to.rail && spec_.crossing == RailCrossing::nvlink) {
            visit(Link{first_[nvlink_up] + a.value}, 1.0);
            from.node = b.value - to.domain * spec_.gpus + from.domain * spec_.gpus;
            from.rail = to.rail;
            visit(Link{first_[nvlink_down] + from.node}, 1.0);
        }
        visit(Link{first_[rail_up] + from.node}, 1.0);
        const std::uint32_t leaf = from.unit * spec_.rails + from.rail;
        const std::uint32_t last_leaf = to.unit * spec_.rails + to.rail;
        if (leaf != last_leaf) {
            const std::uint32_t spines = *spec_.spines;
            for (std::uint32_t spine = 0; spine < spines; ++spine) {
                visit(Link{first_[spine_up] + std::size_t{leaf} * spines + spine}, spine_share_);
                visit(Link{first_[spine_down] + std::size_t{last_leaf} * spines + spine}, spine_share_);
            }
        }
        visit(Link{first_[rail_down] + b.value}, 1.0);
    }

    /// The host of a GPU. A host corresponds to a node of other machines.
    [[nodiscard]] std::uint32_t host(Node node) const { return per_host_.quotient(node.value); }

    /// Vertices are GPUs, NVSwitches by domain, leaves by unit and rail, spines.
    [[nodiscard]] std::uint32_t vertex(Node node) const { return node.value; }
    [[nodiscard]] LinkEnds ends(Link link) const;
    [[nodiscard]] BytesPerSecond bandwidth(Link link) const { return spec_.bandwidth[kind_of(link) / 2]; }
    [[nodiscard]] std::vector<LinkRun> bandwidth_runs() const;
    [[nodiscard]] Seconds latency(Link link) const { return spec_.latency[kind_of(link) / 2]; }
    [[nodiscard]] std::string link_name(Link link) const;
    [[nodiscard]] std::string describe() const;
    /// The spec, with rails, host and spines filled in.
    [[nodiscard]] const RailClusterSpec& spec() const { return spec_; }

   private:
    enum LinkKind : std::uint8_t { nvlink_up, nvlink_down, rail_up, rail_down, spine_up, spine_down, kinds };

    [[nodiscard]] std::size_t kind_of(Link link) const;
    [[nodiscard]] std::string vertex_name(std::uint32_t vertex) const;
    void weigh_links();
    void fill_table();
    [[nodiscard]] std::uint32_t distance(const Point& a, const Point& b) const;

    RailClusterSpec spec_;
    std::uint32_t gpus_;     // total number
    std::uint32_t domains_;  // total number
    std::uint32_t leaves_;
    Divisor per_domain_;
    Divisor per_host_;
    Divisor per_unit_;
    Divisor per_rails_;
    double spine_share_ = 1;
    /// [kind]: first link id; last entry: number of links.
    std::array<std::size_t, kinds + 1> first_{};
    /// [on another rail][in another unit]: hops to a GPU of another domain.
    std::array<std::array<std::uint32_t, 2>, 2> hops_{};
    std::array<std::uint32_t, 3> weight_{1, 1, 1};  // weights of NVLinks, GPU-leaf links, leaf-spine links
    HopTable table_;
};

extern const TopologyNotation<RailCluster> rails_notation;

}  // namespace topoloom
