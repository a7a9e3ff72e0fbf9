// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/network/routes/turns.hpp"

#include <utility>

namespace topoloom {

namespace {

constexpr std::uint32_t not_visited = no_index;

/// Tarjan's search for strongly connected components (Depth-first search and linear graph algorithms, SIAM
/// Journal on Computing 1, 1972). A turn to a channel on the search stack closes a cycle.
class CycleSearch {
   public:
    explicit CycleSearch(const Turns& turns)
        : turns_(turns),
          number_(turns.channel_count(), not_visited),
          lowest_(turns.channel_count()),
          is_open_(turns.channel_count(), false),
          found_{std::vector<std::uint32_t>(turns.channel_count(), no_index),
                 0,
                 Turns(turns.channel_count()),
                 {}} {}

    void search_from(ChannelId start) {
        if (number_[start.value] == not_visited) enter_channel(start);
        while (!open_.empty()) {
            Visit& last = open_.back();
            if (last.left.empty()) {
                leave_channel(last.channel);
                continue;
            }
            const ChannelId next = last.left.front();
            last.left = last.left.subspan(1);
            follow_turn(last.channel, next);
        }
    }
    [[nodiscard]] CycleCuts take_result() && { return std::move(found_); }

   private:
    struct Visit {
        ChannelId channel;
        std::span<const ChannelId> left;  // turns that have not been visited yet
    };

    void enter_channel(ChannelId channel) {
        number_[channel.value] = lowest_[channel.value] = numbers_++;
        is_open_[channel.value] = true;
        open_.push_back({channel, turns_.after(channel)});
        unassigned_.push_back(channel);
    }

    void follow_turn(ChannelId channel, ChannelId next) {
        if (number_[next.value] == not_visited) return enter_channel(next);
        if (found_.part[next.value] != no_index) return;
        std::uint32_t& own = lowest_[channel.value];
        own = std::min(own, number_[next.value]);
        if (!is_open_[next.value]) return;
        found_.cut.add(channel, next);
        if (!found_.circle.empty()) return;
        const auto begin = std::ranges::find(open_, next, &Visit::channel);
        for (auto one = begin; one != open_.end(); ++one) found_.circle.push_back(one->channel);
    }

    void leave_channel(ChannelId channel) {
        is_open_[channel.value] = false;
        open_.pop_back();
        const std::uint32_t own = lowest_[channel.value];
        if (!open_.empty()) {
            std::uint32_t& above = lowest_[open_.back().channel.value];
            above = std::min(above, own);
        }
        if (own != number_[channel.value]) return;
        ChannelId member = ChannelId::none;
        while (member != channel) {
            member = unassigned_.back();
            unassigned_.pop_back();
            found_.part[member.value] = found_.parts;
        }
        ++found_.parts;
    }

    const Turns& turns_;
    std::vector<std::uint32_t> number_, lowest_;
    std::vector<bool> is_open_;
    std::vector<Visit> open_;
    std::vector<ChannelId> unassigned_;
    std::uint32_t numbers_ = 0;
    CycleCuts found_;
};

}  // namespace

CycleCuts break_cycles(const Turns& turns, const std::function<bool(ChannelId, ChannelId)>& is_dateline) {
    const auto found_in = [](const Turns& some) {
        CycleSearch search(some);
        for (const ChannelId start : ids<ChannelId>(some.channel_count())) search.search_from(start);
        return std::move(search).take_result();
    };
    CycleCuts found = found_in(turns);
    Turns cut(turns.channel_count()), rest(turns.channel_count());
    bool any = false;
    for (const ChannelId before : ids<ChannelId>(turns.channel_count()))
        for (const ChannelId after : turns.after(before)) {
            const bool on_circle = found.part[before.value] == found.part[after.value];
            const bool is_cut = on_circle && is_dateline(before, after);
            (is_cut ? cut : rest).add(before, after);
            any = any || is_cut;
        }
    if (!any) return found;
    const CycleCuts left = found_in(rest);
    for (const ChannelId before : ids<ChannelId>(turns.channel_count()))
        for (const ChannelId after : left.cut.after(before)) cut.add(before, after);
    found.cut = std::move(cut);
    return found;
}

}  // namespace topoloom
