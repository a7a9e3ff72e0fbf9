// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/network/paths.hpp"

#include <algorithm>

#include "topoloom/base/error.hpp"

namespace topoloom {

namespace {

/// Calls visit(from, to) for all pairs of nodes that differ.
template <class Visit>
void each_pair(std::size_t nodes, const Visit& visit) {
    for (const Node from : ids<Node>(nodes))
        for (const Node to : ids<Node>(nodes))
            if (from != to) visit(from, to);
}

bool is_split(const std::vector<Paths::Way>& ways) {
    return std::ranges::any_of(ways, [](const Paths::Way& way) { return way.share < 1; });
}

}  // namespace

Paths::Paths(const Fabric& fabric) : fabric_(&fabric), view_(fabric.machine().topology()) {
    const Machine& machine = fabric.machine();
    if (view_.adapts())
        fail("'", machine.text(),
             "' routes messages by the load, which is not simulated in switches; choose a minimal routing");
    if (machine.node_count() < 2)
        fail("'", machine.text(), "' has one node; there must be two for a packet to send");
    const std::vector<Node> usable = machine.usable_nodes();
    machine.require_usable(usable, "the machine");
    if (usable.size() < machine.node_count()) fail("'", machine.text(), "' has nodes that are down");
    find_turns();
    cut_circles();
    count_classes();
}

void Paths::find_ways(Node from, Node to, std::vector<Way>& ways) const {
    ways.clear();
    if (fabric_->is_own_router(from)) ways.push_back({fabric_->entry(from), 1});
    view_.route(from, to, [&](Link link, double share) { ways.push_back({ChannelId{link.value}, share}); });
    if (fabric_->is_own_router(to)) ways.push_back({fabric_->exit(to), 1});
}

bool Paths::follows(const Way& before, const Way& after) const {
    const std::uint32_t at = fabric_->channel(before.channel).to;
    return at != no_index && at == fabric_->channel(after.channel).from;
}

/// Whose ways are all as long, so that whoever changes from one to another where they meet goes one of them.
void Paths::require_no_detours(Node from, Node to, const std::vector<Way>& ways) const {
    double links = 0;
    for (const Way& way : ways)
        if (way.channel.value < view_.link_count()) links += way.share;
    if (links > view_.hops(from, to) + 1e-6)
        fail("'", fabric_->machine().text(),
             "' routes messages over detours, which are not simulated in switches; choose a minimal routing");
}

void Paths::find_turns() {
    std::vector<std::vector<ChannelId>> after(fabric_->channel_count());
    const auto add = [&](ChannelId one, ChannelId next) {
        std::vector<ChannelId>& known = after[one.value];
        if (std::ranges::find(known, next) == known.end()) known.push_back(next);
    };
    std::vector<Way> ways;
    each_pair(fabric_->node_count(), [&](Node from, Node to) {
        find_ways(from, to, ways);
        if (!is_split(ways)) {
            for (std::size_t i = 1; i < ways.size(); ++i) add(ways[i - 1].channel, ways[i].channel);
            return;
        }
        require_no_detours(from, to, ways);
        for (const Way& one : ways)
            for (const Way& next : ways)
                if (follows(one, next)) add(one.channel, next.channel);
    });
    first_turn_.push_back(0);
    for (std::vector<ChannelId>& known : after) {
        std::ranges::sort(known);
        after_.insert(after_.end(), known.begin(), known.end());
        first_turn_.push_back(static_cast<std::uint32_t>(after_.size()));
    }
}

/// Tarjan's search for strongly connected components (Depth-first search and linear graph algorithms, SIAM Journal on
/// Computing 1, 1972). A turn to a channel from which the search has come, and has not returned to, closes a circle.
void Paths::cut_circles() {
    struct Visit {
        ChannelId channel;
        std::uint32_t next;
    };
    constexpr std::uint32_t fresh = no_index;
    const std::size_t count = fabric_->channel_count();
    cut_.assign(after_.size(), false);
    part_.assign(count, no_index);
    std::vector<std::uint32_t> number(count, fresh), lowest(count);
    std::vector<bool> is_open(count, false);
    std::vector<Visit> open;
    std::vector<ChannelId> unassigned;
    std::uint32_t numbers = 0, parts = 0;
    const auto enter = [&](ChannelId channel) {
        number[channel.value] = lowest[channel.value] = numbers++;
        is_open[channel.value] = true;
        open.push_back({channel, first_turn_[channel.value]});
        unassigned.push_back(channel);
    };
    const auto leave = [&](ChannelId channel) {
        is_open[channel.value] = false;
        open.pop_back();
        std::uint32_t& own = lowest[channel.value];
        if (!open.empty()) {
            std::uint32_t& above = lowest[open.back().channel.value];
            above = std::min(above, own);
        }
        if (own != number[channel.value]) return;
        ChannelId member = ChannelId::none;
        while (member != channel) {
            member = unassigned.back();
            unassigned.pop_back();
            part_[member.value] = parts;
        }
        ++parts;
    };
    for (const ChannelId start : ids<ChannelId>(count)) {
        if (number[start.value] == fresh) enter(start);
        while (!open.empty()) {
            Visit& last = open.back();
            if (last.next == first_turn_[last.channel.value + 1]) {
                leave(last.channel);
                continue;
            }
            const std::uint32_t turn = last.next++;
            const ChannelId next = after_[turn];
            if (number[next.value] == fresh) {
                enter(next);
            } else if (part_[next.value] == no_index) {
                std::uint32_t& own = lowest[last.channel.value];
                own = std::min(own, number[next.value]);
                if (!is_open[next.value]) continue;
                cut_[turn] = true;
                if (!circle_.empty()) continue;
                const auto begin = std::ranges::find(open, next, &Visit::channel);
                for (auto one = begin; one != open.end(); ++one) circle_.push_back(one->channel);
            }
        }
    }
}

std::uint32_t Paths::class_after(std::uint32_t klass, ChannelId before, ChannelId after) const {
    if (part_[before.value] != part_[after.value]) return 0;
    return klass + (cut_[turn(before, after)] ? 1 : 0);
}

std::size_t Paths::turn(ChannelId before, ChannelId after) const {
    const auto begin = after_.begin() + first_turn_[before.value];
    const auto end = after_.begin() + first_turn_[before.value + 1];
    return static_cast<std::size_t>(std::lower_bound(begin, end, after) - after_.begin());
}

void Paths::count_classes() {
    std::vector<Way> ways;
    std::vector<std::uint32_t> classes, lengths;
    /// Whether it has changed what is known of the way behind a turn.
    const auto lengthen = [&](std::size_t before, std::size_t after) {
        if (!follows(ways[before], ways[after])) return false;
        const std::uint32_t klass = class_after(classes[before], ways[before].channel, ways[after].channel);
        if (classes[after] >= klass && lengths[after] > lengths[before]) return false;
        classes[after] = std::max(classes[after], klass);
        lengths[after] = std::max(lengths[after], lengths[before] + 1);
        return true;
    };
    each_pair(fabric_->node_count(), [&](Node from, Node to) {
        find_ways(from, to, ways);
        classes.assign(ways.size(), 0);
        lengths.assign(ways.size(), 1);
        if (is_split(ways)) {
            bool changed = true;
            while (changed) {
                changed = false;
                for (std::size_t after = 0; after < ways.size(); ++after)
                    for (std::size_t before = 0; before < ways.size(); ++before)
                        changed = lengthen(before, after) || changed;
            }
        } else {
            for (std::size_t after = 1; after < ways.size(); ++after) lengthen(after - 1, after);
        }
        class_count_ = std::max(class_count_, std::ranges::max(classes) + 1);
        longest_ = std::max<std::size_t>(longest_, std::ranges::max(lengths));
    });
}

std::span<const Hop> Paths::find(Node from, Node to, Rng& rng, Room& room) const {
    find_ways(from, to, room.ways);
    room.path.clear();
    const bool split = is_split(room.ways);
    const Way* last = nullptr;
    const auto append = [&](const Way& way) {
        const std::uint32_t klass =
            last == nullptr ? 0 : class_after(room.path.back().klass, last->channel, way.channel);
        room.path.push_back({way.channel, klass});
        last = &way;
    };
    if (!split) {
        for (const Way& way : room.ways) append(way);
        return room.path;
    }
    const std::uint32_t start = fabric_->channel(room.ways.front().channel).from;
    const auto leads_on = [&](const Way& way) {
        return last == nullptr ? fabric_->channel(way.channel).from == start : follows(*last, way);
    };
    for (;;) {
        double sum = 0;
        for (const Way& way : room.ways) sum += leads_on(way) ? way.share : 0;
        if (sum == 0) return room.path;
        double drawn = rng.uniform() * sum;
        const Way* next = nullptr;
        for (const Way& way : room.ways) {
            if (!leads_on(way)) continue;
            next = &way;
            drawn -= way.share;
            if (drawn < 0) break;
        }
        append(*next);
    }
}

}  // namespace topoloom
