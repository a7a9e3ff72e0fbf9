// SPDX-License-Identifier: BSD-3-Clause
// Combined exchanges: objects insert messages until all objects are done; ranks combine the messages and send them in
// stages.
//
// Messages of an object are collected on its designated rank: the rank of the object at the last fence. The designated
// rank counts the objects that are done, and the messages that these have inserted. In every stage except the last, a
// rank waits for messages from a known number of ranks before it forwards. Messages to objects that have moved since
// the fence are forwarded.
#include "combined_exchange_state.hpp"

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

/// Measures the seconds per message and per byte between neighbors: the minimum over several exchanges, then
/// the maximum over ranks.
std::array<double, 2> measure_message_costs(MPI_Comm comm, int rank, int ranks) {
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

CombinedExchange::Round::~Round() {
    for (const HeldMessage& one : held) Message::discard(one.message);
}

std::uint32_t SchedulerState::add_exchange(std::uint32_t array, const ManyToManyOptions& exchange_options) {
    const int ranks = transport->ranks();
    if (exchange_options.strategies.empty()) fail("a many-to-many needs at least one strategy");
    if (!(exchange_options.alpha >= 0) || !(exchange_options.beta >= 0))
        fail("alpha and beta of a many-to-many must not be negative");
    if (exchanges.size() > 0xFFFF) fail("there are already 65,536 many-to-manys");
    CombinedExchange& exchange = exchanges.emplace_back();
    exchange.array = array;
    exchange.options = exchange_options;
    if (exchange_options.alpha <= 0 || exchange_options.beta <= 0) {
        MPI_Comm separate = MPI_COMM_NULL;  // separates the messages from those of the transport
        PMPI_Comm_dup(comm, &separate);
        const std::array<double, 2> costs = measure_message_costs(separate, transport->rank(), ranks);
        PMPI_Comm_free(&separate);
        exchange.options.alpha = costs[0];
        exchange.options.beta = costs[1];
    }
    int empty = arrays[array]->fence_objects == 0 ? 1 : 0;
    PMPI_Allreduce(MPI_IN_PLACE, &empty, 1, MPI_INT, MPI_MAX, comm);
    exchange.has_empty_ranks = empty != 0;
    install_strategy(exchange, exchange_options.strategies.front());
    return static_cast<std::uint32_t>(exchanges.size() - 1);
}

void SchedulerState::install_strategy(CombinedExchange& exchange, Combining strategy) {
    exchange.choice.strategy = strategy;
    exchange.stages = ExchangeStages(strategy, transport->ranks());
    exchange.senders.clear();
    for (std::size_t stage = 0; stage < exchange.stages.count(); ++stage)
        exchange.senders.push_back(
            exchange.stages.is_last(stage) ? 0 : exchange.stages.count_senders(stage, transport->rank()));
}

int SchedulerState::get_insertion_rank(const Resident& resident) const {
    return resident.moved_in_phase == phases ? resident.fence_rank : transport->rank();
}

Insertions& SchedulerState::get_insertions(Resident& resident, std::uint32_t exchange) {
    Insertions& of = resident.insertions[exchange];
    if (of.phase != phases) of = {phases, 0, 0};
    return of;
}

void SchedulerState::insert(std::uint32_t exchange, Resident& resident, Message* message) {
    Insertions& of = get_insertions(resident, exchange);
    ++of.count;
    MessageHeader& header = message->header;
    if (options.measure) {
        Traffic& sent = resident.sent[ObjectKey::make(header.array, header.index)];
        sent.bytes += header.bytes;
        ++sent.messages;
    }
    const int to = get_insertion_rank(resident);
    header.kind = MessageKind::insertion;
    header.exchange = static_cast<std::uint16_t>(exchange);
    header.sequence = of.round;
    header.origin = to;
    header.sender = ObjectKey::make(resident.array, resident.index);
    if (to == transport->rank()) return receive_insertion(message);
    transport->send(to, header, message->values());
    Message::discard(message);
}

void SchedulerState::finish_insertions(std::uint32_t exchange, Resident& resident) {
    Insertions& of = get_insertions(resident, exchange);
    MessageHeader header;
    header.kind = MessageKind::insertions_done;
    header.exchange = static_cast<std::uint16_t>(exchange);
    header.sequence = of.round++;
    header.index = std::exchange(of.count, 0);
    const int to = get_insertion_rank(resident);
    if (to == transport->rank()) return receive_insertions_done(header);
    transport->send(to, header, nullptr);
}

void SchedulerState::receive_insertion(Message* message) {
    const MessageHeader header =
        message->header;  // copy the header, because completing the round frees the message
    CombinedExchange& exchange = exchanges[header.exchange];
    CombinedExchange::Round& round = exchange.rounds[header.sequence];
    ++round.inserted;
    round.held.push_back({get_last_known_rank(*arrays[header.array], header.index), message, true});
    advance_exchange(exchange, header);
}

void SchedulerState::receive_insertions_done(const MessageHeader& header) {
    CombinedExchange& exchange = exchanges[header.exchange];
    CombinedExchange::Round& round = exchange.rounds[header.sequence];
    ++round.done_objects;
    round.expected += header.index;
    advance_exchange(exchange, header);
}

/// Notifies ranks without objects, which other ranks wait for, that a round has begun.
void SchedulerState::open_exchange(const MessageHeader& header) {
    CombinedExchange& exchange = exchanges[header.exchange];
    CombinedExchange::Round& round = exchange.rounds[header.sequence];
    if (round.is_open) return;
    round.is_open = true;
    if (exchange.has_empty_ranks && exchange.stages.count() > 1) {
        MessageHeader opened = header;
        opened.kind = MessageKind::exchange_opened;
        opened.bytes = 0;
        if (transport->rank() != 0) transport->send(get_parent_rank(transport->rank()), opened, nullptr);
        for_each_child(transport->rank(), transport->ranks(),
                       [&](int child) { transport->send(child, opened, nullptr); });
    }
    advance_exchange(exchange, header);
}

void SchedulerState::receive_combined(const MessageHeader& header, const char* values) {
    CombinedExchange& exchange = exchanges[header.exchange];
    const bool is_last = exchange.stages.is_last(header.entry);
    CombinedExchange::Round& round = exchange.rounds[header.sequence];
    for (std::size_t at = 0; at < header.bytes;) {
        std::int32_t to = 0;
        MessageHeader inner;
        std::memcpy(&to, values + at, sizeof to);
        std::memcpy(&inner, values + at + sizeof to, sizeof inner);
        at += sizeof to + sizeof inner;
        Message* const message = Message::copy(inner, values + at);
        at += inner.bytes;
        if (is_last)
            deliver_combined_message(message);
        else
            round.held.push_back({to, message, false});
    }
    if (is_last) return;
    round.received.resize(exchange.stages.count());
    ++round.received[header.entry];
    open_exchange(header);
    advance_exchange(exchange, header);
}

/// Delivers a message on the last known rank of its object.
void SchedulerState::deliver_combined_message(Message* message) {
    message->header.kind = MessageKind::call;
    message->header.sequence = 0;
    const MessageHeader& header = message->header;
    if (find_resident(header.array, header.index) != nullptr) return queue.push(message);
    const int here = transport->rank();
    // The message may have overtaken its object on the way to this rank. Return it to the sender, whose next message
    // arrives after the object.
    if (get_last_known_rank(*arrays[header.array], header.index) == here && header.origin != here) {
        message->header.was_forwarded = true;
        transport->send(header.origin, header, message->values());
    } else {
        forward_message(header, message->values());
    }
    Message::discard(message);
}

/// Begins a round after all messages have been inserted, and a stage after all messages of the previous stage have
/// arrived.
void SchedulerState::advance_exchange(CombinedExchange& exchange, const MessageHeader& header) {
    CombinedExchange::Round& round = exchange.rounds[header.sequence];
    const ExchangeStages& stages = exchange.stages;
    if (round.is_complete) return;
    if (!round.has_begun) {
        const bool is_ready =
            round.done_objects == arrays[exchange.array]->fence_objects && round.inserted == round.expected;
        if (!is_ready) return;
        round.has_begun = true;
        count_exchange_traffic(exchange, round);
        open_exchange(header);
        if (round.is_complete) return;
    }
    round.received.resize(stages.count());
    for (; round.stage < stages.count(); ++round.stage, round.has_sent = false) {
        if (!std::exchange(round.has_sent, true)) send_stage(exchange, round, header);
        if (round.received[round.stage] < exchange.senders[round.stage]) return;
    }
    round.is_complete = true;
    for (const CombinedExchange::HeldMessage& held : std::exchange(round.held, {}))
        deliver_combined_message(held.message);
}

/// Counts peers and bytes; the fence chooses a strategy from these.
void SchedulerState::count_exchange_traffic(CombinedExchange& exchange,
                                            const CombinedExchange::Round& round) {
    std::set<int> peers;
    for (const CombinedExchange::HeldMessage& held : round.held) {
        if (!held.is_own || held.to == transport->rank()) continue;
        peers.insert(held.to);
        exchange.totals.bytes +=
            static_cast<std::int64_t>(sizeof(MessageHeader)) + held.message->header.bytes;
    }
    ++exchange.totals.rounds;
    exchange.totals.peers += static_cast<std::int64_t>(peers.size());
}

void SchedulerState::send_stage(CombinedExchange& exchange, CombinedExchange::Round& round,
                                const MessageHeader& of) {
    const int here = transport->rank();
    std::map<int, std::vector<char>> packed;
    if (!exchange.stages.is_last(round.stage))
        for (const int to : exchange.stages.list_receivers(round.stage, here)) packed[to];
    std::vector<CombinedExchange::HeldMessage> staying;
    for (const CombinedExchange::HeldMessage& held : std::exchange(round.held, {})) {
        const int to = exchange.stages.next_hop(round.stage, here, held.to);
        if (to == here) {
            staying.push_back(held);
            continue;
        }
        std::vector<char>& bytes = packed[to];
        const std::int32_t destination = held.to;
        const auto append = [&](const void* from, std::size_t count) {
            const char* const begin = static_cast<const char*>(from);
            bytes.insert(bytes.end(), begin, begin + count);
        };
        append(&destination, sizeof destination);
        append(&held.message->header, sizeof(MessageHeader));
        append(held.message->values(), held.message->header.bytes);
        Message::discard(held.message);
    }
    round.held = std::move(staying);
    MessageHeader header;
    header.kind = MessageKind::combined;
    header.exchange = of.exchange;
    header.sequence = of.sequence;
    header.entry = static_cast<std::uint32_t>(round.stage);
    for (const auto& [to, bytes] : packed) {
        if (bytes.size() > 0x7FFF0000) fail("combined messages of a many-to-many have more than 2 GB");
        header.bytes = static_cast<std::uint32_t>(bytes.size());
        transport->send(to, header, bytes.data());
    }
}

/// Ends a phase: gathers the locations of moved objects and the totals of exchanges on all ranks, and installs the
/// fastest strategies.
void SchedulerState::run_fence() {
    for (const auto& array : arrays) array->fence_objects = array->residents.size();
    ++phases;
    if (exchanges.empty()) return arrivals.clear();
    constexpr std::size_t values = 4;
    std::vector<std::int64_t> sums(values * exchanges.size() + 2);
    std::string unfinished;
    for (std::size_t e = 0; e < exchanges.size(); ++e) {
        CombinedExchange& exchange = exchanges[e];
        const Array& array = *arrays[exchange.array];
        sums[values * e] = exchange.totals.rounds;
        sums[values * e + 1] = exchange.totals.peers;
        sums[values * e + 2] = exchange.totals.bytes;
        sums[values * e + 3] = array.fence_objects == 0 ? 1 : 0;
        for (const auto& [number, round] : exchange.rounds)
            if (array.user_array != nullptr && !round.is_complete &&
                (round.done_objects > 0 || round.inserted > 0 || round.is_open))
                unfinished = "in a many-to-many of " + std::string(array.type.name) + " only " +
                             std::to_string(round.done_objects) + " objects of rank " +
                             std::to_string(transport->rank()) + " are done: all must be, before the fence";
        exchange.rounds.clear();
        exchange.totals = {};
    }
    const std::vector<MovedObject> moved = list_arrivals();
    sums[values * exchanges.size()] = static_cast<std::int64_t>(moved.size());
    sums[values * exchanges.size() + 1] = unfinished.empty() ? 0 : 1;
    PMPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_INT64_T, MPI_SUM, comm);
    if (sums[values * exchanges.size()] > 0) gather_locations(moved);
    for (std::size_t e = 0; e < exchanges.size(); ++e) {
        exchanges[e].has_empty_ranks = sums[values * e + 3] > 0;
        choose_strategy(exchanges[e], {sums[values * e], sums[values * e + 1], sums[values * e + 2]});
    }
    if (sums.back() > 0) fail(!unfinished.empty() ? unfinished : "a many-to-many is not done on other ranks");
}

std::vector<MovedObject> SchedulerState::list_arrivals() {
    std::vector<MovedObject> moved;
    for (const ObjectAddress& address : std::exchange(arrivals, {}))
        if (const Resident* const here = find_resident(address.array, address.index))
            moved.push_back({address.index, {transport->rank(), here->moves}, address.array});
    return moved;
}

void SchedulerState::gather_locations(const std::vector<MovedObject>& own) {
    const int ranks = transport->ranks(), count = static_cast<int>(own.size() * sizeof own[0]);
    std::vector<int> counts(static_cast<std::size_t>(ranks)), offsets(counts.size());
    PMPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, comm);
    for (std::size_t i = 1; i < counts.size(); ++i) offsets[i] = offsets[i - 1] + counts[i - 1];
    std::vector<MovedObject> all(static_cast<std::size_t>(offsets.back() + counts.back()) / sizeof own[0]);
    PMPI_Allgatherv(own.data(), count, MPI_BYTE, all.data(), counts.data(), offsets.data(), MPI_BYTE, comm);
    for (const MovedObject& one : all) record_location(*arrays[one.array], one.index, one.location);
}

void SchedulerState::choose_strategy(CombinedExchange& exchange, const CombinedExchange::Totals& totals) {
    if (totals.rounds == 0) return;
    exchange.choice.degree = static_cast<double>(totals.peers) / static_cast<double>(totals.rounds);
    exchange.choice.bytes =
        totals.peers > 0 ? static_cast<double>(totals.bytes) / static_cast<double>(totals.peers) : 0;
    double least = -1;
    Combining best = exchange.choice.strategy;
    for (const Combining strategy : exchange.options.strategies) {
        double seconds = 0;
        char error[256];
        if (topoloom_many_to_many_time(static_cast<topoloom_combining>(strategy),
                                       static_cast<std::uint64_t>(transport->ranks()), exchange.choice.degree,
                                       exchange.choice.bytes, exchange.options.alpha, exchange.options.beta,
                                       &seconds, error, sizeof error) != 0)
            fail(error);
        if (least >= 0 && seconds >= least) continue;
        least = seconds;
        best = strategy;
    }
    if (best != exchange.choice.strategy) install_strategy(exchange, best);
}

}  // namespace topoloom::objects
