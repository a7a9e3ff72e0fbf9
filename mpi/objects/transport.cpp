// SPDX-License-Identifier: BSD-3-Clause
#include "transport.hpp"

#include <sched.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace topoloom::objects {

namespace {

constexpr std::size_t posted = 8;
constexpr int tag_of_messages = 0, tag_of_long_records = 1;

}  // namespace

Transport::Transport(MPI_Comm comm, std::size_t message_bytes, std::int64_t memory_bytes, Receiver& receiver)
    : comm_(comm), receiver_(receiver), limit_(message_bytes) {
    constexpr std::size_t most_messages = 32;  // in a window: MPI looks through those that it holds
    PMPI_Comm_rank(comm_, &rank_);
    PMPI_Comm_size(comm_, &ranks_);
    peers_.resize(static_cast<std::size_t>(ranks_));
    each_child(rank_, ranks_, [&](int) { ++children_; });
    // Half for other ranks; the rest from them, where a message may come on top of each window.
    bound_ = allowed_ = memory_bytes / 2;
    if (ranks_ == 1) return;
    const auto share = static_cast<std::size_t>(memory_bytes / 4 / (ranks_ - 1));
    limit_ = std::min(message_bytes, share);
    window_ = std::min(share, most_messages * limit_);
    buffers_.assign(posted, std::vector<char>(limit_ + sizeof(Head)));
    receives_.assign(posted, MPI_REQUEST_NULL);
    done_.resize(posted);
    statuses_.resize(posted);
    for (std::size_t slot = 0; slot < posted; ++slot) start_receive(slot);
}

Transport::~Transport() {
    int is_over = 0;
    PMPI_Finalized(&is_over);
    if (is_over != 0) return;
    for (MPI_Request& request : receives_) {
        if (request == MPI_REQUEST_NULL) continue;
        PMPI_Cancel(&request);
        PMPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    PMPI_Waitall(static_cast<int>(sends_.size()), sends_.data(), MPI_STATUSES_IGNORE);
}

void Transport::start_receive(std::size_t slot) {
    PMPI_Irecv(buffers_[slot].data(), static_cast<int>(buffers_[slot].size()), MPI_BYTE, MPI_ANY_SOURCE,
               tag_of_messages, comm_, &receives_[slot]);
}

void Transport::send(int rank, const Header& header, const char* values) {
    const std::size_t bytes = sizeof header + header.bytes;
    std::vector<char>& gathered = peer(rank).gathered;
    if (gathered.size() > sizeof(Head) && gathered.size() + bytes > limit_ + sizeof(Head)) close(rank);
    if (gathered.empty()) {
        if (!spare_.empty()) {
            gathered = std::move(spare_.back());
            spare_.pop_back();
        }
        gathered.reserve(std::min(limit_, std::size_t{1024}) + sizeof(Head));
        gathered.resize(sizeof(Head));
        unsent_.push_back(rank);
    }
    const std::size_t at = gathered.size();
    gathered.resize(at + bytes);
    std::memcpy(gathered.data() + at, &header, sizeof header);
    if (header.bytes > 0) std::memcpy(gathered.data() + at + sizeof header, values, header.bytes);
    out_ += static_cast<std::int64_t>(bytes);
    count_held();
    if (gathered.size() > limit_ + sizeof(Head)) close(rank);
}

void Transport::flush() {
    for (std::size_t i = unsent_.size(); i-- > 0;)
        if (peer(unsent_[i]).full.empty() && is_open_to(peer(unsent_[i]))) close(unsent_[i]);
}

/// What is gathered for a rank leaves now, or when its turn comes.
void Transport::close(int rank) {
    Peer& to = peer(rank);
    unsent_.erase(std::find(unsent_.begin(), unsent_.end(), rank));
    to.full.push_back(std::exchange(to.gathered, {}));
    ++full_;
    start_full(rank);
}

void Transport::start_full(int rank) {
    Peer& to = peer(rank);
    while (!to.full.empty() && is_open_to(to)) {
        std::vector<char> message = std::move(to.full.front());
        to.full.pop_front();
        --full_;
        to.filled += message.size() - sizeof(Head);
        start(rank, std::move(message));
    }
}

Transport::Head Transport::next_head(int rank, Form form) {
    const stamp stamp = count_sent(&quiescence_);
    Peer& to = peer(rank);
    if (!is_full(false)) to.said = to.released;
    return {stamp.phase, stamp.wave, to.sent++, form, 0, made_, to.said};
}

void Transport::start(int rank, std::vector<char>&& message) {
    const std::size_t bytes = message.size() - sizeof(Head);
    const auto counted = static_cast<std::int64_t>(bytes);
    if (bytes > limit_) {  // one record, longer than what receivers expect
        Head head = next_head(rank, long_record);
        head.bytes = static_cast<std::uint32_t>(bytes);
        std::vector<char> announced(sizeof head);
        std::memcpy(announced.data(), &head, sizeof head);
        start_send({std::move(announced), 0}, rank, tag_of_messages);
        message.erase(message.begin(), message.begin() + sizeof head);
        start_send({std::move(message), counted}, rank, tag_of_long_records);
    } else {
        const Head head = next_head(rank, records);
        std::memcpy(message.data(), &head, sizeof head);
        start_send({std::move(message), counted}, rank, tag_of_messages);
    }
}

void Transport::start_send(Flight&& flight, int rank, int tag) {
    flights_.push_back(std::move(flight));
    MPI_Request request = MPI_REQUEST_NULL;
    const std::vector<char>& bytes = flights_.back().bytes;
    PMPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, rank, tag, comm_, &request);
    sends_.push_back(request);
    if (sends_.size() % 64 == 0) reclaim();
}

void Transport::reclaim() {
    if (sends_.empty()) return;
    sent_now_.resize(sends_.size());
    int count = 0;
    PMPI_Testsome(static_cast<int>(sends_.size()), sends_.data(), &count, sent_now_.data(),
                  MPI_STATUSES_IGNORE);
    if (count <= 0) return;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < sends_.size(); ++i) {
        Flight& flight = flights_[i];
        if (sends_[i] == MPI_REQUEST_NULL) {
            out_ -= flight.counted;
            flight.bytes.clear();
            if (spare_.size() < 64 && flight.bytes.capacity() <= 2 * limit_)
                spare_.push_back(std::move(flight.bytes));
            continue;
        }
        sends_[kept] = sends_[i];
        if (kept != i) flights_[kept] = std::move(flight);
        ++kept;
    }
    sends_.resize(kept);
    flights_.resize(kept);
}

void Transport::release(int from, const Header& header) {
    const std::uint64_t bytes = sizeof header + header.bytes;
    Peer& source = peer(from);
    in_ -= static_cast<std::int64_t>(bytes);
    const bool was_due = source.released - source.said > window_ / 2;
    source.released += bytes;
    if (was_due || source.released - source.said <= window_ / 2) return;
    if (is_full(false))
        owed_.push_back(from);
    else
        say_released(from);
}

/// By a message without records.
void Transport::say_released(int rank) { start(rank, std::vector<char>(sizeof(Head))); }

void Transport::say_owed() {
    if (is_full(false)) return;
    for (const int rank : std::exchange(owed_, {}))
        if (peer(rank).released - peer(rank).said > window_ / 2) say_released(rank);
}

void Transport::take_slots(int count) {
    for (int i = 0; i < count; ++i) {
        const auto slot = static_cast<std::size_t>(done_[static_cast<std::size_t>(i)]);
        const MPI_Status& status = statuses_[static_cast<std::size_t>(i)];
        int bytes = 0;
        PMPI_Get_count(&status, MPI_BYTE, &bytes);
        take(status.MPI_SOURCE, buffers_[slot].data(), static_cast<std::size_t>(bytes));
        start_receive(slot);
    }
}

bool Transport::receive() {
    if (ranks_ == 1) return false;
    int count = 0;
    PMPI_Testsome(static_cast<int>(posted), receives_.data(), &count, done_.data(), statuses_.data());
    if (count == MPI_UNDEFINED) count = 0;
    take_slots(count);
    if (!waiting_.empty()) take_waiting();
    if (!owed_.empty()) say_owed();
    return count > 0;
}

bool Transport::wait(bool has_room) {
    if (ranks_ == 1) return false;
#ifdef SMPI_H  // where polling is simulated call by call
    if (waiting_.empty() && has_room) {
        int count = 0;
        PMPI_Waitsome(static_cast<int>(posted), receives_.data(), &count, done_.data(), statuses_.data());
        take_slots(count);
        return true;
    }
#endif
    if (receive()) {
        empty_polls_ = 0;
        return true;
    }
    if (!has_room) reclaim();
    if (++empty_polls_ % 512 != 0) return false;
    reclaim();
    sched_yield();
    return false;
}

void Transport::take(int source, const char* bytes, std::size_t size) {
    Head head;
    std::memcpy(&head, bytes, sizeof head);
    Peer& from = peer(source);
    if (head.form == up || head.form == down) {
        Sums sums;
        std::memcpy(sums.data(), bytes + sizeof head, sizeof sums);
        if (head.form == down) return conclude(sums);
        for (std::size_t i = 0; i < sums.size(); ++i) sums_[i] += sums[i];
        from.has_child_reported = true;
        ++reported_;
        return report_up();
    }
    in_ += static_cast<std::int64_t>(size - sizeof head + head.bytes);
    count_held();
    if (head.released > from.released_there) {
        from.released_there = head.released;
        start_full(source);
    }
    if (head.form == records && head.sequence == from.came && is_time_for(head)) {
        ++from.came;
        count_received(&quiescence_, {head.phase, head.wave});
        return take_records(source, bytes + sizeof head, bytes + size);
    }
    Incoming& waiting = waiting_.emplace_back();
    waiting.head = head;
    waiting.source = source;
    waiting.bytes.assign(bytes + sizeof head, bytes + size);
}

void Transport::take_records(int source, const char* at, const char* end) {
    while (at < end) {
        Header header;
        std::memcpy(&header, at, sizeof header);
        at += sizeof header;
        if (!receiver_.take(source, header, at)) release(source, header);
        at += header.bytes;
    }
}

/// Whether it was its turn.
bool Transport::take_one(Incoming& waiting) {
    std::uint32_t& came = peer(waiting.source).came;
    if (waiting.head.sequence != came || !is_time_for(waiting.head)) return false;
    if (waiting.head.form == long_record) {
        if (!waiting.is_asked_for) {
            waiting.is_asked_for = true;
            waiting.bytes.resize(waiting.head.bytes);
            PMPI_Irecv(waiting.bytes.data(), static_cast<int>(waiting.bytes.size()), MPI_BYTE, waiting.source,
                       tag_of_long_records, comm_, &waiting.request);
        }
        int is_here = 0;
        PMPI_Test(&waiting.request, &is_here, MPI_STATUS_IGNORE);
        if (is_here == 0) return false;
    }
    ++came;
    count_received(&quiescence_, {waiting.head.phase, waiting.head.wave});
    take_records(waiting.source, waiting.bytes.data(), waiting.bytes.data() + waiting.bytes.size());
    return true;
}

void Transport::take_waiting() {
    for (bool again = true; again;) {
        again = false;
        for (auto at = waiting_.begin(); at != waiting_.end();) {
            const bool taken = take_one(*at);
            at = taken ? waiting_.erase(at) : std::next(at);
            again |= taken;
        }
    }
}

void Transport::control(Form form, const Sums& sums, int to) {
    Head head;
    head.form = form;
    std::vector<char> bytes(sizeof head + sizeof sums);
    std::memcpy(bytes.data(), &head, sizeof head);
    std::memcpy(bytes.data() + sizeof head, sums.data(), sizeof sums);
    start_send({std::move(bytes), 0}, to, tag_of_messages);
}

void Transport::join_wave(bool waits_in_send) {
    std::int64_t counts[2];
    ::join_wave(&quiescence_, counts);
    sums_[0] += counts[0];
    sums_[1] += counts[1];
    sums_[2] += waits_in_send || holds_back() ? 1 : 0;
    report_up();
}

void Transport::report_up() {
    if (!quiescence_.in_wave || reported_ < children_) return;
    if (rank_ != 0) return control(up, sums_, parent_of(rank_));
    conclude(Sums(sums_));
}

void Transport::conclude(const Sums& sums) {
    each_child(rank_, ranks_, [&](int child) {
        control(down, sums, child);
        peer(child).has_child_reported = false;
    });
    // With messages that wait for others the phase is not over, whatever the sums.
    const std::int64_t counts[2] = {sums[0], sums[1] - sums[2]};
    has_ended_ = end_wave(&quiescence_, counts);
    if (has_ended_) {
        is_open_ = false;
        allowed_ = bound_;
    } else if (sums[0] == sums[1] && holds_back() && is_full(false)) {
        allowed_ *= 2;  // nothing is under way, so that nobody else would make room
    }
    sums_ = {};
    reported_ = 0;
}

bool Transport::take_end() { return std::exchange(has_ended_, false); }

/// Receivers that take no messages, or else those that a wave waits for, which may wait for others.
Awaited Transport::awaited() const {
    Awaited awaited{"messages are not taken by", {}, 1};
    for (int other = 0; other < ranks_; ++other) {
        const Peer& to = peers_[static_cast<std::size_t>(other)];
        if (!to.full.empty() || (!to.gathered.empty() && !is_open_to(to))) awaited.ranks.push_back(other);
    }
    if (!awaited.ranks.empty()) return awaited;
    awaited.reason = "no word of the end comes from";
    each_child(rank_, ranks_, [&](int child) {
        if (!peers_[static_cast<std::size_t>(child)].has_child_reported) awaited.ranks.push_back(child);
    });
    const double height = static_cast<double>(children_) / std::bit_width(static_cast<unsigned>(ranks_));
    awaited.patience = 1 + height / 2;
    if (awaited.ranks.empty() && rank_ != 0) {
        awaited.ranks.push_back(parent_of(rank_));
        awaited.patience = 2 - height / 2;
    }
    return awaited;
}

}  // namespace topoloom::objects
