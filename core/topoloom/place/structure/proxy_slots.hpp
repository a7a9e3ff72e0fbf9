// SPDX-License-Identifier: BSD-3-Clause
// Stores, for each patch, the slots with a proxy of it; computes the hop-bytes that a compute would add on a
// slot.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "topoloom/base/id.hpp"
#include "topoloom/machine/slot_space.hpp"

namespace topoloom::structure {

/// A patch that exchanges messages with a compute.
struct PatchSource {
    Rank patch;
    Position at;
    std::uint64_t bytes;  // bytes of the messages in both directions
};

/// Slots are identified by their position in the allocation. Takes O(slots + proxies) memory.
class ProxySlots {
   public:
    struct Found {
        Position position;
        std::uint64_t cost;
        std::int64_t capacity;

        [[nodiscard]] bool better_than(const Found& other) const {
            return cost != other.cost ? cost < other.cost : capacity > other.capacity;
        }
    };

    /// `proxied` tells which patches send only one message to each slot; `capacity` has one entry per slot
    /// and must outlive this object. With `equally_far`, all slots except a patch's own slot are at distance
    /// 1.
    ProxySlots(const SlotSpace& space, std::span<const Rank> proxied, std::size_t patches,
               std::span<const std::int64_t> capacity, bool equally_far)
        : space_(space),
          equally_far_(equally_far),
          capacity_(capacity),
          is_proxied_(patches, 0),
          of_patch_(patches),
          saved_(capacity.size(), 0) {
        for (const Rank patch : proxied) {
            if (patch.value < patches) is_proxied_[patch.value] = 1;
        }
    }

    /// Must be called after a patch is placed at `position`.
    void add_home(Rank patch, Position position) {
        if (equally_far_) of_patch_[patch.value].push_back(position);
        add_proxy(patch, position);
    }

    /// Must be called after a compute of the patch is placed at `position`.
    void add_proxy(Rank patch, Position position) {
        if (is_proxied_[patch.value] == 0) return;
        std::vector<Position>& slots = of_patch_[patch.value];
        if (std::ranges::find(slots, position) == slots.end()) slots.push_back(position);
    }

    /// The hop-bytes that a compute with these sources adds at `position`.
    [[nodiscard]] Found cost_at(Position position, std::span<const PatchSource> sources) const {
        std::uint64_t cost = 0;
        for (const PatchSource& source : sources) {
            const std::vector<Position>& slots = of_patch_[source.patch.value];
            if (std::ranges::find(slots, position) == slots.end()) cost += hop_bytes(source, position);
        }
        return {position, cost, capacity_[position.value]};
    }

    /// The slot on which the compute adds the lowest cost, among those with a proxy of any source and enough
    /// capacity for the mass. Ties go to the slot with the most capacity. Adds the slots visited to
    /// `evaluated`.
    [[nodiscard]] std::optional<Found> find_nearest(std::span<const PatchSource> sources, std::int64_t mass,
                                                    std::uint64_t& evaluated) {
        for_each_slot(sources, [&](const PatchSource& source, Position position) {
            saved_[position.value] += hop_bytes(source, position);
        });
        std::optional<Found> best;
        for_each_slot(sources, [&](const PatchSource&, Position position) {
            ++evaluated;
            if (capacity_[position.value] < mass) return;
            std::uint64_t cost = 0;
            for (const PatchSource& source : sources) cost += hop_bytes(source, position);
            const Found found{position, cost - saved_[position.value], capacity_[position.value]};
            if (!best || found.better_than(*best)) best = found;
        });
        for_each_slot(sources, [&](const PatchSource&, Position position) { saved_[position.value] = 0; });
        return best;
    }

   private:
    [[nodiscard]] std::uint64_t hop_bytes(const PatchSource& source, Position position) const {
        return equally_far_ ? source.bytes : source.bytes * space_.distance(source.at.value, position.value);
    }
    void for_each_slot(std::span<const PatchSource> sources, const auto& use) const {
        for (const PatchSource& source : sources) {
            for (const Position position : of_patch_[source.patch.value]) use(source, position);
        }
    }

    const SlotSpace& space_;
    bool equally_far_;
    std::span<const std::int64_t> capacity_;
    std::vector<char> is_proxied_;
    std::vector<std::vector<Position>> of_patch_;
    std::vector<std::uint64_t> saved_;  // by position: saved hop-bytes; scratch
};

}  // namespace topoloom::structure
