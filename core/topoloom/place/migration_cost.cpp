// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/migration_cost.hpp"

#include "topoloom/base/error.hpp"

namespace topoloom {

std::int64_t migration_cost(const Migration& migration, const Machine& machine,
                            std::span<const Slot> slot_of_rank) {
    if (migration.from.size() != slot_of_rank.size()) {
        fail("there are ", slot_of_rank.size(), " ranks, but the earlier placement has ",
             migration.from.size());
    }
    std::int64_t hops = 0;
    for (std::size_t u = 0; u < slot_of_rank.size(); ++u) {
        if (migration.from[u]) hops += machine.distance(*migration.from[u], slot_of_rank[u]);
    }
    return hops * migration.bytes_per_rank.value;
}

}  // namespace topoloom
