// SPDX-License-Identifier: BSD-3-Clause
// Loads of all links under a placement that changes: what the routes of a rank add and take away, and the busiest link.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "topoloom/base/big_vector.hpp"
#include "topoloom/base/error.hpp"
#include "topoloom/machine/allocation.hpp"
#include "topoloom/metric/congestion_key.hpp"
#include "topoloom/metric/link_runs.hpp"
#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// Every sum is exact (see Grain), so loads do not depend on the order of changes: taken back, they are what they were
/// bit for bit, and they equal those of judge(). Where routing adapts to the load, all traffic goes minimally. A
/// background of bytes by link counts in every maximum; the grain is that of all bytes together, then.
///
/// A change costs O(links of the routes that change). The busiest link is looked for when asked for, among the
/// blocks of links that changed. Memory O(links + edges): 16 bytes a link, 32 an edge.
template <class T>
class LinkLoads {
   public:
    using Network = T;
    static constexpr Rank nobody{std::numeric_limits<std::uint32_t>::max()};

    /// Refers to all but the last two. Throws Error for a background that does not fit the links, or is negative.
    LinkLoads(const T& network, const Machine& machine, const CommGraph& graph,
              std::span<const Slot> slot_of_rank, std::span<const double> background = {});

    /// Bytes on a link, the background included.
    [[nodiscard]] double load(Link link) const {
        return rate_at(runs_.place(link)).load(amount_[runs_.place(link)]);
    }
    [[nodiscard]] BigVector<double> loads() const;
    [[nodiscard]] Slot slot(Rank u) const { return seats_[u.value].slot; }
    [[nodiscard]] std::int64_t hop_bytes() const { return hop_bytes_; }
    [[nodiscard]] const CongestionKey& key();
    /// A value that falls as high loads do: the sum over links of (congestion / scale)^8, each term cut to whole parts
    /// of 2^-20 and at most 2^20, in these parts. 0 until a scale is set, which costs O(links).
    [[nodiscard]] std::int64_t soft() const { return soft_; }
    void set_soft_scale(double congestion);

    void exchange(Rank u, Rank v);
    void move(Rank u, Slot to);
    /// Make the change if key() falls; else nothing has happened.
    bool exchange_if_better(Rank u, Rank v);
    bool move_if_better(Rank u, Slot to);
    /// Takes back the last change that was made; only once.
    void undo();

    /// Calls use(u, v) for each edge with a link at the maximum on its route. O(edges * hops).
    template <class Use>
    void each_hottest(const Use& use);

   private:
    using Point = typename LinkRuns<T>::Point;
    using Space = LeveledSpace<std::remove_cvref_t<decltype(std::declval<const T&>().geometry())>>;
    static constexpr std::size_t block_size = 64;
    static constexpr double soft_grain = 0x1p20;
    static constexpr double most_soft = 0x1p40;

    /// Where a rank is.
    struct Seat {
        Slot slot;
        Point at;
        typename Space::Point where;
    };
    /// As one of its ends sees it.
    struct Message {
        Rank peer;
        bool sent;
        std::int64_t bytes;
    };
    /// The amounts at which links of a rate are as busy as the busiest.
    struct Limit {
        double low;
        double high;
    };

    [[nodiscard]] static double most_background(const T& network, std::span<const double> background);
    void list_messages(const CommGraph& graph);

    [[nodiscard]] Seat seat(Slot slot) const {
        return {slot, runs_.point(space_.node(slot)), space_.point(slot)};
    }
    [[nodiscard]] std::span<const Message> messages(Rank u) const {
        return {message_.data() + first_[u.value], message_.data() + first_[u.value + 1]};
    }
    [[nodiscard]] const LinkRate& rate_at(std::uint32_t place) const { return runs_.rates()[rate_[place]]; }
    /// Distances on machines with one-way links depend on the direction.
    [[nodiscard]] std::int64_t hop_bytes_of(Rank end, const Message& message) const {
        const auto& here = seats_[end.value].where;
        const auto& there = seats_[message.peer.value].where;
        return message.bytes * (message.sent ? space_.distance(here, there) : space_.distance(there, here));
    }
    /// Of u and v, each message once; v may be nobody.
    [[nodiscard]] std::int64_t hop_bytes_of_both(Rank u, Rank v) const {
        std::int64_t sum = 0;
        each_message(u, v, [&](Rank end, const Message& message) {
            sum += hop_bytes_of(end, message);
            return true;
        });
        return sum;
    }

    /// Calls use(end, message) for the messages of u and v, each once, while it returns true.
    template <class Use>
    void each_message(Rank u, Rank v, const Use& use) const {
        for (const Message& message : messages(u)) {
            if (!use(u, message)) return;
        }
        if (v == nobody) return;
        for (const Message& message : messages(v)) {
            if (message.peer != u && !use(v, message)) return;
        }
    }
    template <class Use>
    void route(Rank end, const Message& message, const Use& use) const {
        const Point& here = seats_[end.value].at;
        const Point& there = seats_[message.peer.value].at;
        const auto bytes = static_cast<double>(message.bytes);
        runs_.route(message.sent ? here : there, message.sent ? there : here, bytes, use);
    }

    void add(const LoadRun& run, double amount) {
        double* const amounts = amount_.data() + run.first;
        for (std::uint32_t i = 0; i < run.count; ++i) amounts[i] += amount;
    }
    void add_with_soft(const LoadRun& run) {
        if (soft_factor_.empty()) return add(run, run.amount);
        for (std::uint32_t i = run.first; i < run.first + run.count; ++i) {
            soft_ -= soft_term(run.rate, amount_[i]);
            amount_[i] += run.amount;
            soft_ += soft_term(run.rate, amount_[i]);
        }
    }
    void begin_change(Rank u, Rank v) {
        journal_.clear();
        last_ = {u, v, seats_[u.value], v == nobody ? Seat{} : seats_[v.value], hop_bytes_, soft_};
    }
    void sit(Rank u, Rank v, const Seat& for_u, const Seat& for_v) {
        seats_[u.value] = for_u;
        if (v != nobody) seats_[v.value] = for_v;
    }
    void change(Rank u, Rank v, Seat for_u, Seat for_v);
    bool change_if_better(Rank u, Rank v, Seat for_u, Seat for_v);
    void take_back_runs() {
        for (const LoadRun& run : journal_) add(run, -run.amount);
    }
    void mark_changed();
    void find_busiest();
    [[nodiscard]] double congestion_of_block(std::size_t block) const;
    [[nodiscard]] static Limit limit(const LinkRate& rate, double congestion);

    [[nodiscard]] std::int64_t soft_term(std::uint32_t rate, double amount) const {
        const double x = amount * soft_factor_[rate];
        const double x2 = x * x;
        const double x4 = x2 * x2;
        return static_cast<std::int64_t>(std::min(most_soft, x4 * x4 * soft_grain));
    }

    Space space_;
    LinkRuns<T> runs_;
    std::vector<std::uint64_t> first_;
    BigVector<Message> message_;
    std::vector<Seat> seats_;             // by rank
    BigVector<std::uint32_t> places_;     // by link
    BigVector<double> amount_;            // by place
    BigVector<std::uint32_t> rate_;       // by place
    std::vector<double> block_;           // congestion of each block of places
    std::vector<char> is_changed_;        // by block
    std::vector<std::uint32_t> changed_;  // blocks whose congestion is to be found
    std::vector<Limit> limit_;            // by rate
    std::vector<double> soft_factor_;     // by rate
    CongestionKey key_;
    bool key_known_ = false;
    std::int64_t hop_bytes_ = 0;
    std::int64_t soft_ = 0;
    std::vector<LoadRun> journal_;  // of the last change
    struct {
        Rank u, v;
        Seat seat_of_u, seat_of_v;
        std::int64_t hop_bytes, soft;
    } last_{};
};

template <class T>
LinkLoads<T>::LinkLoads(const T& network, const Machine& machine, const CommGraph& graph,
                        std::span<const Slot> slot_of_rank, std::span<const double> background)
    : space_(network.geometry(), machine.inside()),
      runs_(network, graph.total_bytes(), most_background(network, background)),
      amount_(runs_.place_count()),
      rate_(runs_.place_count()),
      block_((runs_.place_count() + block_size - 1) / block_size),
      is_changed_(block_.size(), 1),
      limit_(runs_.rates().size()) {
    for (const Link link : ids<Link>(network.link_count())) {
        const std::uint32_t place = runs_.place(link);
        places_.push_back(place);
        rate_[place] = runs_.rate(link);
        if (!background.empty())
            amount_[place] = runs_.grain().round(background[link.value] * rate_at(place).ways);
    }
    for (std::uint32_t b = 0; b < block_.size(); ++b) changed_.push_back(b);
    for (const Slot slot : slot_of_rank) seats_.push_back(seat(slot));
    list_messages(graph);
    for (const Rank u : ids<Rank>(seats_.size())) {
        for (const Message& message : messages(u)) {
            if (!message.sent) continue;
            hop_bytes_ += hop_bytes_of(u, message);
            route(u, message, [&](const LoadRun& run) { add(run, run.amount); });
        }
    }
}

template <class T>
double LinkLoads<T>::most_background(const T& network, std::span<const double> background) {
    if (background.empty()) return 0;
    if (background.size() != network.link_count()) {
        fail("the background speaks of ", background.size(), " links, but the machine has ",
             network.link_count());
    }
    double most = 0;
    for (const double bytes : background) {
        if (!(bytes >= 0) || bytes > 0x1p52)
            fail("a background load is ", bytes, "; it must be from 0 to 2^52 bytes");
        most = std::max(most, bytes);
    }
    return most;
}

template <class T>
void LinkLoads<T>::list_messages(const CommGraph& graph) {
    first_.assign(graph.rank_count() + 1, 0);
    const auto each = [&](const auto& use) {
        for (const Rank u : ids<Rank>(graph.rank_count())) {
            for (const Edge edge : graph.sends(u)) {
                if (edge.bytes.value > 0) use(u, edge);
            }
        }
    };
    each([&](Rank u, const Edge& edge) {
        ++first_[u.value + 1];
        ++first_[edge.peer.value + 1];
    });
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    message_.resize(first_.back());
    std::vector<std::uint64_t> next = first_;
    each([&](Rank u, const Edge& edge) {
        message_[next[u.value]++] = {edge.peer, true, edge.bytes.value};
        message_[next[edge.peer.value]++] = {u, false, edge.bytes.value};
    });
}

template <class T>
BigVector<double> LinkLoads<T>::loads() const {
    BigVector<double> loads;
    for (const std::uint32_t place : places_) loads.push_back(rate_at(place).load(amount_[place]));
    return loads;
}

template <class T>
const CongestionKey& LinkLoads<T>::key() {
    if (!key_known_) find_busiest();
    key_.hop_bytes = hop_bytes_;
    return key_;
}

template <class T>
void LinkLoads<T>::set_soft_scale(double congestion) {
    soft_factor_.clear();
    for (const LinkRate& rate : runs_.rates())
        soft_factor_.push_back(1 / (rate.ways * rate.bandwidth * congestion));
    soft_ = 0;
    for (std::size_t i = 0; i < amount_.size(); ++i) soft_ += soft_term(rate_[i], amount_[i]);
}

template <class T>
void LinkLoads<T>::exchange(Rank u, Rank v) {
    change(u, v, seats_[v.value], seats_[u.value]);
}

template <class T>
void LinkLoads<T>::move(Rank u, Slot to) {
    change(u, nobody, seat(to), {});
}

template <class T>
bool LinkLoads<T>::exchange_if_better(Rank u, Rank v) {
    return change_if_better(u, v, seats_[v.value], seats_[u.value]);
}

template <class T>
bool LinkLoads<T>::move_if_better(Rank u, Slot to) {
    return change_if_better(u, nobody, seat(to), {});
}

template <class T>
void LinkLoads<T>::change(Rank u, Rank v, Seat for_u, Seat for_v) {
    begin_change(u, v);
    const auto put = [&](const LoadRun& run) {
        journal_.push_back(run);
        add_with_soft(run);
    };
    each_message(u, v, [&](Rank end, const Message& message) {
        hop_bytes_ -= hop_bytes_of(end, message);
        route(end, message, [&](LoadRun run) { put(run.negative()); });
        return true;
    });
    sit(u, v, for_u, for_v);
    each_message(u, v, [&](Rank end, const Message& message) {
        hop_bytes_ += hop_bytes_of(end, message);
        route(end, message, put);
        return true;
    });
    mark_changed();
}

template <class T>
void LinkLoads<T>::undo() {
    take_back_runs();
    mark_changed();
    sit(last_.u, last_.v, last_.seat_of_u, last_.seat_of_v);
    hop_bytes_ = last_.hop_bytes;
    soft_ = last_.soft;
}

/// While no link is busier than the busiest was, it is enough to count those that are as busy.
template <class T>
bool LinkLoads<T>::change_if_better(Rank u, Rank v, Seat for_u, Seat for_v) {
    const CongestionKey before = key();
    if (before.links_at_maximum == 0) return false;
    begin_change(u, v);
    std::int64_t more_at_maximum = 0;
    bool over = false;
    const auto put = [&](const LoadRun& run) {
        journal_.push_back(run);
        const Limit limit = limit_[run.rate];
        double* const amounts = amount_.data() + run.first;
        int more = 0;
        bool any_over = false;
        for (std::uint32_t i = 0; i < run.count; ++i) {
            const double was = amounts[i];
            const double is = was + run.amount;
            more += static_cast<int>(is >= limit.low) - static_cast<int>(was >= limit.low);
            any_over |= is > limit.high;
            amounts[i] = is;
        }
        more_at_maximum += more;
        over |= any_over;
    };
    each_message(u, v, [&](Rank end, const Message& message) {
        route(end, message, [&](const LoadRun& run) { put(run.negative()); });
        return true;
    });
    const std::int64_t hop_bytes_before = hop_bytes_of_both(u, v);
    sit(u, v, for_u, for_v);
    const std::int64_t hop_bytes_more = hop_bytes_of_both(u, v) - hop_bytes_before;
    if (more_at_maximum < 0 || hop_bytes_more < 0) {
        each_message(u, v, [&](Rank end, const Message& message) {
            route(end, message, put);
            return !over;
        });
        const bool better = !over && (more_at_maximum < 0 || (more_at_maximum == 0 && hop_bytes_more < 0));
        if (better) {
            hop_bytes_ += hop_bytes_more;
            if (!soft_factor_.empty()) {
                take_back_runs();
                for (const LoadRun& run : journal_) add_with_soft(run);
            }
            mark_changed();
            key_.links_at_maximum = static_cast<std::size_t>(
                static_cast<std::int64_t>(before.links_at_maximum) + more_at_maximum);
            key_known_ = key_.links_at_maximum > 0;
            return true;
        }
    }
    take_back_runs();
    sit(u, v, last_.seat_of_u, last_.seat_of_v);
    return false;
}

template <class T>
void LinkLoads<T>::mark_changed() {
    key_known_ = false;
    for (const LoadRun& run : journal_) {
        const std::size_t last = (run.first + run.count - 1) / block_size;
        for (std::size_t b = run.first / block_size; b <= last; ++b) {
            if (is_changed_[b] == 0) changed_.push_back(static_cast<std::uint32_t>(b));
            is_changed_[b] = 1;
        }
    }
}

template <class T>
double LinkLoads<T>::congestion_of_block(std::size_t block) const {
    const std::size_t end = std::min(amount_.size(), (block + 1) * block_size);
    double congestion = 0;
    for (std::size_t i = block * block_size; i < end;) {
        const std::uint32_t rate = rate_[i];
        double most = 0;
        for (; i < end && rate_[i] == rate; ++i) most = std::max(most, amount_[i]);
        congestion = std::max(congestion, runs_.rates()[rate].congestion(most));
    }
    return congestion;
}

template <class T>
void LinkLoads<T>::find_busiest() {
    for (const std::uint32_t b : changed_) {
        block_[b] = congestion_of_block(b);
        is_changed_[b] = 0;
    }
    changed_.clear();
    key_.congestion = block_.empty() ? 0 : *std::ranges::max_element(block_);
    key_.links_at_maximum = 0;
    key_known_ = true;
    if (key_.congestion == 0) return;
    for (std::size_t r = 0; r < limit_.size(); ++r) limit_[r] = limit(runs_.rates()[r], key_.congestion);
    for (std::size_t b = 0; b < block_.size(); ++b) {
        if (block_[b] < key_.congestion) continue;
        const std::size_t end = std::min(amount_.size(), (b + 1) * block_size);
        for (std::size_t i = b * block_size; i < end; ++i) {
            key_.links_at_maximum += amount_[i] >= limit_[rate_[i]].low ? 1 : 0;
        }
    }
}

/// The divisions of a congestion round, so a few amounts have the same.
template <class T>
auto LinkLoads<T>::limit(const LinkRate& rate, double congestion) -> Limit {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    double low = congestion * rate.bandwidth * rate.ways;
    while (rate.congestion(low) >= congestion) low = std::nextafter(low, 0);
    while (rate.congestion(low) < congestion) low = std::nextafter(low, infinity);
    double high = low;
    while (rate.congestion(std::nextafter(high, infinity)) <= congestion)
        high = std::nextafter(high, infinity);
    return {low, high};
}

template <class T>
template <class Use>
void LinkLoads<T>::each_hottest(const Use& use) {
    (void)key();
    for (const Rank u : ids<Rank>(seats_.size())) {
        for (const Message& message : messages(u)) {
            if (!message.sent) continue;
            bool hot = false;
            route(u, message, [&](const LoadRun& run) {
                for (std::uint32_t i = run.first; i < run.first + run.count; ++i)
                    hot |= amount_[i] >= limit_[run.rate].low;
            });
            if (hot) use(u, message.peer);
        }
    }
}

/// Calls use(loads) with the LinkLoads of the machine's network; for the arguments see there.
template <class Use>
decltype(auto) with_link_loads(const Machine& machine, const CommGraph& graph,
                               std::span<const Slot> slot_of_rank, std::span<const double> background,
                               const Use& use) {
    return with_topology(machine, [&]<class T>(const T& network) -> decltype(auto) {
        LinkLoads<T> loads(network, machine, graph, slot_of_rank, background);
        return use(loads);
    });
}

}  // namespace topoloom
