// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/metric/loads/placed_runs.hpp"

#include <cmath>
#include <type_traits>
#include <utility>

#include "topoloom/machine/network_view.hpp"

namespace topoloom {

namespace {

template <class T>
class NetworkRuns final : public MessageLinkRuns {
   public:
    NetworkRuns(const T& network, const Machine& machine, const RankMessages& messages,
                std::span<const Slot> slot_of_rank, Bytes all, double background, LoadScope scope)
        : network_(network),
          messages_(messages),
          space_(network_.geometry(), machine.node_spec()),
          runs_(network_, all, background),
          node_count_(static_cast<std::uint32_t>(machine.node_count())) {
        positions_.reserve(slot_of_rank.size());
        for (const Slot slot : slot_of_rank) positions_.push_back(locate(slot));
        rates_ = runs_.rates();
        first_node_rate_ = static_cast<std::uint32_t>(rates_.size());
        if (scope == LoadScope::links_and_nodes) add_node_lines(machine.speeds());
        const std::size_t node_lines = (rates_.size() - first_node_rate_) * node_count_;
        used_lines_ = UsedLines(runs_.line_count() + node_lines);
    }

    [[nodiscard]] LoadQuantizer quantizer() const override { return runs_.quantizer(); }
    [[nodiscard]] LinkLine line(std::uint32_t number) const override {
        const std::uint32_t line = used_lines_.lines()[number];
        if (line < runs_.line_count()) return runs_.line(line);
        return {1, first_node_rate_ + (line - runs_.line_count()) / node_count_};
    }

    void set_spare(Slot slot) override { spare_ = locate(slot); }
    void swap(Rank u, Rank v) override {
        std::swap(positions_[u.value], v == Rank::none ? spare_ : positions_[v.value]);
    }
    [[nodiscard]] std::int64_t hop_bytes(Rank u, Rank v) const override {
        std::int64_t sum = 0;
        messages_.for_each_message(u, v, [&](Rank end, const RankMessage& message) {
            // Distances on machines with one-way links depend on the direction.
            const auto& here = positions_[end.value].where;
            const auto& there = positions_[message.peer.value].where;
            sum +=
                message.bytes * (message.sent ? space_.distance(here, there) : space_.distance(there, here));
        });
        return sum;
    }
    /// Not inlined, because routes of some machines need much code.
    [[gnu::noinline]] void append_runs(Rank end, const RankMessage& message, double sign,
                                       RunJournal& journal) override {
        const RankPosition& here = positions_[end.value];
        const RankPosition& there = positions_[message.peer.value];
        const RankPosition& from = message.sent ? here : there;
        const RankPosition& to = message.sent ? there : here;
        const auto bytes = static_cast<double>(message.bytes);
        const auto add = [&](LoadRun run) {
            run.line = used_lines_.use(run.line);
            run.amount *= sign;
            journal.add(run);
        };
        if (node_lines_.read != no_index) {
            add({node_lines_.read + from.node.value, 0, 1, bytes});
            add({node_lines_.write + to.node.value, 0, 1, bytes});
        }
        if (from.node == to.node) return;
        runs_.route(from.at, to.at, bytes, add);
        if (node_lines_.out == no_index) return;
        add({node_lines_.out + from.node.value, 0, 1, bytes});
        add({node_lines_.in + to.node.value, 0, 1, bytes});
    }
    void append_runs(Rank u, Rank v, double sign, RunJournal& journal) override {
        messages_.for_each_message(
            u, v, [&](Rank end, const RankMessage& message) { append_runs(end, message, sign, journal); });
    }

   private:
    using Runs = LinkRuns<T>;
    using Space = LeveledSpace<std::remove_cvref_t<decltype(std::declval<const T&>().geometry())>>;
    // The NetworkView of an uncommon topology is a temporary object, so store a copy.
    using Network = std::conditional_t<is_common_topology<T>, const T&, const T>;

    /// Slot and network position of a rank.
    struct RankPosition {
        Node node;
        typename Runs::Point at;
        typename Space::Point where;
    };

    [[nodiscard]] LinkPlace network_place(Link link) const override { return runs_.place(link); }

    /// The lines of a node resource follow those of links, one for each node.
    void add_node_lines(const NodeSpeeds& speeds) {
        const auto add = [&](BytesPerSecond bandwidth, std::uint32_t& first) {
            if (!std::isfinite(bandwidth.value)) return;
            const auto resources = static_cast<std::uint32_t>(rates_.size()) - first_node_rate_;
            first = runs_.line_count() + resources * node_count_;
            rates_.push_back({bandwidth.value, 1});
        };
        add(speeds.port, node_lines_.out);
        add(speeds.port, node_lines_.in);
        first_memory_rate_ = static_cast<std::uint32_t>(rates_.size());
        add(speeds.memory, node_lines_.read);
        add(speeds.memory, node_lines_.write);
    }
    [[nodiscard]] RankPosition locate(Slot slot) const {
        return {space_.node(slot), runs_.point(space_.node(slot)), space_.point(slot)};
    }

    Network network_;
    const RankMessages& messages_;
    Space space_;
    Runs runs_;
    std::uint32_t node_count_;
    std::uint32_t first_node_rate_ = 0;
    NodeLines node_lines_;
    std::vector<RankPosition> positions_;  // by rank
    RankPosition spare_{};
};

}  // namespace

std::unique_ptr<MessageLinkRuns> make_message_link_runs(const Machine& machine, const RankMessages& messages,
                                                        std::span<const Slot> slot_of_rank, Bytes all,
                                                        double background, LoadScope scope) {
    return with_common_topology(machine, [&]<class T>(const T& network) -> std::unique_ptr<MessageLinkRuns> {
        return std::make_unique<NetworkRuns<T>>(network, machine, messages, slot_of_rank, all, background,
                                                scope);
    });
}

}  // namespace topoloom
