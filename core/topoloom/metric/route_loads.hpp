// SPDX-License-Identifier: BSD-3-Clause
// Adds messages to the loads of the links on their routes, at memory speed.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "topoloom/base/unit.hpp"
#include "topoloom/machine/topologies/fat_tree.hpp"
#include "topoloom/machine/topologies/hosted.hpp"
#include "topoloom/machine/topologies/torus_load_differences.hpp"

namespace topoloom {

/// Delays each addition to a load until the load's cache line has been prefetched: messages between distant
/// ranks touch links all over the machine.
class DelayedLoads {
   public:
    explicit DelayedLoads(std::span<double> loads) : loads_(loads) {}
    ~DelayedLoads() {
        if (loads_.empty()) return;  // the machine may have no links
        for (const auto& [index, amount] : waiting_) loads_[index] += amount;
    }
    DelayedLoads(const DelayedLoads&) = delete;
    DelayedLoads& operator=(const DelayedLoads&) = delete;

    void add(std::size_t index, double amount) {
        __builtin_prefetch(&loads_[index], 1);
        PendingAddition& oldest = waiting_[next_++ % waiting_.size()];
        loads_[oldest.index] += oldest.amount;
        oldest = {index, amount};
    }

   private:
    struct PendingAddition {
        std::size_t index = 0;
        double amount = 0;
    };
    std::span<double> loads_;
    std::array<PendingAddition, 64> waiting_{};
    std::size_t next_ = 0;
};

/// Rounds loads so that no sum needs more than 53 bits. Therefore sums are exact and independent of order.
/// The rounding error of a share such as 1/3 is at most 2^-52 of all bytes.
class LoadQuantizer {
   public:
    explicit LoadQuantizer(Bytes all)
        : magic_(0.5 * static_cast<double>(std::bit_ceil(static_cast<std::uint64_t>(all.value)))) {}
    /// The addition rounds away the bits below the quantum.
    [[nodiscard]] double round(double load) const { return (load + magic_) - magic_; }

   private:
    double magic_;
};

/// Adds messages to link loads, route by route.
template <class Routes>
class RouteLoads {
   public:
    RouteLoads(const Routes& routes, std::span<double> loads, LoadQuantizer quantizer)
        : routes_(routes), loads_(loads), quantizer_(quantizer) {}
    void set_source(Node node, const auto& /*point*/) { from_ = node; }
    void add_route_to(Node node, const auto& /*point*/, double bytes) {
        routes_.route(from_, node, [&](Link link, double share) {
            loads_.add(link.value, quantizer_.round(bytes * share));
        });
    }

   private:
    const Routes& routes_;
    DelayedLoads loads_;
    LoadQuantizer quantizer_;
    Node from_;
};

/// Torus: adds runs of links.
template <std::size_t Width>
class RouteLoads<BasicTorus<Width>> {
   public:
    using Point = typename BasicTorus<Width>::Point;
    RouteLoads(const BasicTorus<Width>& torus, std::span<double> loads, LoadQuantizer /*sums are exact*/)
        : loads_(loads), deposits_(torus, Add{&loads_}) {}
    void set_source(Node, const Point& a) { deposits_.set_source(a); }
    void add_route_to(Node, const Point& b, double bytes) { deposits_.add_message_to(b, bytes); }

   private:
    struct Add {
        DelayedLoads* loads;
        void operator()(std::size_t index, double amount) const { loads->add(index, amount); }
    };
    DelayedLoads loads_;
    typename BasicTorus<Width>::template LoadDifferences<Add> deposits_;
};

/// Fat tree: adds to one link that represents all links that share a message equally.
template <>
class RouteLoads<FatTree> {
   public:
    RouteLoads(const FatTree& tree, std::span<double> loads, LoadQuantizer /*sums are exact*/)
        : tree_(tree), loads_(loads) {}
    void set_source(Node node, const FatTree::Point&) { from_ = node; }
    void add_route_to(Node node, const FatTree::Point&, double bytes) {
        tree_.visit_sum_links(from_, node, [&](Link link, double) { loads_.add(link.value, bytes); });
    }

   private:
    const FatTree& tree_;
    DelayedLoads loads_;
    Node from_;
};

/// Hosted networks: the router network, plus the host links of both nodes.
template <class Base>
class RouteLoads<Hosted<Base>> {
   public:
    using Point = typename Hosted<Base>::Point;
    RouteLoads(const Hosted<Base>& network, std::span<double> loads, LoadQuantizer quantizer)
        : network_(network), between_(network.router_network(), loads, quantizer), loads_(loads) {}
    void set_source(Node node, const Point& a) {
        between_.set_source(node, a.router);
        from_ = node;
    }
    void add_route_to(Node node, const Point& b, double bytes) {
        between_.add_route_to(node, b.router, bytes);
        if (!network_.has_host_links()) return;
        loads_[network_.link_up(from_).value] += bytes;
        loads_[network_.link_down(node).value] += bytes;
    }

   private:
    const Hosted<Base>& network_;
    RouteLoads<Base> between_;
    std::span<double> loads_;
    Node from_;
};

/// Converts the sums of RouteLoads to loads, after the last message.
template <class T>
void convert_sums_to_loads(const T& network, std::span<double> loads) {
    if constexpr (requires { network.convert_sums(loads); }) network.convert_sums(loads);
}

}  // namespace topoloom
