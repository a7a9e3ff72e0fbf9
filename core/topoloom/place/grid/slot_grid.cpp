// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/grid/slot_grid.hpp"

#include <algorithm>

namespace topoloom::grid {

namespace {

/// The levels inside a router of the whole machine, bottom-up; for a tree, all levels.
template <class Network>
std::vector<GroupLevel> list_levels(const Machine& machine, const Network& network) {
    std::vector<GroupLevel> levels;
    const Levels& inside = machine.node_spec().levels;
    for (std::uint32_t j = 0; j < inside.count(); ++j)
        levels.push_back({inside.arity()[j], inside.distances()[j]});
    if constexpr (std::is_same_v<Network, Tree>) {
        const TreeSpec& spec = network.spec();
        for (std::size_t j = 0; j < spec.arity.size(); ++j) {
            levels.push_back(
                {spec.arity[j], std::uint64_t{spec.distance[j]} * machine.node_spec().hop_weight});
        }
    } else {
        levels.push_back(
            {network.spec().nodes_per_router, 2 * std::uint64_t{machine.node_spec().host_distance}});
    }
    return levels;
}

/// Reduces the arity of every level to the number of allocated members. Returns false if groups of a level
/// differ in it.
bool shrink_levels(const std::vector<Slot>& slots, std::vector<GroupLevel>& levels) {
    std::uint64_t span = 1;
    for (const GroupLevel& level : levels) span *= level.arity;
    std::vector<GroupLevel> found(levels.size());
    std::uint64_t size = slots.size();  // groups of the level above
    const auto groups = [&](std::uint64_t width) {
        std::uint64_t count = 0;
        for (std::size_t i = 0; i < slots.size(); ++i)
            count += i == 0 || slots[i].value / width != slots[i - 1].value / width ? 1 : 0;
        return count;
    };
    // Whether each group is a run of `length` consecutive slots of the list.
    const auto equal = [&](std::uint64_t width, std::uint64_t length) {
        for (std::size_t i = 0; i < slots.size(); ++i) {
            const bool starts = i == 0 || slots[i].value / width != slots[i - 1].value / width;
            if (starts != (i % length == 0)) return false;
        }
        return true;
    };
    size = groups(span);  // routers
    if (slots.size() % size != 0 || !equal(span, slots.size() / size)) return false;
    for (std::size_t j = levels.size(); j-- > 0;) {
        span /= levels[j].arity;
        const std::uint64_t members = groups(span);
        if (slots.size() % members != 0 || !equal(span, slots.size() / members)) return false;
        found[j] = {members / size, levels[j].distance};
        size = members;
    }
    levels = std::move(found);
    return true;
}

/// Shrinks the topmost levels to the groups that `ranks` ranks fill. Returns false if the ranks do not fill
/// whole groups.
bool trim_levels(std::vector<GroupLevel>& levels, std::uint64_t ranks) {
    std::uint64_t size = 1;
    for (GroupLevel& level : levels) {
        if (ranks % size != 0) return false;
        level.arity = std::min(level.arity, ranks / size);
        size *= level.arity;
    }
    return size == ranks;
}

/// The coordinates in use on one axis of a ring or line, starting after the largest gap.
struct UsedCoordinates {
    std::vector<std::uint32_t> index;  // index by coordinate; undefined for unused coordinates
    std::uint32_t count = 0;
};

UsedCoordinates index_used_coordinates(const std::vector<bool>& used, bool wraps) {
    const auto extent = static_cast<std::uint32_t>(used.size());
    std::uint32_t begin = 0;
    if (wraps) {
        std::uint32_t widest = 0;
        for (std::uint32_t x = 0; x < extent; ++x) {
            std::uint32_t gap = 0;
            while (gap < extent && !used[(x + gap) % extent]) ++gap;
            if (gap > widest) {
                widest = gap;
                begin = (x + gap) % extent;
            }
        }
    }
    UsedCoordinates axis{std::vector<std::uint32_t>(extent, 0), 0};
    for (std::uint32_t i = 0; i < extent; ++i) {
        const std::uint32_t x = (begin + i) % extent;
        if (used[x]) axis.index[x] = axis.count++;
    }
    return axis;
}

template <std::size_t Width>
bool order_routers(const BasicTorus<Width>& torus, const Machine& machine, SlotGrid& grid) {
    const Extents& size = torus.grid();
    const std::uint64_t per_router = grid.slots_per_router;
    std::vector<std::vector<bool>> used;
    for (const std::uint32_t extent : size) used.emplace_back(extent, false);
    const std::size_t routers = grid.slots.size() / per_router;
    std::vector<Extents> coordinates;
    for (std::size_t r = 0; r < routers; ++r) {
        coordinates.push_back(torus.coordinates(machine.node(grid.slots[r * per_router])));
        for (std::size_t d = 0; d < size.size(); ++d) used[d][coordinates.back()[d]] = true;
    }
    std::vector<UsedCoordinates> axes;
    std::uint64_t box = 1;
    grid.extent.clear();
    grid.wraps.clear();
    for (std::uint32_t d = 0; d < size.size(); ++d) {
        axes.push_back(index_used_coordinates(used[d], torus.wraps(d)));
        grid.extent.push_back(axes.back().count);
        grid.wraps.push_back(torus.wraps(d) && axes.back().count == size[d]);
        box *= axes.back().count;
    }
    if (box != routers) return false;
    std::vector<Slot> sorted(grid.slots.size());
    for (std::size_t r = 0; r < routers; ++r) {
        std::size_t at = 0;
        for (std::size_t d = 0; d < size.size(); ++d)
            at = at * grid.extent[d] + axes[d].index[coordinates[r][d]];
        std::copy_n(grid.slots.begin() + static_cast<std::ptrdiff_t>(r * per_router), per_router,
                    sorted.begin() + static_cast<std::ptrdiff_t>(at * per_router));
    }
    grid.slots = std::move(sorted);
    return true;
}

}  // namespace

std::optional<SlotGrid> slot_grid(const Allocation& allocation, std::size_t ranks) {
    const Machine& machine = allocation.machine();
    return with_geometry(machine, [&]<class Network>(const Network& network) -> std::optional<SlotGrid> {
        if constexpr (std::is_same_v<Network, HopTable>) {
            return std::nullopt;
        } else {
            SlotGrid grid{{1}, {false}, list_levels(machine, network), 1, {}};
            grid.has_ports = machine.node_spec().max_port_distance() > 0;
            grid.slots.assign(allocation.slots().begin(), allocation.slots().end());
            std::sort(grid.slots.begin(), grid.slots.end());
            if (!shrink_levels(grid.slots, grid.inside)) return std::nullopt;
            for (const GroupLevel& level : grid.inside) grid.slots_per_router *= level.arity;
            if (ranks < grid.slots_per_router) {
                if (!trim_levels(grid.inside, ranks)) return std::nullopt;
                grid.slots_per_router = ranks;
                grid.slots.resize(ranks);
            } else if constexpr (!std::is_same_v<Network, Tree>) {
                if (ranks % grid.slots_per_router != 0 || !order_routers(network, machine, grid))
                    return std::nullopt;
            }
            return grid;
        }
    });
}

std::uint32_t min_distance(const Machine& machine) {
    const NodeSpec& inside = machine.node_spec();
    std::uint32_t least = 2 * inside.min_port_distance() +
                          with_geometry(machine, [&]<class Network>(const Network& network) -> std::uint32_t {
                              if constexpr (std::is_same_v<Network, Tree>) {
                                  return network.spec().distance.front() * inside.hop_weight;
                              } else if constexpr (std::is_same_v<Network, HopTable>) {
                                  return network.nodes_share_routers() ? 0 : inside.hop_weight;
                              } else {
                                  return network.spec().nodes_per_router > 1 ? 0 : inside.hop_weight;
                              }
                          });
    for (std::uint32_t j = 0; j < inside.levels.count(); ++j) {
        if (inside.levels.arity()[j] > 1) least = std::min(least, inside.levels.distances()[j]);
    }
    return least;
}

}  // namespace topoloom::grid
