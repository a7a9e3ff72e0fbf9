// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/multisection.hpp"

#include <bit>
#include <cmath>

#include "topoloom/place/bisection.hpp"
#include "topoloom/place/machine_part.hpp"

namespace topoloom {

namespace {

/// A part of the machine and the ranks that go there: begin .. end of a list that is shared by all parts.
struct Part {
    MachinePart machine;
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    std::int64_t mass = 0;
    bool finished = false;
    [[nodiscard]] std::uint32_t size() const { return end - begin; }
};

template <class Space>
class Multisection {
   public:
    Multisection(const Space& space, const Problem& problem, const MultisectionOptions& options)
        : problem_(problem),
          options_{.starts = options.starts, .passes = 2, .cycles = options.cycles},
          graph_(problem.symmetric()),
          mass_(problem.room().masses()),
          machine_(space, problem.allocation(), problem.room().capacities()),
          ranks_(graph_.rank_count()),
          local_(graph_.rank_count()),
          part_of_(graph_.rank_count(), 0),
          next_part_of_(graph_.rank_count(), 0) {
        std::iota(ranks_.begin(), ranks_.end(), 0U);
        const std::int64_t mass = std::accumulate(mass_.begin(), mass_.end(), std::int64_t{0});
        parts_.push_back({machine_.whole(), 0, static_cast<std::uint32_t>(ranks_.size()), mass});
        // Sums of bytes times sampled distances must fit 64 bits; they only guide, so the last bits may go.
        const std::int64_t most = std::max<std::int64_t>(1, graph_.total_bytes().value);
        const std::int64_t farthest = std::max<std::int64_t>(1, problem.machine().max_distance());
        while (most >> shift_ > std::numeric_limits<std::int64_t>::max() / (64 * farthest)) ++shift_;
    }

    /// The place in the allocation of every rank.
    std::vector<std::uint32_t> run(Meter& meter) {
        for (std::uint64_t level = 0; !all_finished(); ++level) step(level, meter);
        std::vector<std::uint32_t> place_of(ranks_.size());
        for (const Part& part : parts_) settle(part, place_of);
        return place_of;
    }

   private:
    using Parts = MachineParts<Space>;

    [[nodiscard]] bool all_finished() const {
        return std::ranges::all_of(parts_, [](const Part& part) { return part.finished; });
    }

    /// Halves every part that still has somewhere to go.
    void step(std::uint64_t level, Meter& meter) {
        std::vector<std::array<MachinePart, 2>> halves(parts_.size());
        parallel_for(parts_.size(), problem_.threads(), [&](std::size_t p, int) {
            Part& part = parts_[p];
            part.finished = part.finished || part.size() == 0 || part.machine.size() == 1 ||
                            machine_.is_point(part.machine);
            if (!part.finished) halves[p] = machine_.halve(part.machine);
        });
        std::vector<std::uint32_t> first_child(parts_.size());
        std::uint32_t children = 0;
        samples_.clear();
        for (std::size_t p = 0; p < parts_.size(); ++p) {
            first_child[p] = children;
            children += parts_[p].finished ? 1 : 2;
            samples_.push_back(machine_.sample(parts_[p].machine));
        }
        std::vector<Part> next(children);
        std::vector<std::uint64_t> work(parts_.size(), 0);
        const bool hurry = meter.exhausted();
        parallel_for(parts_.size(), problem_.threads(), [&](std::size_t p, int) {
            if (parts_[p].finished) {
                next[first_child[p]] = parts_[p];
                for (const std::uint32_t u : ranks(parts_[p])) next_part_of_[u] = first_child[p];
                return;
            }
            const auto [left, right] = divide(static_cast<std::uint32_t>(p), halves[p],
                                              Rng(problem_.seed(), level << 32 | p), hurry, work[p]);
            next[first_child[p]] = left;
            next[first_child[p] + 1] = right;
            for (const std::uint32_t u : ranks(left)) next_part_of_[u] = first_child[p];
            for (const std::uint32_t u : ranks(right)) next_part_of_[u] = first_child[p] + 1;
        });
        parts_ = std::move(next);
        std::swap(part_of_, next_part_of_);
        meter.spend(std::accumulate(work.begin(), work.end(), std::uint64_t{0}));
    }

    [[nodiscard]] std::span<std::uint32_t> ranks(const Part& part) {
        return {ranks_.data() + part.begin, part.size()};
    }

    /// Ranks of a part for its two halves; reorders them.
    std::array<Part, 2> divide(std::uint32_t p, const std::array<MachinePart, 2>& halves, Rng rng, bool hurry,
                               std::uint64_t& work) {
        const Part part = parts_[p];
        const std::span<std::uint32_t> mine = ranks(part);
        const std::array<std::int64_t, 2> capacity = shares(part, halves);
        std::vector<char> side(part.size(), 0);
        if (hurry) {
            std::int64_t filled = 0;
            for (std::size_t i = 0; i < side.size(); ++i) {
                side[i] = static_cast<char>(filled + mass_[mine[i]] > capacity[0] ? 1 : 0);
                filled += side[i] == 0 ? mass_[mine[i]] : 0;
            }
        } else {
            std::vector<std::int64_t> bias;
            const WeightedGraph sub = extract(p, halves, bias);
            Bisection split = bisect(sub, bias, capacity, options_, rng);
            work = split.work;
            side = std::move(split.side);
        }
        std::array<Part, 2> result{Part{halves[0], part.begin, part.begin},
                                   Part{halves[1], part.end, part.end}};
        std::vector<std::uint32_t> right;
        for (std::size_t i = 0; i < side.size(); ++i) {
            const std::uint32_t u = mine[i];
            result[static_cast<std::size_t>(side[i])].mass += mass_[u];
            if (side[i] == 0) {
                mine[result[0].end++ - part.begin] = u;
            } else {
                right.push_back(u);
            }
        }
        std::ranges::copy(right, mine.begin() + (result[0].end - part.begin));
        result[1].begin = result[0].end;
        return result;
    }

    /// What each half may take. Spare room beyond one rank a slot is left to the cut; an allowed imbalance is spent
    /// evenly over the steps to come, so that the last ones have some too.
    [[nodiscard]] std::array<std::int64_t, 2> shares(const Part& part,
                                                     const std::array<MachinePart, 2>& halves) const {
        std::array<std::int64_t, 2> capacity{halves[0].capacity, halves[1].capacity};
        if (problem_.room().one_rank_per_slot() || part.mass == 0) return capacity;
        const double spare = static_cast<double>(part.machine.capacity) / static_cast<double>(part.mass);
        const double steps = std::bit_width(part.machine.size() - 1);
        const double share = std::pow(spare, 1 / std::max(1.0, steps)) / spare;
        for (std::size_t s : {0U, 1U}) {
            const auto wanted =
                static_cast<std::int64_t>(std::ceil(share * static_cast<double>(capacity[s])));
            const std::int64_t least = part.mass - halves[1 - s].capacity;
            capacity[s] = std::min(capacity[s], std::max(wanted, least));
        }
        return capacity;
    }

    /// The graph between the ranks of a part, edges priced by the distance between its halves, and what every rank's
    /// partners in other parts make the right half cost more than the left one.
    WeightedGraph extract(std::uint32_t p, const std::array<MachinePart, 2>& halves,
                          std::vector<std::int64_t>& bias) {
        const std::array<typename Parts::Sample, 2> ends{machine_.sample(halves[0]),
                                                         machine_.sample(halves[1])};
        // Ranks that stay together are as far apart as their half is wide.
        const std::int64_t apart =
            machine_.distance(ends[0], ends[1]) -
            (machine_.distance(ends[0], ends[0]) + machine_.distance(ends[1], ends[1])) / 2;
        const std::int64_t price = std::max<std::int64_t>(1, apart);
        const std::span<const std::uint32_t> mine = ranks(parts_[p]);
        for (std::uint32_t i = 0; i < mine.size(); ++i) local_[mine[i]] = i;
        WeightedGraph sub;
        sub.first.reserve(mine.size() + 1);
        sub.mass.reserve(mine.size());
        bias.assign(mine.size(), 0);
        bool biased = false;
        for (std::uint32_t i = 0; i < mine.size(); ++i) {
            const Rank u{mine[i]};
            const auto peers = graph_.peers(u);
            const auto bytes = graph_.bytes(u);
            for (std::size_t e = 0; e < peers.size(); ++e) {
                const std::int64_t weight = bytes[e].value >> shift_;
                const std::uint32_t q = part_of_[peers[e].value];
                if (q == p) {
                    if (weight == 0) continue;
                    sub.peer.push_back(local_[peers[e].value]);
                    sub.weight.push_back(weight * price);
                } else {
                    bias[i] += weight * farther(ends, q);
                }
            }
            biased = biased || bias[i] != 0;
            sub.first.push_back(static_cast<std::uint32_t>(sub.peer.size()));
            sub.mass.push_back(mass_[u.value]);
        }
        if (!biased) bias.clear();
        return sub;
    }

    /// How much farther part q is from the right half than from the left one.
    [[nodiscard]] std::int64_t farther(const std::array<typename Parts::Sample, 2>& ends,
                                       std::uint32_t q) const {
        return machine_.distance(ends[1], samples_[q]) - machine_.distance(ends[0], samples_[q]);
    }

    /// Puts the ranks of a finished part on its places, where all are equally good.
    void settle(const Part& part, std::vector<std::uint32_t>& place_of) {
        const std::span<const std::uint32_t> places = machine_.places(part.machine);
        std::vector<std::int64_t> room;
        for (const std::uint32_t place : places) room.push_back(problem_.room().capacities()[place]);
        std::size_t at = 0;
        for (const std::uint32_t u : ranks(part)) {
            while (at + 1 < places.size() && room[at] < mass_[u]) ++at;
            room[at] -= mass_[u];
            place_of[u] = places[at];
        }
    }

    const Problem& problem_;
    BisectionOptions options_;
    const CommGraph& graph_;
    std::span<const std::int64_t> mass_;
    Parts machine_;
    std::vector<std::uint32_t> ranks_;
    std::vector<std::uint32_t> local_;  // number of a rank within its part
    std::vector<std::uint32_t> part_of_;
    std::vector<std::uint32_t> next_part_of_;
    std::vector<Part> parts_;
    std::vector<typename Parts::Sample> samples_;  // by part
    int shift_ = 0;
};

}  // namespace

Placement place_multisection(const Problem& problem, Meter& meter, const MultisectionOptions& options) {
    return with_space(problem.machine(), [&]<class Space>(const Space& space) {
        std::vector<Slot> slots;
        for (const std::uint32_t place : Multisection<Space>(space, problem, options).run(meter))
            slots.push_back(problem.allocation().slots()[place]);
        return Placement(problem.allocation(), std::move(slots),
                         problem.room().one_rank_per_slot() ? SlotUse::one_rank : SlotUse::shared);
    });
}

}  // namespace topoloom
