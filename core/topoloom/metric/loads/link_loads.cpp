// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/metric/loads/link_loads.hpp"

#include <cmath>
#include <limits>

#include "topoloom/base/error.hpp"
#include "topoloom/metric/background.hpp"
#include "topoloom/metric/hop_bytes.hpp"

namespace topoloom {

LinkLoads::LinkLoads(const Machine& machine, const CommGraph& graph, std::span<const Slot> slot_of_rank,
                     std::span<const double> background, LoadScope busy)
    : messages_(graph),
      runs_(make_message_link_runs(machine, messages_, slot_of_rank, graph.total_bytes(),
                                   max_background(machine, background), busy)),
      rates_(runs_->rates()),
      link_count_(machine.link_count()),
      slots_(slot_of_rank.begin(), slot_of_rank.end()),
      low_(rates_.size()),
      high_(rates_.size()),
      hop_bytes_(topoloom::hop_bytes(graph, machine, slot_of_rank, 1)) {
    for (std::size_t i = 0; i < background.size(); ++i) {
        if (background[i] == 0) continue;
        const LinkPlace place = runs_->use_place(Link{i});
        add_lines();
        const Line& line = lines_[place.line];
        amount_[line.first + place.position] =
            runs_->quantizer().round(background[i] * rates_[line.rate].ways);
    }
    for (const Rank u : ids<Rank>(slots_.size())) {
        for (const RankMessage& message : messages_.of(u)) {
            if (!message.sent) continue;
            journal_.truncate(0);
            append_runs(u, message, 1);
            for (const LoadRun& run : journal_.runs()) add(run, run.amount);
        }
    }
    for (std::uint32_t line = 0; line < lines_.size(); ++line) mark_stale(line);
}

void LinkLoads::add_lines() {
    for (std::size_t number = lines_.size(); number < runs_->used_line_count(); ++number) {
        const LinkLine line = runs_->line(static_cast<std::uint32_t>(number));
        lines_.push_back({line, static_cast<std::uint32_t>(amount_.size())});
        amount_.resize(amount_.size() + line.length);
        if (number % block_size > 0) continue;
        block_.emplace_back();
        is_changed_.push_back(0);
    }
}

BigVector<double> LinkLoads::loads() const {
    BigVector<double> loads;
    for (const Link link : ids<Link>(link_count_)) loads.push_back(load(link));
    return loads;
}

const CongestionKey& LinkLoads::key() {
    if (!key_known_) find_busiest();
    key_.hop_bytes = hop_bytes_;
    return key_;
}

const BottleneckTimes& LinkLoads::bottleneck() {
    if (!bottleneck_known_) find_busiest();
    return bottleneck_;
}

void LinkLoads::set_soft_scale(double congestion) {
    soft_factor_.clear();
    for (const LinkRate& rate : rates_) soft_factor_.push_back(1 / (rate.ways * rate.bandwidth * congestion));
    soft_ = 0;
    for (const Line& line : lines_) {
        for (std::uint32_t i = 0; i < line.length; ++i)
            soft_ += soft_term(amount_[line.first + i] * soft_factor_[line.rate]);
    }
}

void LinkLoads::change(Rank u, Rank v) {
    begin_change(u, v);
    const std::int64_t before = runs_->hop_bytes(u, v);
    append_runs(u, v, -1);
    swap(u, v);
    append_runs(u, v, 1);
    for (const LoadRun& run : journal_.runs()) add_with_soft(run);
    hop_bytes_ += runs_->hop_bytes(u, v) - before;
    mark_changed();
}

std::int64_t LinkLoads::hop_bytes_change(Rank u, Rank v) {
    const std::int64_t before = runs_->hop_bytes(u, v);
    swap(u, v);
    const std::int64_t after = runs_->hop_bytes(u, v);
    swap(u, v);
    return after - before;
}

bool LinkLoads::change_if_soft(Rank u, Rank v, const SoftLimit& limit) {
    begin_change(u, v);
    std::optional<std::int64_t> hop_bytes_more;
    std::int64_t most = limit.nearer;
    if (limit.farther != limit.nearer) {
        hop_bytes_more = hop_bytes_change(u, v);
        if (*hop_bytes_more > 0) most = limit.farther;
    }
    overwritten_size_ = 0;
    messages_.for_each_message(u, v,
                               [&](Rank end, const RankMessage& message) { add_message(end, message, -1); });
    swap(u, v);
    messages_.for_each_message(u, v, [&](Rank end, const RankMessage& message) {
        if (soft_ <= most) add_message(end, message, 1);
    });
    if (soft_ > most) {
        while (overwritten_size_ > 0) {
            const Overwritten& last = overwritten_[--overwritten_size_];
            amount_[last.place] = last.before;
        }
        swap(u, v);
        soft_ = last_.soft;
        return false;
    }
    // Exchanging once more would revert the change.
    hop_bytes_ += hop_bytes_more ? *hop_bytes_more : -hop_bytes_change(u, v);
    key_known_ = bottleneck_known_ = false;
    return true;
}

void LinkLoads::add_message(Rank end, const RankMessage& message, double sign) {
    std::int64_t more = 0;
    journal_.truncate(0);
    append_runs(end, message, sign);
    for (const LoadRun& run : journal_.runs()) {
        mark_stale(run.line);
        if (overwritten_.size() < overwritten_size_ + run.count)
            overwritten_.resize(2 * overwritten_size_ + run.count);
        const double factor = soft_factor_[lines_[run.line].rate];
        Overwritten* next = overwritten_.data() + overwritten_size_;
        for_each_amount(run, [&](double& amount) {
            *next++ = {static_cast<std::size_t>(&amount - amount_.data()), amount};
            more -= soft_term(amount * factor);
            amount += run.amount;
            more += soft_term(amount * factor);
        });
        overwritten_size_ += run.count;
    }
    soft_ += more;
}

/// Few links are among the busiest before or after a change. So a line is evaluated only if one of its links
/// is among the busiest, or can get there by the total amount added to the line.
bool LinkLoads::change_if_better(Rank u, Rank v) {
    const CongestionKey before = key();
    if (before.links_at_maximum == 0) return false;
    begin_change(u, v);
    ++tries_;
    bool any_critical = false;
    append_runs(u, v, -1);
    const std::size_t taken = journal_.size();
    for (const LoadRun& run : journal_.runs()) {
        Line& line = lines_[run.line];
        if (line.most < low_[line.rate]) continue;
        line.critical = tries_;
        any_critical = true;
    }
    const std::int64_t hop_bytes_before = runs_->hop_bytes(u, v);
    swap(u, v);
    const std::int64_t hop_bytes_more = runs_->hop_bytes(u, v) - hop_bytes_before;
    bool better = false;
    if (any_critical || hop_bytes_more < 0) {
        append_runs(u, v, 1);
        for (const LoadRun& run : journal_.runs().subspan(taken)) {
            Line& line = lines_[run.line];
            line.added = run.amount + (line.tried == tries_ ? line.added : 0);
            line.tried = tries_;
            if (line.most + line.added < low_[line.rate]) continue;
            line.critical = tries_;
            any_critical = true;
        }
        const std::optional<std::int64_t> more = any_critical ? count_change_at_maximum() : 0;
        better = more && (*more < 0 || (*more == 0 && hop_bytes_more < 0));
        if (better) key_.links_at_maximum += static_cast<std::size_t>(*more);
    }
    if (!better) {
        swap(u, v);
        return false;
    }
    for (const LoadRun& run : journal_.runs()) add_with_soft(run);
    hop_bytes_ += hop_bytes_more;
    mark_changed();
    refresh_lines();
    key_known_ = key_.links_at_maximum > 0;
    return true;
}

std::optional<std::int64_t> LinkLoads::count_change_at_maximum() {
    std::int64_t more = 0;
    bool over = false;
    std::size_t done = 0;
    const std::span<const LoadRun> runs = journal_.runs();
    for (; done < runs.size() && !over; ++done) {
        const Line& line = lines_[runs[done].line];
        if (line.critical != tries_) continue;
        const double low = low_[line.rate];
        const double high = high_[line.rate];
        const bool adds = runs[done].amount > 0;
        for_each_amount(runs[done], [&](double& amount) {
            more -= amount >= low ? 1 : 0;
            amount += runs[done].amount;
            more += amount >= low ? 1 : 0;
            over |= adds && amount > high;
        });
    }
    for (const LoadRun& run : runs.first(done)) {
        if (lines_[run.line].critical == tries_) add(run, -run.amount);
    }
    if (over) return {};
    return more;
}

void LinkLoads::mark_changed() {
    key_known_ = bottleneck_known_ = false;
    for (const LoadRun& run : journal_.runs()) mark_stale(run.line);
}

void LinkLoads::refresh_lines() {
    for (const std::uint32_t number : stale_) {
        Line& line = lines_[number];
        line.stale = false;
        line.most = max_amount(line);
        const std::uint32_t block = number / block_size;
        if (is_changed_[block] == 0) changed_.push_back(block);
        is_changed_[block] = 1;
    }
    stale_.clear();
}

void LinkLoads::find_busiest() {
    refresh_lines();
    for (const std::uint32_t b : changed_) {
        block_[b] = block_times(block(b));
        is_changed_[b] = 0;
    }
    changed_.clear();
    bottleneck_ = {};
    for (const BottleneckTimes& times : block_) {
        bottleneck_.network = std::max(bottleneck_.network, times.network);
        bottleneck_.memory = std::max(bottleneck_.memory, times.memory);
    }
    bottleneck_known_ = true;
    key_.congestion = std::max(bottleneck_.network, bottleneck_.memory);
    key_.links_at_maximum = 0;
    key_known_ = true;
    if (key_.congestion == 0) return;
    for (std::size_t r = 0; r < low_.size(); ++r) {
        const CongestionLimit limit = limit_at(rates_[r], key_.congestion);
        low_[r] = limit.low;
        high_[r] = limit.high;
    }
    for (std::size_t b = 0; b < block_.size(); ++b) {
        if (std::max(block_[b].network, block_[b].memory) < key_.congestion) continue;
        for (const Line& line : block(b)) {
            const double low = low_[line.rate];
            if (line.most < low) continue;
            for (std::uint32_t i = 0; i < line.length; ++i)
                key_.links_at_maximum += amount_[line.first + i] >= low ? 1 : 0;
        }
    }
}

BottleneckTimes LinkLoads::block_times(std::span<const Line> lines) const {
    BottleneckTimes times;
    for (const Line& line : lines) {
        double& most = line.rate < runs_->first_memory_rate() ? times.network : times.memory;
        most = std::max(most, rates_[line.rate].congestion(line.most));
    }
    return times;
}

/// Division rounds, so several adjacent amounts have the same congestion.
LinkLoads::CongestionLimit LinkLoads::limit_at(const LinkRate& rate, double congestion) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    double low = congestion * rate.bandwidth * rate.ways;
    while (rate.congestion(low) >= congestion) low = std::nextafter(low, 0);
    while (rate.congestion(low) < congestion) low = std::nextafter(low, infinity);
    double high = low;
    while (rate.congestion(std::nextafter(high, infinity)) <= congestion)
        high = std::nextafter(high, infinity);
    return {low, high};
}

std::vector<Rank> LinkLoads::ranks_on_busy_links(double share) {
    if (key().links_at_maximum == 0) return {};
    std::vector<double> least;  // by rate
    for (const LinkRate& rate : rates_) least.push_back(limit_at(rate, share * key().congestion).low);
    std::vector<char> is_end(slots_.size(), 0);
    for (const Rank u : ids<Rank>(slots_.size())) {
        for (const RankMessage& message : messages_.of(u)) {
            if (!message.sent || (is_end[u.value] != 0 && is_end[message.peer.value] != 0)) continue;
            if (crosses_busy_link(u, message, least)) is_end[u.value] = is_end[message.peer.value] = 1;
        }
    }
    std::vector<Rank> ends;
    for (const Rank u : ids<Rank>(slots_.size())) {
        if (is_end[u.value] != 0) ends.push_back(u);
    }
    return ends;
}

bool LinkLoads::is_on_busiest_link(Rank u) {
    if (key().links_at_maximum == 0) return false;
    return std::ranges::any_of(
        messages_.of(u), [&](const RankMessage& message) { return crosses_busy_link(u, message, low_); });
}

bool LinkLoads::crosses_busy_link(Rank end, const RankMessage& message, std::span<const double> least) {
    const std::size_t size = journal_.size();
    append_runs(end, message, 1);
    bool found = false;
    for (const LoadRun& run : journal_.runs().subspan(size)) {
        const Line& line = lines_[run.line];
        if (line.most < least[line.rate]) continue;
        for_each_amount(run, [&](double amount) { found |= amount >= least[line.rate]; });
    }
    journal_.truncate(size);
    return found;
}

}  // namespace topoloom
