// SPDX-License-Identifier: BSD-3-Clause
#include "transport.hpp"

#include <sched.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace topoloom::objects {

namespace {

constexpr std::size_t posted = 8;
constexpr int tag_of_messages = 0, tag_of_long_records = 1;

}  // namespace

Transport::Transport(MPI_Comm comm, int message_bytes, Receiver& receiver)
    : comm_(comm), receiver_(receiver), limit_(static_cast<std::size_t>(message_bytes)) {
    PMPI_Comm_rank(comm_, &rank_);
    PMPI_Comm_size(comm_, &ranks_);
    const auto count = static_cast<std::size_t>(ranks_);
    gathered_.resize(count);
    sent_.resize(count);
    came_.resize(count);
    each_child(rank_, ranks_, [&](int) { ++children_; });
    if (ranks_ == 1) return;
    buffers_.assign(posted, std::vector<char>(limit_ + sizeof(Head)));
    receives_.assign(posted, MPI_REQUEST_NULL);
    done_.resize(posted);
    statuses_.resize(posted);
    for (std::size_t slot = 0; slot < posted; ++slot) start_receive(slot);
}

Transport::~Transport() {
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
    std::vector<char>& gathered = gathered_[static_cast<std::size_t>(rank)];
    if (gathered.size() > sizeof(Head) && gathered.size() + bytes > limit_ + sizeof(Head)) flush(rank);
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
    if (gathered.size() > limit_ + sizeof(Head)) flush(rank);
}

void Transport::flush() {
    while (!unsent_.empty()) flush(unsent_.back());
}

Transport::Head Transport::next_head(int rank, Form form) {
    const stamp stamp = count_sent(&quiescence_);
    return {stamp.phase, stamp.wave, sent_[static_cast<std::size_t>(rank)]++, form, 0};
}

void Transport::flush(int rank) {
    std::vector<char>& gathered = gathered_[static_cast<std::size_t>(rank)];
    unsent_.erase(std::find(unsent_.begin(), unsent_.end(), rank));
    if (gathered.size() > limit_ + sizeof(Head)) {  // one record, longer than what receivers expect
        Head head = next_head(rank, long_record);
        head.bytes = gathered.size() - sizeof head;
        std::vector<char> announced(sizeof head);
        std::memcpy(announced.data(), &head, sizeof head);
        start_send(std::move(announced), rank, tag_of_messages);
        gathered.erase(gathered.begin(), gathered.begin() + sizeof head);
        start_send(std::move(gathered), rank, tag_of_long_records);
    } else {
        const Head head = next_head(rank, records);
        std::memcpy(gathered.data(), &head, sizeof head);
        start_send(std::move(gathered), rank, tag_of_messages);
    }
    gathered = {};
}

void Transport::start_send(std::vector<char>&& bytes, int rank, int tag) {
    sending_.push_back(std::move(bytes));
    MPI_Request request = MPI_REQUEST_NULL;
    PMPI_Isend(sending_.back().data(), static_cast<int>(sending_.back().size()), MPI_BYTE, rank, tag, comm_,
               &request);
    sends_.push_back(request);
    if (sends_.size() % 64 == 0) reclaim();
}

void Transport::reclaim() {
    if (sends_.empty()) return;
    std::vector<int> done(sends_.size());
    int count = 0;
    PMPI_Testsome(static_cast<int>(sends_.size()), sends_.data(), &count, done.data(), MPI_STATUSES_IGNORE);
    if (count <= 0) return;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < sends_.size(); ++i) {
        if (sends_[i] == MPI_REQUEST_NULL) {
            sending_[i].clear();
            if (spare_.size() < 64 && sending_[i].capacity() <= 2 * limit_)
                spare_.push_back(std::move(sending_[i]));
            continue;
        }
        sends_[kept] = sends_[i];
        if (kept != i) sending_[kept] = std::move(sending_[i]);
        ++kept;
    }
    sends_.resize(kept);
    sending_.resize(kept);
}

bool Transport::receive() {
    if (ranks_ == 1) return false;
    int count = 0;
    PMPI_Testsome(static_cast<int>(posted), receives_.data(), &count, done_.data(), statuses_.data());
    if (count == MPI_UNDEFINED) count = 0;
    for (int i = 0; i < count; ++i) {
        const auto slot = static_cast<std::size_t>(done_[static_cast<std::size_t>(i)]);
        const MPI_Status& status = statuses_[static_cast<std::size_t>(i)];
        int bytes = 0;
        PMPI_Get_count(&status, MPI_BYTE, &bytes);
        take(status.MPI_SOURCE, buffers_[slot].data(), static_cast<std::size_t>(bytes));
        start_receive(slot);
    }
    if (!waiting_.empty()) take_waiting();
    return count > 0;
}

void Transport::wait() {
    if (ranks_ == 1) return;
#ifdef SMPI_H  // where polling is simulated call by call
    if (waiting_.empty()) {
        int count = 0;
        PMPI_Waitsome(static_cast<int>(posted), receives_.data(), &count, done_.data(), statuses_.data());
        for (int i = 0; i < count; ++i) {
            const auto slot = static_cast<std::size_t>(done_[static_cast<std::size_t>(i)]);
            const MPI_Status& status = statuses_[static_cast<std::size_t>(i)];
            int bytes = 0;
            PMPI_Get_count(&status, MPI_BYTE, &bytes);
            take(status.MPI_SOURCE, buffers_[slot].data(), static_cast<std::size_t>(bytes));
            start_receive(slot);
        }
        return;
    }
#endif
    if (receive()) {
        empty_polls_ = 0;
        return;
    }
    if (++empty_polls_ % 512 != 0) return;
    reclaim();
    sched_yield();
}

void Transport::take(int source, const char* bytes, std::size_t size) {
    Head head;
    std::memcpy(&head, bytes, sizeof head);
    if (head.form == up || head.form == down) {
        std::int64_t sums[2];
        std::memcpy(sums, bytes + sizeof head, sizeof sums);
        if (head.form == down) return conclude(sums);
        sums_[0] += sums[0];
        sums_[1] += sums[1];
        ++reported_;
        return report_up();
    }
    std::uint32_t& came = came_[static_cast<std::size_t>(source)];
    if (head.form == records && head.sequence == came && is_time_for(head)) {
        ++came;
        count_received(&quiescence_, {head.phase, head.wave});
        return take_records(bytes + sizeof head, bytes + size);
    }
    Incoming& waiting = waiting_.emplace_back();
    waiting.head = head;
    waiting.source = source;
    waiting.bytes.assign(bytes + sizeof head, bytes + size);
}

void Transport::take_records(const char* at, const char* end) {
    while (at < end) {
        Header header;
        std::memcpy(&header, at, sizeof header);
        at += sizeof header;
        receiver_.take(header, at);
        at += header.bytes;
    }
}

/// Whether it was its turn.
bool Transport::take_one(Incoming& waiting) {
    std::uint32_t& came = came_[static_cast<std::size_t>(waiting.source)];
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
    take_records(waiting.bytes.data(), waiting.bytes.data() + waiting.bytes.size());
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

void Transport::control(Form form, const std::int64_t sums[2], int to) {
    const Head head{0, 0, 0, form, 0};
    std::vector<char> bytes(sizeof head + 2 * sizeof *sums);
    std::memcpy(bytes.data(), &head, sizeof head);
    std::memcpy(bytes.data() + sizeof head, sums, 2 * sizeof *sums);
    start_send(std::move(bytes), to, tag_of_messages);
}

void Transport::join_wave() {
    std::int64_t counts[2];
    ::join_wave(&quiescence_, counts);
    sums_[0] += counts[0];
    sums_[1] += counts[1];
    report_up();
}

void Transport::report_up() {
    if (!quiescence_.in_wave || reported_ < children_) return;
    if (rank_ != 0) return control(up, sums_, parent_of(rank_));
    const std::int64_t sums[2] = {sums_[0], sums_[1]};
    conclude(sums);
}

void Transport::conclude(const std::int64_t sums[2]) {
    each_child(rank_, ranks_, [&](int child) { control(down, sums, child); });
    has_ended_ = end_wave(&quiescence_, sums);
    if (has_ended_) is_open_ = false;
    sums_[0] = sums_[1] = 0;
    reported_ = 0;
}

bool Transport::take_end() { return std::exchange(has_ended_, false); }

}  // namespace topoloom::objects
