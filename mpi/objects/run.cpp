// SPDX-License-Identifier: BSD-3-Clause
// The scheduler loop: receives messages, calls methods, and joins a wave (see transport.hpp) when idle.
#include <exception>
#include <sstream>
#include <utility>

#include "state.hpp"

namespace topoloom::objects {

namespace {

/// Seconds between two polls of the network while methods are called.
constexpr double poll_interval = 2e-6;
/// Number of polls after which an idle rank joins a wave: waiting for a reply in flight is cheaper than a
/// failed wave.
#ifdef SMPI_H  // waiting is not polling
constexpr int polls_before_wave = 0;
#else
constexpr int polls_before_wave = 16;
#endif

/// Sets a variable until the end of the scope, even after an exception.
template <typename T>
class ScopedValue {
   public:
    ScopedValue(T& variable, T value) : variable_(variable), before_(std::exchange(variable, value)) {}
    ~ScopedValue() { variable_ = before_; }
    ScopedValue(const ScopedValue&) = delete;
    ScopedValue& operator=(const ScopedValue&) = delete;

   private:
    T& variable_;
    T before_;
};

}  // namespace

void SchedulerState::run() {
    start_measuring();
    double now = read_wall_clock(), last_poll = now;
    idle_since = now;
    const ScopedValue<bool> running(is_running, true);
    transport->set_registration_count(arrays.size() + callbacks.size() + exchanges.size());
    transport->begin_phase();
    process_migrations();
    transport->receive();
    rethrow_pending_exception();
    for (int idle = 0;; ++idle) {
        while (Message* const message = queue.pop()) {
            idle = 0;
            deliver_next(message);
            if (transport->is_full(false)) wait_until_not_full(false);
            now = read_wall_clock();
            if (now - last_poll < poll_interval) continue;
            last_poll = now;
            transport->flush();
            transport->receive();
            rethrow_pending_exception();
        }
        forward_partials();
        transport->flush();
        const bool has_received = transport->receive();
        rethrow_pending_exception();
        if (has_received || !queue.empty()) {
            idle_since = 0;
            continue;
        }
        if (transport->consume_phase_end()) break;
        if (!transport->is_in_wave() && idle >= polls_before_wave) transport->join_wave(false);
        if (transport->consume_phase_end()) break;
        wait_for_messages(false);
        rethrow_pending_exception();
        if (options.measure && queue.empty() && read_wall_clock() - last_clock > assign_interval)
            assign_method_times();
    }
    assign_method_times();
    discard_broadcasts();
    discard_locations();
    run_fence();
}

void SchedulerState::deliver_next(Message* message) {
    const ScopedValue<Resident*> interrupted(current, nullptr);
    const ScopedValue<int> depth(delivering, delivering + 1);
    idle_since = 0;
    deliver_message(message);
    if (is_running) process_migrations();
}

/// Waits after a send while messages on this rank exceed the memory limit. If the main program waits, it
/// calls methods meanwhile. A waiting method cannot; it only receives messages, whose bytes are bounded by
/// the windows of other ranks.
void SchedulerState::wait_for_space() {
    const bool is_main = delivering == 0;
    if (!transport->is_full(is_main)) return;
    if (is_main) {
        transport->set_registration_count(arrays.size() + callbacks.size() + exchanges.size());
        transport->begin_phase();
        if (!is_running) start_measuring();
    }
    wait_until_not_full(is_main);
    if (is_main) assign_method_times();
}

void SchedulerState::wait_until_not_full(bool delivers) {
    const double begin = read_wall_clock();
    idle_since = begin;
    for (int idle = 0; transport->is_full(delivers); ++idle) {
        transport->flush();
        const bool has_received = transport->receive();
        Message* const message = delivers && !transport->is_full(false) ? queue.pop() : nullptr;
        if (message != nullptr) deliver_next(message);
        if (has_received || message != nullptr) {
            idle = 0;
            idle_since = 0;
            continue;
        }
        if (!transport->is_in_wave() && idle >= polls_before_wave) transport->join_wave(true);
        wait_for_messages(true);
    }
    if (!delivers) blocked_seconds += read_wall_clock() - begin;
}

/// Waits for messages. Raises an error after the stall timeout if another rank has died or hangs.
void SchedulerState::wait_for_messages(bool is_blocked) {
    if (transport->wait(is_blocked)) idle_since = 0;
    if (options.stall_timeout <= 0) return;
    const double now = read_wall_clock();
    if (idle_since <= 0) idle_since = now;
    if (now - idle_since < options.stall_timeout) return;
    const Stall stall = transport->find_stall();
    if (stall.ranks.empty() || now - idle_since < options.stall_timeout * stall.timeout_factor) return;
    idle_since = 0;
    std::ostringstream text;
    text << "rank " << transport->rank() << " has waited for " << options.stall_timeout
         << " s: " << stall.reason;
    for (std::size_t i = 0; i < stall.ranks.size(); ++i)
        text << (i > 0 ? ", rank " : " rank ") << stall.ranks[i];
    fail(text.str());
}

void SchedulerState::process_migrations() {
    while (!migration_requests.empty()) {
        const ObjectAddress address = migration_requests.front();
        migration_requests.pop_front();
        Resident* const leaving = find_resident(address.array, address.index);
        if (leaving == nullptr || leaving->target_rank < 0) continue;
        send_migrating_object(leaving);
        if (transport->is_full(false)) wait_until_not_full(false);
    }
}

void SchedulerState::rethrow_pending_exception() {
    if (pending_exception != nullptr) std::rethrow_exception(std::exchange(pending_exception, nullptr));
}

}  // namespace topoloom::objects
