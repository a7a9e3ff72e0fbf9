// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/near/site_tree.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace topoloom::near {

namespace {

Allocation first_slots(const Machine& machine, const SlotSites& sites) {
    std::vector<Slot> slots;
    for (std::uint32_t site = 0; site < sites.size(); ++site)
        slots.push_back(machine.slot(sites.nodes(site).front(), 0));
    return Allocation::of_slots(machine, std::move(slots));
}

}  // namespace

/// Distances are those between the first slots of two nodes.
class SiteTree::Search {
   public:
    Search(const SiteTree& tree, std::uint32_t site, std::uint64_t slots, NearSites::Found& found)
        : sites_(tree.sites_),
          slots_(tree.slots_),
          from_(tree.slots_.index(Position{site})),
          sum_(slots_.space().sum_distances(std::span(&from_, 1), once)),
          wanted_(slots),
          found_(found) {}

    void search(std::uint32_t part, std::uint64_t bound) {
        if (have_ >= wanted_ && bound >= found_.sites.back().distance) return;
        const SlotSpace::Part& p = slots_.parts()[part];
        if (p.right == no_index) {
            std::array<std::uint32_t, SlotSpace::leaf_size> distances;
            slots_.space().measure_distances(from_, p.begin, std::span(distances).first(p.end - p.begin));
            for (std::uint32_t i = p.begin; i < p.end; ++i)
                insert({slots_.position(i).value, distances[i - p.begin]});
            found_.examined += p.end - p.begin;
            return;
        }
        std::uint32_t near = part + 1;
        std::uint32_t far = p.right;
        std::uint64_t near_bound = sum_->bound(near);
        std::uint64_t far_bound = sum_->bound(far);
        // If bounds are equal, first searches the half that contains the site itself, because it also
        // contains near sites.
        if (far_bound < near_bound ||
            (far_bound == near_bound && from_ >= slots_.parts()[far].begin && from_ < p.end)) {
            std::swap(near, far);
            std::swap(near_bound, far_bound);
        }
        search(near, near_bound);
        search(far, far_bound);
    }

   private:
    static constexpr std::array<std::uint64_t, 1> once{1};

    /// Inserts into the sorted list, behind sites at equal distance; drops the farthest sites that are not
    /// needed.
    void insert(NearSites::Site near) {
        std::vector<NearSites::Site>& sites = found_.sites;
        if (have_ >= wanted_ && near.distance >= sites.back().distance) return;
        sites.insert(std::ranges::upper_bound(sites, near.distance, {}, &NearSites::Site::distance), near);
        have_ += sites_.slot_count(near.site);
        while (have_ - sites_.slot_count(sites.back().site) >= wanted_) {
            have_ -= sites_.slot_count(sites.back().site);
            sites.pop_back();
        }
    }

    const SlotSites& sites_;
    const HilbertSlots& slots_;
    std::uint32_t from_;
    std::unique_ptr<SlotSpace::DistanceSum> sum_;
    std::uint64_t wanted_;
    std::uint64_t have_ = 0;
    NearSites::Found& found_;
};

SiteTree::SiteTree(const Machine& machine, const SlotSites& sites)
    : sites_(sites),
      hop_weight_(machine.node_spec().hop_weight),
      ports_(2 * machine.node_spec().port_distance(0)),
      slots_(first_slots(machine, sites)) {}

void SiteTree::find(std::uint32_t site, std::uint64_t slots, Found& found) const {
    found.sites.clear();
    Search(*this, site, slots, found).search(0, 0);
    for (Site& near : found.sites) {
        if (near.site != site) near.distance = (near.distance - ports_) / hop_weight_;
    }
}

}  // namespace topoloom::near
