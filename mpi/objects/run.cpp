// SPDX-License-Identifier: BSD-3-Clause
// The loop: take what has come, call a method, and when there is none ask whether all is done.
#include <ctime>
#include <exception>
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

}  // namespace

void State::run() {
    double now = clock_now(), looked = now;
    if (options.measures) {
        clock_then = now;
        processor_then = processor_now();
    }
    transport->open();
    transport->receive();
    raise_trouble();
    for (int idle = 0;; ++idle) {
        while (Message* const message = queue.pop()) {
            idle = 0;
            Resident* const before = current;
            deliver(message);
            current = before;
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
        if (has_come || !queue.empty()) continue;
        if (transport->take_end()) break;
        if (!transport->is_in_wave() && idle >= polls_before_wave) transport->join_wave();
        if (transport->take_end()) break;
        transport->wait();
        raise_trouble();
        if (options.measures && queue.empty() && clock_now() - clock_then > settle_every) settle_loads();
    }
    settle_loads();
    forget_broadcasts();
    forget_locations();
}

void State::raise_trouble() {
    if (trouble != nullptr) std::rethrow_exception(std::exchange(trouble, nullptr));
}

void State::call(Resident& resident, Message* message) {
    const std::unique_ptr<Message, void (*)(Message*)> held(message, &Message::discard);
    const Header& header = message->header;
    const Entry& entry = arrays[header.array]->type.entries[header.entry];
    const double begin = options.measures ? clock_now() : 0;
    current = &resident;
    try {
        Reader reader(message->values(), header.bytes);
        entry.invoke(resident.object, reader);
    } catch (...) {
        current = nullptr;
        resident.wanted = -1;
        fail(name_of(resident.array, resident.index) + ": " + std::string(entry.name) + " threw " +
             thrown_text());
    }
    current = nullptr;
    if (options.measures) {
        const double end = clock_now();
        calls.emplace_back(&resident, end - begin);
        if (end - clock_then > settle_every) settle_loads();
    }
    if (resident.wanted >= 0) depart(&resident);
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

std::string State::name_of(std::uint32_t array, std::uint64_t index) const {
    const Extents& extents = arrays[array]->setting.extents;
    const std::uint64_t at[] = {index / (extents.size[1] * extents.size[2]),
                                index / extents.size[2] % extents.size[1], index % extents.size[2]};
    std::string text = "object (" + std::to_string(at[0]);
    for (int axis = 1; axis < extents.axes; ++axis) text += ", " + std::to_string(at[axis]);
    return text + ") of " + std::string(arrays[array]->type.name);
}

}  // namespace topoloom::objects
