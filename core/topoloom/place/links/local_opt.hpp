// SPDX-License-Identifier: BSD-3-Clause
// Local search on congestion: exchanges that reduce the load of the busiest links.
#pragma once

#include "topoloom/place/mapper.hpp"

namespace topoloom::links {

/// LocalOpt (Sudheer 2012, ch. 7): exchanges an endpoint of a message on one of the busiest links with any
/// rank, or moves it to a free slot, if that lowers the CongestionKey. Ends at a local optimum or when the
/// budget ends. Never returns a worse placement. O(links of the routes that change) per evaluation, less if
/// no link gets near the maximum. Work counts evaluations.
[[nodiscard]] Placement improve_by_local_opt(const Problem& problem, Placement start, Meter& meter);

}  // namespace topoloom::links
