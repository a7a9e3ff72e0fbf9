// SPDX-License-Identifier: BSD-3-Clause
// Searches the slots of an allocation for those nearest to one of them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "topoloom/base/id.hpp"
#include "topoloom/place/state/positions_along.hpp"
#include "topoloom/place/state/space_pull.hpp"

namespace topoloom {

/// Slots are named by their position in the allocation. Exact; among equals those that come early along the
/// locality-preserving order, seen from the slot. About O(count + log slots) per search where regions rule out parts of
/// the machine, else O(slots).
template <class Space>
class NearSlotSearch {
   public:
    NearSlotSearch(const Space& space, const Allocation& allocation, std::uint32_t count)
        : space_(space), order_(positions_along(Curve::hilbert, allocation)), index_in_order_(order_.size()) {
        std::vector<typename Space::Network::Point> network;
        const auto slots = static_cast<std::uint32_t>(order_.size());
        for (std::uint32_t i = 0; i < slots; ++i) {
            index_in_order_[order_[i].value] = i;
            points_.push_back(space.point(allocation.slots()[order_[i].value]));
            network.push_back(Space::on_network(points_.back()));
        }
        build(network, 0, slots);
        count_ = std::min(count, slots - 1);
    }

    [[nodiscard]] std::uint32_t count() const { return count_; }
    /// Writes the count() slots nearest to a position, nearest first, without itself.
    void list(Position position, Position* out) const {
        std::vector<Near> found;
        const std::uint32_t from = index_in_order_[position.value];
        const std::array<std::uint64_t, 1> once{1};
        const auto pull = make_pull(space_, std::span(points_.data() + from, 1), std::span(once));
        search(0, 0, from, pull, found);
        for (const Near& near : found) *out++ = order_[near.at];
    }

   private:
    using Region = typename Space::Network::Region;
    static constexpr std::uint32_t leaf_size = 8;

    struct Part {
        std::uint32_t begin, end;  // in order_
        std::uint32_t right;       // index of the second half; the first half is the next part; none: a leaf
        Region region;
    };
    struct Near {
        std::uint64_t distance;
        std::uint32_t at;  // in order_
    };

    std::uint32_t build(const std::vector<typename Space::Network::Point>& network, std::uint32_t begin,
                        std::uint32_t end) {
        const auto me = static_cast<std::uint32_t>(parts_.size());
        parts_.push_back(
            {begin, end, no_index, space_.network().region(std::span(network.data() + begin, end - begin))});
        if (end - begin > leaf_size) {
            const std::uint32_t middle = begin + (end - begin) / 2;
            build(network, begin, middle);
            parts_[me].right = build(network, middle, end);
        }
        return me;
    }

    template <class Pull>
    void search(std::uint32_t part, std::uint64_t bound, std::uint32_t from, const Pull& pull,
                std::vector<Near>& found) const {
        if (found.size() == count_ && (count_ == 0 || bound >= found.back().distance)) return;
        const Part& p = parts_[part];
        if (p.right == no_index) {
            for (std::uint32_t i = p.begin; i < p.end; ++i) {
                if (i != from) insert({space_.distance(points_[from], points_[i]), i}, found);
            }
            return;
        }
        std::uint32_t near = part + 1;
        std::uint32_t far = p.right;
        std::uint64_t near_bound = pull.bound(parts_[near].region);
        std::uint64_t far_bound = pull.bound(parts_[far].region);
        // The half that holds the slot itself first: its slots are near, and bounds that are equal do not tell.
        if (far_bound < near_bound ||
            (far_bound == near_bound && from >= parts_[far].begin && from < p.end)) {
            std::swap(near, far);
            std::swap(near_bound, far_bound);
        }
        search(near, near_bound, from, pull, found);
        search(far, far_bound, from, pull, found);
    }

    /// Keeps `found` ascending; later equals stay behind earlier ones.
    void insert(Near near, std::vector<Near>& found) const {
        if (found.size() == count_) {
            if (count_ == 0 || near.distance >= found.back().distance) return;
            found.pop_back();
        }
        const auto behind = [](const Near& a, const Near& b) { return a.distance < b.distance; };
        found.insert(std::upper_bound(found.begin(), found.end(), near, behind), near);
    }

    const Space& space_;
    std::vector<Position> order_;                // of the i-th slot along the order
    std::vector<std::uint32_t> index_in_order_;  // the inverse
    std::vector<typename Space::Point> points_;  // along the order
    std::vector<Part> parts_;                    // depth first: a part, its first half, its second half
    std::uint32_t count_ = 0;
};

}  // namespace topoloom
