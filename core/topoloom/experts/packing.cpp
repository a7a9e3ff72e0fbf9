// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/experts/packing.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace topoloom {

namespace {

class Bins {
   public:
    Bins(std::span<const ExpertReplica> replicas, std::size_t bins, std::size_t slots)
        : replicas_(replicas),
          slots_(slots),
          replicas_of_bin_(bins),
          load_(bins, 0),
          bin_of_(replicas.size()) {}

    void fill() {
        std::vector<std::uint32_t> order(replicas_.size());
        std::iota(order.begin(), order.end(), 0U);
        std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
            return replicas_[a].load > replicas_[b].load;
        });
        for (const std::uint32_t replica : order) {
            std::size_t best = replicas_of_bin_.size();
            std::pair<bool, double> least{true, std::numeric_limits<double>::infinity()};
            for (std::size_t bin = 0; bin < replicas_of_bin_.size(); ++bin) {
                if (replicas_of_bin_[bin].size() == slots_) continue;
                const std::pair<bool, double> value{has_expert(bin, replicas_[replica].expert), load_[bin]};
                if (best == replicas_of_bin_.size() || value < least) {
                    least = value;
                    best = bin;
                }
            }
            add_replica(replica, best);
        }
    }

    void balance() {
        while (swap_with_fullest()) {
        }
    }

    [[nodiscard]] std::vector<std::uint32_t> take() { return std::move(bin_of_); }

   private:
    [[nodiscard]] bool has_expert(std::size_t bin, std::uint32_t expert) const {
        return std::any_of(replicas_of_bin_[bin].begin(), replicas_of_bin_[bin].end(),
                           [&](std::uint32_t one) { return replicas_[one].expert == expert; });
    }

    void add_replica(std::uint32_t replica, std::size_t bin) {
        replicas_of_bin_[bin].push_back(replica);
        load_[bin] += replicas_[replica].load;
        bin_of_[replica] = static_cast<std::uint32_t>(bin);
    }

    /// Applies the swap after which the fuller of the two bins has the least load; returns false if no swap
    /// helps.
    bool swap_with_fullest() {
        const auto full =
            static_cast<std::size_t>(std::max_element(load_.begin(), load_.end()) - load_.begin());
        double least = load_[full] * (1 - 1e-12);
        std::size_t best_bin = full;
        std::size_t best_out = 0;
        std::size_t best_in = 0;
        for (std::size_t bin = 0; bin < replicas_of_bin_.size(); ++bin) {
            if (bin == full) continue;
            for (std::size_t out = 0; out < replicas_of_bin_[full].size(); ++out) {
                const ExpertReplica& gone = replicas_[replicas_of_bin_[full][out]];
                for (std::size_t in = 0; in < replicas_of_bin_[bin].size(); ++in) {
                    const ExpertReplica& got = replicas_[replicas_of_bin_[bin][in]];
                    const double less = gone.load - got.load;
                    const double after = std::max(load_[full] - less, load_[bin] + less);
                    if (after >= least || has_expert(bin, gone.expert) || has_expert(full, got.expert))
                        continue;
                    least = after;
                    best_bin = bin;
                    best_out = out;
                    best_in = in;
                }
            }
        }
        if (best_bin == full) return false;
        std::uint32_t& out = replicas_of_bin_[full][best_out];
        std::uint32_t& in = replicas_of_bin_[best_bin][best_in];
        const double less = replicas_[out].load - replicas_[in].load;
        load_[full] -= less;
        load_[best_bin] += less;
        std::swap(bin_of_[out], bin_of_[in]);
        std::swap(out, in);
        return true;
    }

    std::span<const ExpertReplica> replicas_;
    std::size_t slots_;
    std::vector<std::vector<std::uint32_t>> replicas_of_bin_;
    std::vector<double> load_;
    std::vector<std::uint32_t> bin_of_;
};

}  // namespace

std::vector<std::uint32_t> pack_evenly(std::span<const ExpertReplica> replicas, std::size_t bins,
                                       std::size_t slots) {
    Bins packing(replicas, bins, slots);
    packing.fill();
    packing.balance();
    return packing.take();
}

std::vector<double> bin_loads(std::span<const ExpertReplica> replicas, std::span<const std::uint32_t> bin_of,
                              std::size_t bins) {
    std::vector<double> loads(bins, 0);
    for (std::size_t i = 0; i < replicas.size(); ++i) loads[bin_of[i]] += replicas[i].load;
    return loads;
}

}  // namespace topoloom
