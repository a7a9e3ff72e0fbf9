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
    Bytes bytes;  // as in Collective
    Rank root{0};
    std::shared_ptr<const Demand> demand = nullptr;  // of a many-to-many, whose bytes it gives
    /// Whether the bytes of an all-gather or a reduce-scatter are those of all ranks together; the ranks' shares may
    /// then differ.
    bool in_all = false;
    /// What `bytes` count, where they are not bytes but elements that no message may divide; options of schedules stay in
    /// bytes.
    std::uint64_t unit_bytes = 1;
};

/// One line of the registry.
struct ScheduleEntry {
    std::string_view name;
    std::vector<Operation> operations;
    std::string_view summary;
    std::string_view source = "";  // paper and section; empty for folklore
    std::string_view cost;         // for P ranks and m bytes: alpha, beta and gamma as in the docs
    AnySchedule (*make)(const Call& call, std::string_view name, const OptionValues&);
    std::string_view ranks = "";                   // supported numbers of ranks, in words; empty: any
    bool (*applies)(std::size_t ranks) = nullptr;  // whether a number is supported; null: any is
    std::vector<OptionInfo> (*options)() = list_options<NoOptions>;

    [[nodiscard]] bool supports(Operation operation) const;
    [[nodiscard]] bool supports_ranks(std::size_t count) const {
        return applies == nullptr || applies(count);
    }
};

/// All schedules, in the order in which they are shown.
[[nodiscard]] const std::vector<ScheduleEntry>& schedules();

/// Makes a schedule from text such as ring or chain(segment=8192). Throws Error for an unknown name, one that does
/// another operation or cannot take this number of ranks, and options out of range.
[[nodiscard]] AnySchedule make_schedule(const Call& call, std::string_view text);

}  // namespace topoloom
