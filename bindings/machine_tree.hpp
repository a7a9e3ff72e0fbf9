// SPDX-License-Identifier: BSD-3-Clause
// A spanning tree for Python, with the text of its machine.
#pragma once

#include <memory>
#include <string>

#include "topoloom/schedule/orders/spanning_trees.hpp"

namespace topoloom::python {

/// A spanning tree and the text of its machine.
struct MachineTree {
    SpanningTree tree;
    std::shared_ptr<const std::string> machine;
};

}  // namespace topoloom::python
