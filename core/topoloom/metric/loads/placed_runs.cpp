// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/metric/loads/placed_runs.hpp"

#include <type_traits>
#include <utility>

#include "topoloom/machine/network_view.hpp"

namespace topoloom {

namespace {

template <class T>
class NetworkRuns final : public MessageLinkRuns {
   public:
    NetworkRuns(const T& network, const Machine& machine, const RankMessages& messages,
                std::span<const Slot> slot_of_rank, Bytes all, double background)
        : network_(network),
          messages_(messages),
          space_(network_.geometry(), machine.node_spec()),
          runs_(network_, all, background) {
        positions_.reserve(slot_of_rank.size());
        for (const Slot slot : slot_of_rank) positions_.push_back(locate(slot));
    }

    [[nodiscard]] LoadQuantizer quantizer() const override { return runs_.quantizer(); }
    [[nodiscard]] const std::vector<LinkRate>& rates() const override { return runs_.rates(); }
    [[nodiscard]] std::vector<LinkLine> lines() const override { return runs_.lines(); }
    [[nodiscard]] LinkPlace place(Link link) const override { return runs_.place(link); }

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
                                       RunJournal& journal) const override {
        const RankPosition& here = positions_[end.value];
        const RankPosition& there = positions_[message.peer.value];
        const RankPosition& from = message.sent ? here : there;
        const RankPosition& to = message.sent ? there : here;
        const auto bytes = static_cast<double>(message.bytes);
        const auto add = [&](LoadRun run) {
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
    void append_runs(Rank u, Rank v, double sign, RunJournal& journal) const override {
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

    [[nodiscard]] RankPosition locate(Slot slot) const {
        return {space_.node(slot), runs_.point(space_.node(slot)), space_.point(slot)};
    }

    Network network_;
    const RankMessages& messages_;
    Space space_;
    Runs runs_;
    std::vector<RankPosition> positions_;  // by rank
    RankPosition spare_{};
};

}  // namespace

std::unique_ptr<MessageLinkRuns> make_message_link_runs(const Machine& machine, const RankMessages& messages,
                                                        std::span<const Slot> slot_of_rank, Bytes all,
                                                        double background) {
    return with_common_topology(machine, [&]<class T>(const T& network) -> std::unique_ptr<MessageLinkRuns> {
        return std::make_unique<NetworkRuns<T>>(network, machine, messages, slot_of_rank, all, background);
    });
}

}  // namespace topoloom
