// SPDX-License-Identifier: BSD-3-Clause
// Near sites by a branch-and-bound search in a tree of bounding boxes.
#pragma once

#include <cstdint>
#include <vector>

#include "topoloom/machine/machine.hpp"
#include "topoloom/place/near/near_sites.hpp"
#include "topoloom/place/near/slot_sites.hpp"
#include "topoloom/place/state/hilbert_slots.hpp"

namespace topoloom::near {

/// Takes about O(slots + log sites) per search where bounds prune parts of the machine, else O(sites). Sites
/// at equal distance are in Hilbert-curve order, starting with the half that contains the site.
class SiteTree final : public NearSites {
   public:
    SiteTree(const Machine& machine, const SlotSites& sites);

    void find(std::uint32_t site, std::uint64_t slots, Found& found) const override;

   private:
    class Search;

    const SlotSites& sites_;
    std::uint32_t hop_weight_;
    std::uint32_t ports_;  // distance of two slots of different nodes, without hops
    HilbertSlots slots_;   // the first slot of each site's first node; positions are sites
};

}  // namespace topoloom::near
