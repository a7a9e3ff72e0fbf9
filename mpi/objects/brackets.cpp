// SPDX-License-Identifier: BSD-3-Clause
// Brackets: what objects insert until all are done travels combined, from stage to stage.
//
// Messages of an object are gathered on its designated rank, where it was at the last fence, wherever it inserts them. That rank
// knows how many objects must be done, and how many messages they have inserted. In every stage but the last it hears from a known
// number of ranks; then it has all that it is to pass on. Where objects have moved since the fence, messages are forwarded.
#include "brackets.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "state.hpp"

extern "C" {
#include "topoloom_schedules.h"
}

namespace topoloom::objects {

namespace {

/// Seconds for a message and for a byte between neighbors, the most of all ranks: the least of some exchanges.
std::array<double, 2> measured_costs(MPI_Comm comm, int rank, int ranks) {
    constexpr int small = 8, large = 1 << 16, rounds = 10;
    const int partner = (rank ^ 1) < ranks ? rank ^ 1 : MPI_PROC_NULL;
    std::vector<char> out(large), in(large);
    std::array<double, 2> least{1, 1};
    for (int round = 0; round < 2 * rounds; ++round) {
        const auto which = static_cast<std::size_t>(round / rounds);
        const int bytes = which == 0 ? small : large;
        const double begin = PMPI_Wtime();
        PMPI_Sendrecv(out.data(), bytes, MPI_BYTE, partner, 0, in.data(), bytes, MPI_BYTE, partner, 0, comm,
                      MPI_STATUS_IGNORE);
        least[which] = std::min(least[which], PMPI_Wtime() - begin);
    }
    std::array<double, 2> costs{std::max(least[0], 1e-9), std::max(least[1] - least[0], 1e-9) / large};
    PMPI_Allreduce(MPI_IN_PLACE, costs.data(), 2, MPI_DOUBLE, MPI_MAX, comm);
    return costs;
}

}  // namespace

Bracket::Turn::~Turn() {
    for (const Carried& carried : held) Message::discard(carried.message);
}

std::uint32_t State::add_bracket(std::uint32_t array, const ManyToManyOptions& given) {
    const int ranks = transport->ranks();
    if (given.among.empty()) fail("a many-to-many has no strategy to choose from");
    if (!(given.alpha >= 0) || !(given.beta >= 0))
        fail("alpha and beta of a many-to-many are seconds from 0 on");
    if (brackets.size() > 0xFFFF) fail("there are 65,536 many-to-manys already");
    Bracket& made = brackets.emplace_back();
    made.array = array;
    made.options = given;
    if (given.alpha <= 0 || given.beta <= 0) {
        MPI_Comm apart = MPI_COMM_NULL;  // from what the transport receives
        PMPI_Comm_dup(comm, &apart);
        const std::array<double, 2> costs = measured_costs(apart, transport->rank(), ranks);
        PMPI_Comm_free(&apart);
        made.options.alpha = costs[0];
        made.options.beta = costs[1];
    }
    int empty = arrays[array]->designated == 0 ? 1 : 0;
    PMPI_Allreduce(MPI_IN_PLACE, &empty, 1, MPI_INT, MPI_MAX, comm);
    made.some_are_empty = empty != 0;
    install(made, given.among.front());
    return static_cast<std::uint32_t>(brackets.size() - 1);
}

void State::install(Bracket& bracket, Combining strategy) {
    bracket.learned.strategy = strategy;
    bracket.stages = Stages(strategy, transport->ranks());
    bracket.senders.clear();
    for (std::size_t stage = 0; stage < bracket.stages.count(); ++stage)
        bracket.senders.push_back(
            bracket.stages.is_last(stage) ? 0 : bracket.stages.senders(stage, transport->rank()));
}

int State::designated(const Resident& resident) const {
    return resident.left_in == phases ? resident.designated : transport->rank();
}

Inserting& State::inserting(Resident& resident, std::uint32_t bracket) {
    Inserting& of = resident.inserting[bracket];
    if (of.phase != phases) of = {phases, 0, 0};
    return of;
}

void State::insert(std::uint32_t bracket, Resident& resident, Message* message) {
    Inserting& of = inserting(resident, bracket);
    ++of.inserted;
    Header& header = message->header;
    if (options.measures) {
        Sent& sent = resident.sent[Sender::of(header.array, header.index)];
        sent.bytes += header.bytes;
        ++sent.messages;
    }
    const int to = designated(resident);
    header.kind = Kind::inserted;
    header.bracket = static_cast<std::uint16_t>(bracket);
    header.sequence = of.turn;
    header.origin = to;
    header.sender = Sender::of(resident.array, resident.index);
    if (to == transport->rank()) return take_inserted(message);
    transport->send(to, header, message->values());
    Message::discard(message);
}

void State::be_done(std::uint32_t bracket, Resident& resident) {
    Inserting& of = inserting(resident, bracket);
    Header header;
    header.kind = Kind::done_inserting;
    header.bracket = static_cast<std::uint16_t>(bracket);
    header.sequence = of.turn++;
    header.index = std::exchange(of.inserted, 0);
    const int to = designated(resident);
    if (to == transport->rank()) return take_done(header);
    transport->send(to, header, nullptr);
}

void State::take_inserted(Message* message) {
    const Header header = message->header;  // a copy: completing its turn packs and frees the message
    Bracket& bracket = brackets[header.bracket];
    Bracket::Turn& turn = bracket.turns[header.sequence];
    ++turn.inserted;
    turn.held.push_back({whereabouts(*arrays[header.array], header.index), message, true});
    go_on(bracket, header);
}

void State::take_done(const Header& header) {
    Bracket& bracket = brackets[header.bracket];
    Bracket::Turn& turn = bracket.turns[header.sequence];
    ++turn.done;
    turn.expected += header.index;
    go_on(bracket, header);
}

/// Ranks without objects hear that a bracket has begun, where others wait for them.
void State::take_opening(const Header& header) {
    Bracket& bracket = brackets[header.bracket];
    Bracket::Turn& turn = bracket.turns[header.sequence];
    if (turn.is_open) return;
    turn.is_open = true;
    if (bracket.some_are_empty && bracket.stages.count() > 1) {
        Header opens = header;
        opens.kind = Kind::opens_bracket;
        opens.bytes = 0;
        if (transport->rank() != 0) transport->send(parent_of(transport->rank()), opens, nullptr);
        each_child(transport->rank(), transport->ranks(),
                   [&](int child) { transport->send(child, opens, nullptr); });
    }
    go_on(bracket, header);
}

void State::take_combined(const Header& header, const char* values) {
    Bracket& bracket = brackets[header.bracket];
    const bool is_last = bracket.stages.is_last(header.entry);
    Bracket::Turn& turn = bracket.turns[header.sequence];
    for (std::size_t at = 0; at < header.bytes;) {
        std::int32_t to = 0;
        Header inner;
        std::memcpy(&to, values + at, sizeof to);
        std::memcpy(&inner, values + at + sizeof to, sizeof inner);
        at += sizeof to + sizeof inner;
        Message* const message = Message::copy(inner, values + at);
        at += inner.bytes;
        if (is_last)
            take_carried(message);
        else
            turn.held.push_back({to, message, false});
    }
    if (is_last) return;
    turn.came.resize(bracket.stages.count());
    ++turn.came[header.entry];
    take_opening(header);
    go_on(bracket, header);
}

/// Where its object should be.
void State::take_carried(Message* message) {
    message->header.kind = Kind::to_object;
    message->header.sequence = 0;
    const Header& header = message->header;
    if (resident(header.array, header.index) != nullptr) return queue.push(message);
    const int here = transport->rank();
    // It may have overtaken its object on the way here: back to who sent it, whose next message comes behind the object.
    if (whereabouts(*arrays[header.array], header.index) == here && header.origin != here) {
        message->header.was_forwarded = true;
        transport->send(header.origin, header, message->values());
    } else {
        pass_on(header, message->values());
    }
    Message::discard(message);
}

/// Begins when all is inserted, and takes stage after stage when all of the one before has come.
void State::go_on(Bracket& bracket, const Header& header) {
    Bracket::Turn& turn = bracket.turns[header.sequence];
    const Stages& stages = bracket.stages;
    if (turn.is_closed || (!turn.has_begun && (turn.done != arrays[bracket.array]->designated ||
                                               turn.inserted != turn.expected)))
        return;
    if (!turn.has_begun) {
        turn.has_begun = true;
        note(bracket, turn);
        take_opening(header);
        if (turn.is_closed) return;
    }
    turn.came.resize(stages.count());
    for (; turn.stage < stages.count(); ++turn.stage, turn.has_sent = false) {
        if (!std::exchange(turn.has_sent, true)) send_stage(bracket, turn, header);
        if (turn.came[turn.stage] < bracket.senders[turn.stage]) return;
    }
    turn.is_closed = true;
    for (const Bracket::Carried& carried : std::exchange(turn.held, {})) take_carried(carried.message);
}

/// Degree and bytes, for the fence.
void State::note(Bracket& bracket, const Bracket::Turn& turn) {
    std::set<int> peers;
    for (const Bracket::Carried& carried : turn.held) {
        if (!carried.is_own || carried.to == transport->rank()) continue;
        peers.insert(carried.to);
        bracket.seen.bytes += static_cast<std::int64_t>(sizeof(Header)) + carried.message->header.bytes;
    }
    ++bracket.seen.turns;
    bracket.seen.peers += static_cast<std::int64_t>(peers.size());
}

void State::send_stage(Bracket& bracket, Bracket::Turn& turn, const Header& of) {
    const int here = transport->rank();
    std::map<int, std::vector<char>> packed;
    if (!bracket.stages.is_last(turn.stage))
        for (const int to : bracket.stages.receivers(turn.stage, here)) packed[to];
    std::vector<Bracket::Carried> stay;
    for (const Bracket::Carried& carried : std::exchange(turn.held, {})) {
        const int to = bracket.stages.hop(turn.stage, here, carried.to);
        if (to == here) {
            stay.push_back(carried);
            continue;
        }
        std::vector<char>& bytes = packed[to];
        const std::int32_t last = carried.to;
        const auto add = [&](const void* from, std::size_t count) {
            const char* const begin = static_cast<const char*>(from);
            bytes.insert(bytes.end(), begin, begin + count);
        };
        add(&last, sizeof last);
        add(&carried.message->header, sizeof(Header));
        add(carried.message->values(), carried.message->header.bytes);
        Message::discard(carried.message);
    }
    turn.held = std::move(stay);
    Header header;
    header.kind = Kind::combined;
    header.bracket = of.bracket;
    header.sequence = of.sequence;
    header.entry = static_cast<std::uint32_t>(turn.stage);
    for (const auto& [to, bytes] : packed) {
        if (bytes.size() > 0x7FFF0000) fail("combined messages of a many-to-many have more than 2 GB");
        header.bytes = static_cast<std::uint32_t>(bytes.size());
        transport->send(to, header, bytes.data());
    }
}

/// All ranks learn where objects have gone, and what brackets were like; then the cheapest strategy is installed everywhere.
void State::fence() {
    for (const auto& array : arrays) array->designated = array->residents.size();
    ++phases;
    if (brackets.empty()) return arrived.clear();
    constexpr std::size_t numbers = 4;
    std::vector<std::int64_t> sums(numbers * brackets.size() + 2);
    for (std::size_t b = 0; b < brackets.size(); ++b) {
        const Bracket& of = brackets[b];
        sums[numbers * b] = of.seen.turns;
        sums[numbers * b + 1] = of.seen.peers;
        sums[numbers * b + 2] = of.seen.bytes;
        sums[numbers * b + 3] = arrays[of.array]->designated == 0 ? 1 : 0;
    }
    std::string unfinished;
    for (Bracket& of : brackets) {
        for (const auto& [number, turn] : of.turns)
            if (arrays[of.array]->front != nullptr && !turn.is_closed &&
                (turn.done > 0 || turn.inserted > 0 || turn.is_open))
                unfinished = "in a many-to-many of " + std::string(arrays[of.array]->type.name) + " only " +
                             std::to_string(turn.done) + " objects of rank " +
                             std::to_string(transport->rank()) + " are done: all must be, before the fence";
        of.turns.clear();
        of.seen = {};
    }
    const std::vector<Whereabouts> moved = own_arrivals();
    sums[numbers * brackets.size()] = static_cast<std::int64_t>(moved.size());
    sums[numbers * brackets.size() + 1] = unfinished.empty() ? 0 : 1;
    PMPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_INT64_T, MPI_SUM, comm);
    if (sums[numbers * brackets.size()] > 0) learn_locations(moved);
    for (std::size_t b = 0; b < brackets.size(); ++b) {
        brackets[b].some_are_empty = sums[numbers * b + 3] > 0;
        learn(brackets[b], {sums[numbers * b], sums[numbers * b + 1], sums[numbers * b + 2]});
    }
    if (sums.back() > 0) fail(!unfinished.empty() ? unfinished : "a many-to-many is not done on other ranks");
}

std::vector<Whereabouts> State::own_arrivals() {
    std::vector<Whereabouts> moved;
    for (const Address& address : std::exchange(arrived, {}))
        if (const Resident* const here = resident(address.array, address.index))
            moved.push_back({address.index, {transport->rank(), here->moves}, address.array});
    return moved;
}

void State::learn_locations(const std::vector<Whereabouts>& own) {
    const int ranks = transport->ranks(), count = static_cast<int>(own.size() * sizeof own[0]);
    std::vector<int> counts(static_cast<std::size_t>(ranks)), offsets(counts.size());
    PMPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, comm);
    for (std::size_t i = 1; i < counts.size(); ++i) offsets[i] = offsets[i - 1] + counts[i - 1];
    std::vector<Whereabouts> all(static_cast<std::size_t>(offsets.back() + counts.back()) / sizeof own[0]);
    PMPI_Allgatherv(own.data(), count, MPI_BYTE, all.data(), counts.data(), offsets.data(), MPI_BYTE, comm);
    for (const Whereabouts& one : all) locate(*arrays[one.array], one.index, one.location);
}

void State::learn(Bracket& bracket, const Bracket::Seen& of_all) {
    if (of_all.turns == 0) return;
    bracket.learned.degree = static_cast<double>(of_all.peers) / static_cast<double>(of_all.turns);
    bracket.learned.bytes =
        of_all.peers > 0 ? static_cast<double>(of_all.bytes) / static_cast<double>(of_all.peers) : 0;
    double least = -1;
    Combining best = bracket.learned.strategy;
    for (const Combining strategy : bracket.options.among) {
        double seconds = 0;
        char error[256];
        if (topoloom_many_to_many_time(static_cast<topoloom_combining>(strategy),
                                       static_cast<std::uint64_t>(transport->ranks()), bracket.learned.degree,
                                       bracket.learned.bytes, bracket.options.alpha, bracket.options.beta,
                                       &seconds, error, sizeof error) != 0)
            fail(error);
        if (least >= 0 && seconds >= least) continue;
        least = seconds;
        best = strategy;
    }
    if (best != bracket.learned.strategy) install(bracket, best);
}

}  // namespace topoloom::objects
