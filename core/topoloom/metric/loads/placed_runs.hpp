// SPDX-License-Identifier: BSD-3-Clause
// Runs of links on the routes of messages between placed ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

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

/// Numbers of the lines for the ports and memory of node 0, or no_index for unlimited resources. Lines of
/// ports follow those of links; memory is last.
struct NodeLines {
    std::uint32_t out = no_index, in = no_index, read = no_index, write = no_index;
};

/// The link runs of the messages between ranks on slots. Rank::none represents one spare slot. Compiled for
/// each network.
class MessageLinkRuns {
   public:
    virtual ~MessageLinkRuns() = default;

    /// Also includes the runs of node ports and memory from now on.
    void set_node_lines(const NodeLines& lines) { node_lines_ = lines; }

    [[nodiscard]] virtual LoadQuantizer quantizer() const = 0;
    [[nodiscard]] virtual const std::vector<LinkRate>& rates() const = 0;
    [[nodiscard]] virtual std::vector<LinkLine> lines() const = 0;
    [[nodiscard]] virtual LinkPlace place(Link link) const = 0;

    virtual void set_spare(Slot slot) = 0;
    virtual void swap(Rank u, Rank v) = 0;
    /// Hop-bytes of the messages of u and v; messages between u and v count once.
    [[nodiscard]] virtual std::int64_t hop_bytes(Rank u, Rank v) const = 0;
    /// Appends the runs of a message, with amounts multiplied by `sign`.
    virtual void append_runs(Rank end, const RankMessage& message, double sign,
                             RunJournal& journal) const = 0;
    /// Appends the runs of the messages of u and v; messages between u and v count once.
    virtual void append_runs(Rank u, Rank v, double sign, RunJournal& journal) const = 0;

   protected:
    NodeLines node_lines_;
};

/// Makes the runs of a placement. Refers to machine and messages. `all` and `background` are as in LinkRuns.
[[nodiscard]] std::unique_ptr<MessageLinkRuns> make_message_link_runs(const Machine& machine,
                                                                      const RankMessages& messages,
                                                                      std::span<const Slot> slot_of_rank,
                                                                      Bytes all, double background);

}  // namespace topoloom
