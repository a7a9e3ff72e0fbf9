// SPDX-License-Identifier: BSD-3-Clause
// A spanning tree for Python.
#pragma once

#include <memory>
#include <string>

#include "topoloom/schedule/orders/spanning_trees.hpp"

namespace topoloom::python {

/// A tree, and the text of the machine that it is made of.
struct MachineTree {
    SpanningTree tree;
    std::shared_ptr<const std::string> machine;
};

}  // namespace topoloom::python
