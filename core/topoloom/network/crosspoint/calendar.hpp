// SPDX-License-Identifier: BSD-3-Clause
// Calendar queue of events.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "topoloom/network/workload.hpp"

namespace topoloom {

/// A queue of events up to a fixed number of cycles ahead. Events of a cycle stay in insertion order. Event
/// lists are reused.
template <class Event>
class Calendar {
   public:
    explicit Calendar(std::uint64_t farthest)
        : days_(std::bit_ceil(std::max<std::uint64_t>(farthest + 1, word))), is_used_(days_.size() / word) {}

    void add_event(std::uint64_t cycle, const Event& event) {
        const std::size_t day = cycle & (days_.size() - 1);
        days_[day].push_back(event);
        is_used_[day / word] |= std::uint64_t{1} << (day % word);
    }
    /// The first cycle, not before `cycle`, that has events; `never` if there is none.
    [[nodiscard]] std::uint64_t next_event_cycle(std::uint64_t cycle) const {
        const std::size_t day = cycle & (days_.size() - 1);
        std::uint64_t used = is_used_[day / word] >> (day % word);
        if (used != 0) return cycle + static_cast<std::uint64_t>(std::countr_zero(used));
        for (std::size_t i = 1; i <= is_used_.size(); ++i) {
            used = is_used_[(day / word + i) % is_used_.size()];
            if (used != 0)
                return cycle - day % word + i * word + static_cast<std::uint64_t>(std::countr_zero(used));
        }
        return never;
    }
    /// Moves the events of a cycle to `events`.
    void take_events(std::uint64_t cycle, std::vector<Event>& events) {
        const std::size_t day = cycle & (days_.size() - 1);
        events.clear();
        events.swap(days_[day]);
        is_used_[day / word] &= ~(std::uint64_t{1} << (day % word));
    }
    template <class Visit>
    void for_each(const Visit& visit) const {
        for (const std::vector<Event>& day : days_)
            for (const Event& event : day) visit(event);
    }

   private:
    static constexpr std::size_t word = 64;

    std::vector<std::vector<Event>> days_;  // [cycle modulo number of days]: its events
    std::vector<std::uint64_t> is_used_;    // a bit per day, set if it has events
};

}  // namespace topoloom
