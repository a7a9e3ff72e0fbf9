// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/state/near_slots.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "topoloom/base/parallel.hpp"

namespace topoloom {

NearSlotSearch::NearSlotSearch(const Allocation& allocation, std::uint32_t count)
    : slots_(allocation), count_(std::min(count, slots_.size() - 1)) {}

void NearSlotSearch::list(Position position, Position* out) const {
    std::vector<NearSlot> found;
    const std::uint32_t from = slots_.index(position);
    const std::array<std::uint64_t, 1> once{1};
    search(0, 0, from, *slots_.space().sum_distances(std::span(&from, 1), once), found);
    for (const NearSlot& near : found) *out++ = slots_.position(near.at);
}

void NearSlotSearch::search(std::uint32_t part, std::uint64_t bound, std::uint32_t from,
                            const SlotSpace::DistanceSum& sum, std::vector<NearSlot>& found) const {
    if (found.size() == count_ && (count_ == 0 || bound >= found.back().distance)) return;
    const SlotSpace::Part& p = slots_.parts()[part];
    if (p.right == no_index) {
        std::array<std::uint32_t, SlotSpace::leaf_size> distances;
        slots_.space().measure_distances(from, p.begin, std::span(distances).first(p.end - p.begin));
        for (std::uint32_t i = p.begin; i < p.end; ++i) {
            if (i != from) insert({distances[i - p.begin], i}, found);
        }
        return;
    }
    std::uint32_t near = part + 1;
    std::uint32_t far = p.right;
    std::uint64_t near_bound = sum.bound(near);
    std::uint64_t far_bound = sum.bound(far);
    // If bounds are equal, first searches the half that contains the slot itself, because it also contains
    // near slots.
    if (far_bound < near_bound ||
        (far_bound == near_bound && from >= slots_.parts()[far].begin && from < p.end)) {
        std::swap(near, far);
        std::swap(near_bound, far_bound);
    }
    search(near, near_bound, from, sum, found);
    search(far, far_bound, from, sum, found);
}

/// Inserts into the sorted list `found`, behind slots at equal distance; drops the farthest slot if the list
/// is full.
void NearSlotSearch::insert(NearSlot near, std::vector<NearSlot>& found) const {
    if (found.size() == count_) {
        if (count_ == 0 || near.distance >= found.back().distance) return;
        found.pop_back();
    }
    const auto behind = [](const NearSlot& a, const NearSlot& b) { return a.distance < b.distance; };
    found.insert(std::upper_bound(found.begin(), found.end(), near, behind), near);
}

NearSlots::NearSlots(const Allocation& allocation, std::uint32_t count, int threads) {
    const NearSlotSearch search(allocation, count);
    count_ = search.count();
    near_.resize(allocation.slot_count() * count_);
    const Chunks chunks(allocation.slot_count(), 256);
    parallel_for(chunks.size(), threads, [&](std::size_t c, int) {
        for (std::size_t i = chunks[c].begin; i < chunks[c].end; ++i)
            search.list(Position{i}, near_.data() + i * count_);
    });
}

}  // namespace topoloom
