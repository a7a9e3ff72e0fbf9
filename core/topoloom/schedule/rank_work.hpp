// SPDX-License-Identifier: BSD-3-Clause
// What a rank sends, receives and copies in a round, and runs of rounds with equal work.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "topoloom/base/unit.hpp"
#include "topoloom/schedule/schedule.hpp"
#include "topoloom/schedule/visitor.hpp"

namespace topoloom {

/// Consecutive messages of the same size.
struct MessageRun {
    Bytes bytes;
    std::uint64_t count = 0;

    friend bool operator==(const MessageRun&, const MessageRun&) = default;
};

/// The messages of a rank in a round, in order, as runs. Allocates memory only if they differ in size.
class MessageRuns {
   public:
    void clear() {
        first_ = {};
        others_.clear();
    }
    void append(const MessageRun& run) {
        if (first_.count == 0) {
            first_ = run;
        } else {
            others_.push_back(run);
        }
    }
    [[nodiscard]] bool is_empty() const { return first_.count == 0; }
    /// Calls use(run) for every run.
    template <class Use>
    void for_each(const Use& use) const {
        if (!is_empty()) use(first_);
        for (const MessageRun& run : others_) use(run);
    }

    friend bool operator==(const MessageRuns&, const MessageRuns&) = default;

   private:
    MessageRun first_;
    std::vector<MessageRun> others_;
};

/// The work of a rank in a round. It determines the cost of the rank without routes.
struct RankWork {
    Transfer transfer = Transfer::copy;
    bool is_pipelined = false;
    bool has_barrier = false;
    MessageRuns sends, receives;
    Copies copies;  // zero unless the rank sends
    std::optional<Bytes> staged_bytes;

    friend bool operator==(const RankWork&, const RankWork&) = default;
};

/// Arguments: the work, the first round, and the number of consecutive rounds.
using WorkVisitor = Visitor<const RankWork&, std::uint64_t, std::uint64_t>;

/// Joins the sizes of consecutive messages to runs.
class MessageSizes {
   public:
    explicit MessageSizes(MessageRuns& runs) : runs_(runs) { runs_.clear(); }
    void add(Bytes bytes) {
        if (bytes != last_.bytes) {
            finish();
            last_ = {bytes, 0};
        }
        ++last_.count;
    }
    /// Must be called after the last message.
    void finish() {
        if (last_.count > 0) runs_.append(last_);
    }

   private:
    MessageRuns& runs_;
    MessageRun last_;  // kept in registers, because a rank may send a million messages
};

/// Joins consecutive rounds with equal work, of which long schedules have many.
class WorkRuns {
   public:
    explicit WorkRuns(const WorkVisitor& visit) : visit_(visit) {}
    /// The work to fill before the next call of add().
    [[nodiscard]] RankWork& next() { return works_[1 - last_]; }
    /// Adds next() in a round, which must not precede that of the previous call.
    void add(std::uint64_t round);
    /// Must be called after the last add().
    void finish() {
        if (count_ > 0) visit_(works_[last_], first_, count_);
    }

   private:
    const WorkVisitor& visit_;
    std::array<RankWork, 2> works_;
    std::size_t last_ = 0;                 // index of the work of the run
    std::uint64_t first_ = 0, count_ = 0;  // rounds of the run
};

}  // namespace topoloom
