// SPDX-License-Identifier: BSD-3-Clause
// Several programs at once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "topoloom/network/programs/program.hpp"

namespace topoloom {

/// Jobs that know nothing of each other: their ranks follow one another.
class JobsProgram final : public Program {
   public:
    /// Refers to the programs.
    explicit JobsProgram(std::vector<const Program*> jobs) : jobs_(std::move(jobs)) {
        for (const Program* job : jobs_) first_.push_back(first_.back() + job->rank_count());
    }

    [[nodiscard]] std::size_t rank_count() const override { return first_.back(); }
    [[nodiscard]] std::uint64_t step_count() const override {
        std::uint64_t most = 0;
        for (const Program* job : jobs_) most = std::max(most, job->step_count());
        return most;
    }
    void list_sends(Rank rank, std::uint64_t step, std::vector<ProgramMessage>& messages) const override {
        list(rank, step, messages, &Program::list_sends);
    }
    void list_receives(Rank rank, std::uint64_t step, std::vector<ProgramMessage>& messages) const override {
        list(rank, step, messages, &Program::list_receives);
    }

   private:
    template <class List>
    void list(Rank rank, std::uint64_t step, std::vector<ProgramMessage>& messages, List list_of) const {
        const auto job =
            static_cast<std::size_t>(std::ranges::upper_bound(first_, rank.value) - first_.begin()) - 1;
        if (step >= jobs_[job]->step_count()) return;
        const std::size_t before = messages.size();
        (jobs_[job]->*list_of)(Rank{rank.value - first_[job]}, step, messages);
        for (std::size_t i = before; i < messages.size(); ++i)
            messages[i].peer = Rank{messages[i].peer.value + first_[job]};
    }

    std::vector<const Program*> jobs_;
    std::vector<std::uint64_t> first_{0};
};

}  // namespace topoloom
