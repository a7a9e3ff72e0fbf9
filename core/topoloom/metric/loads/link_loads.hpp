// SPDX-License-Identifier: BSD-3-Clause
// Link loads of a placement, updated incrementally when ranks move or exchange slots.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "topoloom/base/big_vector.hpp"
#include "topoloom/base/id.hpp"
#include "topoloom/metric/loads/bottleneck_times.hpp"
#include "topoloom/metric/loads/load_tracker.hpp"
#include "topoloom/metric/loads/placed_runs.hpp"
#include "topoloom/metric/loads/soft_term.hpp"

namespace topoloom {

/// Link loads of a placement. Every sum is exact (see LoadQuantizer): undo() restores loads bit for bit, and
/// loads are equal to the loads of judge(). Adaptive routing is modeled as minimal routing. All maxima
/// include the background bytes, and so does the range of the quantizer.
///
/// A change takes time O(links of the changed routes). The busiest link is computed on demand from the
/// changed blocks of links. Memory: 32 bytes per edge, 56 bytes per link that was ever on a route, and 4 bytes
/// per link of the machine.
class LinkLoads final : public LoadTracker {
   public:
    /// Refers to machine and graph. Throws Error for a background that is negative or has the wrong length.
    LinkLoads(const Machine& machine, const CommGraph& graph, std::span<const Slot> slot_of_rank,
              std::span<const double> background = {}, LoadScope busy = LoadScope::links);

    /// Bytes on a link, including the background.
    [[nodiscard]] double load(Link link) const {
        const LinkPlace place = runs_->place(link);
        if (place.line == no_index) return 0;
        const Line& line = lines_[place.line];
        return rates_[line.rate].load(amount_[line.first + place.position]);
    }
    [[nodiscard]] BigVector<double> loads() const;
    [[nodiscard]] Slot slot(Rank u) const override { return slots_[u.value]; }
    [[nodiscard]] std::vector<Slot> slots() const override { return slots_; }
    [[nodiscard]] std::size_t rank_count() const override { return slots_.size(); }
    [[nodiscard]] std::int64_t hop_bytes() const { return hop_bytes_; }
    [[nodiscard]] const CongestionKey& key() override;
    /// The maximum congestion as in the key, but separately for links (including ports) and memory.
    [[nodiscard]] const BottleneckTimes& bottleneck();
    /// The sum over links of soft_term(congestion / scale). The scale is the given congestion, by default the
    /// current maximum. Setting the scale takes time O(links that were ever on a route).
    [[nodiscard]] std::int64_t soft_value() const override { return soft_; }
    void set_soft_scale(double congestion);
    void set_soft_scale() override { set_soft_scale(key().congestion); }

    void exchange(Rank u, Rank v) override { change(u, v); }
    void move(Rank u, Slot to) override {
        set_spare(to);
        change(u, Rank::none);
    }
    bool exchange_if_better(Rank u, Rank v) override { return change_if_better(u, v); }
    bool move_if_better(Rank u, Slot to) override {
        set_spare(to);
        return change_if_better(u, Rank::none);
    }
    bool exchange_if_soft_at_most(Rank u, Rank v, const SoftLimit& limit) override {
        return change_if_soft(u, v, limit);
    }
    bool move_if_soft_at_most(Rank u, Slot to, const SoftLimit& limit) override {
        set_spare(to);
        return change_if_soft(u, Rank::none, limit);
    }
    void undo() override { change(last_.u, last_.v); }

    [[nodiscard]] std::vector<Rank> ranks_on_busy_links(double share) override;
    [[nodiscard]] bool is_on_busiest_link(Rank u) override;

   private:
    static constexpr std::size_t block_size = 64;  // lines

    struct Line : LinkLine {
        std::uint32_t first = 0;  // index of the first amount
        double most = 0;          // largest amount on a link of the line
        double added = 0;         // total amount that the current trial adds
        std::uint32_t tried = 0;  // number of the last trial that added an amount to the line
        /// Number of the last trial in which a link of the line could be among the busiest.
        std::uint32_t critical = 0;
        bool stale = false;  // whether `most` must be recomputed
    };
    /// The range of amounts at which links with a common rate have the maximum congestion.
    struct CongestionLimit {
        double low;
        double high;
    };

    void set_spare(Slot slot) {
        spare_ = slot;
        runs_->set_spare(slot);
    }
    /// Exchanges the slots of u and v. If v is Rank::none, exchanges the slot of u and the spare slot.
    void swap(Rank u, Rank v) {
        std::swap(slots_[u.value], v == Rank::none ? spare_ : slots_[v.value]);
        runs_->swap(u, v);
    }

    /// Calls use(amount) for every link of the run.
    template <class Use>
    void for_each_amount(const LoadRun& run, const Use& use) {
        const Line& line = lines_[run.line];
        double* const amounts = amount_.data() + line.first;
        const std::uint32_t before_end = std::min(run.count, line.length - run.start);
        for (std::uint32_t i = 0; i < before_end; ++i) use(amounts[run.start + i]);
        for (std::uint32_t i = 0; i < run.count - before_end; ++i) use(amounts[i]);
    }
    void add(const LoadRun& run, double by) {
        for_each_amount(run, [&](double& amount) { amount += by; });
    }
    void add_with_soft(const LoadRun& run) {
        if (soft_factor_.empty()) return add(run, run.amount);
        const double factor = soft_factor_[lines_[run.line].rate];
        std::int64_t more = 0;
        for_each_amount(run, [&](double& amount) {
            more -= soft_term(amount * factor);
            amount += run.amount;
            more += soft_term(amount * factor);
        });
        soft_ += more;
    }
    void begin_change(Rank u, Rank v) {
        journal_.truncate(0);
        last_ = {u, v, soft_};
    }
    void change(Rank u, Rank v);
    bool change_if_better(Rank u, Rank v);
    bool change_if_soft(Rank u, Rank v, const SoftLimit& limit);
    /// The change in hop-bytes if u and v exchange slots.
    [[nodiscard]] std::int64_t hop_bytes_change(Rank u, Rank v);
    /// Evaluates the journaled change, but only on critical lines. Returns the change in the number of links
    /// at the maximum, or nullopt if the maximum would rise. Does not change loads.
    [[nodiscard]] std::optional<std::int64_t> count_change_at_maximum();
    void mark_changed();
    void mark_stale(std::uint32_t line) {
        if (!std::exchange(lines_[line].stale, true)) stale_.push_back(line);
    }
    /// Appends the runs of the messages of u and v, and the lines that are used for the first time.
    void append_runs(Rank u, Rank v, double sign) {
        runs_->append_runs(u, v, sign, journal_);
        if (lines_.size() < runs_->used_line_count()) [[unlikely]]
            add_lines();
    }
    void append_runs(Rank end, const RankMessage& message, double sign) {
        runs_->append_runs(end, message, sign, journal_);
        if (lines_.size() < runs_->used_line_count()) [[unlikely]]
            add_lines();
    }
    void add_lines();
    /// Adds the message, multiplied by `sign`, to the loads and the soft value.
    void add_message(Rank end, const RankMessage& message, double sign);
    /// Recomputes `most` for all changed lines.
    void refresh_lines();
    void find_busiest();
    [[nodiscard]] BottleneckTimes block_times(std::span<const Line> lines) const;
    [[nodiscard]] std::span<const Line> block(std::size_t b) const {
        return std::span(lines_).subspan(b * block_size,
                                         std::min(block_size, lines_.size() - b * block_size));
    }
    [[nodiscard]] double max_amount(const Line& line) const {
        const auto first = amount_.begin() + line.first;
        return *std::max_element(first, first + line.length);
    }
    /// Whether the route of the message contains a link whose amount is at least the entry of `least` for the
    /// link's rate.
    [[nodiscard]] bool crosses_busy_link(Rank end, const RankMessage& message, std::span<const double> least);
    [[nodiscard]] static CongestionLimit limit_at(const LinkRate& rate, double congestion);

    RankMessages messages_;
    std::unique_ptr<MessageLinkRuns> runs_;
    std::vector<LinkRate> rates_;
    std::size_t link_count_;
    std::vector<Slot> slots_;  // by rank
    Slot spare_;
    BigVector<double> amount_;            // by place
    std::vector<Line> lines_;             // those that were ever used
    std::vector<BottleneckTimes> block_;  // maxima of each block of lines
    std::vector<std::uint32_t> stale_;    // lines
    std::vector<char> is_changed_;        // by block
    std::vector<std::uint32_t> changed_;  // blocks whose congestion must be recomputed
    std::vector<double> low_, high_;      // by rate: the two ends of the CongestionLimit
    std::vector<double> soft_factor_;     // by rate
    CongestionKey key_;
    bool key_known_ = false;
    BottleneckTimes bottleneck_;
    bool bottleneck_known_ = false;
    std::uint32_t tries_ = 0;
    std::int64_t hop_bytes_ = 0;
    std::int64_t soft_ = 0;
    RunJournal journal_;  // runs of the last change
    struct Overwritten {
        std::size_t place;
        double before;
    };
    std::vector<Overwritten> overwritten_;  // amounts that the current trial has overwritten
    std::size_t overwritten_size_ = 0;
    struct {
        Rank u, v;
        std::int64_t soft;
    } last_{};
};

}  // namespace topoloom
