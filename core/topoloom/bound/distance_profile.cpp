// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/bound/distance_profile.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <numeric>
#include <span>
#include <utility>

#include "topoloom/base/id.hpp"
#include "topoloom/base/parallel.hpp"
#include "topoloom/machine/allocations/curves.hpp"
#include "topoloom/machine/slot_space.hpp"

namespace topoloom::bound {

namespace {

/// Equivalent slots of a node. If their mutual distance is not 0, all have the same capacity.
struct Site {
    std::uint32_t node;      // index in the allocation
    std::uint32_t run;       // index within the node
    std::uint32_t capacity;  // capacity of each slot; 0 if the mutual distance is 0
    std::uint64_t total;
};

/// The nearest capacity found so far, grouped by distance; keeps only groups needed for `reach` ranks.
class NearestCapacity {
   public:
    explicit NearestCapacity(std::uint32_t reach) : reach_(reach) {}

    void clear() {
        runs_.clear();
        capacity_ = 0;
    }
    [[nodiscard]] bool is_near_enough(std::uint64_t distance) const {
        return capacity_ < reach_ || distance < runs_.back().distance;
    }
    void add(std::uint32_t distance, std::uint64_t capacity) {
        if (capacity == 0 || !is_near_enough(distance)) return;
        auto at = std::ranges::lower_bound(runs_, distance, {}, &DistanceStep::distance);
        if (at == runs_.end() || at->distance != distance) at = runs_.insert(at, {distance, 0});
        const auto more = static_cast<std::uint32_t>(std::min<std::uint64_t>(capacity, reach_ - at->count));
        at->count += more;
        capacity_ += more;
        while (capacity_ - runs_.back().count >= reach_) {
            capacity_ -= runs_.back().count;
            runs_.pop_back();
        }
    }
    [[nodiscard]] DistanceProfile profile() const {
        DistanceProfile profile;
        std::uint64_t capacity = 0;
        for (const DistanceStep& run : runs_) {
            capacity = std::min<std::uint64_t>(capacity + run.count, reach_);
            profile.push_back({run.distance, static_cast<std::uint32_t>(capacity)});
        }
        return profile;
    }

   private:
    std::uint32_t reach_;
    std::uint64_t capacity_ = 0;
    std::vector<DistanceStep> runs_;  // no count exceeds reach_
};

class ProfileSearch {
   public:
    ProfileSearch(const BoundProblem& problem, std::uint32_t reach)
        : reach_(reach), sites_of_node_(problem.allocation().nodes().size()) {
        const Allocation& allocation = problem.allocation();
        const NodeSpec& inside = allocation.machine().node_spec();
        site_distance_ = inside.levels.distances().front();
        const std::uint32_t alike = inside.interchangeable_run_length();
        std::vector<Slot> slots;
        site_of_slot_.resize(allocation.slot_count());
        for (const std::uint32_t position : sort_along_curve(Curve::hilbert, allocation)) {
            const Slot slot = allocation.slots()[position];
            const std::uint32_t capacity = problem.capacity()[position];
            const std::uint32_t number =
                find_or_add({allocation.node_of_slot()[position], slot.value % inside.levels.size() / alike,
                             site_distance_ == 0 ? 0 : capacity, 0});
            if (number == slots.size()) slots.push_back(slot);
            sites_[number].total += capacity;
            site_of_slot_[position] = number;
        }
        space_ = make_slot_space(allocation.machine(), slots);
        // If a large part of all sites is needed, searching by network regions would exclude few sites.
        const bool near_only = slots.size() / 16 > reach;
        if (space_->has_router_table()) {
            find_kinds();
        } else if (near_only) {
            space_->build_parts();
        }
    }

    [[nodiscard]] std::size_t site_count() const { return sites_.size(); }
    [[nodiscard]] std::span<const std::uint32_t> site_of_slot() const { return site_of_slot_; }

    /// By site: the first site that is known to have the same profile.
    [[nodiscard]] std::vector<std::uint32_t> first_site_of_profile() const {
        std::vector<std::uint32_t> first(sites_.size());
        std::iota(first.begin(), first.end(), 0U);
        if (kinds_.empty()) return first;
        using Word = std::array<std::uint64_t, 3>;
        // Sites with the same kinds, distances and capacities on their node have the same profile.
        std::map<std::vector<Word>, std::uint32_t> known;
        for (std::uint32_t from = 0; from < sites_.size(); ++from) {
            std::vector<Word> on_node;
            for (const std::uint32_t site : sites_of_node_[sites_[from].node]) {
                if (site != from) on_node.push_back({kind_[site], distance(from, site), sites_[site].total});
            }
            std::ranges::sort(on_node);
            on_node.push_back({kind_[from], sites_[from].capacity, sites_[from].total});
            first[from] = known.try_emplace(std::move(on_node), from).first->second;
        }
        return first;
    }

    /// `found` is scratch memory.
    [[nodiscard]] DistanceProfile profile(std::uint32_t from, NearestCapacity& found) const {
        if (reach_ == 0) return {};
        found.clear();
        const Site& site = sites_[from];
        const std::uint64_t here = site_distance_ == 0 ? site.total : site.capacity;
        if (here > 1) found.add(0, here - 1);
        found.add(site_distance_, site.total - here);
        if (!kinds_.empty()) {
            search_kinds(from, found);
        } else if (space_->parts().empty()) {
            std::vector<std::uint32_t> distances(sites_.size());
            space_->measure_distances(from, 0, distances);
            for (std::uint32_t i = 0; i < distances.size(); ++i) {
                if (i != from) found.add(distances[i], sites_[i].total);
            }
        } else {
            const std::array<std::uint64_t, 1> once{1};
            search_region(0, from, *space_->sum_distances(std::span(&from, 1), once), found);
        }
        return found.profile();
    }

   private:
    /// A class of sites with equal distances to all sites of other nodes.
    struct Kind {
        std::uint64_t total = 0;
        std::uint32_t site = no_index;   // a site of this kind
        std::uint32_t other = no_index;  // another one, on a different node
    };

    std::uint32_t find_or_add(const Site& wanted) {
        std::vector<std::uint32_t>& on_node = sites_of_node_[wanted.node];
        for (const std::uint32_t number : on_node) {
            const Site& site = sites_[number];
            if (site.run == wanted.run && site.capacity == wanted.capacity) return number;
        }
        on_node.push_back(static_cast<std::uint32_t>(sites_.size()));
        sites_.push_back(wanted);
        return on_node.back();
    }
    void find_kinds() {
        least_port_ = space_->port_distance(0);
        for (std::uint32_t i = 1; i < sites_.size(); ++i)
            least_port_ = std::min(least_port_, space_->port_distance(i));
        kind_ = space_->distance_classes();
        kinds_.resize(1 + std::size_t{*std::ranges::max_element(kind_)});
        for (std::uint32_t i = 0; i < sites_.size(); ++i) {
            Kind& kind = kinds_[kind_[i]];
            kind.total += sites_[i].total;
            if (kind.site == no_index) kind.site = i;
            if (kind.other == no_index && sites_[i].node != sites_[kind.site].node) kind.other = i;
        }
    }
    /// The shorter of the distances in the two directions.
    [[nodiscard]] std::uint32_t distance(std::uint32_t a, std::uint32_t b) const {
        const std::uint32_t there = space_->distance(a, b);
        return space_->is_symmetric() ? there : std::min(there, space_->distance(b, a));
    }
    void search_kinds(std::uint32_t from, NearestCapacity& found) const {
        std::vector<std::pair<std::uint32_t, std::uint64_t>> on_node;  // kind and capacity of each site
        for (const std::uint32_t site : sites_of_node_[sites_[from].node]) {
            if (site != from) found.add(distance(from, site), sites_[site].total);
            on_node.emplace_back(kind_[site], sites_[site].total);
        }
        if (!found.is_near_enough(std::uint64_t{space_->port_distance(from)} + least_port_)) return;
        std::ranges::sort(on_node);
        auto own = on_node.begin();
        for (std::uint32_t k = 0; k < kinds_.size(); ++k) {
            std::uint64_t elsewhere = kinds_[k].total;
            for (; own != on_node.end() && own->first == k; ++own) elsewhere -= own->second;
            if (elsewhere == 0) continue;
            const bool is_on_node = sites_[kinds_[k].site].node == sites_[from].node;
            found.add(distance(from, is_on_node ? kinds_[k].other : kinds_[k].site), elsewhere);
        }
    }
    void search_region(std::uint32_t at, std::uint32_t from, const SlotSpace::DistanceSum& sum,
                       NearestCapacity& found) const {
        const SlotSpace::Part& part = space_->parts()[at];
        if (part.right == no_index) {
            std::array<std::uint32_t, SlotSpace::leaf_size> distances;
            space_->measure_distances(from, part.begin, std::span(distances).first(part.end - part.begin));
            for (std::uint32_t i = part.begin; i < part.end; ++i) {
                if (i != from) found.add(distances[i - part.begin], sites_[i].total);
            }
            return;
        }
        std::array<std::uint32_t, 2> halves{at + 1, part.right};
        std::array<std::uint64_t, 2> bounds{};
        for (const std::size_t half : {0U, 1U}) bounds[half] = sum.bound(halves[half]);
        const bool in_right = from >= space_->parts()[part.right].begin && from < part.end;
        if (bounds[1] < bounds[0] || (bounds[0] == bounds[1] && in_right)) {
            std::swap(halves[0], halves[1]);
            std::swap(bounds[0], bounds[1]);
        }
        for (const std::size_t half : {0U, 1U}) {
            if (found.is_near_enough(bounds[half])) search_region(halves[half], from, sum, found);
        }
    }

    std::uint32_t reach_;
    std::uint32_t site_distance_ = 0;  // mutual distance of the slots of a site
    std::vector<Site> sites_;
    std::vector<std::vector<std::uint32_t>> sites_of_node_;
    std::vector<std::uint32_t> site_of_slot_;
    std::unique_ptr<SlotSpace> space_;  // one slot per site, along a Hilbert curve
    // Only for router tables:
    std::vector<std::uint32_t> kind_;  // by site
    std::vector<Kind> kinds_;
    std::uint32_t least_port_ = 0;
};

}  // namespace

DistanceProfiles distance_profiles(const BoundProblem& problem, std::uint32_t reach) {
    const ProfileSearch search(problem, reach);
    const std::vector<std::uint32_t> first_site_of_profile = search.first_site_of_profile();
    std::vector<DistanceProfile> by_site(search.site_count());
    const Chunks chunks(by_site.size(), 64);
    parallel_for(chunks.size(), problem.threads(), [&](std::size_t c, int) {
        NearestCapacity found(reach);
        for (std::size_t i = chunks[c].begin; i < chunks[c].end; ++i) {
            if (first_site_of_profile[i] == i)
                by_site[i] = search.profile(static_cast<std::uint32_t>(i), found);
        }
    });
    DistanceProfiles result;
    std::map<DistanceProfile, std::uint32_t> numbers;
    std::vector<std::uint32_t> number_of_site;
    for (std::size_t i = 0; i < by_site.size(); ++i) {
        if (first_site_of_profile[i] != i) {
            number_of_site.push_back(number_of_site[first_site_of_profile[i]]);
            continue;
        }
        const auto [entry, is_new] = numbers.try_emplace(std::move(by_site[i]), numbers.size());
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

std::int64_t min_hop_bytes(std::span<const std::int64_t> partners, const DistanceProfile& near) {
    std::int64_t sum = 0;
    std::size_t placed = 0;
    std::uint32_t distance = 0;
    for (const DistanceStep& run : near) {
        distance = run.distance;
        const std::size_t now = std::min<std::size_t>(run.count, partners.size() - 1);
        sum += distance * (partners[now] - partners[placed]);
        placed = now;
        if (placed + 1 == partners.size()) return sum;
    }
    // All further partners are at least as far as the last distance of the profile.
    return sum + distance * (partners.back() - partners[placed]);
}

}  // namespace topoloom::bound
