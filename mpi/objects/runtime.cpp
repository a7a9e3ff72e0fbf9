// SPDX-License-Identifier: BSD-3-Clause
// What topoloom_objects.hpp calls.
#include <algorithm>
#include <utility>

#include "agreement.hpp"
#include "state.hpp"

extern "C" {
#include "errors.h"
}

namespace topoloom::objects {

namespace {

/// What is wrong with the options; empty: nothing.
std::string refused(const SchedulerOptions& options, int ranks) {
    if (options.message_bytes < 64 || options.message_bytes > 1 << 28)
        return "message_bytes is " + std::to_string(options.message_bytes) +
               ", and may be from 64 to 268435456";
    const std::int64_t least = Transport::least_memory(ranks);
    if (options.memory_bytes < least)
        return "memory_bytes is " + std::to_string(options.memory_bytes) + ", and " + std::to_string(ranks) +
               " ranks need " + std::to_string(least) + " or more";
    if (!(options.patience >= 0))
        return "a patience of " + std::to_string(options.patience) + " s is not from 0 on";
    return {};
}

}  // namespace

State::State(MPI_Comm given_comm, const SchedulerOptions& given) : comm(MPI_COMM_NULL), options(given) {
    int ranks = 0;
    PMPI_Comm_size(given_comm, &ranks);
    agree(given_comm, refused(options, ranks),
          {{"memory_bytes", options.memory_bytes},
           {"message_bytes", options.message_bytes},
           {"measures", options.measures ? 1 : 0}});
    PMPI_Comm_dup(given_comm, &comm);
    transport = std::make_unique<Transport>(comm, static_cast<std::size_t>(options.message_bytes),
                                            options.memory_bytes, *this);
}

State::~State() {
    forget_broadcasts();
    transport.reset();
    int is_over = 0;  // then MPI has freed what was its own
    PMPI_Finalized(&is_over);
    if (is_over == 0) PMPI_Comm_free(&comm);
}

void State::fail(const std::string& text) const {
    raise_error(comm, MPI_ERR_OTHER, "objects", "%s", text.c_str());
    throw ObjectsError(text);
}

Runtime::Runtime(MPI_Comm comm, const SchedulerOptions& options)
    : state_(std::make_unique<State>(comm, options)) {}
Runtime::~Runtime() = default;

int Runtime::rank() const { return state_->transport->rank(); }
int Runtime::ranks() const { return state_->transport->ranks(); }

void Runtime::run() {
    state_->refuse_in_methods("run()");
    state_->run();
}

std::int64_t Runtime::most_held() const { return state_->transport->most_held(); }

std::uint32_t Runtime::add_array(const Type& type, void* array, ArraySetting setting) {
    if (state_->arrays.size() > 0xFFFF) fail("there are 65,536 arrays already");
    auto made = std::make_unique<Array>();
    made->type = type;
    made->front = array;
    made->setting = std::move(setting);
    state_->arrays.push_back(std::move(made));
    return static_cast<std::uint32_t>(state_->arrays.size() - 1);
}

void Runtime::remove_array(std::uint32_t array) {
    Array& gone = *state_->arrays[array];
    std::erase_if(state_->calls, [&](const auto& call) { return call.first->array == array; });
    gone.residents.each([&](std::uint64_t, Resident* resident) {
        gone.type.destroy(resident->object);
        delete resident;
    });
    gone.residents.clear();
    gone.locations.clear();
    gone.front = nullptr;
}

void Runtime::create(std::uint32_t array, std::uint64_t index, void* object) {
    state_->create(array, index, object);
    ++state_->arrays[array]->designated;
}

void* Runtime::array(std::uint32_t array) const {
    if (array >= state_->arrays.size() || state_->arrays[array]->front == nullptr)
        fail("there is no array " + std::to_string(array));
    return state_->arrays[array]->front;
}

int Runtime::home(std::uint32_t array, std::uint64_t index) const {
    const int rank = state_->home(*state_->arrays[array], index);
    if (rank < 0 || rank >= ranks())
        fail(state_->name_of(array, index) + " has its home on rank " + std::to_string(rank) +
             ", and there are " + std::to_string(ranks()));
    return rank;
}

const Extents& Runtime::extents(std::uint32_t array) const { return state_->arrays[array]->setting.extents; }

Message* Runtime::make_message(std::size_t bytes) {
    if (bytes > 0x7FFF0000) throw ObjectsError("a message has more than 2 GB");
    return Message::make(bytes);
}
char* Runtime::room(Message* message) { return message->values(); }

namespace {

void address(Message* message, std::uint32_t array, std::uint32_t entry, std::uint64_t index, int priority) {
    Header& header = message->header;
    header.array = static_cast<std::uint16_t>(array);
    header.entry = entry;
    header.index = index;
    header.priority = priority;
}

}  // namespace

void Runtime::send(Message* message, std::uint32_t array, std::uint32_t entry, std::uint64_t index,
                   int priority) {
    address(message, array, entry, index, priority);
    state_->send(message);
    state_->make_room();
}

void Runtime::broadcast(Message* message, std::uint32_t array, std::uint32_t entry, int priority) {
    address(message, array, entry, 0, priority);
    state_->broadcast(message);
    state_->make_room();
}

void Runtime::multicast(Message* message, std::uint32_t array, std::uint32_t entry,
                        const std::vector<std::uint64_t>& members, Route route) {
    address(message, array, entry, 0, 0);
    message->header.origin = rank();
    message->header.route = route;
    if (state_->options.measures && state_->current != nullptr) {
        for (const std::uint64_t member : members) {
            Sent& sent = state_->current->sent[Sender::of(array, member)];
            sent.bytes += message->header.bytes;
            sent.cast_bytes += message->header.bytes;
            ++sent.messages;
        }
    }
    state_->multicast(message->header, members, message->values());
    Message::discard(message);
    state_->make_room();
}

std::uint32_t Runtime::add_many_to_many(std::uint32_t array, const ManyToManyOptions& options) {
    state_->refuse_in_methods("many_to_many()");
    return state_->add_bracket(array, options);
}
Learned Runtime::learned(std::uint32_t many_to_many) const { return state_->brackets[many_to_many].learned; }

void Runtime::insert(std::uint32_t many_to_many, Resident* from, Message* message, std::uint32_t array,
                     std::uint32_t entry, std::uint64_t index) {
    address(message, array, entry, index, 0);
    state_->insert(many_to_many, *from, message);
    state_->make_room();
}

void Runtime::be_done(std::uint32_t many_to_many, Resident* from) {
    state_->be_done(many_to_many, *from);
    state_->make_room();
}

void Runtime::contribute(const Group& group, int operation, const Target& target, Message* value) {
    if (state_->options.measures && state_->current != nullptr && is_for_one_object(group, target)) {
        Sent& sent = state_->current->sent[Sender::of(target.array, target.index)];
        sent.bytes += value->header.bytes;
        sent.reduced_bytes += value->header.bytes;
        ++sent.messages;
    }
    state_->contribute({group, target, 1, operation}, value->values(), value->header.bytes);
    Message::discard(value);
    state_->make_room();
}

std::uint32_t Runtime::add_callback(Invoke invoke,
                                    bool (*combine)(int, std::vector<char>&, const char*, std::size_t)) {
    state_->callbacks.push_back({std::move(invoke), combine});
    return static_cast<std::uint32_t>(state_->callbacks.size() - 1);
}

std::uint64_t Runtime::index(const Resident* resident) const { return resident->index; }
std::uint64_t Runtime::next_turn(Resident* resident) { return resident->reductions++; }
std::uint64_t Runtime::next_section() {
    return std::uint64_t{1} << 63 | static_cast<std::uint64_t>(rank()) << 32 | state_->sections++;
}

void Runtime::migrate(Resident* resident, int rank) {
    if (rank < 0 || rank >= ranks())
        fail(state_->name_of(resident->array, resident->index) + " cannot move to rank " +
             std::to_string(rank) + ": there are " + std::to_string(ranks()));
    state_->ask_to_move(*resident, rank);
}

Resident* Runtime::resident(std::uint32_t array, std::uint64_t index) const {
    Resident* const found = state_->resident(array, index);
    if (found == nullptr) fail(state_->name_of(array, index) + " is not on this rank");
    return found;
}

void* Runtime::find(std::uint32_t array, std::uint64_t index) const {
    const Resident* const found = state_->resident(array, index);
    return found == nullptr ? nullptr : found->object;
}

void Runtime::each(std::uint32_t array, const std::function<void(void*)>& visit) const {
    std::vector<std::uint64_t> here;
    state_->arrays[array]->residents.each([&](std::uint64_t index, Resident*) { here.push_back(index); });
    std::ranges::sort(here);
    for (const std::uint64_t index : here)
        if (void* const object = find(array, index)) visit(object);
}

void Runtime::fail(const std::string& text) const { state_->fail(text); }

}  // namespace topoloom::objects
