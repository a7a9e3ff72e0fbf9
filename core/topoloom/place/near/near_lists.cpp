// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/near/near_lists.hpp"

#include <algorithm>
#include <limits>
#include <memory_resource>
#include <mutex>
#include <type_traits>

#include "topoloom/place/near/make_near_sites.hpp"

namespace topoloom {

namespace {

constexpr std::size_t workshop_count = 16;

/// A lower bound of the network distance between two nodes.
std::uint64_t least_node_distance(const Machine& machine) {
    return with_geometry(machine, []<class Network>(const Network& network) -> std::uint32_t {
        if constexpr (std::is_same_v<Network, Tree>) {
            return network.spec().distance.front();
        } else if constexpr (std::is_same_v<Network, HopTable>) {
            return network.nodes_share_routers() ? 0 : 1;
        } else {
            return network.node_count() == network.vertex_count() ? 1 : 0;
        }
    });
}

}  // namespace

/// Memory and scratch space of one thread at a time. Threads rarely wait for each other, because neighboring
/// nodes use different workshops.
struct NearLists::Workshop {
    struct Outside {
        Position position;
        std::uint64_t distance;  // from the port of the node
    };

    std::mutex mutex;
    std::pmr::monotonic_buffer_resource lists;
    near::NearSites::Found found;
    std::vector<Outside> outside;     // near slots on other nodes, nearest first
    std::vector<Levels::Key> inside;  // keys of the node's slots

    Position* allocate(std::size_t count) {
        return static_cast<Position*>(lists.allocate(count * sizeof(Position), alignof(Position)));
    }
};

NearLists::NearLists(const Allocation& allocation, std::uint32_t count)
    : allocation_(allocation),
      sites_(allocation),
      count_(std::min(count, static_cast<std::uint32_t>(allocation.slot_count() - 1))),
      near_sites_(near::make_near_sites(allocation, sites_, count_)),
      lists_(allocation.slot_count()),
      work_(allocation.slot_count() / 2),
      workshops_(std::make_unique<Workshop[]>(workshop_count)) {
    const NodeSpec& spec = allocation.machine().node_spec();
    own_node_is_nearest_ = spec.hop_weight * least_node_distance(allocation.machine()) +
                               2 * std::uint64_t{spec.min_port_distance()} >=
                           spec.levels.distances().back();
}

NearLists::~NearLists() = default;

const Position* NearLists::build(Position position) const {
    const std::uint32_t node = allocation_.node_of_slot()[position.value];
    Workshop& shop = workshops_[node % workshop_count];
    const std::lock_guard lock(shop.mutex);
    if (lists_[position.value].load(std::memory_order_relaxed) == nullptr) {
        build_node(sites_.node(node), shop);
    }
    return lists_[position.value].load(std::memory_order_relaxed);
}

void NearLists::build_node(const near::SlotSites::NodeSlots& node, Workshop& shop) const {
    const Levels& levels = allocation_.machine().node_spec().levels;
    const std::span<const Position> slots = node.slots;
    shop.inside.clear();
    for (const Position p : slots)
        shop.inside.push_back(levels.key(allocation_.slots()[p.value].value % levels.size()));
    const std::size_t inside = own_node_is_nearest_ ? slots.size() - 1 : 0;
    find_outside(node, std::min(count_ - std::min<std::size_t>(count_, inside), lists_.size() - slots.size()),
                 shop);
    for (std::size_t begin = 0, end = 0; begin < slots.size(); begin = end) {
        const auto is_beside = [&](std::size_t i) {
            return levels.distance(shop.inside[begin], shop.inside[i]) == levels.distances().front();
        };
        for (end = begin + 1; end < slots.size() && is_beside(end);) ++end;
        if (end - begin > count_ && own_node_is_nearest_) {
            share_list(slots.subspan(begin, end - begin), shop);
        } else {
            for (std::size_t i = begin; i < end; ++i) merge_list(slots, i, shop);
        }
    }
    constexpr std::uint64_t per_unit = 16;  // sites or entries
    work_.fetch_add(1 + (shop.found.examined + slots.size() * count_) / per_unit, std::memory_order_relaxed);
}

/// Finds the `wanted` nearest slots of other nodes.
void NearLists::find_outside(const near::SlotSites::NodeSlots& node, std::size_t wanted,
                             Workshop& shop) const {
    const NodeSpec& spec = allocation_.machine().node_spec();
    const std::uint64_t spread = spec.max_port_distance() - spec.min_port_distance();
    const bool has_ports = !spec.port_distances.empty();
    shop.outside.clear();
    shop.found.examined = 0;
    if (wanted == 0) return;
    const auto add = [&](std::span<const Position> slots, std::uint32_t hops) {
        const std::uint64_t to_port = std::uint64_t{spec.hop_weight} * hops + spec.host_distance;
        for (const Position p : slots)
            shop.outside.push_back({p, to_port + (has_ports ? port_distance(p) - spec.host_distance : 0)});
    };
    const auto add_site = [&](const near::NearSites::Site& near) {
        const std::span<const Position> slots = sites_.slots(near.site);
        if (near.site != node.site) return add(slots, near.distance);
        // The other nodes of the same site: first those after this node.
        const auto before = static_cast<std::size_t>(node.slots.data() - slots.data());
        add(slots.subspan(before + node.slots.size()), near.distance);
        add(slots.first(before), near.distance);
    };
    // A slot far from its port may be farther than a slot on a node more hops away. Then searches farther
    // than for `wanted` slots.
    for (std::size_t slots = wanted + node.slots.size();; slots *= 2) {
        near_sites_->find(node.site, slots, shop.found);
        shop.outside.clear();
        for (const near::NearSites::Site& near : shop.found.sites) {
            if (spread == 0 && shop.outside.size() >= wanted) break;
            add_site(near);
        }
        if (spread == 0) return;
        std::ranges::stable_sort(shop.outside, {}, &Workshop::Outside::distance);
        const std::uint64_t unseen =
            std::uint64_t{spec.hop_weight} * shop.found.sites.back().distance + spec.min_port_distance();
        if (slots >= sites_.slots().size() || shop.outside[wanted - 1].distance <= unseen) return;
    }
}

/// Builds one list for slots that are equally far from each other. Each slot uses a different window of it.
void NearLists::share_list(std::span<const Position> slots, Workshop& shop) const {
    Position* const list = shop.allocate(2 * slots.size());
    std::ranges::copy(slots, list);
    std::ranges::copy(slots, list + slots.size());
    for (std::size_t i = 0; i < slots.size(); ++i)
        lists_[slots[i].value].store(list + i + 1, std::memory_order_release);
}

/// Builds the list of one slot. Distances inside a node are ultrametric: they never fall along the slots to
/// either side.
void NearLists::merge_list(std::span<const Position> slots, std::size_t from, Workshop& shop) const {
    constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();
    const Levels& levels = allocation_.machine().node_spec().levels;
    const auto inside = [&](std::size_t i) -> std::uint64_t {  // wraps around to none on both sides
        return i < slots.size() ? levels.distance(shop.inside[from], shop.inside[i]) : none;
    };
    const std::uint64_t port = port_distance(slots[from]);
    std::size_t left = from - 1;
    std::size_t right = from + 1;
    auto outside = shop.outside.begin();
    Position* const list = shop.allocate(count_);
    for (Position *at = list, *const end = list + count_; at != end; ++at) {
        const std::uint64_t near = std::min(inside(left), inside(right));
        if (near == none) {
            std::transform(outside, outside + (end - at), at, [](const auto& slot) { return slot.position; });
            break;
        }
        if (outside != shop.outside.end() && outside->distance + port < near) {
            *at = (outside++)->position;
        } else {
            *at = slots[inside(right) == near ? right++ : left--];
        }
    }
    lists_[slots[from].value].store(list, std::memory_order_release);
}

std::uint32_t NearLists::port_distance(Position position) const {
    const NodeSpec& spec = allocation_.machine().node_spec();
    if (spec.port_distances.empty()) return spec.host_distance;
    return spec.port_distance(allocation_.slots()[position.value].value % spec.levels.size());
}

}  // namespace topoloom
