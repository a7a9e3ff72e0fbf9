// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/bound/near_profile.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <type_traits>

#include "topoloom/base/id.hpp"
#include "topoloom/base/parallel.hpp"
#include "topoloom/machine/allocations/curves.hpp"

namespace topoloom::bound {

namespace {

/// Slots that see the same distances: those of a node, or each for itself where distances count inside nodes.
template <class Space>
struct Site {
    typename Space::Point point;
    std::uint32_t capacity;
};

template <class Space>
class NearSearch {
   public:
    NearSearch(const Space& space, const BoundProblem& problem, std::uint32_t reach)
        : space_(space), reach_(reach), site_of_slot_(problem.allocation().slot_count()) {
        const Allocation& allocation = problem.allocation();
        std::vector<std::uint32_t> site_of_node(allocation.nodes().size(), no_index);
        for (const std::uint32_t position : curve_order(Curve::hilbert, allocation)) {
            std::uint32_t& known = site_of_node[allocation.node_of_slot()[position]];
            if (Space::has_inside || known == no_index) {
                known = static_cast<std::uint32_t>(sites_.size());
                sites_.push_back({space.point(allocation.slots()[position]), 0});
            }
            sites_[known].capacity += problem.capacity()[position];
            site_of_slot_[position] = known;
        }
        // Where a good part of all sites is asked for, regions rule out little.
        const bool near_only = sites_.size() / 16 > reach;
        if (!std::is_same_v<typename Space::Network, HopTable> && near_only) {
            for (const auto& site : sites_) on_network_.push_back(Space::on_network(site.point));
            build(0, static_cast<std::uint32_t>(sites_.size()));
        }
    }

    [[nodiscard]] std::size_t site_count() const { return sites_.size(); }
    [[nodiscard]] std::span<const std::uint32_t> site_of_slot() const { return site_of_slot_; }

    /// `found` is memory to work in.
    [[nodiscard]] NearProfile profile(std::uint32_t from, std::vector<NearRun>& found) const {
        if (reach_ == 0) return {};
        found.clear();
        if (sites_[from].capacity > 1) found.push_back({0, sites_[from].capacity - 1});
        if (parts_.empty()) {
            for (std::uint32_t i = 0; i < sites_.size(); ++i) {
                if (i != from) found.push_back({distance(from, i), sites_[i].capacity});
            }
            std::ranges::sort(found);
        } else {
            std::uint64_t capacity = found.empty() ? 0 : found.front().count;
            const std::array<std::uint64_t, 1> once{1};
            const Pull pull(space_.network(), std::span(on_network_).subspan(from, 1), once);
            search(0, from, pull, capacity, found);
        }
        NearProfile runs;
        std::uint64_t capacity = 0;
        for (const NearRun& near : found) {
            if (capacity >= reach_) break;
            capacity = std::min<std::uint64_t>(capacity + near.count, reach_);
            if (runs.empty() || runs.back().distance != near.distance) runs.push_back({near.distance, 0});
            runs.back().count = static_cast<std::uint32_t>(capacity);
        }
        return runs;
    }

   private:
    static constexpr std::uint32_t leaf_size = 8;
    using Region = typename Space::Network::Region;
    using Pull = typename Space::Network::Pull;

    struct Part {
        std::uint32_t begin, end;
        std::uint32_t right;  // the first half is the next part; none: a leaf
        Region region;
    };

    std::uint32_t build(std::uint32_t begin, std::uint32_t end) {
        const auto me = static_cast<std::uint32_t>(parts_.size());
        parts_.push_back({begin, end, no_index,
                          space_.network().region(std::span(on_network_).subspan(begin, end - begin))});
        if (end - begin > leaf_size) {
            const std::uint32_t middle = begin + (end - begin) / 2;
            build(begin, middle);
            const std::uint32_t right = build(middle, end);
            parts_[me].right = right;
        }
        return me;
    }

    [[nodiscard]] std::uint32_t distance(std::uint32_t a, std::uint32_t b) const {
        const std::uint32_t there = space_.distance(sites_[a].point, sites_[b].point);
        if constexpr (std::is_same_v<typename Space::Network, HopTable>) {
            if (!space_.network().symmetric())
                return std::min(there, space_.distance(sites_[b].point, sites_[a].point));
        }
        return there;
    }

    /// Keeps `found` ascending, of capacity for `reach_` ranks and no more sites than that takes.
    void search(std::uint32_t at, std::uint32_t from, const Pull& pull, std::uint64_t& capacity,
                std::vector<NearRun>& found) const {
        const Part& part = parts_[at];
        if (part.right == no_index) {
            for (std::uint32_t i = part.begin; i < part.end; ++i) {
                if (i != from) insert({distance(from, i), sites_[i].capacity}, capacity, found);
            }
            return;
        }
        std::array<std::uint32_t, 2> halves{at + 1, part.right};
        std::array<std::uint64_t, 2> bounds{};
        for (const std::size_t half : {0U, 1U})
            bounds[half] = space_.hop_weight() * pull.bound(parts_[halves[half]].region);
        const bool in_right = from >= parts_[part.right].begin && from < part.end;
        if (bounds[1] < bounds[0] || (bounds[0] == bounds[1] && in_right)) {
            std::swap(halves[0], halves[1]);
            std::swap(bounds[0], bounds[1]);
        }
        for (const std::size_t half : {0U, 1U}) {
            if (capacity < reach_ || bounds[half] < found.back().distance)
                search(halves[half], from, pull, capacity, found);
        }
    }

    void insert(NearRun near, std::uint64_t& capacity, std::vector<NearRun>& found) const {
        if (near.count == 0 || (capacity >= reach_ && near.distance >= found.back().distance)) return;
        found.insert(std::ranges::upper_bound(found, near), near);
        capacity += near.count;
        while (capacity - found.back().count >= reach_) {
            capacity -= found.back().count;
            found.pop_back();
        }
    }

    const Space& space_;
    std::uint64_t reach_;
    std::vector<Site<Space>> sites_;  // along a Hilbert curve
    std::vector<std::uint32_t> site_of_slot_;
    std::vector<typename Space::Network::Point> on_network_;
    std::vector<Part> parts_;  // depth first
};

template <class Space>
NearProfiles find_profiles(const Space& space, const BoundProblem& problem, std::uint32_t reach) {
    const NearSearch<Space> search(space, problem, reach);
    std::vector<NearProfile> by_site(search.site_count());
    const Chunks chunks(by_site.size(), 64);
    parallel_for(chunks.size(), problem.threads(), [&](std::size_t c, int) {
        std::vector<NearRun> found;
        for (std::size_t i = chunks[c].begin; i < chunks[c].end; ++i)
            by_site[i] = search.profile(static_cast<std::uint32_t>(i), found);
    });
    NearProfiles result;
    std::map<NearProfile, std::uint32_t> numbers;
    std::vector<std::uint32_t> number_of_site;
    for (NearProfile& profile : by_site) {
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

}  // namespace

NearProfile NearProfiles::best() const {
    std::map<std::uint32_t, std::uint32_t> most;  // by distance
    for (const NearProfile& profile : profiles) {
        for (const NearRun& run : profile) {
            std::uint32_t& count = most[run.distance];
            count = std::max(count, run.count);
        }
    }
    NearProfile best;
    for (const auto& [distance, count] : most) {
        if (best.empty() || count > best.back().count) best.push_back({distance, count});
    }
    return best;
}

NearProfiles near_profiles(const BoundProblem& problem, std::uint32_t reach) {
    return with_space(problem.machine(),
                      [&](const auto& space) { return find_profiles(space, problem, reach); });
}

}  // namespace topoloom::bound
