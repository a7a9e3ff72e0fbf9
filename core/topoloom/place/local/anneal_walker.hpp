// SPDX-License-Identifier: BSD-3-Clause
// A simulated annealing search: proposes slots near partners and accepts them by the Metropolis rule.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "topoloom/base/rng.hpp"
#include "topoloom/place/state/space_arrangement.hpp"

namespace topoloom::local {

/// The losses that the Metropolis rule accepts at a temperature T. A loss is accepted with probability
/// exp(-loss / T), that is, if it is at most -T ln r for a random r in (0, 1). With a table of ln r, testing
/// a proposal takes one memory access.
class Acceptance {
   public:
    explicit Acceptance(double temperature) {
        for (std::size_t i = 0; i < levels; ++i)
            loss_[i] = static_cast<std::int64_t>(temperature * unit_losses()[i]);
    }
    [[nodiscard]] std::int64_t greatest_loss(std::uint32_t random) const {
        return loss_[random >> (32 - level_bits)];
    }

   private:
    static constexpr unsigned level_bits = 9;
    static constexpr std::size_t levels = std::size_t{1} << level_bits;

    static const std::array<double, levels>& unit_losses() {
        static const std::array<double, levels> table = [] {
            std::array<double, levels> t{};
            for (std::size_t i = 0; i < levels; ++i)
                t[i] = -std::log((static_cast<double>(i) + 0.5) / static_cast<double>(levels));
            return t;
        }();
        return table;
    }
    std::array<std::int64_t, levels> loss_{};
};

/// Makes proposals for the cooling schedule, which need not know the slot space. One virtual call makes many.
class AnnealWalker {
   public:
    virtual ~AnnealWalker() = default;

    [[nodiscard]] std::int64_t value() const { return value_; }
    [[nodiscard]] std::int64_t best_value() const { return best_value_; }
    [[nodiscard]] const std::vector<Position>& best() const { return best_; }
    [[nodiscard]] virtual const std::vector<Position>& positions() const = 0;

    /// Makes `count` proposals, for all ranks in turn. Compares the placement with the best one only at the
    /// end: while cooling slowly, intermediate placements are rarely better.
    virtual void run(std::uint64_t count, const Acceptance& acceptance) = 0;
    /// Draws `count` proposals and returns the losses of those that would raise the cost. Performs none of
    /// them.
    [[nodiscard]] virtual std::vector<std::int64_t> sample_losses(std::uint64_t count) = 0;

   protected:
    std::int64_t value_ = 0;
    std::int64_t best_value_ = 0;
    std::vector<Position> best_;
};

/// Refers to the graph and the near slots, which all walkers share. Only ranks 0 .. active - 1 are proposed to move.
template <class Space, class Near, class Graph>
class SpaceWalker : public AnnealWalker {
   public:
    using State = SpaceArrangement<Space, Graph>;

    SpaceWalker(State start, const Graph& graph, const Near& near, std::uint32_t active, Rng rng)
        : state_(std::move(start)), graph_(graph), near_(near), active_(active), rng_(rng) {
        value_ = state_.total();
        record_best();
    }

    [[nodiscard]] const std::vector<Position>& positions() const override { return state_.positions(); }

    void run(std::uint64_t count, const Acceptance& acceptance) override {
        for (std::uint64_t i = 0; i < count; ++i) {
            const Proposal proposal = propose(Rank{next_rank_});
            if (++next_rank_ == active_) next_rank_ = 0;
            const std::int64_t most = acceptance.greatest_loss(rng_.next());
            if (proposal.v == proposal.u) continue;
            const std::int64_t gain = compute_gain(proposal);
            if (gain < -most) continue;
            if (proposal.v == Rank::none) {
                state_.move(proposal.u, proposal.to);
            } else {
                state_.exchange(proposal.u, proposal.v);
            }
            value_ -= gain;
        }
        if (value_ < best_value_) record_best();
    }

    [[nodiscard]] std::vector<std::int64_t> sample_losses(std::uint64_t count) override {
        std::vector<std::int64_t> losses;
        for (std::uint64_t i = 0; i < count; ++i) {
            const Proposal proposal = propose(Rank{rng_.below(active_)});
            if (proposal.v == proposal.u) continue;
            const std::int64_t gain = compute_gain(proposal);
            if (gain < 0 && !State::is_forbidden(gain)) losses.push_back(-gain);
        }
        return losses;
    }

   private:
    /// Moves u to the slot `to`, whose occupant v is another rank, none, or u itself.
    struct Proposal {
        Rank u;
        Rank v;
        Position to;
    };

    [[nodiscard]] Proposal propose(Rank u) {
        const auto edges = graph_.sends(u);
        // Selects the heavier of two random partners. One random number serves twice: the high half of the
        // product selects the first partner; the low half is still random.
        const std::uint64_t one = std::uint64_t{rng_.next()} * edges.size();
        const std::uint64_t two = (one & 0xFFFF'FFFFU) * edges.size();
        const auto& first = edges[one >> 32];
        const auto& second = edges[two >> 32];
        const Rank partner = second.bytes > first.bytes ? second.peer : first.peer;
        const auto near = near_.list_at(state_.position(partner));
        const Position to = near[std::uint64_t{rng_.next()} * near.size() >> 32];
        return {u, state_.occupant(to), to};
    }
    [[nodiscard]] std::int64_t compute_gain(const Proposal& proposal) {
        return proposal.v == Rank::none ? state_.move_gain(proposal.u, proposal.to)
                                        : state_.exchange_gain(proposal.u, proposal.v);
    }

    void record_best() {
        best_value_ = value_;
        best_ = state_.positions();
    }

    State state_;
    const Graph& graph_;
    const Near& near_;
    std::uint32_t active_;
    std::uint32_t next_rank_ = 0;
    Rng rng_;
};

}  // namespace topoloom::local
