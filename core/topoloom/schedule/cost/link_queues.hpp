// SPDX-License-Identifier: BSD-3-Clause
// Queues of messages on links, node ports and node memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace topoloom {

/// Of each link the spans of time in which it is busy without a break. Messages come round by round, those of a
/// round in the order of their starts; but ranks are in different rounds at the same time, so that a message may
/// find a link free before others that came earlier.
class LinkQueues {
   public:
    explicit LinkQueues(std::size_t count) : queues_(count) {}

    /// A message needs these seconds, more than 0, from when it starts. Returns when it has passed behind those that
    /// are on the link then.
    double add(std::size_t link, double seconds, double start) {
        Queue& queue = queues_[link];
        if (queue.filled == 0) touched_.push_back(static_cast<std::uint32_t>(link));
        queue.filled += seconds;
        std::vector<Span>& spans = queue.spans;
        std::size_t at = first_after(spans, start);
        if (at > 0 && start < spans[at - 1].end) {
            --at;
            spans[at].end += seconds;
            spans[at].last = std::max(spans[at].last, start);
        } else {
            spans.insert(spans.begin() + static_cast<std::ptrdiff_t>(at), {start, start + seconds, start});
        }
        const double passed = spans[at].end;
        for (std::size_t next = at + 1; next < spans.size() && spans[next].begin < spans[at].end;) {
            spans[at].end += spans[next].end - spans[next].begin;
            spans[at].last = std::max(spans[at].last, spans[next].last);
            spans.erase(spans.begin() + static_cast<std::ptrdiff_t>(next));
        }
        return passed;
    }
    /// When a message that was added has passed, once all of its round are known, if no sooner than add() says: those
    /// of a span share the link, so that all would end with it if they started together. Who starts earlier than the
    /// last one ends half as much earlier, which is closest to simulated flows of all that was tried.
    [[nodiscard]] double passed(std::size_t link, double start) const {
        const std::vector<Span>& spans = queues_[link].spans;
        const Span& span = spans[first_after(spans, start) - 1];
        return span.end - (span.last - start) / 2;
    }
    /// Ends the round. Returns the most seconds that it needs of a link.
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
    struct Span {
        double begin, end, last;  // and the last start
    };
    struct Queue {
        double filled = 0;  // s of this round
        std::vector<Span> spans;
    };
    /// The first span that begins later.
    static std::size_t first_after(const std::vector<Span>& spans, double start) {
        std::size_t at = spans.size();
        while (at > 0 && spans[at - 1].begin > start) --at;
        return at;
    }

    std::vector<Queue> queues_;
    std::vector<std::uint32_t> touched_;
};

}  // namespace topoloom
