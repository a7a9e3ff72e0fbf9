// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/strategy/decision_table.hpp"

#include <algorithm>
#include <optional>

#include "topoloom/base/error.hpp"
#include "topoloom/schedule/collectives/registry.hpp"
#include "topoloom/strategy/json_reader.hpp"

namespace topoloom {

namespace {

Operation parse_table_operation(const Json& table) {
    const Json& name = table.at("operation");
    try {
        return parse_operation(name.text("\"operation\""));
    } catch (const Error& error) {
        fail_at_line(name.line(), error.what());
    }
}

/// Parses the schedule of a line and checks that it supports this number of ranks.
std::string parse_schedule(const Json& text, Operation operation, std::int64_t ranks) {
    Call call{operation, static_cast<std::size_t>(ranks), Bytes{0}};
    if (is_many_to_many(operation)) call.demand = std::make_shared<const Demand>(call.ranks, 0, Bytes{0});
    try {
        (void)make_schedule(call, text.text("\"schedule\""));
    } catch (const Error& error) {
        fail_at_line(text.line(), error.what());
    }
    return text.text("\"schedule\"");
}

}  // namespace

DecisionTable::DecisionTable(std::string_view text) {
    constexpr std::int64_t most_ranks = (std::int64_t{1} << 31) - 1, most_bytes = std::int64_t{1} << 53;
    for (const Json& table : read_json_values(text)) {
        check_format(table, "topoloom-decisions", 1);
        const Operation operation = parse_table_operation(table);
        if (std::ranges::any_of(decisions_, [&](const Decision& d) { return d.operation == operation; }))
            fail_at_line(table.line(), "a second table of ", operation_name(operation));
        std::optional<Key> before;
        const Json& lines = table.at("decisions");
        if (lines.list("\"decisions\"").empty())
            fail_at_line(lines.line(), "the table of ", operation_name(operation),
                         " has no decisions; add some, or remove the table");
        for (const Json& line : lines.list("\"decisions\"")) {
            Key key{line.at("ranks").whole("\"ranks\"", 1, most_ranks), 0,
                    line.at("bytes").whole("\"bytes\"", 0, most_bytes)};
            if (is_many_to_many(operation)) key.degree = line.at("degree").whole("\"degree\"", 1, most_ranks);
            if (before && key <= *before)
                fail_at_line(line.line(), "decisions must ascend by ranks, degree and bytes");
            before = key;
            decisions_.push_back({operation, key, parse_schedule(line.at("schedule"), operation, key.ranks)});
        }
    }
}

const std::string* DecisionTable::find(Operation operation, std::size_t ranks, Bytes bytes) const {
    const Decision* best = nullptr;
    for (const Decision& decision : decisions_) {
        if (decision.operation != operation || decision.from.ranks > static_cast<std::int64_t>(ranks))
            continue;
        const bool is_more = best == nullptr || decision.from.ranks > best->from.ranks ||
                             decision.from.degree > best->from.degree;
        if (is_more || decision.from.bytes <= bytes.value) best = &decision;
    }
    return best == nullptr || best->from.bytes > bytes.value ? nullptr : &best->schedule;
}

}  // namespace topoloom
