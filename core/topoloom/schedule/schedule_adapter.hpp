// SPDX-License-Identifier: BSD-3-Clause
// Implements ScheduleInterface for a concrete schedule, and the constructor of AnySchedule.
#pragma once

#include <memory>
#include <utility>

#include "topoloom/schedule/any_schedule.hpp"

namespace topoloom {

template <Schedule S>
class ScheduleAdapter final : public ScheduleInterface {
   public:
    explicit ScheduleAdapter(S schedule) : schedule_(std::move(schedule)) {}

    [[nodiscard]] const Collective& collective() const override { return schedule_.collective(); }
    [[nodiscard]] std::uint64_t rounds() const override { return schedule_.rounds(); }
    [[nodiscard]] Transfer transfer(std::uint64_t round) const override { return schedule_.transfer(round); }
    [[nodiscard]] bool sends_to_all() const override { return topoloom::sends_to_all(schedule_); }
    [[nodiscard]] bool is_pipelined(std::uint64_t round) const override {
        return topoloom::is_pipelined(schedule_, round);
    }
    [[nodiscard]] bool has_barrier(std::uint64_t round) const override {
        return topoloom::has_barrier(schedule_, round);
    }
    [[nodiscard]] Copies copies(Rank rank, std::uint64_t round) const override {
        return topoloom::copies(schedule_, rank, round);
    }
    [[nodiscard]] std::optional<Bytes> staged_bytes(Rank rank, std::uint64_t round) const override {
        return topoloom::staged_bytes(schedule_, rank, round);
    }
    void sends(Rank rank, std::uint64_t round, const MessageVisitor& visit) const override {
        schedule_.sends(rank, round, visit);
    }
    void receives(Rank rank, std::uint64_t round, const MessageVisitor& visit) const override {
        schedule_.receives(rank, round, visit);
    }
    void blocks(Rank from, Rank to, std::uint64_t round, const BlockVisitor& visit) const override {
        schedule_.blocks(from, to, round, visit);
    }
    void busiest_senders(std::uint64_t round, const RankVisitor& visit) const override {
        schedule_.busiest_senders(round, visit);
    }
    void totals(Rank rank, const TotalVisitor& visit) const override { each_total(schedule_, rank, visit); }
    void senders(std::uint64_t round, const RankVisitor& visit) const override {
        each_sender(schedule_, round, visit);
    }

   private:
    S schedule_;
};

template <class S>
    requires(!std::same_as<S, AnySchedule> && Schedule<S>)
AnySchedule::AnySchedule(S schedule)
    : schedule_(std::make_shared<const ScheduleAdapter<S>>(std::move(schedule))) {}

}  // namespace topoloom
