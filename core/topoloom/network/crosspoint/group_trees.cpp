// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/network/crosspoint/group_trees.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "topoloom/base/error.hpp"
#include "topoloom/machine/network_view.hpp"

namespace topoloom {

/// Maps each link to its reverse link. The n-th of several parallel links maps to the n-th link in the
/// opposite direction.
class GroupTrees::ReverseLinks {
   public:
    explicit ReverseLinks(const NetworkView& view) : view_(view) {
        for (const Link link : ids<Link>(view.link_count())) {
            std::vector<Link>& alike = between_[key(view.ends(link))];
            number_.push_back(static_cast<std::uint32_t>(alike.size()));
            alike.push_back(link);
        }
    }
    [[nodiscard]] ChannelId reverse_of(Link link) const {
        const LinkEnds ends = view_.ends(link);
        const auto found = between_.find(key({ends.to, ends.from}));
        if (found == between_.end() || found->second.size() <= number_[link.value])
            fail(view_.link_name(link), " has no reverse link; group trees need links in both directions");
        return ChannelId{found->second[number_[link.value]].value};
    }

   private:
    static std::uint64_t key(LinkEnds ends) { return std::uint64_t{ends.from} << 32 | ends.to; }

    const NetworkView& view_;
    std::unordered_map<std::uint64_t, std::vector<Link>> between_;
    std::vector<std::uint32_t> number_;  // [link]
};

/// Builds the tree vertices, group by group.
class GroupTrees::Builder {
   public:
    Builder(const Fabric& fabric, GroupTrees& trees)
        : fabric_(fabric), view_(fabric.machine().topology()), reverse_links_(view_), trees_(trees) {
        for (const Node node : ids<Node>(fabric.node_count()))
            if (!fabric.is_own_router(node)) node_at_[view_.vertex(node)] = node;
    }

    void add(const SwitchGroup& group) {
        number_ = static_cast<std::uint32_t>(trees_.collectives_.size());
        trees_.collectives_.push_back(group.collective);
        add_members(group);
        vertex_of_.clear();
        first_ = static_cast<std::uint32_t>(trees_.vertices_.size());
        for (const Link link : group.tree.links) add_link(link, group.tree.root);
        for (const Node member : trees_.members_[number_])
            if (fabric_.is_own_router(member)) add_router_member(member);
        const std::vector<TreeEntry>& entries = trees_.entries_[number_];
        for (std::size_t i = 0; i < entries.size(); ++i)
            if (entries[i].vertex == no_index)
                fail("the tree of node ", group.tree.root.value, " does not lead to node ",
                     trees_.members_[number_][i].value, ", a member");
        if (group.collective == SwitchCollective::multicast) return;
        if (group.collective == SwitchCollective::reduce) {
            const TreeEntry& root = trees_.entry(number_, group.tree.root);
            orient_branches(root.vertex, root.branch);
        } else {
            orient_branches(find_center(), no_index);
        }
    }

   private:
    void add_members(const SwitchGroup& group) {
        std::vector<Node> members = group.members;
        std::ranges::sort(members);
        members.erase(std::ranges::unique(members).begin(), members.end());
        if (members.size() < 2) fail("a group needs at least two members, not one");
        if (members.back().value >= fabric_.node_count())
            fail("node ", members.back().value, " does not exist: the machine has ", fabric_.node_count());
        if (!std::ranges::binary_search(members, group.tree.root))
            fail("node ", group.tree.root.value, " is the root of a tree, but not a member of the group");
        trees_.entries_.emplace_back(members.size());
        trees_.members_.push_back(std::move(members));
    }
    std::uint32_t vertex(std::uint32_t router) {
        const auto [place, is_new] =
            vertex_of_.emplace(router, static_cast<std::uint32_t>(trees_.vertices_.size()));
        if (is_new) trees_.vertices_.push_back({.group = number_, .router = router});
        return place->second;
    }
    /// Adds a link to the tree. Each link must begin where a previous link ends.
    void add_link(Link link, Node root) {
        if (link.value >= view_.link_count()) fail("a tree's link ", link.value, " does not exist");
        const ChannelId there{link.value}, back = reverse_links_.reverse_of(link);
        const Channel& channel = fabric_.channel(there);
        if (channel.is_entry()) return add_member(root, back, there);
        const bool begins = trees_.vertices_.size() == first_;
        if (!begins && !vertex_of_.contains(channel.from))
            fail("the tree of node ", root.value, " does not reach the beginning of ", fabric_.name(there));
        const std::uint32_t from = vertex(channel.from);
        if (channel.is_exit()) return add_member(node_at_[view_.ends(link).to], there, back);
        if (vertex_of_.contains(channel.to))
            fail("the tree of node ", root.value, " reaches the end of ", fabric_.name(there), " twice");
        const std::uint32_t to = vertex(channel.to);
        std::vector<TreeBranch>& down = trees_.vertices_[from].branches;
        std::vector<TreeBranch>& up = trees_.vertices_[to].branches;
        down.push_back({.out = there, .in = back, .next = to, .back = static_cast<std::uint32_t>(up.size())});
        up.push_back(
            {.out = back, .in = there, .next = from, .back = static_cast<std::uint32_t>(down.size() - 1)});
    }
    void add_member(Node member, ChannelId out, ChannelId in) {
        const std::span<const Node> members = trees_.members(number_);
        if (!std::ranges::binary_search(members, member))
            fail("a tree ends at node ", member.value, ", which is not a member");
        const std::uint32_t at = vertex(fabric_.channel(in).to);
        std::vector<TreeBranch>& branches = trees_.vertices_[at].branches;
        const auto place = std::ranges::lower_bound(members, member) - members.begin();
        trees_.entries_[number_][static_cast<std::size_t>(place)] = {
            in, at, static_cast<std::uint32_t>(branches.size())};
        branches.push_back({.out = out, .in = in, .member = member});
    }
    void add_router_member(Node member) {
        const std::uint32_t router = fabric_.channel(fabric_.entry(member)).to;
        if (trees_.vertices_.size() > first_ && !vertex_of_.contains(router)) return;
        add_member(member, fabric_.exit(member), fabric_.entry(member));
    }
    /// The center of the tree: the vertex that remains when leaves are removed repeatedly.
    [[nodiscard]] std::uint32_t find_center() const {
        const std::size_t count = trees_.vertices_.size() - first_;
        std::vector<std::uint32_t> others(count), ends;
        for (std::uint32_t v = 0; v < count; ++v) {
            for (const TreeBranch& branch : at(v).branches) others[v] += branch.next != no_index ? 1 : 0;
            if (others[v] <= 1) ends.push_back(v);
        }
        for (std::size_t i = 0; i < ends.size(); ++i)
            for (const TreeBranch& branch : at(ends[i]).branches)
                if (branch.next != no_index && --others[branch.next - first_] == 1)
                    ends.push_back(branch.next - first_);
        return first_ + ends.back();
    }
    [[nodiscard]] const TreeVertex& at(std::uint32_t v) const { return trees_.vertices_[first_ + v]; }
    void orient_branches(std::uint32_t top, std::uint32_t branch) {
        trees_.vertices_[top].up = branch;
        std::vector<std::uint32_t> found{top};
        for (std::size_t i = 0; i < found.size(); ++i) {
            const TreeVertex& above = trees_.vertices_[found[i]];
            for (std::uint32_t b = 0; b < above.branches.size(); ++b) {
                const TreeBranch& down = above.branches[b];
                if (b == above.up || down.next == no_index) continue;
                trees_.vertices_[down.next].up = down.back;
                found.push_back(down.next);
            }
        }
    }

    const Fabric& fabric_;
    NetworkView view_;
    ReverseLinks reverse_links_;
    GroupTrees& trees_;
    // [vertex of the machine]: its node.
    std::unordered_map<std::uint32_t, Node> node_at_;
    std::unordered_map<std::uint32_t, std::uint32_t> vertex_of_;  // [router]
    std::uint32_t number_ = 0, first_ = 0;
};

GroupTrees::GroupTrees(const Fabric& fabric, std::span<const SwitchGroup> groups) {
    if (groups.empty()) return;
    Builder builder(fabric, *this);
    for (const SwitchGroup& group : groups) builder.add(group);
}

const TreeEntry& GroupTrees::entry(std::uint32_t group, Node member) const {
    const std::vector<Node>& members = members_[group];
    const auto place = std::ranges::lower_bound(members, member);
    if (place == members.end() || *place != member)
        fail("node ", member.value, " sends to group ", group, " without being a member");
    return entries_[group][static_cast<std::size_t>(place - members.begin())];
}

std::uint32_t GroupTrees::assign_windows(std::uint32_t group, std::uint32_t first) {
    for (TreeVertex& vertex : vertices_)
        if (vertex.group == group)
            for (TreeBranch& branch : vertex.branches)
                if (branch.next != no_index) branch.window = first++;
    for (TreeEntry& entry : entries_[group]) entry.window = first++;
    return first;
}

void GroupTrees::add_turns(Turns& turns) const {
    for (const TreeVertex& vertex : vertices_)
        for (const TreeBranch& from : vertex.branches)
            for (const TreeBranch& to : vertex.branches)
                if (&from != &to) turns.add(from.in, to.out);
}

}  // namespace topoloom
