// SPDX-License-Identifier: BSD-3-Clause
// Implementation of the Runtime class for topoloom_objects.hpp.
#include <algorithm>
#include <utility>

#include "collective_check.hpp"
#include "state.hpp"

namespace topoloom::objects {

namespace {

/// Returns a description of an invalid option, or an empty string if all options are valid.
std::string find_invalid_option(const SchedulerOptions& options, int ranks) {
    if (options.message_bytes < 64 || options.message_bytes > 1 << 28)
        return "message_bytes is " + std::to_string(options.message_bytes) + ", but must be 64 to 268435456";
    const std::int64_t least = Transport::get_min_memory(ranks);
    if (options.memory_bytes < least)
        return "memory_bytes is " + std::to_string(options.memory_bytes) + ", but " + std::to_string(ranks) +
               " ranks need " + std::to_string(least) + " or more";
    if (!(options.stall_timeout >= 0))
        return "stall_timeout is " + std::to_string(options.stall_timeout) + " s, but must not be negative";
    return {};
}

}  // namespace

SchedulerState::SchedulerState(MPI_Comm given_comm, const SchedulerOptions& scheduler_options)
    : comm(MPI_COMM_NULL), options(scheduler_options) {
    int ranks = 0;
    PMPI_Comm_size(given_comm, &ranks);
    check_on_all_ranks(given_comm, find_invalid_option(options, ranks),
                       {{"memory_bytes", options.memory_bytes},
                        {"message_bytes", options.message_bytes},
                        {"measure", options.measure ? 1 : 0}});
    PMPI_Comm_dup(given_comm, &comm);
    transport = std::make_unique<Transport>(comm, static_cast<std::size_t>(options.message_bytes),
                                            options.memory_bytes, *this);
}

SchedulerState::~SchedulerState() {
    discard_broadcasts();
    transport.reset();
    int is_finalized = 0;
    PMPI_Finalized(&is_finalized);
    if (is_finalized == 0) PMPI_Comm_free(&comm);
}

Runtime::Runtime(MPI_Comm comm, const SchedulerOptions& options)
    : state_(std::make_unique<SchedulerState>(comm, options)) {}
Runtime::~Runtime() = default;

int Runtime::rank() const { return state_->transport->rank(); }
int Runtime::ranks() const { return state_->transport->ranks(); }

void Runtime::run() {
    state_->fail_in_method("run()");
    state_->run();
}

std::int64_t Runtime::peak_message_bytes() const { return state_->transport->peak_bytes(); }

std::uint32_t Runtime::add_array(const ElementType& type, void* array, ArraySettings settings) {
    if (state_->arrays.size() > 0xFFFF) fail("there are already 65,536 arrays");
    auto made = std::make_unique<Array>();
    made->type = type;
    made->user_array = array;
    made->settings = std::move(settings);
    state_->arrays.push_back(std::move(made));
    return static_cast<std::uint32_t>(state_->arrays.size() - 1);
}

void Runtime::remove_array(std::uint32_t array) {
    Array& removed = *state_->arrays[array];
    std::erase_if(state_->calls, [&](const auto& call) { return call.first->array == array; });
    removed.residents.for_each([&](std::uint64_t, Resident* resident) {
        removed.type.destroy(resident->object);
        delete resident;
    });
    removed.residents.clear();
    removed.locations.clear();
    removed.user_array = nullptr;
}

void Runtime::create_resident(std::uint32_t array, std::uint64_t index, void* object) {
    state_->create_resident(array, index, object);
    ++state_->arrays[array]->fence_objects;
}

void* Runtime::get_array(std::uint32_t array) const {
    if (array >= state_->arrays.size() || state_->arrays[array]->user_array == nullptr)
        fail("there is no array " + std::to_string(array));
    return state_->arrays[array]->user_array;
}

int Runtime::get_home_rank(std::uint32_t array, std::uint64_t index) const {
    const int rank = state_->get_home_rank(*state_->arrays[array], index);
    if (rank < 0 || rank >= ranks())
        fail(state_->describe_object(array, index) + " has its home on rank " + std::to_string(rank) +
             ", but there are only " + std::to_string(ranks()));
    return rank;
}

const Extents& Runtime::extents(std::uint32_t array) const { return state_->arrays[array]->settings.extents; }

Message* Runtime::make_message(std::size_t bytes) {
    if (bytes > 0x7FFF0000) throw ObjectsError("a message has more than 2 GB");
    return Message::make(bytes);
}
char* Runtime::values(Message* message) { return message->values(); }

namespace {

void set_address(Message* message, std::uint32_t array, std::uint32_t entry, std::uint64_t index,
                 int priority) {
    MessageHeader& header = message->header;
    header.array = static_cast<std::uint16_t>(array);
    header.entry = entry;
    header.index = index;
    header.priority = priority;
}

}  // namespace

void Runtime::send(Message* message, std::uint32_t array, std::uint32_t entry, std::uint64_t index,
                   int priority) {
    set_address(message, array, entry, index, priority);
    state_->send(message);
    state_->wait_for_space();
}

void Runtime::broadcast(Message* message, std::uint32_t array, std::uint32_t entry, int priority) {
    set_address(message, array, entry, 0, priority);
    state_->broadcast(message);
    state_->wait_for_space();
}

void Runtime::multicast(Message* message, std::uint32_t array, std::uint32_t entry,
                        const std::vector<std::uint64_t>& members, Route route) {
    set_address(message, array, entry, 0, 0);
    message->header.origin = rank();
    message->header.route = route;
    if (state_->options.measure && state_->current != nullptr) {
        for (const std::uint64_t member : members) {
            Traffic& sent = state_->current->sent[ObjectKey::make(array, member)];
            sent.bytes += message->header.bytes;
            sent.multicast_bytes += message->header.bytes;
            ++sent.messages;
        }
    }
    state_->multicast(message->header, members, message->values());
    Message::discard(message);
    state_->wait_for_space();
}

std::uint32_t Runtime::add_many_to_many(std::uint32_t array, const ManyToManyOptions& options) {
    state_->fail_in_method("many_to_many()");
    return state_->add_exchange(array, options);
}
ManyToManyChoice Runtime::get_choice(std::uint32_t many_to_many) const {
    return state_->exchanges[many_to_many].choice;
}

void Runtime::insert(std::uint32_t many_to_many, Resident* from, Message* message, std::uint32_t array,
                     std::uint32_t entry, std::uint64_t index) {
    set_address(message, array, entry, index, 0);
    state_->insert(many_to_many, *from, message);
    state_->wait_for_space();
}

void Runtime::finish_insertions(std::uint32_t many_to_many, Resident* from) {
    state_->finish_insertions(many_to_many, *from);
    state_->wait_for_space();
}

void Runtime::contribute(const ReductionGroup& group, int operation, const ReductionTarget& target,
                         Message* value) {
    if (state_->options.measure && state_->current != nullptr && is_for_one_object(group, target)) {
        Traffic& sent = state_->current->sent[ObjectKey::make(target.array, target.index)];
        sent.bytes += value->header.bytes;
        sent.reduced_bytes += value->header.bytes;
        ++sent.messages;
    }
    state_->contribute({group, target, 1, operation}, value->values(), value->header.bytes);
    Message::discard(value);
    state_->wait_for_space();
}

std::uint32_t Runtime::add_callback(Invoke invoke,
                                    bool (*combine)(int, std::vector<char>&, const char*, std::size_t)) {
    state_->callbacks.push_back({std::move(invoke), combine});
    return static_cast<std::uint32_t>(state_->callbacks.size() - 1);
}

std::uint64_t Runtime::index(const Resident* resident) const { return resident->index; }
std::uint64_t Runtime::take_reduction_number(Resident* resident) { return resident->reductions++; }
std::uint64_t Runtime::make_section_number() {
    return std::uint64_t{1} << 63 | static_cast<std::uint64_t>(rank()) << 32 | state_->sections++;
}

void Runtime::request_migration(Resident* resident, int rank) {
    if (rank < 0 || rank >= ranks())
        fail(state_->describe_object(resident->array, resident->index) + " cannot move to rank " +
             std::to_string(rank) + ": there are only " + std::to_string(ranks()) + " ranks");
    state_->request_migration(*resident, rank);
}

Resident* Runtime::find_resident(std::uint32_t array, std::uint64_t index) const {
    Resident* const found = state_->find_resident(array, index);
    if (found == nullptr) fail(state_->describe_object(array, index) + " is not on this rank");
    return found;
}

void* Runtime::find_object(std::uint32_t array, std::uint64_t index) const {
    const Resident* const found = state_->find_resident(array, index);
    return found == nullptr ? nullptr : found->object;
}

void Runtime::for_each_local(std::uint32_t array, const std::function<void(void*)>& visit) const {
    std::vector<std::uint64_t> here;
    state_->arrays[array]->residents.for_each([&](std::uint64_t index, Resident*) { here.push_back(index); });
    std::ranges::sort(here);
    for (const std::uint64_t index : here)
        if (void* const object = find_object(array, index)) visit(object);
}

void Runtime::fail(const std::string& text) const { state_->fail(text); }

}  // namespace topoloom::objects
