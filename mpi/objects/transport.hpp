// SPDX-License-Identifier: BSD-3-Clause
// What travels between ranks: records gathered into messages of MPI, in order by pair of ranks; and the waves that find out
// when none is under way.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <list>
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
    virtual void take(const Header& header, const char* values) = 0;

   protected:
    ~Receiver() = default;
};

class Transport {
   public:
    /// Over the communicator, which must be private.
    Transport(MPI_Comm comm, int message_bytes, Receiver& receiver);
    ~Transport();
    Transport(const Transport&) = delete;
    Transport& operator=(const Transport&) = delete;

    [[nodiscard]] int rank() const { return rank_; }
    [[nodiscard]] int ranks() const { return ranks_; }

    void send(int rank, const Header& header, const char* values);
    [[nodiscard]] bool holds_back() const { return !unsent_.empty(); }
    void flush();
    /// Begins a phase: from now on to its end the receiver is given what comes.
    void open() { is_open_ = true; }
    /// Gives the receiver what has come. Whether there was something.
    bool receive();
    /// Waits until something comes, or lets others run.
    void wait();

    /// A rank that has nothing to do joins; returns at once.
    void join_wave();
    [[nodiscard]] bool is_in_wave() const { return quiescence_.in_wave; }
    /// Whether a wave has found that the phase is over; said once. What has come of the next one waits for open().
    bool take_end();

   private:
    enum Form : std::uint32_t { records, long_record, up, down };
    struct Head {
        std::uint32_t phase = 0, wave = 0, sequence = 0, form = records;
        std::uint64_t bytes = 0;  // of the record that follows in a message of its own
    };
    struct Incoming {
        Head head;
        int source = 0;
        std::vector<char> bytes;
        MPI_Request request = MPI_REQUEST_NULL;
        bool is_asked_for = false;
    };

    void start_receive(std::size_t slot);
    void flush(int rank);
    Head next_head(int rank, Form form);
    void start_send(std::vector<char>&& bytes, int rank, int tag);
    void reclaim();
    void take(int source, const char* bytes, std::size_t size);
    void take_records(const char* at, const char* end);
    void take_waiting();
    bool take_one(Incoming& waiting);
    [[nodiscard]] bool is_time_for(const Head& head) const {
        return is_open_ && !is_of_next_phase(&quiescence_, {head.phase, head.wave});
    }
    void control(Form form, const std::int64_t sums[2], int to);
    void report_up();
    void conclude(const std::int64_t sums[2]);

    MPI_Comm comm_;
    Receiver& receiver_;
    int rank_ = 0, ranks_ = 1;
    std::size_t limit_;

    std::vector<std::vector<char>> gathered_;  // by rank: a head, then records
    std::vector<int> unsent_;                  // the ranks that something is gathered for
    std::vector<std::uint32_t> sent_, came_;   // messages by rank, whose numbers wrap around
    std::vector<std::vector<char>> spare_;
    std::vector<std::vector<char>> sending_;
    std::vector<MPI_Request> sends_;

    std::vector<std::vector<char>> buffers_;
    std::vector<MPI_Request> receives_;
    std::vector<int> done_;
    std::vector<MPI_Status> statuses_;
    std::list<Incoming> waiting_;  // out of order, of the next phase, or long
    int empty_polls_ = 0;

    quiescence quiescence_{};
    int children_ = 0, reported_ = 0;
    std::int64_t sums_[2] = {0, 0};
    bool is_open_ = false, has_ended_ = false;
};

}  // namespace topoloom::objects
