// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/metric/bus_time.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>

#include "topoloom/base/error.hpp"

namespace topoloom {

namespace {

constexpr std::size_t max_stations = 64;
constexpr std::size_t max_half_way = 12;
constexpr std::size_t max_steps = 4096;  // limit of steps per search for free rings
// Limit of simulated pieces, in total over all direction choices.
constexpr std::int64_t max_pieces = 1 << 20;

/// Time, in bytes that a ring transfers.
using Clock = std::int64_t;

/// A set of links. Bit i is the link between station i and the next station clockwise.
using Arc = std::uint64_t;

struct BusRoute {
    Arc arc = 0;
    bool clockwise = true;
};

/// Returns the arc from a to b in one direction.
BusRoute route_between(const RingBus& bus, Node a, Node b, bool clockwise) {
    const auto n = static_cast<std::uint32_t>(bus.node_count());
    BusRoute route{0, clockwise};
    const Node first = clockwise ? a : b;
    const Node last = clockwise ? b : a;
    for (std::uint32_t at = first.value; at != last.value; at = at + 1 == n ? 0 : at + 1)
        route.arc |= Arc{1} << at;
    return route;
}

struct Piece {
    std::size_t message;
    Arc arc;
    Clock end;
};

/// The pieces in flight. A piece consists of many bus transfers, each of which can use a different ring. So a
/// new piece fits if all pieces of its direction can be reassigned to the rings.
class Rings {
   public:
    Rings(const RingBus& bus, std::span<const BusMessage> messages, const BusTiming& timing)
        : spec_(bus.spec()), messages_(messages), memory_(timing.memory), ring_ends_(timing.ring_ends) {
        const std::uint32_t n = spec_.stations;
        ends_ = Arc{1} << (n - 1) | Arc{1} << ((n - 1) / 2);
    }

    /// Starts a piece, which occupies its resources until `now + bytes`. Returns false if the piece must
    /// wait.
    bool start_piece(std::size_t i, const BusRoute& route, Clock bytes, Clock now) {
        const auto [from, to, size] = messages_[i];
        if ((sends_ >> from.value & 1) != 0 || (receives_ >> to.value & 1) != 0 ||
            (memory_busy_ && uses_memory(i)))
            return false;
        std::vector<Piece>& flying = in_flight_[route.clockwise ? 0 : 1];
        flying.push_back({i, route.arc, now + bytes});
        if (!fits_on_rings(flying)) {
            flying.pop_back();
            return false;
        }
        set_occupied(i, true);
        return true;
    }

    /// Removes the pieces that arrive next, and calls visit(message) for each of them. Returns the time of
    /// their arrival.
    template <class Visit>
    Clock finish_next(const Visit& visit) {
        Clock next = std::numeric_limits<Clock>::max();
        for (const auto& flying : in_flight_) {
            for (const Piece& piece : flying) next = std::min(next, piece.end);
        }
        for (auto& flying : in_flight_) {
            std::erase_if(flying, [&](const Piece& piece) {
                if (piece.end != next) return false;
                set_occupied(piece.message, false);
                visit(piece.message);
                return true;
            });
        }
        return next;
    }

   private:
    struct Ring {
        Arc busy = 0;
        std::uint32_t pieces = 0;
        std::uint32_t long_past_end = 0;
        std::int64_t size = 0;  // message size if all pieces have the same, or 0
    };

    [[nodiscard]] bool fits_on_rings(const std::vector<Piece>& flying) const {
        Arc once = 0;
        Arc twice = 0;
        for (const Piece& piece : flying) {
            twice |= once & piece.arc;
            once |= piece.arc;
        }
        const bool all_fit = spec_.transfers == 0 || flying.size() <= spec_.transfers;
        if (twice == 0 && all_fit && !ring_ends_) return true;
        std::vector<Ring> rings(spec_.rings);
        std::size_t steps = 0;
        return assign_to_rings(flying, 0, rings, steps);
    }

    /// Assigns piece `next` and all later pieces to rings; earlier pieces are already assigned. Returns
    /// whether all fit.
    [[nodiscard]] bool assign_to_rings(const std::vector<Piece>& flying, std::size_t next,
                                       std::vector<Ring>& rings, std::size_t& steps) const {
        if (next == flying.size()) return true;
        const Piece& piece = flying[next];
        const std::int64_t size = messages_[piece.message].bytes.value;
        const bool past_end = std::popcount(piece.arc) >= 2 && (piece.arc & ends_) != 0;
        for (Ring& ring : rings) {
            if (++steps > max_steps) return false;
            const Ring before = ring;
            const bool full = spec_.transfers > 0 && ring.pieces >= spec_.transfers;
            if (!full && (ring.busy & piece.arc) == 0) {
                ring.size = ring.pieces == 0 || ring.size == size ? size : 0;
                ring.busy |= piece.arc;
                ring.pieces += 1;
                ring.long_past_end += past_end ? 1 : 0;
                const bool slow = ring_ends_ && ring.pieces >= 3 && ring.size != 0 && ring.long_past_end >= 2;
                if (!slow && assign_to_rings(flying, next + 1, rings, steps)) return true;
                ring = before;
            }
            // Empty rings are equivalent, so try only one of them.
            if (before.pieces == 0) return false;
        }
        return false;
    }

    [[nodiscard]] bool uses_memory(std::size_t i) const {
        return messages_[i].from == memory_ || messages_[i].to == memory_;
    }
    void set_occupied(std::size_t i, bool busy) {
        const auto set = [&](std::uint64_t& stations, Node node) {
            const std::uint64_t bit = std::uint64_t{1} << node.value;
            stations = busy ? stations | bit : stations & ~bit;
        };
        set(sends_, messages_[i].from);
        set(receives_, messages_[i].to);
        if (uses_memory(i)) memory_busy_ = busy;
    }

    RingBusSpec spec_;
    std::span<const BusMessage> messages_;
    Node memory_;
    bool ring_ends_;
    Arc ends_ = 0;
    std::array<std::vector<Piece>, 2> in_flight_;  // pieces in flight clockwise and counter-clockwise
    std::uint64_t sends_ = 0;                      // whether each station is sending
    std::uint64_t receives_ = 0;
    bool memory_busy_ = false;
};

/// Returns the arrival time of each message.
std::vector<Clock> simulate_arrivals(const RingBus& bus, std::span<const BusMessage> messages,
                                     std::span<const BusRoute> routes, const BusTiming& timing) {
    struct Waiting {
        Clock since;
        std::size_t message;
        auto operator<=>(const Waiting&) const = default;
    };
    Rings rings(bus, messages, timing);
    std::vector<Clock> end(messages.size(), 0);
    std::vector<Clock> left(messages.size(), 0);
    std::vector<Waiting> waiting;
    for (std::size_t i = 0; i < messages.size(); ++i) {
        if (messages[i].bytes < timing.piece) {
            end[i] = messages[i].bytes.value;
        } else {
            left[i] = messages[i].bytes.value;
            waiting.push_back({0, i});
        }
    }
    std::size_t in_flight = 0;
    for (Clock now = 0; in_flight > 0 || !waiting.empty();) {
        std::ranges::sort(waiting);
        std::erase_if(waiting, [&](const Waiting& next) {
            const Clock bytes = std::min(left[next.message], timing.piece.value);
            if (!rings.start_piece(next.message, routes[next.message], bytes, now)) return false;
            left[next.message] -= bytes;
            ++in_flight;
            return true;
        });
        std::vector<std::size_t> arrived;
        now = rings.finish_next([&](std::size_t i) { arrived.push_back(i); });
        for (const std::size_t i : arrived) {
            --in_flight;
            end[i] = now;
            if (left[i] > 0) waiting.push_back({now, i});
        }
    }
    return end;
}

void check_arguments(const RingBus& bus, std::span<const BusMessage> messages, const BusTiming& timing) {
    if (bus.node_count() > max_stations)
        fail("times are known for buses of up to ", max_stations, " stations, not of ", bus.node_count());
    if (timing.piece < Bytes{1}) fail("a piece has 1 byte or more, not ", timing.piece.value);
    if (!(timing.startup >= Seconds{0})) fail("a startup takes 0 s or more, not ", timing.startup.value);
    for (const BusMessage& message : messages) {
        const std::size_t last = std::max(message.from.value, message.to.value);
        if (last >= bus.node_count())
            fail("no station ", last, " on a bus of ", bus.node_count(), " stations");
        if (message.from == message.to) fail("station ", message.from.value, " sends a message to itself");
        if (message.bytes < Bytes{1}) fail("a message has 1 byte or more, not ", message.bytes.value);
    }
}

/// Adds a rate to `all`. The caller divides the mean by the number of direction choices at the end.
void add_rate(BusRate& all, BytesPerSecond rate, bool first) {
    all.worst = first ? rate : std::min(all.worst, rate);
    all.best = first ? rate : std::max(all.best, rate);
    all.mean += rate;
}

}  // namespace

BusRates bus_rates(const RingBus& bus, std::span<const BusMessage> messages, const BusTiming& timing) {
    check_arguments(bus, messages, timing);
    const auto n = static_cast<std::uint32_t>(bus.node_count());
    std::vector<BusRoute> routes;
    std::vector<std::size_t> half_way;
    for (std::size_t i = 0; i < messages.size(); ++i) {
        const auto [from, to, bytes] = messages[i];
        const std::uint32_t clockwise = (to.value + n - from.value) % n;
        const bool tie = 2 * clockwise == n && bus.spec().split_ties;
        if (tie && bytes >= timing.piece) half_way.push_back(i);
        routes.push_back(route_between(bus, from, to, 2 * clockwise <= n));
    }
    if (half_way.size() > max_half_way)
        fail(half_way.size(), " messages go half-way around, either way; at most ", max_half_way,
             " are supported");
    BusRates rates;
    rates.of_message.resize(messages.size());
    rates.ways = std::size_t{1} << half_way.size();
    std::int64_t pieces = 0;
    for (const BusMessage& message : messages) {
        pieces += message.bytes.value / timing.piece.value + 1;
        if (pieces > max_pieces / static_cast<std::int64_t>(rates.ways))
            fail("messages of more than ", max_pieces / static_cast<std::int64_t>(rates.ways),
                 " pieces in all, of ", timing.piece.value,
                 " B each; make the messages smaller, or the pieces larger");
    }
    const double ring = bus.spec().bandwidth.value;
    for (std::size_t way = 0; way < rates.ways; ++way) {
        for (std::size_t k = 0; k < half_way.size(); ++k) {
            const BusMessage& message = messages[half_way[k]];
            routes[half_way[k]] = route_between(bus, message.from, message.to, (way >> k & 1) == 0);
        }
        const std::vector<Clock> end = simulate_arrivals(bus, messages, routes, timing);
        double slowest = std::numeric_limits<double>::infinity();
        double sum = 0;
        for (std::size_t i = 0; i < messages.size(); ++i) {
            const double seconds = timing.startup.value + static_cast<double>(end[i]) / ring;
            const double rate = static_cast<double>(messages[i].bytes.value) / seconds;
            add_rate(rates.of_message[i], BytesPerSecond{rate}, way == 0);
            slowest = std::min(slowest, rate);
            sum += rate;
        }
        if (messages.empty()) break;
        add_rate(rates.slowest, BytesPerSecond{slowest}, way == 0);
        add_rate(rates.average, BytesPerSecond{sum / static_cast<double>(messages.size())}, way == 0);
    }
    const double share = 1 / static_cast<double>(rates.ways);
    for (BusRate& rate : rates.of_message) rate.mean = rate.mean * share;
    rates.slowest.mean = rates.slowest.mean * share;
    rates.average.mean = rates.average.mean * share;
    return rates;
}

}  // namespace topoloom
