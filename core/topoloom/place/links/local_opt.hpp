// SPDX-License-Identifier: BSD-3-Clause
// Local search under congestion: exchanges that take traffic off the busiest links.
#pragma once

#include "topoloom/place/mapper.hpp"

namespace topoloom::links {

/// LocalOpt (Sudheer 2012, ch. 7): exchanges an end of a message over one of the busiest links with any rank, or moves it to
/// a free slot, whenever that lowers the CongestionKey, until no such change does (a local optimum) or the budget
/// ends. Never returns a worse placement. O(links of the routes that change) each, less where no link comes near the
/// maximum. Work counts evaluations.
[[nodiscard]] Placement improve_by_local_opt(const Problem& problem, Placement start, Meter& meter);

}  // namespace topoloom::links
