// SPDX-License-Identifier: BSD-3-Clause
// Numbered seats for ranks, with gaps: schedules use seats instead of ranks as positions.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "topoloom/base/error.hpp"
#include "topoloom/base/id.hpp"

namespace topoloom {

/// Parses the seats of ranks 0, 1, ..., given as ranges such as 0-2:4-6:8/16. If seats after the last range
/// are empty, a slash and the total number of seats follow.
class Seats {
   public:
    static constexpr std::uint32_t most = 1U << 24;

    /// Throws Error if the syntax is wrong, a seat occurs twice, or there are `most` seats or more.
    explicit Seats(std::string_view text) {
        const std::size_t slash = text.find('/');
        std::string_view runs = text.substr(0, slash);
        while (!runs.empty()) {
            const std::size_t end = std::min(runs.find(':'), runs.size());
            add_seats_of_run(text, runs.substr(0, end));
            runs.remove_prefix(std::min(end + 1, runs.size()));
        }
        if (slash != std::string_view::npos)
            rank_on_.resize(
                std::max<std::size_t>(rank_on_.size(), parse_number(text, text.substr(slash + 1))), no_index);
    }

    [[nodiscard]] std::size_t ranks() const { return seat_of_.size(); }
    [[nodiscard]] std::size_t count() const { return rank_on_.size(); }
    [[nodiscard]] std::size_t seat(Rank rank) const { return seat_of_[rank.value]; }
    [[nodiscard]] bool is_taken(std::size_t seat) const {
        return seat < count() && rank_on_[seat] != no_index;
    }
    [[nodiscard]] Rank rank(std::size_t seat) const { return Rank{rank_on_[seat]}; }

   private:
    static std::uint32_t parse_number(std::string_view text, std::string_view part) {
        std::uint32_t found = 0;
        const auto [end, problem] = std::from_chars(part.data(), part.data() + part.size(), found);
        if (problem != std::errc{} || end != part.data() + part.size() || found >= most)
            fail("seats '", text, "': '", part, "' is not a number below ", most, ", as in 0-2:4-6:8/16");
        return found;
    }
    void add_seats_of_run(std::string_view text, std::string_view run) {
        const std::size_t dash = run.find('-');
        const std::uint32_t first = parse_number(text, run.substr(0, dash));
        const std::uint32_t last =
            dash == std::string_view::npos ? first : parse_number(text, run.substr(dash + 1));
        if (last < first) fail("seats '", text, "': the run ", run, " ends before it begins");
        for (std::uint32_t seat = first; seat <= last; ++seat) {
            if (is_taken(seat)) fail("seats '", text, "': seat ", seat, " occurs twice");
            if (seat >= count()) rank_on_.resize(seat + std::size_t{1}, no_index);
            rank_on_[seat] = static_cast<std::uint32_t>(seat_of_.size());
            seat_of_.push_back(seat);
        }
    }

    std::vector<std::uint32_t> seat_of_;  // by rank
    std::vector<std::uint32_t> rank_on_;  // rank by seat; no_index if the seat is empty
};

/// Formats the seats of ranks 0, 1, ... out of `count` seats.
[[nodiscard]] inline std::string format_seats(std::span<const std::size_t> seats, std::size_t count) {
    std::string text;
    std::size_t last = 0;
    for (std::size_t i = 0; i < seats.size();) {
        std::size_t end = i + 1;
        while (end < seats.size() && seats[end] == seats[end - 1] + 1) ++end;
        text += (text.empty() ? "" : ":") + std::to_string(seats[i]);
        if (end > i + 1) text += "-" + std::to_string(seats[end - 1]);
        last = std::max(last, seats[end - 1]);
        i = end;
    }
    return count > last + 1 ? text + "/" + std::to_string(count) : text;
}

}  // namespace topoloom
