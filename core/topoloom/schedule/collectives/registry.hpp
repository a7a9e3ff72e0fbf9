// SPDX-License-Identifier: BSD-3-Clause
// The registry of schedules.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "topoloom/base/option.hpp"
#include "topoloom/schedule/any_schedule.hpp"

namespace topoloom {

/// A collective call.
struct Call {
    Operation operation;
    std::size_t ranks;
    Bytes bytes;  // meaning as in Collective
    Rank root{0};
    std::shared_ptr<const Demand> demand = nullptr;  // demand of a many-to-many, including its bytes
    /// For an allgather or reduce_scatter, whether `bytes` is the total of all ranks. The contributions of
    /// the ranks may then differ in size.
    bool in_all = false;
    /// Size of one unit of `bytes`: an element that no message may split. Options of schedules remain in
    /// bytes.
    std::uint64_t unit_bytes = 1;
};

/// One row of the registry.
struct ScheduleEntry {
    std::string_view name;
    std::vector<Operation> operations;
    std::string_view summary;
    std::string_view source = "";  // paper and section; empty if none is known
    std::string_view cost;         // cost for P ranks and m bytes in alpha, beta and gamma, as in the docs
    AnySchedule (*make)(const Call& call, std::string_view name, const OptionValues&);
    std::string_view ranks = "";  // supported numbers of ranks in words; empty: any
    bool (*supports_rank_count)(std::size_t ranks) = nullptr;  // null: supports any number of ranks
    std::vector<OptionInfo> (*options)() = list_options<NoOptions>;

    [[nodiscard]] bool supports(Operation operation) const;
    [[nodiscard]] bool supports_ranks(std::size_t count) const {
        return supports_rank_count == nullptr || supports_rank_count(count);
    }
};

/// All schedules in display order.
[[nodiscard]] const std::vector<ScheduleEntry>& schedules();

/// Constructs a schedule from text such as ring or chain(segment=8192). Throws Error if the name is unknown,
/// the schedule does not support the operation or the number of ranks, or an option is out of range.
[[nodiscard]] AnySchedule make_schedule(const Call& call, std::string_view text);

}  // namespace topoloom
