// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/bound/routes/route_capacity.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace topoloom::bound {

namespace {

constexpr std::size_t max_crossings = std::size_t{1} << 24;
constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint32_t many = none - 1;
constexpr double infinity = std::numeric_limits<double>::infinity();

struct Crossing {
    std::uint32_t link;
    float share;
    friend auto operator<=>(const Crossing&, const Crossing&) = default;
};

/// The routes of all pairs, and the bandwidths of their links.
class RouteList {
   public:
    std::vector<double> bandwidth;  // by link
    std::vector<Crossing> crossings;
    std::vector<std::size_t> end;  // of each route, in crossings
    bool is_split = false;

    [[nodiscard]] std::size_t count() const { return end.size(); }
    [[nodiscard]] std::span<const Crossing> route(std::size_t r) const {
        const std::size_t first = r == 0 ? 0 : end[r - 1];
        return {crossings.data() + first, end[r] - first};
    }

    /// Removes links whose routes all pass another link of at most their bandwidth: the link before, or the link
    /// after. Their prices are 0 in an optimum. Then removes copies of routes.
    void reduce() {
        if (!is_split) {
            constexpr int rounds = 2;  // shorter routes have other neighbors
            for (int i = 0; i < rounds; ++i) {
                drop_dominated(true);
                drop_dominated(false);
            }
        }
        drop_copies();
    }

   private:
    /// The only link before or after each link, on all routes; `many` if there are several or none.
    [[nodiscard]] std::vector<std::uint32_t> find_only_neighbors(bool before) const {
        std::vector<std::uint32_t> only(bandwidth.size(), none);
        for (std::size_t r = 0; r < count(); ++r) {
            const std::span<const Crossing> links = route(r);
            for (std::size_t i = 0; i < links.size(); ++i) {
                const bool is_last = before ? i == 0 : i + 1 == links.size();
                const std::uint32_t neighbor = is_last ? many : links[before ? i - 1 : i + 1].link;
                std::uint32_t& known = only[links[i].link];
                known = known == none || known == neighbor ? neighbor : many;
            }
        }
        return only;
    }

    void drop_dominated(bool before) {
        const std::vector<std::uint32_t> only = find_only_neighbors(before);
        std::vector<char> is_kept(bandwidth.size(), 0);
        for (std::size_t l = 0; l < is_kept.size(); ++l)
            is_kept[l] = only[l] == none || only[l] == many || bandwidth[only[l]] > bandwidth[l];
        std::size_t kept = 0;
        std::size_t i = 0;
        for (std::size_t& route_end : end) {
            for (; i < route_end; ++i) {
                if (is_kept[crossings[i].link]) crossings[kept++] = crossings[i];
            }
            route_end = kept;
        }
        crossings.resize(kept);
    }

    void drop_copies() {
        std::vector<std::uint32_t> order(count());
        for (std::uint32_t r = 0; r < order.size(); ++r) order[r] = r;
        const auto less = [&](std::uint32_t a, std::uint32_t b) {
            return std::ranges::lexicographical_compare(route(a), route(b));
        };
        const auto equal = [&](std::uint32_t a, std::uint32_t b) {
            return std::ranges::equal(route(a), route(b));
        };
        std::ranges::sort(order, less);
        order.erase(std::unique(order.begin(), order.end(), equal), order.end());
        std::vector<Crossing> kept;
        std::vector<std::size_t> kept_end;
        for (const std::uint32_t r : order) {
            kept.insert(kept.end(), route(r).begin(), route(r).end());
            kept_end.push_back(kept.size());
        }
        crossings = std::move(kept);
        end = std::move(kept_end);
    }
};

/// Packs flow into routes. Prices rise with the flow; routes that cost almost the minimum get more.
class RoutePacking {
   public:
    explicit RoutePacking(const RouteList& routes) : routes_(routes), load_(routes.bandwidth.size(), 0) {
        std::vector<char> is_used(load_.size(), 0);
        for (const Crossing crossing : routes.crossings) is_used[crossing.link] = 1;
        for (std::size_t l = 0; l < load_.size(); ++l)
            price_.push_back(is_used[l] != 0 ? 1 / routes.bandwidth[l] : 0);
    }

    /// The minimum found of total bandwidth * price over the price of the cheapest route.
    double bound_rate(const RouteCapacity::IsSettled& is_settled, Meter& meter) {
        constexpr int max_rounds = 1000;
        double least = infinity;
        double step = 0.4;
        for (int round = 0; round < max_rounds; ++round) {
            const double cheapest = scale_prices();
            if (cheapest == 0) return infinity;
            double total = 0;
            for (std::size_t l = 0; l < price_.size(); ++l) total += price_[l] * routes_.bandwidth[l];
            least = std::min(least, total);
            if (is_settled(packed_rate(), least)) break;
            if (!meter.spend(routes_.crossings.size() + 1)) break;
            add_flow(step);
            step = std::max(0.03, 0.97 * step);
        }
        return least;
    }

   private:
    [[nodiscard]] double cost(std::size_t r) const {
        double sum = 0;
        for (const Crossing crossing : routes_.route(r))
            sum += price_[crossing.link] * static_cast<double>(crossing.share);
        return sum;
    }
    /// Scales the prices so that the cheapest route costs 1. Returns its cost before.
    double scale_prices() {
        double cheapest = infinity;
        for (std::size_t r = 0; r < routes_.count(); ++r) cheapest = std::min(cheapest, cost(r));
        if (cheapest > 0) {
            for (double& price : price_) price /= cheapest;
        }
        return cheapest;
    }
    /// The packed flow, scaled so that no link carries more than its bandwidth.
    [[nodiscard]] double packed_rate() const {
        double busiest = 0;
        for (std::size_t l = 0; l < load_.size(); ++l)
            busiest = std::max(busiest, load_[l] / routes_.bandwidth[l]);
        return busiest > 0 ? flow_ / busiest : 0;
    }
    /// Fills routes that cost at most 1 + step.
    void add_flow(double step) {
        for (std::size_t r = 0; r < routes_.count(); ++r) {
            while (cost(r) <= 1 + step) {
                double flow = infinity;
                for (const Crossing crossing : routes_.route(r))
                    flow = std::min(flow,
                                    routes_.bandwidth[crossing.link] / static_cast<double>(crossing.share));
                flow_ += flow;
                for (const Crossing crossing : routes_.route(r)) {
                    const double load = flow * static_cast<double>(crossing.share);
                    load_[crossing.link] += load;
                    price_[crossing.link] *= 1 + step * load / routes_.bandwidth[crossing.link];
                }
            }
        }
    }

    const RouteList& routes_;
    std::vector<double> price_;
    std::vector<double> load_;
    double flow_ = 0;
};

}  // namespace

RouteCapacity::RouteCapacity(const NetworkView& network)
    : network_(network), number_(network.link_count(), none) {}

double RouteCapacity::bound_rate(std::span<const Node> sources, std::span<const Node> targets,
                                 const IsSettled& is_settled, Meter& meter) {
    RouteList routes;
    std::vector<Link> links;
    for (const Node source : sources) {
        for (const Node target : targets) {
            network_.route(source, target, [&](Link link, double share) {
                std::uint32_t& number = number_[link.value];
                if (number == none) {
                    number = static_cast<std::uint32_t>(links.size());
                    links.push_back(link);
                    routes.bandwidth.push_back(network_.bandwidth(link).value);
                }
                // Rounded down, because the bound may count less of a message, but not more.
                routes.crossings.push_back({number, std::nextafter(static_cast<float>(share), 0.0F)});
                if (share == 1) routes.crossings.back().share = 1;
                routes.is_split = routes.is_split || share != 1;
            });
            routes.end.push_back(routes.crossings.size());
        }
        if (routes.crossings.size() > max_crossings || !meter.spend(targets.size())) break;
    }
    const bool is_complete = routes.end.size() == sources.size() * targets.size();
    for (const Link link : links) number_[link.value] = none;
    if (!is_complete || !meter.spend(routes.crossings.size())) return infinity;
    routes.reduce();
    return RoutePacking(routes).bound_rate(is_settled, meter);
}

}  // namespace topoloom::bound
