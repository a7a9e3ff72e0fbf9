// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/base/unit.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "topoloom/base/error.hpp"

namespace topoloom {

namespace {

struct NumberWithUnit {
    double number = 0;
    std::string_view unit;
};

NumberWithUnit split_unit(std::string_view text, std::string_view what) {
    double number = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (problem != std::errc{} || !std::isfinite(number)) {
        fail("cannot read ", what, " '", text, "': expected a number and a unit");
    }
    std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
    while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
    while (!unit.empty() && unit.back() == ' ') unit.remove_suffix(1);
    return {number, unit};
}

/// Removes a leading k, M, G, T, Ki, Mi, Gi or Ti from the unit; returns the factor that it stands for.
double remove_unit_prefix(std::string_view& unit) {
    constexpr std::string_view letters = "kMGTP";
    if (unit.size() < 2) return 1;
    const char letter = unit.front() == 'K' ? 'k' : unit.front();
    const auto power = letters.find(letter);
    if (power == std::string_view::npos) return 1;
    unit.remove_prefix(1);
    const bool binary = unit.front() == 'i';
    if (binary) unit.remove_prefix(1);
    return std::pow(binary ? 1024.0 : 1000.0, static_cast<double>(power + 1));
}

}  // namespace

BytesPerSecond parse_bandwidth(std::string_view text) {
    auto [number, unit] = split_unit(text, "bandwidth");
    const double factor = unit.empty() ? 1 : remove_unit_prefix(unit);
    double per_unit = 0;
    if (unit.empty() || unit == "B/s" || unit == "Bps") per_unit = 1;
    if (unit == "b/s" || unit == "bps" || unit == "bit/s") per_unit = 1.0 / 8;
    if (per_unit == 0) fail("cannot read bandwidth '", text, "': use B/s or bit/s, as in '9.4 GB/s'");
    if (number <= 0) fail("bandwidth '", text, "' must be positive");
    return BytesPerSecond{number * factor * per_unit};
}

Seconds parse_time(std::string_view text) {
    const auto [number, unit] = split_unit(text, "time");
    constexpr std::array<std::pair<std::string_view, double>, 5> units{
        {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}}};
    for (const auto& [name, seconds] : units) {
        if (unit != name) continue;
        if (number < 0) fail("time '", text, "' must not be negative");
        return Seconds{number * seconds};
    }
    fail("cannot read time '", text, "': use s, ms, us or ns, as in '1.3 us'");
}

}  // namespace topoloom
