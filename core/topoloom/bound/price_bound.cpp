// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "topoloom/base/step_budget.hpp"
#include "topoloom/bound/congestion_bound.hpp"
#include "topoloom/machine/network_view.hpp"
#include "topoloom/qap/dual_ascent.hpp"

namespace topoloom {

namespace {

constexpr std::size_t max_crossings = std::size_t{1} << 24;  // maximum total length of all routes, in links
constexpr double max_pair_costs =
    0x1p25;  // maximum number of pair costs for dual ascent; larger problems take long and prove little

/// Messages between a rank and a partner.
struct PartnerTraffic {
    std::uint32_t partner;
    double sent;
    double received;
};

/// The routes between all nodes of an allocation, and a price for each link on them.
class PricedRoutes {
   public:
    PricedRoutes(const NetworkView& network, std::span<const Node> nodes) : nodes_(nodes.size()) {
        constexpr std::uint32_t unknown = std::numeric_limits<std::uint32_t>::max();
        std::vector<std::uint32_t> number(network.link_count(), unknown);
        for (const Node a : nodes) {
            for (const Node b : nodes) {
                if (a != b) {
                    network.route(a, b, [&](Link link, double share) {
                        if (number[link.value] == unknown) {
                            number[link.value] = static_cast<std::uint32_t>(bandwidth_.size());
                            bandwidth_.push_back(network.bandwidth(link).value);
                        }
                        priced_links_.push_back({number[link.value], share});
                    });
                }
                end_.push_back(priced_links_.size());
            }
        }
        distance_.resize(nodes_ * nodes_);
    }

    [[nodiscard]] std::size_t link_count() const { return bandwidth_.size(); }
    /// Price of a byte from a to b.
    [[nodiscard]] double distance(std::size_t a, std::size_t b) const { return distance_[a * nodes_ + b]; }
    /// Prices of the links; they sum to 1.
    void set_prices(std::span<const double> price) {
        for (std::size_t route = 0, at = 0; route < distance_.size(); ++route) {
            double sum = 0;
            for (; at < end_[route]; ++at)
                sum += price[priced_links_[at].link] * priced_links_[at].share /
                       bandwidth_[priced_links_[at].link];
            distance_[route] = sum;
        }
    }
    void add_load(std::size_t a, std::size_t b, double bytes, std::vector<double>& seconds) const {
        const std::size_t route = a * nodes_ + b;
        for (std::size_t at = route == 0 ? 0 : end_[route - 1]; at < end_[route]; ++at)
            seconds[priced_links_[at].link] +=
                bytes * priced_links_[at].share / bandwidth_[priced_links_[at].link];
    }

   private:
    struct PricedLink {
        std::uint32_t link;
        double share;
    };
    std::size_t nodes_;
    std::vector<double> bandwidth_;
    std::vector<PricedLink> priced_links_;
    std::vector<std::size_t> end_;  // of a route
    std::vector<double> distance_;  // of a route
};

/// A game of two players: one sets link prices, the other chooses a placement for which it pays little.
/// Prices rise on loaded links (multiplicative weights: Freund, Schapire, Games and Economic Behavior 29,
/// 1999).
class PriceGame {
   public:
    PriceGame(const BoundProblem& problem, PricedRoutes& routes)
        : problem_(problem), routes_(routes), exchanges_(problem.rank_count()) {
        const auto nodes = problem.allocation().node_of_slot();
        for (std::size_t s = 0; s < problem.capacity().size(); ++s)
            node_of_place_.insert(node_of_place_.end(), problem.capacity()[s], nodes[s]);
        occupant_.resize(node_of_place_.size(), no_index);
        for (std::uint32_t u = 0; u < problem.rank_count(); ++u) {
            place_of_rank_.push_back(u);
            occupant_[u] = u;
        }
        list_exchanges();
    }

    /// Plays the game. Returns the mean prices of the second half of the rounds.
    std::vector<double> average_prices(Meter& meter) {
        constexpr int rounds = 400;
        constexpr double step = 0.2;
        std::vector<double> pressure(routes_.link_count(), 0);
        std::vector<double> price(routes_.link_count());
        std::vector<double> sum(routes_.link_count(), 0);
        std::vector<double> seconds(routes_.link_count());
        double min_maximum = std::numeric_limits<double>::infinity();
        for (int round = 0; round < rounds; ++round) {
            set_prices(pressure, step, price);
            if (2 * round >= rounds) std::ranges::transform(sum, price, sum.begin(), std::plus());
            routes_.set_prices(price);
            const std::uint64_t examined_messages = improve_placement();
            if (!meter.spend(examined_messages + 1)) return price;
            std::ranges::fill(seconds, 0);
            for (std::uint32_t u = 0; u < exchanges_.size(); ++u) {
                for (const PartnerTraffic& exchange : exchanges_[u])
                    routes_.add_load(node_of(u), node_of(exchange.partner), exchange.sent, seconds);
            }
            min_maximum = std::min(min_maximum, std::ranges::max(seconds));
            if (min_maximum == 0) return price;
            for (std::size_t l = 0; l < pressure.size(); ++l) pressure[l] += seconds[l] / min_maximum;
        }
        const double all = std::accumulate(sum.begin(), sum.end(), 0.0);
        for (double& p : sum) p /= all;
        return sum;
    }

    /// A lower bound on the payment of any placement.
    double min_payment(Meter& meter) {
        const std::size_t pairs = problem_.symmetric().edge_count();
        const std::size_t places = node_of_place_.size();
        const double enough = total_payment();
        if (enough == 0) return 0;
        const double scale = cost_scale(enough);
        qap::DualAscent ascent(static_cast<std::uint32_t>(exchanges_.size()),
                               static_cast<std::uint32_t>(places), pairs / 2);
        for (std::uint32_t u = 0; u < exchanges_.size(); ++u) {
            for (const PartnerTraffic& exchange : exchanges_[u]) {
                if (exchange.partner < u) continue;
                ascent.add_pair(u, exchange.partner, [&](std::uint32_t j, std::uint32_t l) {
                    const std::uint32_t a = node_of_place_[j];
                    const std::uint32_t b = node_of_place_[l];
                    return static_cast<std::int64_t>(scale * (exchange.sent * routes_.distance(a, b) +
                                                              exchange.received * routes_.distance(b, a)));
                });
            }
        }
        constexpr int sweeps = 20;  // more sweeps gain almost nothing
        for (int i = 0; i < sweeps; ++i) {
            ascent.sweep(problem_.threads());
            if (!meter.spend(pairs * places * places / 2 + 1)) break;
        }
        return std::min(enough, static_cast<double>(ascent.bound()) / scale) * rounding_margin;
    }

   private:
    void list_exchanges() {
        const CommGraph& graph = problem_.graph();
        const CommGraph& symmetric = problem_.symmetric();
        for (const Rank u : ids<Rank>(graph.rank_count())) {
            for (const Rank v : symmetric.peers(u)) exchanges_[u.value].push_back({v.value, 0, 0});
        }
        const auto find = [&](Rank u, Rank v) -> PartnerTraffic& {
            const auto peers = symmetric.peers(u);
            const auto at = std::ranges::lower_bound(peers, v) - peers.begin();
            return exchanges_[u.value][static_cast<std::size_t>(at)];
        };
        for (const Rank u : ids<Rank>(graph.rank_count())) {
            for (const Edge edge : graph.sends(u)) {
                find(u, edge.peer).sent = static_cast<double>(edge.bytes.value);
                find(edge.peer, u).received = static_cast<double>(edge.bytes.value);
            }
        }
    }
    static void set_prices(std::span<const double> pressure, double step, std::vector<double>& price) {
        const double most = std::ranges::max(pressure);
        std::ranges::transform(pressure, price.begin(),
                               [&](double p) { return std::exp(step * (p - most)); });
        const double all = std::accumulate(price.begin(), price.end(), 0.0);
        for (double& p : price) p /= all;
    }

    [[nodiscard]] std::uint32_t node_of(std::uint32_t u) const { return node_of_place_[place_of_rank_[u]]; }
    /// Price of u's messages if u is on `node`, after `other` has moved to `node_of_other`.
    [[nodiscard]] double payment(std::uint32_t u, std::uint32_t node, std::uint32_t other,
                                 std::uint32_t node_of_other) const {
        double sum = 0;
        for (const PartnerTraffic& exchange : exchanges_[u]) {
            const std::uint32_t there = exchange.partner == other ? node_of_other : node_of(exchange.partner);
            sum += exchange.sent * routes_.distance(node, there) +
                   exchange.received * routes_.distance(there, node);
        }
        return sum;
    }
    [[nodiscard]] double max_distance() const {
        double most = 0;
        for (const std::uint32_t a : node_of_place_) {
            for (const std::uint32_t b : node_of_place_) most = std::max(most, routes_.distance(a, b));
        }
        return most;
    }
    /// Total price of this placement.
    [[nodiscard]] double total_payment() const {
        double sum = 0;
        for (std::uint32_t u = 0; u < exchanges_.size(); ++u) sum += payment(u, node_of(u), no_index, 0) / 2;
        return sum;
    }
    /// Scale of integer costs. Dual ascent may clamp only costs that exceed the payment of this placement.
    /// With many partners, whose sums might overflow, the scale is so small that no cost is clamped.
    [[nodiscard]] double cost_scale(double total_payment) const {
        std::size_t max_partners = 1;
        for (const auto& exchanges : exchanges_) max_partners = std::max(max_partners, exchanges.size());
        if (max_partners <= 64) return qap::DualAscent::max_cost / total_payment;
        const double most =
            std::min<double>(qap::DualAscent::max_cost, 0x1p30 / static_cast<double>(max_partners));
        return most / (static_cast<double>(problem_.graph().total_bytes().value) * max_distance());
    }
    /// Tries each exchange and move once and applies those that pay less. Returns the number of examined
    /// messages.
    std::uint64_t improve_placement() {
        std::uint64_t examined_messages = 0;
        for (std::uint32_t u = 0; u < exchanges_.size(); ++u) {
            for (std::uint32_t q = 0; q < occupant_.size(); ++q) {
                const std::uint32_t v = occupant_[q];
                if (v != no_index && v <= u) continue;
                const std::uint32_t p = place_of_rank_[u];
                const std::uint32_t from = node_of_place_[p];
                const std::uint32_t to = node_of_place_[q];
                examined_messages += exchanges_[u].size() + 1;
                double before = payment(u, from, no_index, 0);
                double after = payment(u, to, v, from);
                if (v != no_index) {
                    before += payment(v, to, no_index, 0);
                    after += payment(v, from, u, to);
                }
                if (after >= before) continue;
                std::swap(occupant_[p], occupant_[q]);
                place_of_rank_[u] = q;
                if (v != no_index) place_of_rank_[v] = p;
            }
        }
        return examined_messages;
    }

    const BoundProblem& problem_;
    PricedRoutes& routes_;
    std::vector<std::vector<PartnerTraffic>> exchanges_;  // messages by rank, ascending by partner
    std::vector<std::uint32_t> node_of_place_;
    std::vector<std::uint32_t> place_of_rank_;
    std::vector<std::uint32_t> occupant_;  // of a place
};

}  // namespace

CongestionBound price_bound(const BoundProblem& problem, Meter& meter) {
    const std::span<const Node> nodes = problem.allocation().nodes();
    const NetworkView network(problem.machine().topology());
    if (network.is_adaptive()) return {};
    if (nodes.size() * nodes.size() * network.diameter() > max_crossings) return {};
    const auto places = static_cast<double>(problem.total_capacity());
    if (static_cast<double>(problem.symmetric().edge_count()) * places * places > max_pair_costs) return {};
    if (!spend_step(meter, static_cast<double>(problem.symmetric().edge_count()) * places * places / 8))
        return {};
    PricedRoutes routes(network, nodes);
    if (routes.link_count() == 0 || problem.graph().total_bytes().value == 0) return {};
    PriceGame game(problem, routes);
    const std::vector<double> prices = game.average_prices(meter);
    routes.set_prices(prices);
    return {game.min_payment(meter), "prices", std::to_string(routes.link_count()) + " links"};
}

}  // namespace topoloom
