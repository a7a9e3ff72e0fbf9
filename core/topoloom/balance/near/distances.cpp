// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/balance/near/distances.hpp"

namespace topoloom {

std::vector<std::uint32_t> distances_along(const Machine& machine, std::span<const Slot> slots,
                                           std::span<const std::uint32_t> ranks) {
    std::vector<std::uint32_t> distances;
    if (ranks.empty()) return distances;
    distances.reserve(ranks.size() - 1);
    with_space(machine, [&](const auto& space) {
        auto before = space.point(slots[ranks.front()]);
        for (std::size_t i = 1; i < ranks.size(); ++i) {
            const auto here = space.point(slots[ranks[i]]);
            distances.push_back(space.distance(before, here));
            before = here;
        }
    });
    return distances;
}

std::vector<std::uint32_t> distances_between(const Machine& machine, std::span<const Slot> slots,
                                             std::span<const std::uint32_t> from,
                                             std::span<const std::uint32_t> to) {
    std::vector<std::uint32_t> distances(from.size() * to.size());
    with_space(machine, [&](const auto& space) {
        std::vector<typename std::remove_cvref_t<decltype(space)>::Point> there;
        there.reserve(to.size());
        for (const std::uint32_t rank : to) there.push_back(space.point(slots[rank]));
        std::size_t next = 0;
        for (const std::uint32_t rank : from) {
            const auto here = space.point(slots[rank]);
            for (const auto& point : there) distances[next++] = space.distance(here, point);
        }
    });
    return distances;
}

std::vector<std::uint32_t> distances_of(std::span<const Shipment> shipments,
                                        std::span<const std::uint32_t> ranks, const Machine& machine,
                                        std::span<const Slot> slots) {
    std::vector<std::uint32_t> distances;
    distances.reserve(shipments.size());
    with_space(machine, [&](const auto& space) {
        for (const auto& [giver, receiver, tasks] : shipments)
            distances.push_back(
                space.distance(space.point(slots[ranks[giver]]), space.point(slots[ranks[receiver]])));
    });
    return distances;
}

}  // namespace topoloom
