// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/problem.hpp"

#include <limits>
#include <memory>

#include "topoloom/base/error.hpp"
#include "topoloom/metric/hop_bytes.hpp"

namespace topoloom {

Problem::Problem(const CommGraph& graph, const Allocation& allocation, std::uint64_t seed, int threads,
                 const Sharing& sharing)
    : graph_(graph),
      allocation_(allocation),
      room_(graph, allocation, sharing),
      seed_(seed),
      threads_(threads) {
    require_exact_hop_bytes(graph, allocation.machine());
}

Problem Problem::with_seed(std::uint64_t seed) const {
    Problem other = *this;
    other.seed_ = seed;
    other.threads_ = 1;
    return other;
}

Problem Problem::with_migration(Migration migration) const {
    for (const std::optional<Slot> slot : migration.from) {
        if (slot && slot->value >= machine().slot_count()) {
            fail("the earlier placement uses slot ", slot->value, ", but the machine has only ",
                 machine().slot_count(), " slots");
        }
    }
    if (migration.from.size() != rank_count()) {
        fail("the earlier placement speaks of ", migration.from.size(), " ranks, but the pattern has ",
             rank_count());
    }
    const std::int64_t most = std::numeric_limits<std::int64_t>::max() / 2;
    const auto moves = static_cast<std::int64_t>(rank_count() * std::size_t{machine().max_distance()});
    if (migration.bytes_per_rank.value < 0 || (moves > 0 && migration.bytes_per_rank.value > most / moves))
        fail("the migration cost is ", migration.bytes_per_rank.value,
             " bytes a rank; it must not be negative, nor so large that moving all ranks exceeds 2^62 "
             "hop-bytes");
    Problem other = *this;
    other.migration_ = std::make_shared<const Migration>(std::move(migration));
    return other;
}

std::int64_t Problem::value(std::span<const Slot> slot_of_rank) const {
    const std::int64_t bytes = hop_bytes(graph_, machine(), slot_of_rank, threads_);
    return migration_ ? bytes + migration_cost(*migration_, machine(), slot_of_rank) : bytes;
}

const CommGraph& Problem::symmetric() const {
    if (!symmetric_) symmetric_ = std::make_shared<const CommGraph>(graph_.symmetric());
    return *symmetric_;
}

}  // namespace topoloom
