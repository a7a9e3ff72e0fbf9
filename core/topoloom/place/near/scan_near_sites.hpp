// SPDX-License-Identifier: BSD-3-Clause
// Near sites by measuring the distance to every site.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "topoloom/machine/machine.hpp"
#include "topoloom/place/near/near_sites.hpp"
#include "topoloom/place/near/slot_sites.hpp"

namespace topoloom::near {

/// O(sites + greatest distance) per search. At equal distance, sites follow in cyclic order, starting at the
/// site, so that sites do not all prefer the first ones.
template <class Network>
class ScanNearSites final : public NearSites {
   public:
    ScanNearSites(const Network& network, const SlotSites& sites) : network_(network), sites_(sites) {
        for (std::uint32_t site = 0; site < sites.size(); ++site)
            points_.push_back(network.point(sites.nodes(site).front()));
    }

    void find(std::uint32_t site, std::uint64_t slots, Found& found) const override {
        const std::size_t count = points_.size();
        std::vector<Site> all;  // in cyclic order
        all.reserve(count);
        std::vector<std::uint64_t> slots_at(std::size_t{network_.max_distance()} + 1, 0);  // by distance
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t other = site + i < count ? site + i : site + i - count;
            all.push_back({static_cast<std::uint32_t>(other), distance(site, other)});
            slots_at[all.back().distance] += sites_.slot_count(all.back().site);
        }
        std::uint32_t last = 0;  // the distance at which the search ends
        std::uint64_t have = 0;  // slots of nearer sites, then of all sites found
        while (last + 1 < slots_at.size() && have + slots_at[last] < slots) have += slots_at[last++];
        found.sites.clear();
        for (const Site& near : all) {
            if (near.distance > last || (near.distance == last && have >= slots)) continue;
            found.sites.push_back(near);
            if (near.distance == last) have += sites_.slot_count(near.site);
        }
        std::ranges::stable_sort(found.sites, {}, &Site::distance);
        found.examined = count;
    }

   private:
    [[nodiscard]] std::uint32_t distance(std::size_t a, std::size_t b) const {
        if (a == b) {
            const auto nodes = sites_.nodes(static_cast<std::uint32_t>(a));
            return nodes.size() == 1 ? 0
                                     : network_.distance(network_.point(nodes[0]), network_.point(nodes[1]));
        }
        if constexpr (std::is_same_v<Network, HopTable>) {
            // The distances to a point are in a row of the table, those from it in a column, which is slow to
            // read.
            if (network_.is_symmetric()) return network_.distance(points_[b], points_[a]);
        }
        return network_.distance(points_[a], points_[b]);
    }

    const Network& network_;
    const SlotSites& sites_;
    std::vector<typename Network::Point> points_;  // by site
};

}  // namespace topoloom::near
