// SPDX-License-Identifier: BSD-3-Clause
// Loads of all links under a placement that changes: what the routes of a rank add and take away, and the busiest link.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "topoloom/base/big_vector.hpp"
#include "topoloom/base/id.hpp"
#include "topoloom/machine/allocations/allocation.hpp"
#include "topoloom/machine/network_view.hpp"
#include "topoloom/metric/busiest.hpp"
#include "topoloom/metric/congestion_key.hpp"
#include "topoloom/metric/link_runs.hpp"
#include "topoloom/metric/rank_messages.hpp"
#include "topoloom/metric/soft_term.hpp"

namespace topoloom {

/// What counts as a link: those of the network; or also what every node sends and receives through its port, and what
/// messages read from its memory and write to it, those inside the node and those over the network alike, where the
/// machine limits these.
enum class Busy { links, links_and_nodes };

/// Every sum is exact (see Grain), so loads do not depend on the order of changes: taken back, they are what they were
/// bit for bit, and they equal those of judge(). Where routing adapts to the load, all traffic goes minimally. A
/// background of bytes by link counts in every maximum; the grain is that of all bytes together, then.
///
/// A change costs O(links of the routes that change). The busiest link is looked for when asked for, among the
/// blocks of links that changed. Memory O(links + edges): 32 bytes per edge; 56 per link, about 20 on tori.
template <class T>
class LinkLoads {
   public:
    /// Refers to all but the last two. Throws Error for a background that does not fit the links, or is negative.
    LinkLoads(const T& network, const Machine& machine, const CommGraph& graph,
              std::span<const Slot> slot_of_rank, std::span<const double> background = {},
              Busy busy = Busy::links);

    /// Bytes on a link, the background included.
    [[nodiscard]] double load(Link link) const {
        const LinkPlace place = runs_.place(link);
        const Line& line = lines_[place.line];
        return rates_[line.rate].load(amount_[line.first + place.position]);
    }
    [[nodiscard]] BigVector<double> loads() const;
    [[nodiscard]] Slot slot(Rank u) const { return seats_[u.value].slot; }
    /// Of all ranks.
    [[nodiscard]] std::vector<Slot> slots() const {
        std::vector<Slot> slots;
        for (const Seat& seat : seats_) slots.push_back(seat.slot);
        return slots;
    }
    [[nodiscard]] std::size_t rank_count() const { return seats_.size(); }
    [[nodiscard]] const RankMessages& messages() const { return messages_; }
    [[nodiscard]] std::int64_t hop_bytes() const { return hop_bytes_; }
    [[nodiscard]] const CongestionKey& key();
    /// The congestion of the key, apart: of links and what nodes send and receive, and of memory.
    [[nodiscard]] const Busiest& busiest();
    /// A value that falls as high loads do: the sum over links of soft_term(congestion / scale). 0 until a scale is set:
    /// the given congestion, or the highest now. That costs O(links that were ever loaded).
    [[nodiscard]] std::int64_t soft() const { return soft_; }
    void set_soft_scale(double congestion);
    void set_soft_scale() { set_soft_scale(key().congestion); }

    void exchange(Rank u, Rank v);
    void move(Rank u, Slot to);
    /// Make the change if key() falls; else nothing has happened.
    bool exchange_if_better(Rank u, Rank v);
    bool move_if_better(Rank u, Slot to);
    /// Make the change if soft() is at most `most` then; else nothing has happened. A scale must be set.
    bool exchange_if_soft(Rank u, Rank v, std::int64_t most);
    bool move_if_soft(Rank u, Slot to, std::int64_t most);
    /// Takes back the last change; only once, and before any other is tried.
    void undo();

    /// The ranks with a message over a link that is at least this share as busy as the busiest. O(edges * hops).
    [[nodiscard]] std::vector<Rank> ends_of_busy(double share);
    /// Whether a message from or to u crosses one of the busiest links.
    [[nodiscard]] bool is_at_maximum(Rank u);

   private:
    using Point = typename LinkRuns<T>::Point;
    using Space = LeveledSpace<std::remove_cvref_t<decltype(std::declval<const T&>().geometry())>>;
    static constexpr std::size_t block_size = 64;  // lines

    /// Where a rank is.
    struct Seat {
        Slot slot;
        Node node;
        Point at;
        typename Space::Point where;
    };
    struct Line : LinkLine {
        double most = 0;             // amount on any of its links
        double added = 0;            // by the change that is tried
        std::uint32_t tried = 0;     // the last try that added something,
        std::uint32_t critical = 0;  // and the last in which one of its links could be among the busiest
        bool stale = false;          // `most` is to be found
        bool used = false;           // something was ever put on one of its links
    };
    /// The amounts at which links of a rate are as busy as the busiest.
    struct Limit {
        double low;
        double high;
    };

    [[nodiscard]] static double max_background(const T& network, std::span<const double> background);

    [[nodiscard]] Seat seat(Slot slot) const {
        return {slot, space_.node(slot), runs_.point(space_.node(slot)), space_.point(slot)};
    }
    /// Distances on machines with one-way links depend on the direction.
    [[nodiscard]] std::int64_t hop_bytes_of(Rank end, const RankMessage& message) const {
        const auto& here = seats_[end.value].where;
        const auto& there = seats_[message.peer.value].where;
        return message.bytes * (message.sent ? space_.distance(here, there) : space_.distance(there, here));
    }
    /// Of u and v, each message once; v may be Rank::none.
    [[nodiscard]] std::int64_t hop_bytes_of_both(Rank u, Rank v) const {
        std::int64_t sum = 0;
        messages_.each(u, v,
                       [&](Rank end, const RankMessage& message) { sum += hop_bytes_of(end, message); });
        return sum;
    }

    /// Lines of what nodes carry come last, those of memory behind all others: each is that of node 0.
    struct NodeLines {
        std::uint32_t out = no_index, in = no_index, read = no_index, write = no_index;
    };
    void add_node_lines(const Machine& machine);
    /// Calls use(LoadRun) for what a message puts on links and nodes.
    template <class Use>
    void each_run(Rank end, const RankMessage& message, const Use& use) const {
        const Seat& here = seats_[end.value];
        const Seat& there = seats_[message.peer.value];
        const Seat& from = message.sent ? here : there;
        const Seat& to = message.sent ? there : here;
        const auto bytes = static_cast<double>(message.bytes);
        if (node_lines_.read != no_index) {
            use(LoadRun{node_lines_.read + from.node.value, 0, 1, bytes});
            use(LoadRun{node_lines_.write + to.node.value, 0, 1, bytes});
        }
        if (from.node == to.node) return;
        runs_.route(from.at, to.at, bytes, use);
        if (node_lines_.out == no_index) return;
        use(LoadRun{node_lines_.out + from.node.value, 0, 1, bytes});
        use(LoadRun{node_lines_.in + to.node.value, 0, 1, bytes});
    }

    /// Notes the runs of the messages of u and v, each once, of amounts times `sign`.
    void note_runs(Rank u, Rank v, double sign);
    /// Out of line, since the routes of some machines are long programs.
    [[gnu::noinline]] void note_runs(Rank end, const RankMessage& message, double sign);

    /// Calls use(amount) for every link of the run.
    template <class Use>
    void each_amount(const LoadRun& run, const Use& use) {
        const Line& line = lines_[run.line];
        double* const amounts = amount_.data() + line.first;
        const std::uint32_t before_end = std::min(run.count, line.length - run.start);
        for (std::uint32_t i = 0; i < before_end; ++i) use(amounts[run.start + i]);
        for (std::uint32_t i = 0; i < run.count - before_end; ++i) use(amounts[i]);
    }
    void add(const LoadRun& run, double by) {
        each_amount(run, [&](double& amount) { amount += by; });
    }
    void add_with_soft(const LoadRun& run) {
        if (soft_factor_.empty()) return add(run, run.amount);
        const double factor = soft_factor_[lines_[run.line].rate];
        std::int64_t more = 0;
        each_amount(run, [&](double& amount) {
            more -= soft_term(amount * factor);
            amount += run.amount;
            more += soft_term(amount * factor);
        });
        soft_ += more;
    }
    [[nodiscard]] std::span<const LoadRun> journal() const { return {journal_.data(), journal_size_}; }
    void begin_change(Rank u, Rank v) {
        journal_size_ = 0;
        last_ = {u, v, seats_[u.value], v == Rank::none ? Seat{} : seats_[v.value], soft_};
    }
    void sit(Rank u, Rank v, const Seat& for_u, const Seat& for_v) {
        seats_[u.value] = for_u;
        if (v != Rank::none) seats_[v.value] = for_v;
    }
    void change(Rank u, Rank v, Seat for_u, Seat for_v);
    bool change_if_better(Rank u, Rank v, Seat for_u, Seat for_v);
    bool change_if_soft(Rank u, Rank v, Seat for_u, Seat for_v, std::int64_t most);
    /// What critical lines say to the change in the journal: how many more of their links are as busy as the busiest;
    /// nothing if one would be busier. Leaves all loads as they are.
    [[nodiscard]] std::optional<std::int64_t> more_at_maximum();
    void mark_changed();
    void make_stale(std::uint32_t line) {
        if (!std::exchange(lines_[line].stale, true)) stale_.push_back(line);
        use(line);
    }
    void use(std::uint32_t line) {
        if (!std::exchange(lines_[line].used, true)) used_.push_back(line);
    }
    /// Adds sign * message to loads and soft value.
    [[gnu::noinline]] void put(Rank end, const RankMessage& message, double sign);
    /// `most` of lines that changed.
    void refresh();
    void find_busiest();
    /// The highest congestion of the lines from `first` on, before `end`.
    [[nodiscard]] double highest(std::size_t first, std::size_t end) const;
    [[nodiscard]] std::span<const Line> block(std::size_t b) const {
        return std::span(lines_).subspan(b * block_size,
                                         std::min(block_size, lines_.size() - b * block_size));
    }
    [[nodiscard]] double most_on(const Line& line) const {
        const auto first = amount_.begin() + line.first;
        return *std::max_element(first, first + line.length);
    }
    /// Whether the message's route has a link with an amount of at least that of its rate.
    [[nodiscard]] bool crosses(Rank end, const RankMessage& message, std::span<const double> least);
    [[nodiscard]] static Limit limit_at(const LinkRate& rate, double congestion);

    Space space_;
    LinkRuns<T> runs_;
    std::vector<LinkRate> rates_;
    std::size_t link_count_;
    NodeLines node_lines_;
    RankMessages messages_;
    std::vector<Seat> seats_;   // by rank
    BigVector<double> amount_;  // by place
    std::vector<Line> lines_;
    std::vector<double> block_;           // the highest congestion in each block of lines
    std::vector<std::uint32_t> stale_;    // lines
    std::vector<std::uint32_t> used_;     // likewise: on a large machine a job uses few
    std::vector<char> is_changed_;        // by block
    std::vector<std::uint32_t> changed_;  // blocks whose congestion is to be found
    std::vector<double> low_, high_;      // of Limit, by rate
    std::vector<double> soft_factor_;     // by rate
    CongestionKey key_;
    bool key_known_ = false;
    Busiest busiest_;
    bool busiest_known_ = false;
    std::uint32_t tries_ = 0;
    std::int64_t hop_bytes_ = 0;
    std::int64_t soft_ = 0;
    std::vector<LoadRun> journal_;  // of the last change
    std::size_t journal_size_ = 0;
    struct Overwritten {
        double* amount;
        double before;
    };
    std::vector<Overwritten> overwritten_;  // by the change that is tried
    std::size_t overwritten_size_ = 0;
    struct {
        Rank u, v;
        Seat seat_of_u, seat_of_v;
        std::int64_t soft;
    } last_{};
};

#define TOPOLOOM_DECLARE(TYPE) extern template class LinkLoads<TYPE>;
TOPOLOOM_LINK_NETWORKS(TOPOLOOM_DECLARE)
#undef TOPOLOOM_DECLARE

}  // namespace topoloom
