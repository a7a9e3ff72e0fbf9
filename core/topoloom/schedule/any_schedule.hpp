// SPDX-License-Identifier: BSD-3-Clause
// Type-erased schedule: code that uses schedules is compiled once, not once per schedule type.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "topoloom/schedule/rank_work.hpp"
#include "topoloom/schedule/schedule.hpp"
#include "topoloom/schedule/visitor.hpp"

namespace topoloom {

struct SentMessage {
    Rank from, to;
    Bytes bytes;
};

using RankVisitor = Visitor<Rank>;
using BlockVisitor = Visitor<std::uint64_t>;
using MessageVisitor = Visitor<Rank, Bytes>;
using TotalVisitor = Visitor<Rank, Bytes, std::int64_t>;
using BatchVisitor = Visitor<std::span<const SentMessage>>;

/// The functions of the Schedule concept, as schedule.hpp specifies them, and enumerations of many rounds.
/// The loops of the latter are compiled for each schedule type, so that messages cost no indirect call.
class ScheduleInterface {
   public:
    virtual ~ScheduleInterface() = default;
    [[nodiscard]] virtual const Collective& collective() const = 0;
    [[nodiscard]] virtual std::uint64_t rounds() const = 0;
    [[nodiscard]] virtual Transfer transfer(std::uint64_t round) const = 0;
    [[nodiscard]] virtual bool sends_to_all() const = 0;
    [[nodiscard]] virtual bool is_pipelined(std::uint64_t round) const = 0;
    [[nodiscard]] virtual bool has_barrier(std::uint64_t round) const = 0;
    [[nodiscard]] virtual Copies copies(Rank rank, std::uint64_t round) const = 0;
    [[nodiscard]] virtual std::optional<Bytes> staged_bytes(Rank rank, std::uint64_t round) const = 0;
    virtual void sends(Rank rank, std::uint64_t round, const MessageVisitor& visit) const = 0;
    virtual void receives(Rank rank, std::uint64_t round, const MessageVisitor& visit) const = 0;
    virtual void blocks(Rank from, Rank to, std::uint64_t round, const BlockVisitor& visit) const = 0;
    virtual void busiest_senders(std::uint64_t round, const RankVisitor& visit) const = 0;
    virtual void totals(Rank rank, const TotalVisitor& visit) const = 0;
    virtual void senders(std::uint64_t round, const RankVisitor& visit) const = 0;
    virtual void messages(std::uint64_t begin, std::uint64_t end, const BatchVisitor& visit) const = 0;
    virtual void busiest_work(std::uint64_t begin, std::uint64_t end, const WorkVisitor& visit) const = 0;
};

/// Satisfies Schedule. Each function costs one virtual call, plus one indirect call per visit; to enumerate
/// many messages, use messages(). Copies share one schedule object.
class AnySchedule {
   public:
    /// Defined in schedule_adapter.hpp; include that file where schedules are constructed.
    template <class S>
        requires(!std::same_as<S, AnySchedule> && Schedule<S>)
    AnySchedule(S schedule);

    [[nodiscard]] const Collective& collective() const { return schedule_->collective(); }
    [[nodiscard]] std::uint64_t rounds() const { return schedule_->rounds(); }
    [[nodiscard]] Transfer transfer(std::uint64_t round) const { return schedule_->transfer(round); }
    [[nodiscard]] bool sends_to_all() const { return schedule_->sends_to_all(); }
    [[nodiscard]] bool is_pipelined(std::uint64_t round) const { return schedule_->is_pipelined(round); }
    [[nodiscard]] bool has_barrier(std::uint64_t round) const { return schedule_->has_barrier(round); }
    [[nodiscard]] Copies copies(Rank rank, std::uint64_t round) const {
        return schedule_->copies(rank, round);
    }
    [[nodiscard]] std::optional<Bytes> staged_bytes(Rank rank, std::uint64_t round) const {
        return schedule_->staged_bytes(rank, round);
    }
    template <class Visit>
    void sends(Rank rank, std::uint64_t round, const Visit& visit) const {
        schedule_->sends(rank, round, MessageVisitor(visit));
    }
    template <class Visit>
    void receives(Rank rank, std::uint64_t round, const Visit& visit) const {
        schedule_->receives(rank, round, MessageVisitor(visit));
    }
    template <class Visit>
    void blocks(Rank from, Rank to, std::uint64_t round, const Visit& visit) const {
        schedule_->blocks(from, to, round, BlockVisitor(visit));
    }
    template <class Visit>
    void busiest_senders(std::uint64_t round, const Visit& visit) const {
        schedule_->busiest_senders(round, RankVisitor(visit));
    }
    template <class Visit>
    void totals(Rank rank, const Visit& visit) const {
        schedule_->totals(rank, TotalVisitor(visit));
    }
    template <class Visit>
    void senders(std::uint64_t round, const Visit& visit) const {
        schedule_->senders(round, RankVisitor(visit));
    }
    /// Calls visit(messages) with spans that together are all messages of the rounds [begin, end), by round,
    /// then in the order of each_sender().
    template <class Visit>
    void messages(std::uint64_t begin, std::uint64_t end, const Visit& visit) const {
        schedule_->messages(begin, end, BatchVisitor(visit));
    }
    /// Calls visit(work, first, count) for the work of the ranks that busiest_senders() visits in the rounds
    /// [begin, end). Each call covers `count` consecutive rounds in which a rank has this work. A call begins
    /// with the last round of the previous call or the round after it.
    template <class Visit>
    void busiest_work(std::uint64_t begin, std::uint64_t end, const Visit& visit) const {
        schedule_->busiest_work(begin, end, WorkVisitor(visit));
    }

   private:
    std::shared_ptr<const ScheduleInterface> schedule_;
};

}  // namespace topoloom
