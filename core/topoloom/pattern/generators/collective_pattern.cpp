// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/pattern/generators/collective_pattern.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "topoloom/pattern/pattern_check.hpp"

namespace topoloom {

namespace {

/// Size of a message of so many blocks. Every rank's block fits in 64 bits together, or blocks() has thrown.
class BlockSize {
   public:
    BlockSize(std::string_view pattern, std::size_t rank_count, Bytes bytes, PhaseBytes phase_bytes)
        : bytes_(bytes), per_block_(phase_bytes == PhaseBytes::blocks) {
        check_pattern(pattern, rank_count, bytes);
        const auto most = std::numeric_limits<std::int64_t>::max() / static_cast<std::int64_t>(rank_count);
        if (per_block_ && bytes.value > most) {
            fail(rank_count, " blocks of ", bytes.value, " bytes are more than 2^63 bytes; scale them down");
        }
    }
    [[nodiscard]] Bytes of(std::size_t blocks) const {
        return per_block_ ? bytes_ * static_cast<std::int64_t>(blocks) : bytes_;
    }

   private:
    Bytes bytes_;
    bool per_block_;
};

}  // namespace

CommGraph ring(std::size_t rank_count, Bytes bytes) {
    check_pattern("ring", rank_count, bytes);
    return CommGraph::from_rows(rank_count, [&](Rank u, const auto& add) {
        if (rank_count > 1) add(Edge{Rank{(u.value + std::size_t{1}) % rank_count}, bytes});
    });
}

CommGraph recursive_doubling(std::size_t rank_count, Bytes bytes, PhaseBytes phase_bytes) {
    const BlockSize size("recursive doubling", rank_count, bytes, phase_bytes);
    const std::size_t cube = std::bit_floor(rank_count);
    const std::size_t extra = rank_count - cube;
    return CommGraph::from_rows(rank_count, [&](Rank u, const auto& add) {
        if (u.value >= cube) {
            add(Edge{Rank{u.value - cube}, size.of(1)});
            return;
        }
        for (std::size_t step = 1; step < cube; step *= 2) {
            // By now u has the blocks of the `step` ranks that share its upper bits, and of the extra ranks
            // they took.
            const std::size_t lowest = u.value & ~(step - 1);
            const std::size_t taken = std::min(std::max(extra, lowest) - lowest, step);
            add(Edge{Rank{u.value ^ step}, size.of(step + taken)});
        }
        if (u.value < extra) add(Edge{Rank{u.value + cube}, size.of(rank_count - 1)});
    });
}

CommGraph bruck(std::size_t rank_count, Bytes bytes, PhaseBytes phase_bytes) {
    const BlockSize size("Bruck pattern", rank_count, bytes, phase_bytes);
    return CommGraph::from_rows(rank_count, [&](Rank u, const auto& add) {
        for (std::size_t step = 1; step < rank_count; step *= 2) {
            add(Edge{Rank{(u.value + rank_count - step) % rank_count},
                     size.of(std::min(step, rank_count - step))});
        }
    });
}

CommGraph binomial_tree(std::size_t rank_count, Bytes bytes, Rank root) {
    check_pattern("binomial tree", rank_count, bytes);
    if (root.value >= rank_count) {
        fail("the root ", root.value, " of the binomial tree is not a rank; ranks are 0 to ", rank_count - 1);
    }
    return CommGraph::from_rows(rank_count, [&](Rank u, const auto& add) {
        const std::size_t relative = (u.value + rank_count - root.value) % rank_count;
        for (std::size_t bit = 1; relative + bit < rank_count && (relative & bit) == 0; bit *= 2) {
            add(Edge{Rank{(relative + bit + root.value) % rank_count}, bytes});
        }
    });
}

CommGraph all_to_all(std::size_t rank_count, Bytes bytes) {
    check_pattern("all-to-all", rank_count, bytes);
    // The largest n with n (n - 1) <= 2^31.
    if (rank_count > 46'341) {
        fail("an all-to-all of ", rank_count, " ranks has more than 2^31 messages; use at most 46341 ranks");
    }
    return CommGraph::from_rows(rank_count, [&](Rank u, const auto& add) {
        for (const Rank v : ids<Rank>(rank_count)) {
            if (v != u) add(Edge{v, bytes});
        }
    });
}

}  // namespace topoloom
