// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/strategy/candidates.hpp"

#include <bit>
#include <cstdint>
#include <string_view>

namespace topoloom {

namespace {

using enum Operation;

/// Values of an option, besides its default, that are candidates for the calls for which suits() is true.
struct OptionVariants {
    std::string_view schedule;
    std::string_view option;  // may be preceded by other options and their values
    std::vector<std::string_view> values;
    bool (*suits)(const Call& call, std::string_view value);
};

std::int64_t parse_number(std::string_view value) { return std::stoll(std::string(value)); }

bool is_useful_segment(const Call& call, std::string_view segment) {
    // With more segments, startup costs exceed what a pipeline can gain.
    constexpr std::int64_t most_segments = 1 << 14;
    const std::int64_t bytes = parse_number(segment);
    return (call.operation == bcast || call.operation == reduce) && bytes < call.bytes.value &&
           call.bytes.value / bytes <= most_segments;
}

bool is_power_of_two(const Call& call, std::string_view) { return std::has_single_bit(call.ranks); }
bool is_not_power_of_two(const Call& call, std::string_view) {
    return call.operation != scan && call.operation != exscan && !std::has_single_bit(call.ranks);
}
bool is_not_reduce_scatter(const Call& call, std::string_view) { return call.operation != reduce_scatter; }
bool is_neither_reduce_scatter_nor_power_of_two(const Call& call, std::string_view value) {
    return is_not_reduce_scatter(call, value) && is_not_power_of_two(call, value);
}
bool has_more_ranks(const Call& call, std::string_view k) {
    return parse_number(k) < static_cast<std::int64_t>(call.ranks);
}
bool divides_more_ranks(const Call& call, std::string_view k) {
    return has_more_ranks(call, k) && call.ranks % static_cast<std::size_t>(parse_number(k)) == 0;
}
/// Allows radix = ranks: all ranks exchange in one round, which no other schedule of these operations does.
bool has_at_least_ranks(const Call& call, std::string_view radix) {
    return call.operation != scan && call.operation != exscan &&
           parse_number(radix) <= static_cast<std::int64_t>(call.ranks);
}
bool has_more_dimensions(const Call& call, std::string_view direct) {
    return parse_number(direct) < static_cast<std::int64_t>(std::bit_width(call.ranks));
}

/// Add variants of a schedule here, one line each.
const std::vector<OptionVariants>& variants() {
    static const std::vector<OptionVariants> table{
        {"binomial", "radix", {"3", "4", "8"}, has_more_ranks},
        {"chain", "segment", {"1024", "4096", "16384", "65536", "262144", "1048576"}, is_useful_segment},
        {"two-trees", "segment", {"1024", "4096", "16384", "65536", "262144", "1048576"}, is_useful_segment},
        {"disjoint-trees",
         "segment",
         {"1024", "4096", "16384", "65536", "262144", "1048576"},
         is_useful_segment},
        {"scatter-allgather", "gather", {"doubling"}, is_power_of_two},
        {"recursive-doubling", "fold", {"even", "odd"}, is_not_power_of_two},
        {"recursive-doubling", "radix", {"3", "4", "8"}, has_at_least_ranks},
        {"halving", "fold", {"even", "odd"}, is_not_power_of_two},
        {"halving", "order", {"near"}, is_not_reduce_scatter},
        {"halving", "fold=even,order", {"near"}, is_neither_reduce_scatter_nor_power_of_two},
        {"halving", "fold=odd,order", {"near"}, is_neither_reduce_scatter_nor_power_of_two},
        {"bruck", "radix", {"3", "4", "8"}, has_more_ranks},
        {"dissemination", "radix", {"3", "4", "8"}, has_at_least_ranks},
        {"k-prefix", "k", {"2", "4", "16", "32"}, divides_more_ranks},
        {"k-shift", "k", {"2", "4", "16", "32"}, has_more_ranks},
        {"hypercube-direct", "direct", {"1", "2", "4"}, has_more_dimensions},
    };
    return table;
}

/// Adds the schedule `text`, and variants of it with candidate option values.
void add_variants(const Call& call, std::string_view name, const std::string& text,
                  std::vector<std::string>& texts) {
    texts.push_back(text);
    const std::string open = text == name ? text + "(" : text.substr(0, text.size() - 1) + ",";
    for (const OptionVariants& some : variants()) {
        if (some.schedule != name) continue;
        for (const std::string_view value : some.values)
            if (some.suits(call, value))
                texts.push_back(open + std::string(some.option) + "=" + std::string(value) + ")");
    }
}

}  // namespace

std::vector<std::string> candidates(const Call& call, std::span<const std::string> fitted) {
    std::vector<std::string> texts;
    for (const ScheduleEntry& entry : schedules()) {
        if (!entry.supports(call.operation) || !entry.supports_ranks(call.ranks)) continue;
        add_variants(call, entry.name, std::string(entry.name), texts);
        for (const std::string& text : fitted)
            if (text.starts_with(std::string(entry.name) + "(")) add_variants(call, entry.name, text, texts);
    }
    return texts;
}

}  // namespace topoloom
