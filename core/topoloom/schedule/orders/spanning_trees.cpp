// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/schedule/orders/spanning_trees.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "topoloom/base/error.hpp"
#include "topoloom/machine/network_view.hpp"

namespace topoloom {

namespace {

void require_members(const Multicast& multicast, std::size_t nodes) {
    if (multicast.members.empty()) fail("the multicast of node ", multicast.root.value, " has no members");
    const Node last = std::max(multicast.root, *std::ranges::max_element(multicast.members));
    if (last.value >= nodes) fail("node ", last.value, " does not exist: the machine has ", nodes);
}

/// Sorts links from the root, given the link into every vertex; keeps only links that lead to members.
template <class T>
SpanningTree prune_links(const T& network, const Multicast& multicast, const std::vector<Link>& link_into) {
    SpanningTree tree{multicast.root, {}};
    std::vector<bool> is_reached(link_into.size());
    is_reached[network.vertex(multicast.root)] = true;
    for (const Node member : multicast.members) {
        std::vector<Link> path;  // up to the first vertex already reached
        for (std::uint32_t at = network.vertex(member); !is_reached[at];) {
            if (link_into[at] == Link::none) fail("node ", member.value, " is not reached by the tree");
            is_reached[at] = true;
            path.push_back(link_into[at]);
            at = network.ends(link_into[at]).from;
        }
        tree.links.insert(tree.links.end(), path.rbegin(), path.rend());
    }
    return tree;
}

/// Switches of a fat tree, with the cables above and below each and the nodes below.
class SwitchTreeBuilder {
   public:
    explicit SwitchTreeBuilder(const FatTree& tree)
        : tree_(tree), load_(tree.vertex_count()), cable_load_(tree.link_count()), out_(tree.vertex_count()) {
        for (const Node node : ids<Node>(tree.node_count())) below_.push_back({node.value, node.value + 1});
        below_.resize(tree.vertex_count(), {no_index, 0});
        // Links are numbered upward from the nodes, so the nodes below their lower end have already been
        // counted.
        for (const Link link : ids<Link>(tree.link_count())) {
            const auto [from, to] = tree.ends(link);
            out_[from].push_back(link);
            if (is_up(from, to)) {
                below_[to].first = std::min(below_[to].first, below_[from].first);
                below_[to].second = std::max(below_[to].second, below_[from].second);
            }
        }
    }

    SpanningTree add(const Multicast& multicast, ParentChoice choice) {
        require_members(multicast, tree_.node_count());
        tree_links_.clear();
        members_ = multicast.members;
        std::ranges::sort(members_);
        std::uint32_t at = tree_.vertex(multicast.root);
        visit(at);
        while (!is_above(at, members_.front()) || !is_above(at, members_.back()))
            at = add_link(*select_cable(at, choice, [&](std::uint32_t to) { return is_up(at, to); }));
        descend(at, tree_.vertex(multicast.root), choice);
        return {multicast.root, tree_links_};
    }

   private:
    [[nodiscard]] static bool is_up(std::uint32_t from, std::uint32_t to) { return from < to; }
    [[nodiscard]] bool is_above(std::uint32_t vertex, Node node) const {
        return below_[vertex].first <= node.value && node.value < below_[vertex].second;
    }
    [[nodiscard]] bool is_above_member(std::uint32_t vertex) const {
        const auto first = std::ranges::lower_bound(members_, Node{below_[vertex].first});
        return first != members_.end() && is_above(vertex, *first);
    }
    void visit(std::uint32_t vertex) { ++load_[vertex]; }
    std::uint32_t add_link(Link link) {
        tree_links_.push_back(link);
        ++cable_load_[link.value];
        const std::uint32_t to = tree_.ends(link).to;
        visit(to);
        return to;
    }
    /// Selects one of the cables whose other end is acceptable.
    template <class IsAcceptable>
    [[nodiscard]] std::optional<Link> select_cable(std::uint32_t at, ParentChoice choice,
                                                   const IsAcceptable& is_acceptable) const {
        std::optional<Link> best;
        std::pair<std::uint32_t, std::uint32_t> least{no_index, no_index};
        for (const Link link : out_[at]) {
            const std::uint32_t to = tree_.ends(link).to;
            if (!is_acceptable(to)) continue;
            const std::pair load(load_[to], cable_load_[link.value]);
            if (choice == ParentChoice::last || load < least) {
                best = link;
                least = load;
            }
        }
        return best;
    }
    /// Descends to the members below. Adds no link to children on the way up from the root: the tree already
    /// has it.
    void descend(std::uint32_t at, std::uint32_t root, ParentChoice choice) {
        std::vector<std::uint32_t> children;
        for (const Link link : out_[at]) {
            const std::uint32_t to = tree_.ends(link).to;
            if (!is_up(at, to) && is_above_member(to)) children.push_back(to);
        }
        std::ranges::sort(children);
        children.erase(std::unique(children.begin(), children.end()), children.end());
        for (const std::uint32_t child : children) {
            if (is_above_root(child, root)) {
                descend(child, root, choice);
            } else {
                add_link(*select_cable(at, choice, [&](std::uint32_t to) { return to == child; }));
                descend(child, root, choice);
            }
        }
    }
    [[nodiscard]] bool is_above_root(std::uint32_t vertex, std::uint32_t root) const {
        return vertex == root || (below_[vertex].first <= root && root < below_[vertex].second);
    }

    const FatTree& tree_;
    std::vector<std::uint32_t> load_;  // number of trees through a vertex
    std::vector<std::uint32_t> cable_load_;
    std::vector<std::vector<Link>> out_;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> below_;  // range of node numbers
    std::vector<Node> members_;
    std::vector<Link> tree_links_;
};

/// [2 * axis + direction]: the link into every router, if any.
template <std::size_t Width>
std::vector<std::vector<Link>> links_into(const BasicTorus<Width>& torus) {
    std::vector<std::vector<Link>> into;
    for (const LinkRun& run : torus.bandwidth_runs()) {
        into.emplace_back(torus.vertex_count(), Link::none);
        for (std::size_t i = 0; i < run.count; ++i) {
            const Link link{run.first.value + i};
            into.back()[torus.ends(link).to] = link;
        }
    }
    return into;
}

}  // namespace

TreeLoads tree_loads(const Machine& machine, std::span<const SpanningTree> trees) {
    const NetworkView network(machine.topology());
    TreeLoads loads{std::vector<std::uint32_t>(network.link_count()),
                    std::vector<std::uint32_t>(network.vertex_count())};
    for (const SpanningTree& tree : trees) {
        if (tree.root.value >= network.node_count())
            fail("a tree's root, node ", tree.root.value, ", does not exist");
        ++loads.on_vertex[network.vertex(tree.root)];
        for (const Link link : tree.links) {
            if (link.value >= loads.on_link.size()) fail("a tree's link ", link.value, " does not exist");
            ++loads.on_link[link.value];
            ++loads.on_vertex[network.ends(link).to];
        }
    }
    return loads;
}

std::vector<SpanningTree> switch_trees(const FatTree& tree, std::span<const Multicast> multicasts,
                                       ParentChoice choice) {
    SwitchTreeBuilder switches(tree);
    std::vector<SpanningTree> trees;
    for (const Multicast& multicast : multicasts) trees.push_back(switches.add(multicast, choice));
    return trees;
}

SpanningTree route_tree(const Machine& machine, const Multicast& multicast) {
    require_members(multicast, machine.node_count());
    for (const Node member : multicast.members) machine.require_connected(multicast.root, member);
    const NetworkView network(machine.topology());
    std::vector<Link> link_into(network.vertex_count(), Link::none);
    for (const Node member : multicast.members) {
        network.route(multicast.root, member, [&](Link link, double) {
            Link& into = link_into[network.ends(link).to];
            if (into == Link::none) into = link;
        });
    }
    return prune_links(network, multicast, link_into);
}

template <std::size_t Width>
std::vector<SpanningTree> disjoint_trees(const BasicTorus<Width>& torus, const Multicast& multicast) {
    require_members(multicast, torus.node_count());
    const auto& size = torus.grid();
    std::vector<std::uint32_t> axes;
    bool closed = true;
    for (std::uint32_t axis = 0; axis < size.size(); ++axis) {
        if (size[axis] == 1) continue;
        axes.push_back(axis);
        closed = closed && torus.wraps(axis);
    }
    const std::size_t routers = torus.vertex_count();
    const std::vector<std::vector<Link>> into = links_into(torus);
    const std::vector<std::uint32_t> root = torus.coordinates(multicast.root);
    std::vector<SpanningTree> trees;
    for (std::size_t i = 0; i < axes.size(); ++i) {
        for (std::uint32_t minus = 0; minus < (closed ? 2U : 1U); ++minus) {
            std::vector<Link> link_into(routers, Link::none);
            for (std::size_t router = 0; router < routers; ++router) {
                const auto at = torus.coordinates(Node{router * torus.spec().nodes_per_router});
                if (at == root) continue;
                // The last axis, in the tree's order, on which the router differs from the root; if none, the
                // first axis.
                std::uint32_t along = axes[i];
                if (at[along] != root[along]) {
                    for (std::size_t next = 1; next < axes.size(); ++next) {
                        const std::uint32_t axis = axes[(i + next) % axes.size()];
                        if (at[axis] != root[axis]) along = axis;
                    }
                }
                // Moves along a line towards the router from the root's side; if the router has the root's
                // coordinate, from the root's neighbor.
                const bool down = closed                     ? minus == 1
                                  : at[along] == root[along] ? at[along] + 1 < size[along]
                                                             : at[along] < root[along];
                link_into[router] = into[2 * along + (down ? 1 : 0)][router];
            }
            trees.push_back(prune_links(torus, multicast, link_into));
        }
    }
    return trees;
}

template std::vector<SpanningTree> disjoint_trees(const Torus&, const Multicast&);
template std::vector<SpanningTree> disjoint_trees(const WideTorus&, const Multicast&);

}  // namespace topoloom
