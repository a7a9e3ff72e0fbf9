// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/pattern/generators/ring.hpp"

#include "topoloom/pattern/argument_check.hpp"

namespace topoloom {

CommGraph ring(std::size_t rank_count, Bytes bytes) {
    check_pattern("ring", rank_count, bytes);
    return CommGraph::from_rows(rank_count, [&](Rank u, const auto& add) {
        if (rank_count > 1) add(Edge{Rank{(u.value + std::size_t{1}) % rank_count}, bytes});
    });
}

}  // namespace topoloom
