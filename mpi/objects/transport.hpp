// SPDX-License-Identifier: BSD-3-Clause
// Sends records between ranks in MPI messages, in order for each pair of ranks. Windows bound the bytes in flight, and
// waves detect the end of a phase, when no bytes are in flight.
//
// A receiver releases bytes by consuming them. The unreleased bytes of a sender at a receiver are limited by a window;
// further bytes wait at the sender. Messages carry the number of released bytes. A rank with too many bytes for other
// ranks releases no bytes and calls no methods, so memory is also bounded along chains of ranks. A cycle of
// waiting ranks is detected by a wave that finds equal sums although ranks still wait. Then the limit of
// these ranks is doubled (Parks, Bounded Scheduling of Process Networks, 1995).
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <utility>
#include <vector>

#include "message.hpp"
#include "quiescence.h"

namespace topoloom::objects {

/// Binomial tree of ranks with root 0, for reductions and broadcasts.
[[nodiscard]] inline int get_parent_rank(int rank) { return rank & (rank - 1); }
template <typename Visit>
void for_each_child(int rank, int ranks, const Visit& visit) {
    for (int bit = 1; bit < ranks && (rank & bit) == 0; bit <<= 1)
        if ((rank | bit) < ranks) visit(rank | bit);
}

/// Interface for consuming records as they arrive.
class Receiver {
   public:
    /// Receives a record. Returns true if the receiver stores the record, and will release it later.
    virtual bool receive_record(int from, const MessageHeader& header, const char* values) = 0;

   protected:
    ~Receiver() = default;
};

/// The ranks that this rank waits for, and a description of what they fail to do.
struct Stall {
    const char* reason = nullptr;
    std::vector<int> ranks;
    /// Factor of up to 2 by which ranks that wait for other waiting ranks extend their timeout. So a rank
    /// that waits for the stalled rank itself reports first.
    double timeout_factor = 1;
};

class Transport {
   public:
    /// Requires a private communicator, and at least get_min_memory() bytes of memory.
    Transport(MPI_Comm comm, std::size_t message_bytes, std::int64_t memory_bytes, Receiver& receiver);
    ~Transport();
    Transport(const Transport&) = delete;
    Transport& operator=(const Transport&) = delete;
    [[nodiscard]] static std::int64_t get_min_memory(int ranks) { return std::int64_t{4096} * (ranks - 1); }

    [[nodiscard]] int rank() const { return rank_; }
    [[nodiscard]] int ranks() const { return ranks_; }

    void send(int rank, const MessageHeader& header, const char* values);
    /// Sends open messages if windows allow.
    void flush();
    /// Begins a phase. Until its end, arriving records are delivered.
    void begin_phase() { is_open_ = true; }
    /// Sets the number of registered arrays and callbacks. Messages of ranks with more registrations are deferred.
    void set_registration_count(std::size_t count) { registered_ = static_cast<std::uint32_t>(count); }
    /// Delivers arrived records. Returns whether any message arrived.
    bool receive();
    /// Waits for a message, or yields the CPU. Returns whether a message arrived. `is_blocked` means that this rank
    /// waits for other ranks to consume its messages.
    bool wait(bool is_blocked);

    /// Releases a consumed record from this rank.
    void release(int from, const MessageHeader& header);
    /// Whether messages for other ranks exceed the limit for methods, or for the main program.
    [[nodiscard]] bool is_full(bool for_main_program) const {
        return out_bytes_ > (for_main_program ? limit_ / 2 : limit_);
    }
    /// Peak memory in bytes of messages from and for other ranks.
    [[nodiscard]] std::int64_t peak_bytes() const { return peak_bytes_; }

    /// Joins a wave without waiting. The rank must be idle, or blocked in a send.
    void join_wave(bool is_blocked);
    [[nodiscard]] bool is_in_wave() const { return quiescence_.in_wave; }
    /// Returns true once, when a wave has detected the end of the phase. Messages of the next phase wait for
    /// begin_phase().
    bool consume_phase_end();
    [[nodiscard]] Stall find_stall() const;

   private:
    enum MessageForm : std::uint32_t { records, long_record, wave_up, wave_down };
    struct Envelope {
        std::uint32_t phase = 0, wave = 0, sequence = 0, form = records;
        std::uint32_t bytes = 0;       // size of a long record, which follows in a separate message
        std::uint32_t registered = 0;  // number of arrays and callbacks that the sender has registered
        std::uint64_t released = 0;    // total bytes of the receiver's records that the sender has released
    };
    /// A message that is out of order, of the next phase, or long.
    struct DeferredMessage {
        Envelope envelope;
        int source = 0;
        std::vector<char> bytes;
        MPI_Request request = MPI_REQUEST_NULL;
        bool is_posted = false;
    };
    /// Traffic with another rank. Byte counts are totals of records.
    struct Peer {
        std::vector<char> open;                // message being filled: an envelope, then records
        std::list<std::vector<char>> full;     // full messages that wait for the window
        std::uint32_t sent = 0, received = 0;  // message numbers, modulo 2^32
        std::uint64_t sent_bytes = 0, released_by_peer = 0;  // totals of records sent to the peer
        std::uint64_t released = 0, reported = 0;            // totals of records received from the peer
        bool has_child_reported = false;
    };
    struct PendingSend {
        std::vector<char> bytes;
        std::int64_t record_bytes = 0;
    };
    /// Numbers of messages sent, messages received, and blocked ranks.
    using Sums = std::array<std::int64_t, 3>;

    [[nodiscard]] Peer& get_peer(int rank) { return peers_[static_cast<std::size_t>(rank)]; }
    [[nodiscard]] bool has_window_space(const Peer& to) const {
        return to.sent_bytes - to.released_by_peer <= window_;
    }
    void post_receive(std::size_t slot);
    void close_message(int rank);
    void send_full_messages(int rank);
    void send_message(int rank, std::vector<char>&& message);
    void report_released(int rank);
    void report_due_releases();
    Envelope make_envelope(int rank, MessageForm form);
    void start_send(PendingSend&& send, int rank, int tag);
    void remove_complete_sends();
    void update_peak() { peak_bytes_ = std::max(peak_bytes_, out_bytes_ + in_bytes_); }
    void process_slots(int count);
    void process_message(int source, const char* bytes, std::size_t size);
    void deliver_records(int source, const char* at, const char* end);
    void process_deferred();
    bool try_deliver_deferred(DeferredMessage& deferred);
    [[nodiscard]] bool can_deliver(const Envelope& envelope) const {
        return is_open_ && !is_of_next_phase(&quiescence_, {envelope.phase, envelope.wave}) &&
               static_cast<std::int32_t>(envelope.registered - registered_) <= 0;
    }
    [[nodiscard]] bool has_unsent_messages() const { return full_messages_ > 0 || !open_to_.empty(); }
    void send_sums(MessageForm form, const Sums& sums, int to);
    void send_sums_up();
    void finish_wave(const Sums& sums);

    MPI_Comm comm_;
    Receiver& receiver_;
    int rank_ = 0, ranks_ = 1;
    std::uint64_t window_ = 0;   // maximum unreleased bytes at a peer, above which sends wait
    std::size_t message_bytes_;  // of a message
    std::int64_t initial_limit_ = 0, limit_ = 0;  // current limit of out_bytes_, and its initial value
    std::int64_t out_bytes_ = 0, in_bytes_ = 0;   // bytes of records to other ranks, and from other ranks
    std::int64_t peak_bytes_ = 0;

    std::vector<Peer> peers_;
    std::vector<int> open_to_;     // ranks with an open message
    std::vector<int> report_due_;  // ranks to which released bytes must be reported
    int full_messages_ = 0;
    std::vector<std::vector<char>> free_buffers_;
    std::vector<PendingSend> sends_;
    std::vector<MPI_Request> send_requests_;
    std::vector<int> complete_sends_;

    std::vector<std::vector<char>> slots_;
    std::vector<MPI_Request> receive_requests_;
    std::vector<int> complete_slots_;
    std::vector<MPI_Status> statuses_;
    std::list<DeferredMessage> deferred_;
    int empty_polls_ = 0;

    quiescence quiescence_{};
    std::uint32_t registered_ = 0;
    int children_ = 0, reported_children_ = 0;
    Sums sums_{};
    bool is_open_ = false, has_ended_ = false;
};

}  // namespace topoloom::objects
