// SPDX-License-Identifier: BSD-3-Clause
// The first nodes and slots of a machine.
#pragma once

#include <cstddef>
#include <vector>

#include "topoloom/base/id.hpp"

namespace topoloom::testing {

template <class Id>
std::vector<Id> first_ids(std::size_t count) {
    const ids<Id> range(count);
    return {range.begin(), range.end()};
}

inline std::vector<Node> first_nodes(std::size_t count) { return first_ids<Node>(count); }
inline std::vector<Slot> first_slots(std::size_t count) { return first_ids<Slot>(count); }

}  // namespace topoloom::testing
