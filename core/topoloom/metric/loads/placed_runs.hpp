// SPDX-License-Identifier: BSD-3-Clause
// Runs of links on the routes of messages between placed ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "topoloom/base/big_vector.hpp"
#include "topoloom/machine/machine.hpp"
#include "topoloom/metric/loads/link_runs.hpp"
#include "topoloom/metric/loads/rank_messages.hpp"

namespace topoloom {

/// A list of runs that reuses its memory after truncate().
class RunJournal {
   public:
    void add(const LoadRun& run) {
        if (size_ == runs_.size()) [[unlikely]]
            grow();
        runs_[size_++] = run;
    }
    [[nodiscard]] std::span<const LoadRun> runs() const { return {runs_.data(), size_}; }
    [[nodiscard]] std::size_t size() const { return size_; }
    void truncate(std::size_t size) { size_ = size; }

   private:
    /// Not inlined, so that the compiler inlines add().
    [[gnu::noinline]] void grow() { runs_.resize(2 * size_ + 64); }

    std::vector<LoadRun> runs_;
    std::size_t size_ = 0;
};

/// Renumbers lines in the order of their first use: a job on a large machine uses few of its lines.
class UsedLines {
   public:
    explicit UsedLines(std::size_t lines) : number_(lines, 0) {}

    [[nodiscard]] std::uint32_t use(std::uint32_t line) {
        if (number_[line] == 0) [[unlikely]]
            add(line);
        return number_[line] - 1;
    }
    /// The number of a line, or no_index if it was never used.
    [[nodiscard]] std::uint32_t find(std::uint32_t line) const { return number_[line] - 1; }
    /// The used lines, by their new numbers.
    [[nodiscard]] std::span<const std::uint32_t> lines() const { return lines_; }

   private:
    [[gnu::noinline]] void add(std::uint32_t line) {
        lines_.push_back(line);
        number_[line] = static_cast<std::uint32_t>(lines_.size());
    }

    BigVector<std::uint32_t> number_;  // by line: its number + 1, or 0
    std::vector<std::uint32_t> lines_;
};

/// The lines of the ports and memory of node 0, or no_index for unlimited resources.
struct NodeLines {
    std::uint32_t out = no_index, in = no_index, read = no_index, write = no_index;
};

/// Whether lines represent only network links, or also the ports and memory of nodes if the machine limits
/// them. The memory load consists of the reads and writes of intra-node and inter-node messages.
enum class LoadScope { links, links_and_nodes };

/// The link runs of the messages between ranks on slots. Rank::none represents one spare slot. Lines are
/// numbered in the order of their first use. Compiled for each network.
class MessageLinkRuns {
   public:
    virtual ~MessageLinkRuns() = default;

    [[nodiscard]] virtual LoadQuantizer quantizer() const = 0;
    /// The rates of links, then those of ports and memory.
    [[nodiscard]] const std::vector<LinkRate>& rates() const { return rates_; }
    /// The first rate of memory.
    [[nodiscard]] std::uint32_t first_memory_rate() const { return first_memory_rate_; }
    [[nodiscard]] std::size_t used_line_count() const { return used_lines_.lines().size(); }
    [[nodiscard]] virtual LinkLine line(std::uint32_t number) const = 0;
    /// The place of a link. If its line is unused, use_place() numbers it; otherwise `line` is no_index.
    [[nodiscard]] LinkPlace place(Link link) const {
        const LinkPlace place = network_place(link);
        return {used_lines_.find(place.line), place.position};
    }
    [[nodiscard]] LinkPlace use_place(Link link) {
        const LinkPlace place = network_place(link);
        return {used_lines_.use(place.line), place.position};
    }

    virtual void set_spare(Slot slot) = 0;
    virtual void swap(Rank u, Rank v) = 0;
    /// Hop-bytes of the messages of u and v; messages between u and v count once.
    [[nodiscard]] virtual std::int64_t hop_bytes(Rank u, Rank v) const = 0;
    /// Appends the runs of a message, with amounts multiplied by `sign`.
    virtual void append_runs(Rank end, const RankMessage& message, double sign, RunJournal& journal) = 0;
    /// Appends the runs of the messages of u and v; messages between u and v count once.
    virtual void append_runs(Rank u, Rank v, double sign, RunJournal& journal) = 0;

   protected:
    [[nodiscard]] virtual LinkPlace network_place(Link link) const = 0;

    UsedLines used_lines_{0};
    std::vector<LinkRate> rates_;
    std::uint32_t first_memory_rate_ = no_index;
};

/// Makes the runs of a placement. Refers to machine and messages. `all` and `background` are as in LinkRuns.
[[nodiscard]] std::unique_ptr<MessageLinkRuns> make_message_link_runs(const Machine& machine,
                                                                      const RankMessages& messages,
                                                                      std::span<const Slot> slot_of_rank,
                                                                      Bytes all, double background,
                                                                      LoadScope scope = LoadScope::links);

}  // namespace topoloom
