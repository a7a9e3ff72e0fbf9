// SPDX-License-Identifier: BSD-3-Clause
// Cyclic exchanges under an objective on links: rotate, aware of routes.
#pragma once

#include "topoloom/place/local/rotate_options.hpp"
#include "topoloom/place/mapper.hpp"

namespace topoloom::local {

/// The ejection chains of improve_by_rotations() for problems that are not for hop-bytes: they begin with an end of a
/// message over one of the busiest links, whoever is ejected goes where soft loads are least, and a chain is kept if it
/// lowers the objective. A visit costs O(partners * near) chains of O(length * partners * near) changes of link loads.
[[nodiscard]] Placement rotate_on_routes(const Problem& problem, const Placement& start, Meter& meter,
                                         const RotateOptions& options);

}  // namespace topoloom::local
