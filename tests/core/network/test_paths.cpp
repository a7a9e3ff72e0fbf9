// SPDX-License-Identifier: BSD-3-Clause
#include <doctest.h>

#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "topoloom/base/error.hpp"
#include "topoloom/machine/text/machine_text.hpp"
#include "topoloom/network/routes/paths.hpp"

using namespace topoloom;

namespace {

const std::vector<std::string> texts{"torus:8",
                                     "torus:5x4x3",
                                     "torus:4x4,wrap=01",
                                     "torus:4x2x3x2",
                                     "torus:6x6,ties=split",
                                     "torus:4x4,nodes=2",
                                     "torus:4x4,nodes=2,ties=simgrid",
                                     "mesh:4x3x3",
                                     "dragonfly:4x2x2,routing=minimal",
                                     "fattree:4:4:4",
                                     "fattree:4:4,up=1:2",
                                     "fattree:4:4,routing=random",
                                     "hyperx:3x4",
                                     "tree:4:4",
                                     "dragonflyplus:3x2x2,nodes=2",
                                     "rails:4:4:2",
                                     "twisted:4x4x4,twist.x=0:0:2"};

/// Machines for UGAL, which chooses between minimal and Valiant paths.
const std::vector<std::string> with_detours{"dragonfly:9x1x4,nodes=2", "dragonfly:4x2x2", "dragonfly:5x1x3"};

using Place = std::pair<std::uint32_t, std::uint32_t>;  // channel and class

/// Whether the dependency graph has no cycle.
bool is_acyclic(std::map<Place, std::set<Place>> next) {
    bool found = true;
    while (found && !next.empty()) {
        found = false;
        for (auto it = next.begin(); it != next.end();) {
            std::erase_if(it->second, [&](const Place& place) { return !next.contains(place); });
            if (it->second.empty()) {
                it = next.erase(it);
                found = true;
            } else {
                ++it;
            }
        }
    }
    return next.empty();
}

/// Checks that paths lead from node to node without cyclic dependencies. `queued` gives the queue lengths
/// that decide about detours.
void check_paths(const Fabric& fabric, const Paths& paths, int draws, bool is_shortest,
                 const Queued& queued) {
    const NetworkView view(fabric.machine().topology());
    std::map<Place, std::set<Place>> next;
    std::size_t longest = 0;
    Rng rng(1);
    Paths::Workspace room;
    /// Adds the dependencies between the channels of a path, for all classes that a packet may use.
    const auto add = [&](std::span<const Hop> path) {
        std::set<Place> before;
        for (std::size_t i = 0; i < path.size(); ++i) {
            const Hop& hop = path[i];
            CHECK(hop.classes <= paths.class_count());
            CHECK(hop.highest < hop.classes);
            std::set<Place> here;
            // From its class on the last channel, a packet can proceed to the classes from `lowest` on.
            const auto take = [&](std::uint32_t lowest, const Place* last) {
                CHECK(lowest <= hop.highest);
                for (std::uint32_t klass = lowest; klass <= hop.highest; ++klass) {
                    const Place place{hop.channel.value, klass};
                    here.insert(place);
                    next[place];
                    if (last != nullptr) next[*last].insert(place);
                }
            };
            if (i == 0) take(0, nullptr);
            for (const Place& last : before) take(hop.lowest(last.second), &last);
            if (i > 0) CHECK(fabric.channel(path[i - 1].channel).to == fabric.channel(hop.channel).from);
            before = std::move(here);
        }
    };
    for (const Node from : ids<Node>(fabric.node_count())) {
        for (const Node to : ids<Node>(fabric.node_count())) {
            if (from == to) continue;
            for (int draw = 0; draw < draws; ++draw) {
                const auto path = paths.find_path(from, to, rng, room, queued);
                const std::size_t own =
                    (fabric.is_own_router(from) ? 1 : 0) + (fabric.is_own_router(to) ? 1 : 0);
                if (is_shortest) CHECK(path.size() == view.hops(from, to) + own);
                CHECK(fabric.channel(path.front().channel).is_entry());
                CHECK(fabric.channel(path.back().channel).is_exit());
                longest = std::max(longest, path.size());
                add(path);
            }
        }
    }
    CHECK(longest <= paths.max_path_length());
    CHECK(is_acyclic(next));
}

}  // namespace

TEST_CASE("paths lead from node to node without cyclic channel dependencies") {
    for (const std::string& text : texts) {
        CAPTURE(text);
        const Machine machine = make_machine(text);
        const Fabric fabric(machine);
        check_paths(fabric, Paths(fabric), 4, true, {});
    }
}

TEST_CASE("minimal paths and detours together have no cyclic dependencies") {
    for (const std::string& text : with_detours) {
        CAPTURE(text);
        const Machine machine = make_machine(text);
        const Fabric fabric(machine);
        const Paths paths(fabric, Routing::ugal);
        CHECK(paths.class_count() == 3);
        Rng rng(2);
        check_paths(fabric, paths, 16, false, [&](ChannelId) { return rng.below(4); });
    }
}

TEST_CASE("large machines are wired without a visit to every pair of nodes") {
    const auto classes = [](const std::string& text) {
        const Machine machine = make_machine(text);
        const Fabric fabric(machine);
        return Paths(fabric).class_count();
    };
    CHECK(classes("torus:16x16x16") == 2);
    CHECK(classes("fattree:16:16:16") == 1);
    CHECK(classes("torus:32x32,nodes=16") == 2);
}

TEST_CASE("rings need a second class of virtual channels, unlike meshes and trees") {
    const auto classes = [](const std::string& text) {
        const Machine machine = make_machine(text);
        const Fabric fabric(machine);
        const Paths paths(fabric);
        CHECK(paths.dependency_cycle().empty() == (paths.class_count() == 1));
        for (std::size_t i = 0; i < paths.dependency_cycle().size(); ++i) {
            const ChannelId one = paths.dependency_cycle()[i],
                            other = paths.dependency_cycle()[(i + 1) % paths.dependency_cycle().size()];
            CHECK(fabric.channel(one).to == fabric.channel(other).from);
        }
        return paths.class_count();
    };
    CHECK(classes("torus:8") == 2);
    CHECK(classes("torus:8x8x8") == 2);
    CHECK(classes("torus:3x3") == 1);  // no packet takes two links of the same ring
    CHECK(classes("mesh:8x8") == 1);
    CHECK(classes("fattree:4:4:4") == 1);
    CHECK(classes("dragonfly:9x1x4,nodes=2,routing=minimal") == 2);
}
