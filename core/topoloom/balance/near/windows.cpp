// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/balance/near/windows.hpp"

#include <algorithm>
#include <cstdint>

#include "topoloom/balance/near/cycles.hpp"
#include "topoloom/balance/near/distances.hpp"
#include "topoloom/balance/near/transport.hpp"
#include "topoloom/base/parallel.hpp"

namespace topoloom {

namespace {

/// Positions `begin` .. `end` - 1 of the order, and the shipments between them.
struct Window {
    std::uint32_t begin;
    std::uint32_t end;
    std::vector<Shipment> shipments;
};

/// Width of a window, limited because work grows faster than the width; 0 if there is no time for any window.
std::uint32_t window_width(std::size_t ranks) {
    if (ranks <= std::size_t{1} << 15) return 1024;
    if (ranks <= std::size_t{1} << 17) return 256;
    return ranks <= std::size_t{1} << 18 ? 64 : 0;
}

void improve_window(Window& window, const OrderedExcess& near, const Machine& machine,
                    std::span<const Slot> slots) {
    std::vector<std::int64_t> excess(window.end - window.begin, 0);
    for (const auto& [sender, receiver, tasks] : window.shipments) {
        excess[sender - window.begin] += tasks;
        excess[receiver - window.begin] -= tasks;
    }
    OrderedExcess inside;
    std::vector<std::uint32_t> places;
    std::uint64_t latest = 0;
    for (std::uint32_t i = window.begin; i < window.end; ++i) {
        if (excess[i - window.begin] != 0) {
            if (!places.empty()) inside.meeting_time.push_back(latest);
            places.push_back(i);
            inside.ranks.push_back(near.ranks[i]);
            inside.excess.push_back(excess[i - window.begin]);
            latest = 0;
        }
        if (i < near.meeting_time.size()) latest = std::max(latest, near.meeting_time[i]);
    }
    if (!is_transport_affordable(inside, machine)) return;
    window.shipments = cheapest_transport(inside, machine, slots);
    for (auto& [sender, receiver, tasks] : window.shipments) {
        sender = places[sender];
        receiver = places[receiver];
    }
}

}  // namespace

std::vector<Shipment> improve_in_windows(std::vector<Shipment> shipments, const OrderedExcess& near,
                                         const Machine& machine, std::span<const Slot> slots) {
    const auto count = static_cast<std::uint32_t>(near.ranks.size());
    const std::uint32_t width = window_width(count);
    if (width == 0) return shipments;
    for (const std::uint32_t shift : {0U, width / 2}) {
        std::vector<Window> windows;
        for (std::uint32_t begin = 0, end = shift > 0 ? shift : width; begin < count;
             begin = end, end = begin + width)
            windows.push_back({begin, std::min(end, count), {}});
        // By how much the first window is shorter than the others.
        const std::uint32_t before = shift > 0 ? width - shift : 0;
        const auto window_of = [&](std::uint32_t place) { return (place + before) / width; };
        std::vector<Shipment> others;
        for (const Shipment& one : shipments) {
            const std::uint32_t at = window_of(one.sender);
            (at == window_of(one.receiver) ? windows[at].shipments : others).push_back(one);
        }
        parallel_for(windows.size(), 0, [&](std::size_t i, int /*worker*/) {
            improve_window(windows[i], near, machine, slots);
        });
        shipments = std::move(others);
        for (const Window& window : windows)
            shipments.insert(shipments.end(), window.shipments.begin(), window.shipments.end());
    }
    const std::vector<std::uint32_t> costs = shipment_distances(shipments, near.ranks, machine, slots);
    return remove_cycles(std::move(shipments), count, costs);
}

}  // namespace topoloom
