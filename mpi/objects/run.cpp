// SPDX-License-Identifier: BSD-3-Clause
// The loop: take what has come, call a method, and when there is none ask whether all is done.
#include <ctime>
#include <exception>
#include <sstream>
#include <utility>

#include "state.hpp"

namespace topoloom::objects {

double clock_now() {
#ifdef SMPI_H  // where time is simulated
    return PMPI_Wtime();
#else
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
#endif
}

double processor_now() {
#ifdef SMPI_H
    return PMPI_Wtime();
#else
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
#endif
}

std::string thrown_text() {
    try {
        throw;
    } catch (const std::exception& thrown) {
        return thrown.what();
    } catch (...) {
        return "what is not a std::exception";
    }
}

namespace {

/// Seconds between two looks at the network while methods are called.
constexpr double look_every = 2e-6;
/// Reading the processor time takes a third of a microsecond.
constexpr double settle_every = 100e-6;
/// An answer that is already on its way is cheaper than a wave that it makes vain.
#ifdef SMPI_H  // where waiting is not polling
constexpr int polls_before_wave = 0;
#else
constexpr int polls_before_wave = 16;
#endif

/// A value until the end of the block, however that is left.
template <typename T>
class Set {
   public:
    Set(T& variable, T value) : variable_(variable), before_(std::exchange(variable, value)) {}
    ~Set() { variable_ = before_; }
    Set(const Set&) = delete;
    Set& operator=(const Set&) = delete;

   private:
    T& variable_;
    T before_;
};

}  // namespace

void State::begin_measuring() {
    if (!options.measures) return;
    clock_then = clock_now();
    processor_then = processor_now();
}

void State::run() {
    begin_measuring();
    double now = clock_now(), looked = now;
    quiet_since = now;
    const Set<bool> running(is_running, true);
    transport->set_made(arrays.size() + callbacks.size() + brackets.size());
    transport->open();
    depart_late();
    transport->receive();
    raise_trouble();
    for (int idle = 0;; ++idle) {
        while (Message* const message = queue.pop()) {
            idle = 0;
            deliver_next(message);
            if (transport->is_full(false)) wait_for_room(false);
            now = clock_now();
            if (now - looked < look_every) continue;
            looked = now;
            transport->flush();
            transport->receive();
            raise_trouble();
        }
        send_partials();
        transport->flush();
        const bool has_come = transport->receive();
        raise_trouble();
        if (has_come || !queue.empty()) {
            quiet_since = 0;
            continue;
        }
        if (transport->take_end()) break;
        if (!transport->is_in_wave() && idle >= polls_before_wave) transport->join_wave(false);
        if (transport->take_end()) break;
        wait(true);
        raise_trouble();
        if (options.measures && queue.empty() && clock_now() - clock_then > settle_every) settle_loads();
    }
    settle_loads();
    forget_broadcasts();
    forget_locations();
    fence();
}

void State::deliver_next(Message* message) {
    const Set<Resident*> interrupted(current, nullptr);
    const Set<int> deeper(delivering, delivering + 1);
    quiet_since = 0;
    deliver(message);
    if (is_running) depart_late();
}

/// After a send: waits while this rank holds more than it may. The main program calls methods meanwhile. A method cannot: it goes
/// on taking what comes, which others bound.
void State::make_room() {
    const bool is_main = delivering == 0;
    if (!transport->is_full(is_main)) return;
    if (is_main) {
        transport->set_made(arrays.size() + callbacks.size() + brackets.size());
        transport->open();
        if (!is_running) begin_measuring();
    }
    wait_for_room(is_main);
    if (is_main) settle_loads();
}

void State::wait_for_room(bool delivers) {
    const double began = clock_now();
    quiet_since = began;
    for (int idle = 0; transport->is_full(delivers); ++idle) {
        transport->flush();
        const bool has_come = transport->receive();
        Message* const message = delivers && !transport->is_full(false) ? queue.pop() : nullptr;
        if (message != nullptr) deliver_next(message);
        if (has_come || message != nullptr) {
            idle = 0;
            quiet_since = 0;
            continue;
        }
        if (!transport->is_in_wave() && idle >= polls_before_wave) transport->join_wave(true);
        wait(false);
    }
    if (!delivers) waited += clock_now() - began;
}

/// A rank that others wait for in vain, as it has died or hangs, is an error after a time.
void State::wait(bool has_room) {
    if (transport->wait(has_room)) quiet_since = 0;
    if (options.patience <= 0) return;
    const double now = clock_now();
    if (quiet_since <= 0) quiet_since = now;
    if (now - quiet_since < options.patience) return;
    const Awaited awaited = transport->awaited();
    if (awaited.ranks.empty() || now - quiet_since < options.patience * awaited.patience) return;
    quiet_since = 0;
    std::ostringstream text;
    text << "rank " << transport->rank() << " has waited for " << options.patience
         << " s: " << awaited.reason;
    for (std::size_t i = 0; i < awaited.ranks.size(); ++i)
        text << (i > 0 ? ", rank " : " rank ") << awaited.ranks[i];
    fail(text.str());
}

void State::depart_late() {
    while (!late.empty()) {
        const Address address = late.front();
        late.pop_front();
        Resident* const leaving = resident(address.array, address.index);
        if (leaving == nullptr || leaving->wanted < 0) continue;
        depart(leaving);
        if (transport->is_full(false)) wait_for_room(false);
    }
}

void State::raise_trouble() {
    if (trouble != nullptr) std::rethrow_exception(std::exchange(trouble, nullptr));
}

void State::call(Resident& resident, Message* message) {
    const auto give_back = [this](Message* taken) { discard(taken); };
    const std::unique_ptr<Message, decltype(give_back)> held(message, give_back);
    const Header& header = message->header;
    const Entry& entry = arrays[header.array]->type.entries[header.entry];
    const double begin = options.measures ? clock_now() : 0, waited_before = waited;
    const int wanted_before = resident.wanted;
    current = &resident;
    try {
        Reader reader(message->values(), header.bytes);
        entry.invoke(resident.object, reader);
    } catch (...) {
        current = nullptr;
        resident.wanted = wanted_before;
        fail(name_of(resident.array, resident.index) + ": " + std::string(entry.name) + " threw " +
             thrown_text());
    }
    current = nullptr;
    if (options.measures) {
        const double end = clock_now();
        calls.emplace_back(&resident, end - begin - (waited - waited_before));
        if (end - clock_then > settle_every) settle_loads();
    }
}

/// Gives objects the time of their calls, less the share in which the processor was not ours.
void State::settle_loads() {
    if (!options.measures) return;
    const double clock = clock_now(), processor = processor_now();
    const double passed = clock - clock_then, ours = processor - processor_then;
    const double share = ours < passed && passed > 0 ? ours / passed : 1;
    for (const auto& [resident, seconds] : calls) resident->seconds += share * seconds;
    calls.clear();
    clock_then = clock;
    processor_then = processor;
}

void State::refuse_in_methods(const char* call) const {
    if (delivering == 0) return;
    fail(std::string(current != nullptr ? "a method" : "a callback") + " calls " + call +
         ", which only the main program may");
}

std::string State::serialize_threw(std::uint32_t array, std::uint64_t index) const {
    return name_of(array, index) + ": serialize threw " + thrown_text();
}

std::string State::name_of(std::uint32_t array, std::uint64_t index) const {
    const Extents& extents = arrays[array]->setting.extents;
    const std::uint64_t at[] = {index / (extents.size[1] * extents.size[2]),
                                index / extents.size[2] % extents.size[1], index % extents.size[2]};
    std::string text = "object (" + std::to_string(at[0]);
    for (int axis = 1; axis < extents.axes; ++axis) text += ", " + std::to_string(at[axis]);
    return text + ") of " + std::string(arrays[array]->type.name);
}

}  // namespace topoloom::objects
