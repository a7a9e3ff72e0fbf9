// SPDX-License-Identifier: BSD-3-Clause
// Cyclic exchanges for objectives on links: a route-aware version of rotate.
#pragma once

#include "topoloom/place/local/rotate_options.hpp"
#include "topoloom/place/mapper.hpp"

namespace topoloom::local {

/// The ejection chains of improve_by_rotations() for objectives other than hop-bytes. A chain starts at an
/// endpoint of a message on one of the busiest links. An ejected rank moves to the slot for which the soft
/// value of the link loads becomes lowest. A chain is accepted if it lowers the objective. A visit costs
/// O(partners * near) chains of O(length
/// * partners * near) changes of link loads.
[[nodiscard]] Placement rotate_on_routes(const Problem& problem, const Placement& start, Meter& meter,
                                         const RotateOptions& options);

}  // namespace topoloom::local
