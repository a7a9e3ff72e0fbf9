// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/balance/tasks/cover.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace topoloom {

namespace {

constexpr int max_nodes = 20'000;
/// If a cover needs more tasks, a single task hardly matters, and nothing is searched.
constexpr std::size_t max_depth = 1000;

class CoverSearch {
   public:
    CoverSearch(const Tasks& tasks, std::span<const std::uint32_t> candidates) {
        for (const std::uint32_t task : candidates) {
            if (tasks.loads[task] > 0)
                items_.push_back({tasks.loads[task],
                                  tasks.bytes.empty() ? 0.0 : static_cast<double>(tasks.bytes[task]), task});
        }
        std::ranges::sort(items_, [](const CoverItem& a, const CoverItem& b) {
            const double left = a.bytes * b.load, right = b.bytes * a.load;
            return left != right ? left < right : a.task < b.task;
        });
        for (const CoverItem& item : items_) {
            load_before_.push_back(load_before_.back() + item.load);
            bytes_before_.push_back(bytes_before_.back() + item.bytes);
        }
    }

    Cover run(double load) {
        Cover found;
        found.least_bytes = bound(0, load);
        if (found.least_bytes == std::numeric_limits<double>::infinity()) {
            for (const CoverItem& item : items_) best_.push_back(item.task);
            return {best_, bytes_before_.back()};
        }
        const auto first = std::lower_bound(load_before_.begin(), load_before_.end(), load);
        const auto count = static_cast<std::size_t>(first - load_before_.begin());
        if (count > max_depth) {
            for (std::size_t i = 0; i < count; ++i) found.tasks.push_back(items_[i].task);
            return found;
        }
        search(0, load, 0);
        if (nodes_ < max_nodes) found.least_bytes = best_bytes_;
        found.tasks = std::move(best_);
        return found;
    }

   private:
    struct CoverItem {
        double load, bytes;
        std::uint32_t task;
    };

    /// Lower bound on the bytes needed to cover `load` with the items from index `from` to the last.
    [[nodiscard]] double bound(std::size_t from, double load) const {
        if (load <= 0) return 0;
        const double wanted = load_before_[from] + load;
        const auto at = std::lower_bound(load_before_.begin(), load_before_.end(), wanted);
        if (at == load_before_.end()) return std::numeric_limits<double>::infinity();
        const auto last = static_cast<std::size_t>(at - load_before_.begin()) - 1;
        const double part = (wanted - load_before_[last]) / items_[last].load;
        return bytes_before_[last] - bytes_before_[from] + part * items_[last].bytes;
    }

    void search(std::size_t from, double load, double bytes) {
        if (load <= 0) {
            if (bytes >= best_bytes_) return;
            best_bytes_ = bytes;
            best_ = chosen_;
            return;
        }
        for (std::size_t i = from; ++nodes_ < max_nodes && bytes + bound(i, load) < best_bytes_; ++i) {
            chosen_.push_back(items_[i].task);
            search(i + 1, load - items_[i].load, bytes + items_[i].bytes);
            chosen_.pop_back();
        }
    }

    std::vector<CoverItem> items_;
    std::vector<double> load_before_{0}, bytes_before_{0};  // prefix sums
    std::vector<std::uint32_t> chosen_, best_;
    double best_bytes_ = std::numeric_limits<double>::infinity();
    int nodes_ = 0;
};

}  // namespace

Cover cheapest_cover(const Tasks& tasks, std::span<const std::uint32_t> candidates, double load) {
    return CoverSearch(tasks, candidates).run(load);
}

}  // namespace topoloom
