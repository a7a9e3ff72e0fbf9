// SPDX-License-Identifier: BSD-3-Clause
// Migrates objects: packs an object with its scheduling state, and unpacks it on the new rank.
#include <utility>

#include "state.hpp"

namespace topoloom::objects {

namespace {

/// Serializes the scheduling state of an object, but not the object itself.
template <typename Archive>
void serialize_state(Archive& archive, Resident& resident) {
    archive(resident.moves, resident.broadcasts, resident.reductions, resident.seconds, resident.sent,
            resident.expected, resident.insertions, resident.fence_rank, resident.moved_in_phase);
    std::uint64_t count = resident.out_of_order.size();
    archive(count);
    for (std::uint64_t i = 0; i < count; ++i) {
        if constexpr (Archive::reads) {
            MessageHeader header;
            archive(header);
            resident.out_of_order.push_back(Message::copy(header, archive.skip(header.bytes, 1)));
        } else {
            archive(resident.out_of_order[i]->header);
            archive.transfer_bytes(resident.out_of_order[i]->values(),
                                   resident.out_of_order[i]->header.bytes);
        }
    }
}

}  // namespace

Resident* SchedulerState::create_resident(std::uint32_t array, std::uint64_t index, void* object) {
    auto* const made = new Resident();
    made->object = object;
    made->array = array;
    made->index = index;
    arrays[array]->residents[index] = made;
    arrays[array]->type.bind(object, arrays[array]->user_array, made);
    return made;
}

/// Requests a migration, which is postponed until no method is running, because a method of this object may
/// be on the stack.
void SchedulerState::request_migration(Resident& resident, int rank) {
    if (resident.target_rank < 0)
        migration_requests.push_back({static_cast<std::uint16_t>(resident.array), resident.index});
    resident.target_rank = rank;
}

void SchedulerState::send_migrating_object(Resident* resident) {
    const int to = std::exchange(resident->target_rank, -1);
    if (to == transport->rank()) return;
    assign_method_times();
    Array& array = *arrays[resident->array];
    ++resident->moves;
    resident->fence_rank = get_insertion_rank(*resident);
    resident->moved_in_phase = phases;
    Sizer sizer;
    serialize_state(sizer, *resident);
    std::size_t bytes = (sizer.bytes() + 15) / 16 * 16;  // a multiple of 16 preserves the alignment of views
    const std::size_t state_bytes = bytes;
    Message* message = nullptr;
    std::string problem;
    try {
        bytes += array.type.size(resident->object);
        if (bytes > 0x7FFF0000)
            throw ObjectsError(describe_object(resident->array, resident->index) + " has " +
                               std::to_string(bytes) + " bytes, more than a message can have");
        message = Message::make(bytes);
        Writer writer(message->values());
        serialize_state(writer, *resident);
        Writer object_writer(message->values() + state_bytes);
        array.type.pack(resident->object, object_writer);
    } catch (...) {
        problem = describe_serialize_error(resident->array, resident->index);
    }
    if (!problem.empty()) {
        if (message != nullptr) Message::discard(message);
        --resident->moves;
        fail(problem + ": it does not move");
    }
    message->header.kind = MessageKind::migration;
    message->header.array = static_cast<std::uint16_t>(resident->array);
    message->header.index = resident->index;
    message->header.entry = static_cast<std::uint32_t>(state_bytes);
    transport->send(to, message->header, message->values());
    Message::discard(message);
    array.residents.erase(resident->index);
    array.locations[resident->index] = {to, resident->moves};
    array.type.destroy(resident->object);
    delete resident;
}

void SchedulerState::receive_migrating_object(const MessageHeader& header, const char* values) {
    Array& array = *arrays[header.array];
    if (array.user_array == nullptr) return;
    void* const object = array.type.make();
    Resident* const here = create_resident(header.array, header.index, object);
    Reader reader(values, header.entry);
    serialize_state(reader, *here);
    array.locations.erase(header.index);
    if (!exchanges.empty()) arrivals.push_back({header.array, header.index});
    report_location({header.array, header.index}, get_home_rank(array, header.index),
                    {transport->rank(), here->moves});
    deliver_broadcasts(array, *here);
    // Copy the object, because received bytes are not aligned.
    Message* const packed = Message::make(header.bytes - header.entry);
    std::memcpy(packed->values(), values + header.entry, packed->header.bytes);
    Reader object_reader(packed->values(), packed->header.bytes);
    std::string problem;
    try {
        array.type.unpack(object, object_reader);
    } catch (...) {
        problem = describe_serialize_error(header.array, header.index);
    }
    const std::size_t left = object_reader.remaining_bytes();
    Message::discard(packed);
    if (!problem.empty()) fail(problem);
    if (left != 0)
        fail(describe_object(header.array, header.index) + " has packed " + std::to_string(left) +
             " bytes more than it unpacks: its `serialize` is not the same both ways");
}

}  // namespace topoloom::objects
