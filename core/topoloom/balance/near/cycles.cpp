// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/balance/near/cycles.hpp"

#include <algorithm>
#include <limits>

#include "topoloom/base/id.hpp"

namespace topoloom {

namespace {

/// Depth-first search that removes cycles as it finds them.
class CycleSearch {
   public:
    CycleSearch(std::vector<Shipment>& shipments, std::size_t ranks, std::span<const std::uint32_t> costs)
        : shipments_(shipments),
          costs_(costs),
          first_(ranks + 1, 0),
          around_(2 * shipments.size()),
          depth_(ranks, 0) {
        for (const Shipment& one : shipments_) {
            ++first_[one.sender + 1];
            ++first_[one.receiver + 1];
        }
        for (std::size_t i = 0; i < ranks; ++i) first_[i + 1] += first_[i];
        next_.assign(first_.begin(), first_.end() - 1);
        for (std::uint32_t i = 0; i < shipments_.size(); ++i) {
            around_[next_[shipments_[i].sender]++] = i;
            around_[next_[shipments_[i].receiver]++] = i;
        }
        next_.assign(first_.begin(), first_.end() - 1);
    }

    /// Whether a cycle was found.
    bool run() {
        for (std::uint32_t start = 0; start < depth_.size(); ++start) {
            enter(start);
            while (!ranks_.empty()) step();
        }
        return found_;
    }

   private:
    void enter(std::uint32_t rank) {
        ranks_.push_back(rank);
        depth_[rank] = static_cast<std::uint32_t>(ranks_.size());
    }
    void leave() {
        depth_[ranks_.back()] = 0;
        ranks_.pop_back();
    }

    void step() {
        const std::uint32_t here = ranks_.back();
        if (next_[here] == first_[here + 1]) {  // all shipments of this rank have been followed
            leave();
            if (path_.empty()) return;
            path_.pop_back();
            ++next_[ranks_.back()];
            return;
        }
        const std::uint32_t i = around_[next_[here]];
        if (shipments_[i].tasks == 0 || (!path_.empty() && path_.back() == i)) {
            ++next_[here];
            return;
        }
        const std::uint32_t there =
            shipments_[i].sender == here ? shipments_[i].receiver : shipments_[i].sender;
        if (next_[there] == first_[there + 1]) {  // this rank is finished: no cycle can lead through it
            ++next_[here];
            return;
        }
        path_.push_back(i);
        if (depth_[there] == 0) {
            enter(there);
            return;
        }
        remove_cycle(depth_[there] - 1);
        while (ranks_.back() != there) leave();
    }

    /// Removes the cycle formed by the part of the path that begins at this index.
    void remove_cycle(std::size_t begin) {
        std::int64_t even_cost = 0;
        std::int64_t odd_cost = 0;
        for (std::size_t k = begin; k < path_.size(); ++k)
            ((k - begin) % 2 == 0 ? even_cost : odd_cost) += costs_[path_[k]];
        const std::size_t dearer = even_cost >= odd_cost ? 0 : 1;
        std::int64_t least = std::numeric_limits<std::int64_t>::max();
        for (std::size_t k = begin + dearer; k < path_.size(); k += 2)
            least = std::min(least, shipments_[path_[k]].tasks);
        for (std::size_t k = begin; k < path_.size(); ++k)
            shipments_[path_[k]].tasks += (k - begin) % 2 == dearer ? -least : least;
        path_.resize(begin);
        found_ = true;
    }

    std::vector<Shipment>& shipments_;
    std::span<const std::uint32_t> costs_;
    std::vector<std::uint32_t> first_, around_, next_;
    std::vector<std::uint32_t> depth_;  // position on the path, from 1; 0: not on it
    std::vector<std::uint32_t> ranks_, path_;
    bool found_ = false;
};

}  // namespace

std::vector<Shipment> remove_cycles(std::vector<Shipment> shipments, std::size_t ranks,
                                    std::span<const std::uint32_t> costs) {
    // Removing a cycle may create another one among ranks visited earlier. Therefore, the search repeats
    // until it finds none.
    while (CycleSearch(shipments, ranks, costs).run()) {
    }
    std::erase_if(shipments, [](const Shipment& one) { return one.tasks == 0; });
    return shipments;
}

}  // namespace topoloom
