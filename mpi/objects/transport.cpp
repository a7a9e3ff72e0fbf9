// SPDX-License-Identifier: BSD-3-Clause
#include "transport.hpp"

#include <sched.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace topoloom::objects {

namespace {

constexpr std::size_t slot_count = 8;
constexpr int tag_of_messages = 0, tag_of_long_records = 1;

}  // namespace

Transport::Transport(MPI_Comm comm, std::size_t message_bytes, std::int64_t memory_bytes, Receiver& receiver)
    : comm_(comm), receiver_(receiver), message_bytes_(message_bytes) {
    constexpr std::size_t max_messages = 32;  // per window, because MPI searches queued messages one by one
    PMPI_Comm_rank(comm_, &rank_);
    PMPI_Comm_size(comm_, &ranks_);
    peers_.resize(static_cast<std::size_t>(ranks_));
    for_each_child(rank_, ranks_, [&](int) { ++children_; });
    // Half of the memory is for messages to other ranks, and half for messages from them, because one message
    // may exceed each of the two windows.
    initial_limit_ = limit_ = memory_bytes / 2;
    if (ranks_ == 1) return;
    const auto share = static_cast<std::size_t>(memory_bytes / 4 / (ranks_ - 1));
    message_bytes_ = std::min(message_bytes, share);
    window_ = std::min(share, max_messages * message_bytes_);
    slots_.assign(slot_count, std::vector<char>(message_bytes_ + sizeof(Envelope)));
    receive_requests_.assign(slot_count, MPI_REQUEST_NULL);
    complete_slots_.resize(slot_count);
    statuses_.resize(slot_count);
    for (std::size_t slot = 0; slot < slot_count; ++slot) post_receive(slot);
}

Transport::~Transport() {
    int is_finalized = 0;
    PMPI_Finalized(&is_finalized);
    if (is_finalized != 0) return;
    for (MPI_Request& request : receive_requests_) {
        if (request == MPI_REQUEST_NULL) continue;
        PMPI_Cancel(&request);
        PMPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    PMPI_Waitall(static_cast<int>(send_requests_.size()), send_requests_.data(), MPI_STATUSES_IGNORE);
}

void Transport::post_receive(std::size_t slot) {
    PMPI_Irecv(slots_[slot].data(), static_cast<int>(slots_[slot].size()), MPI_BYTE, MPI_ANY_SOURCE,
               tag_of_messages, comm_, &receive_requests_[slot]);
}

void Transport::send(int rank, const MessageHeader& header, const char* values) {
    const std::size_t bytes = sizeof header + header.bytes;
    std::vector<char>& open = get_peer(rank).open;
    const std::size_t capacity = message_bytes_ + sizeof(Envelope);
    if (open.size() > sizeof(Envelope) && open.size() + bytes > capacity) close_message(rank);
    if (open.empty()) {
        if (!free_buffers_.empty()) {
            open = std::move(free_buffers_.back());
            free_buffers_.pop_back();
        }
        open.reserve(std::min(message_bytes_, std::size_t{1024}) + sizeof(Envelope));
        open.resize(sizeof(Envelope));
        open_to_.push_back(rank);
    }
    const std::size_t at = open.size();
    open.resize(at + bytes);
    std::memcpy(open.data() + at, &header, sizeof header);
    if (header.bytes > 0) std::memcpy(open.data() + at + sizeof header, values, header.bytes);
    out_bytes_ += static_cast<std::int64_t>(bytes);
    update_peak();
    if (open.size() > capacity) close_message(rank);
}

void Transport::flush() {
    for (std::size_t i = open_to_.size(); i-- > 0;) {
        const Peer& to = get_peer(open_to_[i]);
        if (to.full.empty() && has_window_space(to)) close_message(open_to_[i]);
    }
}

/// Closes the open message to a rank, and sends it now or when the window allows.
void Transport::close_message(int rank) {
    Peer& to = get_peer(rank);
    open_to_.erase(std::find(open_to_.begin(), open_to_.end(), rank));
    to.full.push_back(std::exchange(to.open, {}));
    ++full_messages_;
    send_full_messages(rank);
}

void Transport::send_full_messages(int rank) {
    Peer& to = get_peer(rank);
    while (!to.full.empty() && has_window_space(to)) {
        std::vector<char> message = std::move(to.full.front());
        to.full.pop_front();
        --full_messages_;
        to.sent_bytes += message.size() - sizeof(Envelope);
        send_message(rank, std::move(message));
    }
}

Transport::Envelope Transport::make_envelope(int rank, MessageForm form) {
    const stamp stamp = count_sent(&quiescence_);
    Peer& to = get_peer(rank);
    if (!is_full(false)) to.reported = to.released;
    return {stamp.phase, stamp.wave, to.sent++, form, 0, registered_, to.reported};
}

void Transport::send_message(int rank, std::vector<char>&& message) {
    const std::size_t bytes = message.size() - sizeof(Envelope);
    const auto record_bytes = static_cast<std::int64_t>(bytes);
    if (bytes > message_bytes_) {  // a single record that is larger than the receiver's slots
        Envelope envelope = make_envelope(rank, long_record);
        envelope.bytes = static_cast<std::uint32_t>(bytes);
        std::vector<char> announcement(sizeof envelope);
        std::memcpy(announcement.data(), &envelope, sizeof envelope);
        start_send({std::move(announcement), 0}, rank, tag_of_messages);
        message.erase(message.begin(), message.begin() + sizeof envelope);
        start_send({std::move(message), record_bytes}, rank, tag_of_long_records);
    } else {
        const Envelope envelope = make_envelope(rank, records);
        std::memcpy(message.data(), &envelope, sizeof envelope);
        start_send({std::move(message), record_bytes}, rank, tag_of_messages);
    }
}

void Transport::start_send(PendingSend&& send, int rank, int tag) {
    sends_.push_back(std::move(send));
    MPI_Request request = MPI_REQUEST_NULL;
    const std::vector<char>& bytes = sends_.back().bytes;
    PMPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, rank, tag, comm_, &request);
    send_requests_.push_back(request);
    if (send_requests_.size() % 64 == 0) remove_complete_sends();
}

void Transport::remove_complete_sends() {
    if (send_requests_.empty()) return;
    complete_sends_.resize(send_requests_.size());
    int count = 0;
    PMPI_Testsome(static_cast<int>(send_requests_.size()), send_requests_.data(), &count,
                  complete_sends_.data(), MPI_STATUSES_IGNORE);
    if (count <= 0) return;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < send_requests_.size(); ++i) {
        PendingSend& send = sends_[i];
        if (send_requests_[i] == MPI_REQUEST_NULL) {
            out_bytes_ -= send.record_bytes;
            send.bytes.clear();
            if (free_buffers_.size() < 64 && send.bytes.capacity() <= 2 * message_bytes_)
                free_buffers_.push_back(std::move(send.bytes));
            continue;
        }
        send_requests_[kept] = send_requests_[i];
        if (kept != i) sends_[kept] = std::move(send);
        ++kept;
    }
    send_requests_.resize(kept);
    sends_.resize(kept);
}

void Transport::release(int from, const MessageHeader& header) {
    const std::uint64_t bytes = sizeof header + header.bytes;
    Peer& source = get_peer(from);
    in_bytes_ -= static_cast<std::int64_t>(bytes);
    const bool was_due = source.released - source.reported > window_ / 2;
    source.released += bytes;
    if (was_due || source.released - source.reported <= window_ / 2) return;
    if (is_full(false))
        report_due_.push_back(from);
    else
        report_released(from);
}

/// Reports released bytes in a message without records.
void Transport::report_released(int rank) { send_message(rank, std::vector<char>(sizeof(Envelope))); }

void Transport::report_due_releases() {
    if (is_full(false)) return;
    for (const int rank : std::exchange(report_due_, {}))
        if (get_peer(rank).released - get_peer(rank).reported > window_ / 2) report_released(rank);
}

void Transport::process_slots(int count) {
    for (int i = 0; i < count; ++i) {
        const auto slot = static_cast<std::size_t>(complete_slots_[static_cast<std::size_t>(i)]);
        const MPI_Status& status = statuses_[static_cast<std::size_t>(i)];
        int bytes = 0;
        PMPI_Get_count(&status, MPI_BYTE, &bytes);
        process_message(status.MPI_SOURCE, slots_[slot].data(), static_cast<std::size_t>(bytes));
        post_receive(slot);
    }
}

bool Transport::receive() {
    if (ranks_ == 1) return false;
    int count = 0;
    PMPI_Testsome(static_cast<int>(slot_count), receive_requests_.data(), &count, complete_slots_.data(),
                  statuses_.data());
    if (count == MPI_UNDEFINED) count = 0;
    process_slots(count);
    if (!deferred_.empty()) process_deferred();
    if (!report_due_.empty()) report_due_releases();
    return count > 0;
}

bool Transport::wait(bool is_blocked) {
    if (ranks_ == 1) return false;
#ifdef SMPI_H  // SimGrid simulates every poll
    if (deferred_.empty() && !is_blocked) {
        int count = 0;
        PMPI_Waitsome(static_cast<int>(slot_count), receive_requests_.data(), &count, complete_slots_.data(),
                      statuses_.data());
        process_slots(count);
        return true;
    }
#endif
    if (receive()) {
        empty_polls_ = 0;
        return true;
    }
    if (is_blocked) remove_complete_sends();
    if (++empty_polls_ % 512 != 0) return false;
    remove_complete_sends();
    sched_yield();
    return false;
}

void Transport::process_message(int source, const char* bytes, std::size_t size) {
    Envelope envelope;
    std::memcpy(&envelope, bytes, sizeof envelope);
    Peer& from = get_peer(source);
    if (envelope.form == wave_up || envelope.form == wave_down) {
        Sums sums;
        std::memcpy(sums.data(), bytes + sizeof envelope, sizeof sums);
        if (envelope.form == wave_down) return finish_wave(sums);
        for (std::size_t i = 0; i < sums.size(); ++i) sums_[i] += sums[i];
        from.has_child_reported = true;
        ++reported_children_;
        return send_sums_up();
    }
    in_bytes_ += static_cast<std::int64_t>(size - sizeof envelope + envelope.bytes);
    update_peak();
    if (envelope.released > from.released_by_peer) {
        from.released_by_peer = envelope.released;
        send_full_messages(source);
    }
    if (envelope.form == records && envelope.sequence == from.received && can_deliver(envelope)) {
        ++from.received;
        count_received(&quiescence_, {envelope.phase, envelope.wave});
        return deliver_records(source, bytes + sizeof envelope, bytes + size);
    }
    DeferredMessage& deferred = deferred_.emplace_back();
    deferred.envelope = envelope;
    deferred.source = source;
    deferred.bytes.assign(bytes + sizeof envelope, bytes + size);
}

void Transport::deliver_records(int source, const char* at, const char* end) {
    while (at < end) {
        MessageHeader header;
        std::memcpy(&header, at, sizeof header);
        at += sizeof header;
        if (!receiver_.receive_record(source, header, at)) release(source, header);
        at += header.bytes;
    }
}

/// Delivers a deferred message. Returns false unless the message was complete and next in order.
bool Transport::try_deliver_deferred(DeferredMessage& deferred) {
    std::uint32_t& received = get_peer(deferred.source).received;
    if (deferred.envelope.sequence != received || !can_deliver(deferred.envelope)) return false;
    if (deferred.envelope.form == long_record) {
        if (!deferred.is_posted) {
            deferred.is_posted = true;
            deferred.bytes.resize(deferred.envelope.bytes);
            PMPI_Irecv(deferred.bytes.data(), static_cast<int>(deferred.bytes.size()), MPI_BYTE,
                       deferred.source, tag_of_long_records, comm_, &deferred.request);
        }
        int is_complete = 0;
        PMPI_Test(&deferred.request, &is_complete, MPI_STATUS_IGNORE);
        if (is_complete == 0) return false;
    }
    ++received;
    count_received(&quiescence_, {deferred.envelope.phase, deferred.envelope.wave});
    deliver_records(deferred.source, deferred.bytes.data(), deferred.bytes.data() + deferred.bytes.size());
    return true;
}

void Transport::process_deferred() {
    for (bool again = true; again;) {
        again = false;
        for (auto at = deferred_.begin(); at != deferred_.end();) {
            const bool is_delivered = try_deliver_deferred(*at);
            at = is_delivered ? deferred_.erase(at) : std::next(at);
            again |= is_delivered;
        }
    }
}

void Transport::send_sums(MessageForm form, const Sums& sums, int to) {
    Envelope envelope;
    envelope.form = form;
    std::vector<char> bytes(sizeof envelope + sizeof sums);
    std::memcpy(bytes.data(), &envelope, sizeof envelope);
    std::memcpy(bytes.data() + sizeof envelope, sums.data(), sizeof sums);
    start_send({std::move(bytes), 0}, to, tag_of_messages);
}

void Transport::join_wave(bool is_blocked) {
    std::int64_t counts[2];
    ::join_wave(&quiescence_, counts);
    sums_[0] += counts[0];
    sums_[1] += counts[1];
    sums_[2] += is_blocked || has_unsent_messages() ? 1 : 0;
    send_sums_up();
}

void Transport::send_sums_up() {
    if (!quiescence_.in_wave || reported_children_ < children_) return;
    if (rank_ != 0) return send_sums(wave_up, sums_, get_parent_rank(rank_));
    finish_wave(Sums(sums_));
}

void Transport::finish_wave(const Sums& sums) {
    for_each_child(rank_, ranks_, [&](int child) {
        send_sums(wave_down, sums, child);
        get_peer(child).has_child_reported = false;
    });
    // While messages wait for windows, the phase has not ended, regardless of the sums.
    const std::int64_t counts[2] = {sums[0], sums[1] - sums[2]};
    has_ended_ = end_wave(&quiescence_, counts);
    if (has_ended_) {
        is_open_ = false;
        limit_ = initial_limit_;
    } else if (sums[0] == sums[1] && has_unsent_messages() && is_full(false)) {
        limit_ *= 2;  // nothing is in flight, so no other rank can free memory
    }
    sums_ = {};
    reported_children_ = 0;
}

bool Transport::consume_phase_end() { return std::exchange(has_ended_, false); }

/// Finds the receivers that do not consume messages, or else the ranks that a wave waits for.
Stall Transport::find_stall() const {
    Stall stall{"messages are not received by", {}, 1};
    for (int other = 0; other < ranks_; ++other) {
        const Peer& to = peers_[static_cast<std::size_t>(other)];
        if (!to.full.empty() || (!to.open.empty() && !has_window_space(to))) stall.ranks.push_back(other);
    }
    if (!stall.ranks.empty()) return stall;
    stall.reason = "the end of the phase is not confirmed by";
    for_each_child(rank_, ranks_, [&](int child) {
        if (!peers_[static_cast<std::size_t>(child)].has_child_reported) stall.ranks.push_back(child);
    });
    const double height = static_cast<double>(children_) / std::bit_width(static_cast<unsigned>(ranks_));
    stall.timeout_factor = 1 + height / 2;
    if (stall.ranks.empty() && rank_ != 0) {
        stall.ranks.push_back(get_parent_rank(rank_));
        stall.timeout_factor = 2 - height / 2;
    }
    return stall;
}

}  // namespace topoloom::objects
