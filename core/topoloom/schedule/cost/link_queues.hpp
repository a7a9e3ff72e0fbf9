// SPDX-License-Identifier: BSD-3-Clause
// Queues of messages on links, node ports and node memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace topoloom {

/// Records the busy intervals of each link. Messages are added round by round, sorted by start within a
/// round. Ranks may be in different rounds at the same time, so that a message may use a link before messages
/// that were added earlier.
class LinkQueues {
   public:
    explicit LinkQueues(std::size_t count) : queues_(count) {}

    /// Adds a message that occupies the link for `seconds` > 0 from `start`. Returns the time at which it has
    /// passed the link, after waiting for the messages already on it.
    double add(std::size_t link, double seconds, double start) {
        Queue& queue = queues_[link];
        if (queue.filled == 0) touched_.push_back(static_cast<std::uint32_t>(link));
        queue.filled += seconds;
        std::vector<BusyInterval>& spans = queue.spans;
        std::size_t at = first_beginning_after(spans, start);
        if (at > 0 && start < spans[at - 1].end) {
            --at;
            spans[at].end += seconds;
            spans[at].last = std::max(spans[at].last, start);
        } else {
            spans.insert(spans.begin() + static_cast<std::ptrdiff_t>(at), {start, start + seconds, start});
        }
        const double passing_time = spans[at].end;
        for (std::size_t next = at + 1; next < spans.size() && spans[next].begin < spans[at].end;) {
            spans[at].end += spans[next].end - spans[next].begin;
            spans[at].last = std::max(spans[at].last, spans[next].last);
            spans.erase(spans.begin() + static_cast<std::ptrdiff_t>(next));
        }
        return passing_time;
    }
    /// Returns the time at which an added message has passed the link, given all messages of its round; never
    /// earlier than add() returned. Messages of a busy interval share the link: they would all end with the
    /// interval if they started together. A message that starts earlier than the last one ends earlier by
    /// half of that difference; of several rules, this one fits simulated flows best.
    [[nodiscard]] double passing_time(std::size_t link, double start) const {
        const std::vector<BusyInterval>& spans = queues_[link].spans;
        const BusyInterval& span = spans[first_beginning_after(spans, start) - 1];
        return span.end - (span.last - start) / 2;
    }
    /// Ends the round. Returns the seconds of the busiest link in this round.
    double end_round() {
        double most = 0;
        for (const std::uint32_t link : touched_) {
            most = std::max(most, queues_[link].filled);
            queues_[link].filled = 0;
        }
        touched_.clear();
        return most;
    }

   private:
    struct BusyInterval {
        double begin, end, last;  // begin and end of the interval, start of its last message
    };
    struct Queue {
        double filled = 0;  // seconds added in this round
        std::vector<BusyInterval> spans;
    };
    /// Index of the first busy interval that begins after `start`.
    static std::size_t first_beginning_after(const std::vector<BusyInterval>& spans, double start) {
        std::size_t at = spans.size();
        while (at > 0 && spans[at - 1].begin > start) --at;
        return at;
    }

    std::vector<Queue> queues_;
    std::vector<std::uint32_t> touched_;
};

}  // namespace topoloom
