// SPDX-License-Identifier: BSD-3-Clause
// A spanning tree of a machine for Python.
#pragma once

#include <memory>
#include <string>

#include "topoloom/schedule/orders/spanning_trees.hpp"

namespace topoloom::python {

/// A tree and its machine's text.
struct MachineTree {
    SpanningTree tree;
    std::shared_ptr<const std::string> machine;
};

}  // namespace topoloom::python
