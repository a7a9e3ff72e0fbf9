// SPDX-License-Identifier: BSD-3-Clause
// Background loads: the bytes of other jobs on each link.
#pragma once

#include <span>

#include "topoloom/machine/machine.hpp"
#include "topoloom/metric/judge.hpp"

namespace topoloom {

/// The largest background load in bytes; 0 without a background. Throws Error for a wrong number of links,
/// and for a load that is not from 0 to 2^52.
double max_background(const Machine& machine, std::span<const double> background);

/// Adds the background to the loads and to congestion_max; the other metrics stay those of the job alone.
/// Throws Error as max_background().
[[nodiscard]] Judgement add_background(const Judgement& judgement, const Machine& machine,
                                       std::span<const double> background);

}  // namespace topoloom
