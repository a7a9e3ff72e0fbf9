// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/dense/slot_classes.hpp"

#include <algorithm>
#include <cstddef>

namespace topoloom::dense {

namespace {

class SymmetrySearch {
   public:
    SymmetrySearch(const Allocation& allocation, const RouteTable& routes,
                   std::span<const std::int64_t> distances, std::span<const double> background)
        : allocation_(allocation),
          routes_(routes),
          distances_(distances),
          background_(background),
          uses_(routes.links().size(), 0),
          slots_of_node_(routes.node_count()) {
        for (std::uint32_t a = 0; a < routes_.node_count(); ++a) {
            for (std::uint32_t b = 0; b < routes_.node_count(); ++b) {
                for (const RoutedLink& part : routes_.route(a, b)) ++uses_[part.link];
            }
        }
        for (const Position slot : ids<Position>(allocation_.slot_count()))
            slots_of_node_[allocation_.node_of_slot()[slot.value]].push_back(slot);
    }

    [[nodiscard]] std::vector<SlotClass> find_classes(SlotDetail detail) const {
        std::vector<SlotClass> classes;
        for (std::uint32_t node = 0; node < slots_of_node_.size(); ++node) {
            const std::size_t first = classes.size();
            for (const Position slot : slots_of_node_[node]) {
                const auto alike = std::find_if(classes.begin() + static_cast<std::ptrdiff_t>(first),
                                                classes.end(), [&](const SlotClass& one) {
                                                    return detail == SlotDetail::nodes ||
                                                           are_alike(one.members.front(), slot);
                                                });
                if (alike == classes.end()) {
                    classes.push_back({node, {slot}});
                } else {
                    alike->members.push_back(slot);
                }
            }
        }
        return classes;
    }

    [[nodiscard]] std::vector<std::uint32_t> find_twins() {
        std::vector<std::uint32_t> first(routes_.node_count());
        for (std::uint32_t node = 0; node < first.size(); ++node) {
            first[node] = node;
            // Being interchangeable is transitive, so the first of a group represents it.
            for (std::uint32_t before = 0; before < node && first[node] == node; ++before) {
                if (first[before] == before && are_twins(before, node)) first[node] = before;
            }
        }
        return first;
    }

   private:
    [[nodiscard]] std::int64_t distance(Position a, Position b) const {
        return distances_[std::size_t{a.value} * allocation_.slot_count() + b.value];
    }
    [[nodiscard]] bool are_alike(Position a, Position b) const {
        if (distance(a, b) != distance(b, a)) return false;
        return std::ranges::all_of(ids<Position>(allocation_.slot_count()), [&](Position c) {
            return c == a || c == b || (distance(a, c) == distance(b, c) && distance(c, a) == distance(c, b));
        });
    }

    [[nodiscard]] bool are_twins(std::uint32_t a, std::uint32_t b) {
        return slots_of_node_[a].size() == slots_of_node_[b].size() && preserves_distances(a, b) &&
               preserves_routes(a, b);
    }
    [[nodiscard]] bool preserves_distances(std::uint32_t a, std::uint32_t b) const {
        std::vector<Position> image = id_list<Position>(allocation_.slot_count());
        for (std::size_t i = 0; i < slots_of_node_[a].size(); ++i) {
            image[slots_of_node_[a][i].value] = slots_of_node_[b][i];
            image[slots_of_node_[b][i].value] = slots_of_node_[a][i];
        }
        const auto is_preserved = [&](Position p) {
            return std::ranges::all_of(ids<Position>(allocation_.slot_count()), [&](Position q) {
                return distance(p, q) == distance(image[p.value], image[q.value]) &&
                       distance(q, p) == distance(image[q.value], image[p.value]);
            });
        };
        return std::ranges::all_of(slots_of_node_[a], is_preserved) &&
               std::ranges::all_of(slots_of_node_[b], is_preserved);
    }

    /// Whether the exchange of two nodes maps every route to a route over equal links. Routes between other
    /// nodes must not change, so no link that moves may be on one of them.
    [[nodiscard]] bool preserves_routes(std::uint32_t a, std::uint32_t b) {
        image_.assign(uses_.size(), no_index);
        std::vector<std::uint32_t> moved(uses_.size(), 0);
        const auto exchanged = [&](std::uint32_t node) { return node == a ? b : node == b ? a : node; };
        const auto maps = [&](std::uint32_t from, std::uint32_t to) {
            for (const RoutedLink& part : routes_.route(from, to)) ++moved[part.link];
            return map_route(routes_.route(from, to), routes_.route(exchanged(from), exchanged(to)));
        };
        for (std::uint32_t c = 0; c < routes_.node_count(); ++c) {
            if (c != a && (!maps(a, c) || !maps(c, a))) return false;
            if (c != a && c != b && (!maps(b, c) || !maps(c, b))) return false;
        }
        for (std::uint32_t link = 0; link < image_.size(); ++link) {
            const std::uint32_t to = image_[link];
            if (to == no_index || to == link) continue;
            if (image_[to] != link || moved[link] != uses_[link] || !are_equal_links(link, to)) return false;
        }
        return true;
    }
    [[nodiscard]] bool map_route(std::span<const RoutedLink> from, std::span<const RoutedLink> to) {
        if (from.size() != to.size()) return false;
        for (std::size_t i = 0; i < from.size(); ++i) {
            std::uint32_t& image = image_[from[i].link];
            if (from[i].share != to[i].share || (image != no_index && image != to[i].link)) return false;
            image = to[i].link;
        }
        return true;
    }
    [[nodiscard]] bool are_equal_links(std::uint32_t a, std::uint32_t b) const {
        if (routes_.link_costs()[a] != routes_.link_costs()[b]) return false;
        if (routes_.link_latencies()[a] != routes_.link_latencies()[b]) return false;
        return background_.empty() ||
               background_[routes_.links()[a].value] == background_[routes_.links()[b].value];
    }

    const Allocation& allocation_;
    const RouteTable& routes_;
    std::span<const std::int64_t> distances_;
    std::span<const double> background_;
    std::vector<std::uint32_t> uses_;  // by link: number of routes that cross it
    std::vector<std::vector<Position>> slots_of_node_;
    std::vector<std::uint32_t> image_;  // by link
};

}  // namespace

SlotClasses find_slot_classes(const Allocation& allocation, const RouteTable& routes,
                              std::span<const std::int64_t> distances, std::span<const double> background,
                              SlotDetail detail) {
    SymmetrySearch search(allocation, routes, distances, background);
    return {search.find_classes(detail), search.find_twins()};
}

}  // namespace topoloom::dense
