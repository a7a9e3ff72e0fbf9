// SPDX-License-Identifier: BSD-3-Clause
// The interface of searches for the sites of an allocation that are nearest to a site.
#pragma once

#include <cstdint>
#include <vector>

namespace topoloom::near {

/// See make_near_sites().
class NearSites {
   public:
    /// A site and its network distance. For the site itself, the distance between two of its nodes.
    struct Site {
        std::uint32_t site;
        std::uint32_t distance;
    };
    struct Found {
        std::vector<Site> sites;     // nearest first
        std::uint64_t examined = 0;  // number of sites that the search looked at
    };

    virtual ~NearSites() = default;
    /// Finds the sites nearest to `site`, including itself, until they have at least `slots` slots together,
    /// or all sites. Replaces `found`. Thread-safe.
    virtual void find(std::uint32_t site, std::uint64_t slots, Found& found) const = 0;
};

}  // namespace topoloom::near
