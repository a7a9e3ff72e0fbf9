// SPDX-License-Identifier: BSD-3-Clause
// Implements ScheduleInterface for a concrete schedule, and the constructor of AnySchedule.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
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
    void messages(std::uint64_t begin, std::uint64_t end, const BatchVisitor& visit) const override {
        // Not an array of messages, because it would be initialized. 2 KiB stay in the first-level cache.
        constexpr std::size_t capacity = 128;
        alignas(SentMessage) std::array<std::byte, capacity * sizeof(SentMessage)> storage;
        SentMessage* const first = reinterpret_cast<SentMessage*>(storage.data());
        SentMessage* next = first;
        for (std::uint64_t round = begin; round < end; ++round) {
            each_sender(schedule_, round, [&](Rank from) {
                schedule_.sends(from, round, [&](Rank to, Bytes bytes) {
                    std::construct_at(next++, SentMessage{from, to, bytes});
                    if (next < first + capacity) return;
                    visit({first, capacity});
                    next = first;
                });
            });
        }
        if (next > first) visit({first, next});
    }
    void busiest_work(std::uint64_t begin, std::uint64_t end, const WorkVisitor& visit) const override {
        WorkRuns runs(visit);
        for (std::uint64_t round = begin; round < end; ++round) {
            schedule_.busiest_senders(round, [&](Rank rank) {
                fill_work(rank, round, runs.next());
                runs.add(round);
            });
        }
        runs.finish();
    }

   private:
    void fill_work(Rank rank, std::uint64_t round, RankWork& work) const {
        work.transfer = schedule_.transfer(round);
        work.is_pipelined = topoloom::is_pipelined(schedule_, round);
        work.has_barrier = topoloom::has_barrier(schedule_, round);
        MessageSizes sends(work.sends);
        schedule_.sends(rank, round, [&](Rank, Bytes bytes) { sends.add(bytes); });
        sends.finish();
        MessageSizes receives(work.receives);
        schedule_.receives(rank, round, [&](Rank, Bytes bytes) { receives.add(bytes); });
        receives.finish();
        work.copies = work.sends.is_empty() ? Copies{} : topoloom::copies(schedule_, rank, round);
        work.staged_bytes = topoloom::staged_bytes(schedule_, rank, round);
    }

    S schedule_;
};

template <class S>
    requires(!std::same_as<S, AnySchedule> && Schedule<S>)
AnySchedule::AnySchedule(S schedule)
    : schedule_(std::make_shared<const ScheduleAdapter<S>>(std::move(schedule))) {}

}  // namespace topoloom
