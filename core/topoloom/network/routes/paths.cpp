// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/network/routes/paths.hpp"

#include <algorithm>

#include "topoloom/base/error.hpp"
#include "topoloom/network/routes/datelines.hpp"
#include "topoloom/network/routes/telling_pairs.hpp"

namespace topoloom {

namespace {

bool is_split(const std::vector<Paths::Way>& ways) {
    return std::ranges::any_of(ways, [](const Paths::Way& way) { return way.share < 1; });
}

const Fabric& require_routes(const Fabric& fabric) {
    const Machine& machine = fabric.machine();
    if (NetworkView(machine.topology()).adapts())
        fail("'", machine.text(),
             "' routes messages by the load, which is not simulated in switches; choose a minimal routing");
    if (machine.node_count() < 2)
        fail("'", machine.text(), "' has one node; there must be two for a packet to send");
    const std::vector<Node> usable = machine.usable_nodes();
    machine.require_usable(usable, "the machine");
    if (usable.size() < machine.node_count()) fail("'", machine.text(), "' has nodes that are down");
    return fabric;
}

}  // namespace

Paths::Paths(const Fabric& fabric)
    : fabric_(&require_routes(fabric)),
      view_(fabric.machine().topology()),
      circles_(cut_circles(find_turns(), dateline_turns())),
      classes_(circles_.parts, 1),
      longest_(view_.diameter() + std::size_t{2}) {
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

Turns Paths::find_turns() const {
    Turns turns(fabric_->channel_count());
    std::vector<Way> ways;
    each_telling_pair(fabric_->machine(), [&](Node from, Node to) {
        find_ways(from, to, ways);
        if (!is_split(ways)) {
            for (std::size_t i = 1; i < ways.size(); ++i) turns.add(ways[i - 1].channel, ways[i].channel);
            return;
        }
        require_no_detours(from, to, ways);
        for (const Way& one : ways)
            for (const Way& next : ways)
                if (follows(one, next)) turns.add(one.channel, next.channel);
    });
    return turns;
}

std::function<bool(ChannelId, ChannelId)> Paths::dateline_turns() const {
    return [this, is_dateline = datelines(fabric_->machine())](ChannelId before, ChannelId after) {
        const std::size_t links = view_.link_count();
        return before.value < links && after.value < links &&
               is_dateline(Link{before.value}, Link{after.value});
    };
}

void Paths::count_classes() {
    std::vector<Way> ways;
    std::vector<std::uint32_t> rises, lengths;
    /// Whether it has changed what is known of the way behind a turn.
    const auto lengthen = [&](std::size_t before, std::size_t after) {
        if (!follows(ways[before], ways[after])) return false;
        const ChannelId one = ways[before].channel, next = ways[after].channel;
        const std::uint32_t rise =
            share_part(one, next) ? rises[before] + (circles_.cut.has(one, next) ? 1 : 0) : 0;
        if (rises[after] >= rise && lengths[after] > lengths[before]) return false;
        rises[after] = std::max(rises[after], rise);
        lengths[after] = std::max(lengths[after], lengths[before] + 1);
        return true;
    };
    each_telling_pair(fabric_->machine(), [&](Node from, Node to) {
        find_ways(from, to, ways);
        rises.assign(ways.size(), 0);
        lengths.assign(ways.size(), 1);
        bool changed = is_split(ways);
        for (std::size_t after = 1; after < ways.size() && !changed; ++after) lengthen(after - 1, after);
        while (changed) {
            changed = false;
            for (std::size_t after = 0; after < ways.size(); ++after)
                for (std::size_t before = 0; before < ways.size(); ++before)
                    changed = lengthen(before, after) || changed;
        }
        for (std::size_t i = 0; i < ways.size(); ++i) {
            std::uint32_t& classes = classes_[circles_.part[ways[i].channel.value]];
            classes = std::max(classes, rises[i] + 1);
            longest_ = std::max<std::size_t>(longest_, lengths[i]);
        }
    });
    class_count_ = std::ranges::max(classes_);
}

std::span<const Hop> Paths::find(Node from, Node to, Rng& rng, Room& room) const {
    find_ways(from, to, room.ways);
    room.path.clear();
    if (is_split(room.ways)) {
        draw_way(rng, room);
    } else {
        for (const Way& way : room.ways) room.path.push_back({way.channel});
    }
    set_classes(room.path);
    return room.path;
}

void Paths::draw_way(Rng& rng, Room& room) const {
    const Way* last = nullptr;
    const std::uint32_t start = fabric_->channel(room.ways.front().channel).from;
    const auto leads_on = [&](const Way& way) {
        return last == nullptr ? fabric_->channel(way.channel).from == start : follows(*last, way);
    };
    for (;;) {
        double sum = 0;
        for (const Way& way : room.ways) sum += leads_on(way) ? way.share : 0;
        if (sum == 0) return;
        double drawn = rng.uniform() * sum;
        const Way* next = nullptr;
        for (const Way& way : room.ways) {
            if (!leads_on(way)) continue;
            next = &way;
            drawn -= way.share;
            if (drawn < 0) break;
        }
        room.path.push_back({next->channel});
        last = next;
    }
}

void Paths::set_classes(std::vector<Hop>& path) const {
    for (std::size_t i = 1; i < path.size(); ++i) {
        const ChannelId before = path[i - 1].channel, here = path[i].channel;
        path[i].follows = share_part(before, here);
        path[i].rise = path[i].follows && circles_.cut.has(before, here) ? 1 : 0;
    }
    std::uint32_t rises = 0;  // from here to where the path leaves the part
    for (std::size_t i = path.size(); i-- > 0;) {
        Hop& hop = path[i];
        const std::uint32_t classes = classes_[circles_.part[hop.channel.value]];
        hop.classes = static_cast<std::uint8_t>(classes);
        hop.highest = static_cast<std::uint8_t>(classes - 1 - rises);
        rises = hop.follows ? rises + hop.rise : 0;
    }
}

}  // namespace topoloom
