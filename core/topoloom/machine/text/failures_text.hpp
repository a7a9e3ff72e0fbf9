// SPDX-License-Identifier: BSD-3-Clause
// What is down, such as down:17,v40,0-1,5>6.
#pragma once

#include "topoloom/machine/degraded.hpp"
#include "topoloom/machine/text/text_piece.hpp"

namespace topoloom {

[[nodiscard]] Failures read_failures(const Section& section);

}  // namespace topoloom
