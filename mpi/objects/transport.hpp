// SPDX-License-Identifier: BSD-3-Clause
// What travels between ranks: records gathered into messages of MPI, in order by pair of ranks; the windows that bound what is
// under way; and the waves that find out when nothing is.
//
// A rank sends another at most a window of bytes that this has not released, by taking them on and being done with them; the
// rest waits at the sender. Messages say how much has been released. Who holds too much for others releases nothing and calls no
// methods, so that memory is bounded along chains of ranks, too. Ranks that wait for each other in a circle are found by a wave
// whose sums are equal though some wait: then each of these may hold twice as much (Parks, Bounded Scheduling of Process
// Networks, 1995).
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <utility>
#include <vector>

#include "message.hpp"
#include "quiescence.h"

namespace topoloom::objects {

/// The binomial tree of ranks below rank 0 that reductions and broadcasts go along.
[[nodiscard]] inline int parent_of(int rank) { return rank & (rank - 1); }
template <typename Visit>
void each_child(int rank, int ranks, const Visit& visit) {
    for (int bit = 1; bit < ranks && (rank & bit) == 0; bit <<= 1)
        if ((rank | bit) < ranks) visit(rank | bit);
}

/// Takes records as they arrive.
class Receiver {
   public:
    /// Whether it keeps the record and releases it later.
    virtual bool take(int from, const Header& header, const char* values) = 0;

   protected:
    ~Receiver() = default;
};

/// Ranks that are waited for, why, and for how much longer than by a rank that knows more: up to twice.
struct Awaited {
    const char* reason = nullptr;
    std::vector<int> ranks;
    double patience = 1;
};

class Transport {
   public:
    /// Over the communicator, which must be private; `memory_bytes` from least_memory() on.
    Transport(MPI_Comm comm, std::size_t message_bytes, std::int64_t memory_bytes, Receiver& receiver);
    ~Transport();
    Transport(const Transport&) = delete;
    Transport& operator=(const Transport&) = delete;
    [[nodiscard]] static std::int64_t least_memory(int ranks) { return std::int64_t{4096} * (ranks - 1); }

    [[nodiscard]] int rank() const { return rank_; }
    [[nodiscard]] int ranks() const { return ranks_; }

    void send(int rank, const Header& header, const char* values);
    /// Sends what may be sent now.
    void flush();
    /// Begins a phase: from now on to its end the receiver is given what comes.
    void open() { is_open_ = true; }
    /// What comes from ranks that have made more arrays and callbacks waits.
    void set_made(std::size_t count) { made_ = static_cast<std::uint32_t>(count); }
    /// Gives the receiver what has come. Whether there was something.
    bool receive();
    /// Waits until something comes, or lets others run; whether something has come. `has_room`: this rank does not wait for
    /// others to take messages.
    bool wait(bool has_room);

    /// The receiver is done with a record from this rank.
    void release(int from, const Header& header);
    /// Whether more is held for other ranks than methods may find, or than the main program may.
    [[nodiscard]] bool is_full(bool for_main) const { return out_ > (for_main ? allowed_ / 2 : allowed_); }
    /// The most bytes of messages from and for other ranks that were here at once.
    [[nodiscard]] std::int64_t most_held() const { return most_held_; }

    /// A rank that has nothing to do joins, or one that waits in a send; returns at once.
    void join_wave(bool waits_in_send);
    [[nodiscard]] bool is_in_wave() const { return quiescence_.in_wave; }
    /// Whether a wave has found that the phase is over; said once. What has come of the next one waits for open().
    bool take_end();
    [[nodiscard]] Awaited awaited() const;

   private:
    enum Form : std::uint32_t { records, long_record, up, down };
    struct Head {
        std::uint32_t phase = 0, wave = 0, sequence = 0, form = records;
        std::uint32_t bytes = 0;     // of the record that follows in a message of its own
        std::uint32_t made = 0;      // arrays and callbacks
        std::uint64_t released = 0;  // of what the receiver has sent, in all
    };
    struct Incoming {
        Head head;
        int source = 0;
        std::vector<char> bytes;
        MPI_Request request = MPI_REQUEST_NULL;
        bool is_asked_for = false;
    };
    /// What there is between this rank and another. Bytes are those of records since the beginning.
    struct Peer {
        std::vector<char> gathered;         // a head, then records
        std::list<std::vector<char>> full;  // the same, which wait for the window
        std::uint32_t sent = 0, came = 0;   // messages, whose numbers wrap around
        std::uint64_t filled = 0, released_there = 0;
        std::uint64_t released = 0, said = 0;  // by this rank
        bool has_child_reported = false;
    };
    struct Flight {
        std::vector<char> bytes;
        std::int64_t counted = 0;
    };
    /// Messages sent and received, and ranks that wait for others to take theirs.
    using Sums = std::array<std::int64_t, 3>;

    [[nodiscard]] Peer& peer(int rank) { return peers_[static_cast<std::size_t>(rank)]; }
    [[nodiscard]] bool is_open_to(const Peer& to) const { return to.filled - to.released_there <= window_; }
    void start_receive(std::size_t slot);
    void close(int rank);
    void start_full(int rank);
    void start(int rank, std::vector<char>&& message);
    void say_released(int rank);
    void say_owed();
    Head next_head(int rank, Form form);
    void start_send(Flight&& flight, int rank, int tag);
    void reclaim();
    void count_held() { most_held_ = out_ + in_ > most_held_ ? out_ + in_ : most_held_; }
    void take_slots(int count);
    void take(int source, const char* bytes, std::size_t size);
    void take_records(int source, const char* at, const char* end);
    void take_waiting();
    bool take_one(Incoming& waiting);
    [[nodiscard]] bool is_time_for(const Head& head) const {
        return is_open_ && !is_of_next_phase(&quiescence_, {head.phase, head.wave}) &&
               static_cast<std::int32_t>(head.made - made_) <= 0;
    }
    [[nodiscard]] bool holds_back() const { return full_ > 0 || !unsent_.empty(); }
    void control(Form form, const Sums& sums, int to);
    void report_up();
    void conclude(const Sums& sums);

    MPI_Comm comm_;
    Receiver& receiver_;
    int rank_ = 0, ranks_ = 1;
    std::uint64_t window_ = 0;              // a rank with so much at another sends it no more
    std::size_t limit_;                     // of a message
    std::int64_t bound_ = 0, allowed_ = 0;  // of out_: at first, and now
    std::int64_t out_ = 0, in_ = 0;         // bytes of records here for other ranks, and from them
    std::int64_t most_held_ = 0;

    std::vector<Peer> peers_;
    std::vector<int> unsent_;  // the ranks that something is gathered for
    std::vector<int> owed_;    // those that are to hear what is released
    int full_ = 0;             // messages
    std::vector<std::vector<char>> spare_;
    std::vector<Flight> flights_;
    std::vector<MPI_Request> sends_;
    std::vector<int> sent_now_;

    std::vector<std::vector<char>> buffers_;
    std::vector<MPI_Request> receives_;
    std::vector<int> done_;
    std::vector<MPI_Status> statuses_;
    std::list<Incoming> waiting_;  // out of order, of the next phase, or long
    int empty_polls_ = 0;

    quiescence quiescence_{};
    std::uint32_t made_ = 0;
    int children_ = 0, reported_ = 0;
    Sums sums_{};
    bool is_open_ = false, has_ended_ = false;
};

}  // namespace topoloom::objects
