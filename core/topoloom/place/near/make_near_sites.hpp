// SPDX-License-Identifier: BSD-3-Clause
// Selects the search for near sites by the machine's geometry.
#pragma once

#include <cstdint>
#include <memory>

#include "topoloom/machine/allocations/allocation.hpp"
#include "topoloom/place/near/near_sites.hpp"
#include "topoloom/place/near/slot_sites.hpp"

namespace topoloom::near {

/// Makes the search for the machine's geometry, for lists of about `count` slots. The search refers to both
/// objects.
///
/// - Torus: tries offsets in the order of their distance. At equal distance, starts at an offset that depends
///   on the site, so that lists that end there do not all prefer the same direction. For sites far from
///   most others, scans all sites or searches a tree of bounding boxes.
/// - Tree: walks the leaves in both directions, first to the right.
/// - Hop table: measures all sites. At equal distance, sites follow in cyclic order, starting at the site.
[[nodiscard]] std::unique_ptr<NearSites> make_near_sites(const Allocation& allocation, const SlotSites& sites,
                                                         std::uint32_t count);

}  // namespace topoloom::near
