// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/bound/distance_profile.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <span>

#include "topoloom/base/id.hpp"
#include "topoloom/base/parallel.hpp"
#include "topoloom/machine/allocations/curves.hpp"
#include "topoloom/machine/slot_space.hpp"

namespace topoloom::bound {

namespace {

/// Searches sites: the slots of a node, or single slots if distances count levels inside nodes.
class NearSearch {
   public:
    NearSearch(const BoundProblem& problem, std::uint32_t reach)
        : reach_(reach), site_of_slot_(problem.allocation().slot_count()) {
        const Allocation& allocation = problem.allocation();
        const bool flat = allocation.machine().inside().is_flat();
        std::vector<Slot> slots;
        std::vector<std::uint32_t> site_of_node(allocation.nodes().size(), no_index);
        for (const std::uint32_t position : curve_order(Curve::hilbert, allocation)) {
            std::uint32_t& known = site_of_node[allocation.node_of_slot()[position]];
            if (!flat || known == no_index) {
                known = static_cast<std::uint32_t>(slots.size());
                slots.push_back(allocation.slots()[position]);
                capacity_.push_back(0);
            }
            capacity_[known] += problem.capacity()[position];
            site_of_slot_[position] = known;
        }
        // Bounds prune little if a large part of all sites is within reach.
        const bool near_only = slots.size() / 16 > reach;
        space_ = make_slot_space(allocation.machine(), slots);
        if (!space_->has_router_table() && near_only) space_->build_parts();
    }

    [[nodiscard]] std::size_t site_count() const { return capacity_.size(); }
    [[nodiscard]] std::span<const std::uint32_t> site_of_slot() const { return site_of_slot_; }

    /// `found` is memory to work in.
    [[nodiscard]] DistanceProfile profile(std::uint32_t from, std::vector<DistanceStep>& found) const {
        if (reach_ == 0) return {};
        found.clear();
        if (capacity_[from] > 1) found.push_back({0, capacity_[from] - 1});
        if (space_->parts().empty()) {
            std::vector<std::uint32_t> distances(capacity_.size());
            space_->measure_distances(from, 0, distances);
            for (std::uint32_t i = 0; i < distances.size(); ++i) {
                if (!space_->is_symmetric()) distances[i] = std::min(distances[i], space_->distance(i, from));
                if (i != from) found.push_back({distances[i], capacity_[i]});
            }
            std::ranges::sort(found);
        } else {
            std::uint64_t capacity = found.empty() ? 0 : found.front().count;
            const std::array<std::uint64_t, 1> once{1};
            search(0, from, *space_->pull(std::span(&from, 1), once), capacity, found);
        }
        DistanceProfile runs;
        std::uint64_t capacity = 0;
        for (const DistanceStep& near : found) {
            if (capacity >= reach_) break;
            capacity = std::min<std::uint64_t>(capacity + near.count, reach_);
            if (runs.empty() || runs.back().distance != near.distance) runs.push_back({near.distance, 0});
            runs.back().count = static_cast<std::uint32_t>(capacity);
        }
        return runs;
    }

   private:
    /// Keeps `found` ascending, of capacity for `reach_` ranks and no more sites than that takes.
    void search(std::uint32_t at, std::uint32_t from, const SlotSpace::Pull& pull, std::uint64_t& capacity,
                std::vector<DistanceStep>& found) const {
        const SlotSpace::Part& part = space_->parts()[at];
        if (part.right == no_index) {
            std::array<std::uint32_t, SlotSpace::leaf_size> distances;
            space_->measure_distances(from, part.begin, std::span(distances).first(part.end - part.begin));
            for (std::uint32_t i = part.begin; i < part.end; ++i) {
                if (i != from) insert({distances[i - part.begin], capacity_[i]}, capacity, found);
            }
            return;
        }
        std::array<std::uint32_t, 2> halves{at + 1, part.right};
        std::array<std::uint64_t, 2> bounds{};
        for (const std::size_t half : {0U, 1U}) bounds[half] = pull.bound(halves[half]);
        const bool in_right = from >= space_->parts()[part.right].begin && from < part.end;
        if (bounds[1] < bounds[0] || (bounds[0] == bounds[1] && in_right)) {
            std::swap(halves[0], halves[1]);
            std::swap(bounds[0], bounds[1]);
        }
        for (const std::size_t half : {0U, 1U}) {
            if (capacity < reach_ || bounds[half] < found.back().distance)
                search(halves[half], from, pull, capacity, found);
        }
    }

    void insert(DistanceStep near, std::uint64_t& capacity, std::vector<DistanceStep>& found) const {
        if (near.count == 0 || (capacity >= reach_ && near.distance >= found.back().distance)) return;
        found.insert(std::ranges::upper_bound(found, near), near);
        capacity += near.count;
        while (capacity - found.back().count >= reach_) {
            capacity -= found.back().count;
            found.pop_back();
        }
    }

    std::uint64_t reach_;
    std::unique_ptr<SlotSpace> space_;     // of the sites, in Hilbert-curve order
    std::vector<std::uint32_t> capacity_;  // by site
    std::vector<std::uint32_t> site_of_slot_;
};

}  // namespace

DistanceProfiles distance_profiles(const BoundProblem& problem, std::uint32_t reach) {
    const NearSearch search(problem, reach);
    std::vector<DistanceProfile> by_site(search.site_count());
    const Chunks chunks(by_site.size(), 64);
    parallel_for(chunks.size(), problem.threads(), [&](std::size_t c, int) {
        std::vector<DistanceStep> found;
        for (std::size_t i = chunks[c].begin; i < chunks[c].end; ++i)
            by_site[i] = search.profile(static_cast<std::uint32_t>(i), found);
    });
    DistanceProfiles result;
    std::map<DistanceProfile, std::uint32_t> numbers;
    std::vector<std::uint32_t> number_of_site;
    for (DistanceProfile& profile : by_site) {
        const auto [entry, is_new] = numbers.try_emplace(std::move(profile), numbers.size());
        if (is_new) result.profiles.push_back(entry->first);
        number_of_site.push_back(entry->second);
    }
    result.capacity.resize(result.profiles.size());
    for (std::size_t position = 0; position < search.site_of_slot().size(); ++position) {
        result.of_slot.push_back(number_of_site[search.site_of_slot()[position]]);
        result.capacity[result.of_slot.back()] += problem.capacity()[position];
    }
    return result;
}

DistanceProfile DistanceProfiles::best() const {
    std::map<std::uint32_t, std::uint32_t> most;  // by distance
    for (const DistanceProfile& profile : profiles) {
        for (const DistanceStep& run : profile) {
            std::uint32_t& count = most[run.distance];
            count = std::max(count, run.count);
        }
    }
    DistanceProfile best;
    for (const auto& [distance, count] : most) {
        if (best.empty() || count > best.back().count) best.push_back({distance, count});
    }
    return best;
}

}  // namespace topoloom::bound
