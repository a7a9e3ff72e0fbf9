// SPDX-License-Identifier: BSD-3-Clause
// Loads of all links under a placement that changes: what the routes of a rank add and take away, and the busiest link.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
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
        const LinkPlace place = places_[link.value];
        const Line& line = lines_[place.line];
        return runs_.rates()[line.rate].load(amount_[line.first + place.position]);
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
    static constexpr std::size_t block_size = 64;  // lines
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
    struct Line : LinkLine {
        double most = 0;             // amount on any of its links
        double added = 0;            // by the change that is tried
        std::uint32_t tried = 0;     // the last try that added something,
        std::uint32_t critical = 0;  // and the last in which one of its links could be among the busiest
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
    /// Distances on machines with one-way links depend on the direction.
    [[nodiscard]] std::int64_t hop_bytes_of(Rank end, const Message& message) const {
        const auto& here = seats_[end.value].where;
        const auto& there = seats_[message.peer.value].where;
        return message.bytes * (message.sent ? space_.distance(here, there) : space_.distance(there, here));
    }
    /// Of u and v, each message once; v may be nobody.
    [[nodiscard]] std::int64_t hop_bytes_of_both(Rank u, Rank v) const {
        std::int64_t sum = 0;
        each_message(u, v, [&](Rank end, const Message& message) { sum += hop_bytes_of(end, message); });
        return sum;
    }

    /// Calls use(end, message) for the messages of u and v, each once.
    template <class Use>
    void each_message(Rank u, Rank v, const Use& use) const {
        for (const Message& message : messages(u)) use(u, message);
        if (v == nobody) return;
        for (const Message& message : messages(v)) {
            if (message.peer != u) use(v, message);
        }
    }
    template <class Use>
    void route(Rank end, const Message& message, const Use& use) const {
        const Point& here = seats_[end.value].at;
        const Point& there = seats_[message.peer.value].at;
        const auto bytes = static_cast<double>(message.bytes);
        runs_.route(message.sent ? here : there, message.sent ? there : here, bytes, use);
    }

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
    void note(const LoadRun& run) {
        if (journal_size_ == journal_.size()) journal_.resize(2 * journal_size_ + 64);
        journal_[journal_size_++] = run;
    }
    [[nodiscard]] std::span<const LoadRun> journal() const { return {journal_.data(), journal_size_}; }
    void begin_change(Rank u, Rank v) {
        if (std::exchange(unmarked_, false)) mark_changed();
        journal_size_ = 0;
        last_ = {u, v, seats_[u.value], v == nobody ? Seat{} : seats_[v.value], hop_bytes_, soft_};
    }
    void sit(Rank u, Rank v, const Seat& for_u, const Seat& for_v) {
        seats_[u.value] = for_u;
        if (v != nobody) seats_[v.value] = for_v;
    }
    void change(Rank u, Rank v, Seat for_u, Seat for_v);
    bool change_if_better(Rank u, Rank v, Seat for_u, Seat for_v);
    void take_back_runs() {
        for (const LoadRun& run : journal()) add(run, -run.amount);
    }
    /// What critical lines say to the change in the journal: how many more of their links are as busy as the busiest;
    /// nothing if one would be busier. Leaves all loads as they are.
    [[nodiscard]] std::optional<std::int64_t> more_at_maximum();
    void mark_changed();
    void find_busiest();
    [[nodiscard]] std::span<const Line> block(std::size_t b) const {
        return std::span(lines_).subspan(b * block_size,
                                         std::min(block_size, lines_.size() - b * block_size));
    }
    [[nodiscard]] double most_on(const Line& line) const {
        const auto first = amount_.begin() + line.first;
        return *std::max_element(first, first + line.length);
    }
    [[nodiscard]] static Limit limit(const LinkRate& rate, double congestion);

    [[nodiscard]] static std::int64_t soft_term(double x) {
        const double x2 = x * x;
        const double x4 = x2 * x2;
        return static_cast<std::int64_t>(std::min(most_soft, x4 * x4 * soft_grain));
    }

    Space space_;
    LinkRuns<T> runs_;
    std::vector<std::uint64_t> first_;
    BigVector<Message> message_;
    std::vector<Seat> seats_;      // by rank
    BigVector<LinkPlace> places_;  // by link
    BigVector<double> amount_;     // by place
    std::vector<Line> lines_;
    std::vector<double> block_;           // the highest congestion in each block of lines
    std::vector<char> is_changed_;        // by block
    std::vector<std::uint32_t> changed_;  // blocks whose congestion is to be found
    std::vector<Limit> limit_;            // by rate
    std::vector<double> soft_factor_;     // by rate
    CongestionKey key_;
    bool key_known_ = false;
    bool unmarked_ = false;  // the last change is not yet in changed_
    std::uint32_t tries_ = 0;
    std::int64_t hop_bytes_ = 0;
    std::int64_t soft_ = 0;
    std::vector<LoadRun> journal_;  // of the last change
    std::size_t journal_size_ = 0;
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
      limit_(runs_.rates().size()) {
    for (const LinkLine& line : runs_.lines()) lines_.push_back({line});
    amount_.resize(lines_.empty() ? 0 : lines_.back().first + lines_.back().length);
    for (const Link link : ids<Link>(network.link_count())) {
        const LinkPlace place = runs_.place(link);
        places_.push_back(place);
        if (background.empty()) continue;
        const Line& line = lines_[place.line];
        amount_[line.first + place.position] =
            runs_.grain().round(background[link.value] * runs_.rates()[line.rate].ways);
    }
    for (const Slot slot : slot_of_rank) seats_.push_back(seat(slot));
    list_messages(graph);
    for (const Rank u : ids<Rank>(seats_.size())) {
        for (const Message& message : messages(u)) {
            if (!message.sent) continue;
            hop_bytes_ += hop_bytes_of(u, message);
            route(u, message, [&](const LoadRun& run) { add(run, run.amount); });
        }
    }
    for (Line& line : lines_) line.most = most_on(line);
    block_.resize((lines_.size() + block_size - 1) / block_size);
    is_changed_.assign(block_.size(), 1);
    for (std::uint32_t b = 0; b < block_.size(); ++b) changed_.push_back(b);
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
    for (const Link link : ids<Link>(places_.size())) loads.push_back(load(link));
    return loads;
}

template <class T>
const CongestionKey& LinkLoads<T>::key() {
    if (std::exchange(unmarked_, false)) mark_changed();
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
    for (const Line& line : lines_) {
        for (std::uint32_t i = 0; i < line.length; ++i)
            soft_ += soft_term(amount_[line.first + i] * soft_factor_[line.rate]);
    }
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
        note(run);
        add_with_soft(run);
    };
    each_message(u, v, [&](Rank end, const Message& message) {
        hop_bytes_ -= hop_bytes_of(end, message);
        route(end, message, [&](const LoadRun& run) { put(run.negative()); });
    });
    sit(u, v, for_u, for_v);
    each_message(u, v, [&](Rank end, const Message& message) {
        hop_bytes_ += hop_bytes_of(end, message);
        route(end, message, put);
    });
    unmarked_ = true;
}

template <class T>
void LinkLoads<T>::undo() {
    take_back_runs();
    if (!std::exchange(unmarked_, false)) mark_changed();
    sit(last_.u, last_.v, last_.seat_of_u, last_.seat_of_v);
    hop_bytes_ = last_.hop_bytes;
    soft_ = last_.soft;
}

/// Most links are far from being the busiest, before and after: a line is looked at only if one of its links is among
/// the busiest, or if it would be with all that is added to the line.
template <class T>
bool LinkLoads<T>::change_if_better(Rank u, Rank v, Seat for_u, Seat for_v) {
    const CongestionKey before = key();
    if (before.links_at_maximum == 0) return false;
    begin_change(u, v);
    ++tries_;
    bool any_critical = false;
    each_message(u, v, [&](Rank end, const Message& message) {
        route(end, message, [&](const LoadRun& run) {
            note(run.negative());
            Line& line = lines_[run.line];
            if (line.most < limit_[line.rate].low) return;
            line.critical = tries_;
            any_critical = true;
        });
    });
    const std::int64_t hop_bytes_before = hop_bytes_of_both(u, v);
    sit(u, v, for_u, for_v);
    const std::int64_t hop_bytes_more = hop_bytes_of_both(u, v) - hop_bytes_before;
    bool better = false;
    if (any_critical || hop_bytes_more < 0) {
        each_message(u, v, [&](Rank end, const Message& message) {
            route(end, message, [&](const LoadRun& run) {
                note(run);
                Line& line = lines_[run.line];
                line.added = run.amount + (line.tried == tries_ ? line.added : 0);
                line.tried = tries_;
                if (line.most + line.added < limit_[line.rate].low) return;
                line.critical = tries_;
                any_critical = true;
            });
        });
        const std::optional<std::int64_t> more = any_critical ? more_at_maximum() : 0;
        better = more && (*more < 0 || (*more == 0 && hop_bytes_more < 0));
        if (better) key_.links_at_maximum += static_cast<std::size_t>(*more);
    }
    if (!better) {
        sit(u, v, last_.seat_of_u, last_.seat_of_v);
        return false;
    }
    for (const LoadRun& run : journal()) add_with_soft(run);
    hop_bytes_ += hop_bytes_more;
    mark_changed();
    key_known_ = key_.links_at_maximum > 0;
    return true;
}

template <class T>
std::optional<std::int64_t> LinkLoads<T>::more_at_maximum() {
    std::int64_t more = 0;
    bool over = false;
    std::size_t done = 0;
    const std::span<const LoadRun> runs = journal();
    for (; done < runs.size() && !over; ++done) {
        const Line& line = lines_[runs[done].line];
        if (line.critical != tries_) continue;
        const Limit limit = limit_[line.rate];
        const bool adds = runs[done].amount > 0;
        each_amount(runs[done], [&](double& amount) {
            more -= amount >= limit.low ? 1 : 0;
            amount += runs[done].amount;
            more += amount >= limit.low ? 1 : 0;
            over |= adds && amount > limit.high;
        });
    }
    for (const LoadRun& run : runs.first(done)) {
        if (lines_[run.line].critical == tries_) add(run, -run.amount);
    }
    if (over) return {};
    return more;
}

template <class T>
void LinkLoads<T>::mark_changed() {
    key_known_ = false;
    ++tries_;
    for (const LoadRun& run : journal()) {
        Line& line = lines_[run.line];
        if (std::exchange(line.tried, tries_) == tries_) continue;
        line.most = most_on(line);
        line.added = 0;
        const std::uint32_t block = run.line / block_size;
        if (is_changed_[block] == 0) changed_.push_back(block);
        is_changed_[block] = 1;
    }
}

template <class T>
void LinkLoads<T>::find_busiest() {
    for (const std::uint32_t b : changed_) {
        block_[b] = 0;
        for (const Line& line : block(b))
            block_[b] = std::max(block_[b], runs_.rates()[line.rate].congestion(line.most));
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
        for (const Line& line : block(b)) {
            const double low = limit_[line.rate].low;
            if (line.most < low) continue;
            for (std::uint32_t i = 0; i < line.length; ++i)
                key_.links_at_maximum += amount_[line.first + i] >= low ? 1 : 0;
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
                const Line& line = lines_[run.line];
                if (line.most < limit_[line.rate].low) return;
                each_amount(run, [&](double amount) { hot |= amount >= limit_[line.rate].low; });
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
