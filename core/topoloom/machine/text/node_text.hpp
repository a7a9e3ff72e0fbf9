// SPDX-License-Identifier: BSD-3-Clause
// What is inside a node, such as node:8:2,distance=1:2.
#pragma once

#include "topoloom/machine/machine.hpp"
#include "topoloom/machine/text/text_piece.hpp"

namespace topoloom {

[[nodiscard]] NodeInside read_inside(const Section& section);

}  // namespace topoloom
