// SPDX-License-Identifier: BSD-3-Clause
// Near sites of a tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "topoloom/machine/topologies/tree.hpp"
#include "topoloom/place/near/near_sites.hpp"
#include "topoloom/place/near/slot_sites.hpp"

namespace topoloom::near {

/// Distances on a tree are ultrametric: they never fall along the leaves to either side.
class TreeNearSites final : public NearSites {
   public:
    TreeNearSites(const Tree& tree, const SlotSites& sites) : tree_(tree), sites_(sites) {
        for (std::uint32_t site = 0; site < sites.size(); ++site)
            points_.push_back(tree.point(sites.nodes(site).front()));
    }

    void find(std::uint32_t site, std::uint64_t slots, Found& found) const override {
        found.sites.assign(1, {site, 0});
        std::uint64_t have = sites_.slot_count(site);
        std::size_t left = site;
        std::size_t right = std::size_t{site} + 1;
        while (have < slots && (left > 0 || right < points_.size())) {
            const bool rightward =
                left == 0 || (right < points_.size() && distance(site, right) <= distance(site, left - 1));
            const std::size_t next = rightward ? right++ : --left;
            found.sites.push_back({static_cast<std::uint32_t>(next), distance(site, next)});
            have += sites_.slot_count(found.sites.back().site);
        }
        found.examined = found.sites.size();
    }

   private:
    [[nodiscard]] std::uint32_t distance(std::size_t a, std::size_t b) const {
        return tree_.distance(points_[a], points_[b]);
    }

    const Tree& tree_;
    const SlotSites& sites_;
    std::vector<Tree::Point> points_;  // by site
};

}  // namespace topoloom::near
