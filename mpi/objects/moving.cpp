// SPDX-License-Identifier: BSD-3-Clause
// Objects that move: packed with what they have sent and wait for, and unpacked where they arrive.
#include <utility>

#include "state.hpp"

namespace topoloom::objects {

namespace {

/// All of an object but itself.
template <typename Archive>
void serialize_records(Archive& archive, Resident& resident) {
    archive(resident.moves, resident.broadcasts, resident.reductions, resident.seconds, resident.sent,
            resident.expected, resident.inserting, resident.designated, resident.left_in);
    std::uint64_t count = resident.early.size();
    archive(count);
    for (std::uint64_t i = 0; i < count; ++i) {
        if constexpr (Archive::reads) {
            Header header;
            archive(header);
            resident.early.push_back(Message::copy(header, archive.skip(header.bytes, 1)));
        } else {
            archive(resident.early[i]->header);
            archive.raw(resident.early[i]->values(), resident.early[i]->header.bytes);
        }
    }
}

}  // namespace

Resident* State::create(std::uint32_t array, std::uint64_t index, void* object) {
    auto* const made = new Resident();
    made->object = object;
    made->array = array;
    made->index = index;
    arrays[array]->residents[index] = made;
    arrays[array]->type.bind(object, arrays[array]->front, made);
    return made;
}

/// When no method runs: one of the object may be below this call.
void State::ask_to_move(Resident& resident, int rank) {
    if (resident.wanted < 0) late.push_back({static_cast<std::uint16_t>(resident.array), resident.index});
    resident.wanted = rank;
}

void State::depart(Resident* resident) {
    const int to = std::exchange(resident->wanted, -1);
    if (to == transport->rank()) return;
    settle_loads();
    Array& array = *arrays[resident->array];
    ++resident->moves;
    resident->designated = designated(*resident);
    resident->left_in = phases;
    Sizer sizer;
    serialize_records(sizer, *resident);
    std::size_t bytes = (sizer.bytes() + 15) / 16 * 16;  // views in the object keep their alignment
    const std::size_t records = bytes;
    Message* message = nullptr;
    std::string problem;
    try {
        bytes += array.type.size(resident->object);
        if (bytes > 0x7FFF0000)
            throw ObjectsError(name_of(resident->array, resident->index) + " has " + std::to_string(bytes) +
                               " bytes, more than a message can have");
        message = Message::make(bytes);
        Writer writer(message->values());
        serialize_records(writer, *resident);
        Writer object_writer(message->values() + records);
        array.type.pack(resident->object, object_writer);
    } catch (...) {
        problem = serialize_threw(resident->array, resident->index);
    }
    if (!problem.empty()) {
        if (message != nullptr) Message::discard(message);
        --resident->moves;
        fail(problem + ": it stays");
    }
    message->header.kind = Kind::arrival;
    message->header.array = static_cast<std::uint16_t>(resident->array);
    message->header.index = resident->index;
    message->header.entry = static_cast<std::uint32_t>(records);
    transport->send(to, message->header, message->values());
    Message::discard(message);
    array.residents.erase(resident->index);
    array.locations[resident->index] = {to, resident->moves};
    array.type.destroy(resident->object);
    delete resident;
}

void State::arrive(const Header& header, const char* values) {
    Array& array = *arrays[header.array];
    if (array.front == nullptr) return;
    void* const object = array.type.make();
    Resident* const here = create(header.array, header.index, object);
    Reader reader(values, header.entry);
    serialize_records(reader, *here);
    array.locations.erase(header.index);
    if (!brackets.empty()) arrived.push_back({header.array, header.index});
    say_where({header.array, header.index}, home(array, header.index), {transport->rank(), here->moves});
    give_broadcasts(array, *here);
    // Received bytes lie anywhere.
    Message* const packed = Message::make(header.bytes - header.entry);
    std::memcpy(packed->values(), values + header.entry, packed->header.bytes);
    Reader object_reader(packed->values(), packed->header.bytes);
    std::string problem;
    try {
        array.type.unpack(object, object_reader);
    } catch (...) {
        problem = serialize_threw(header.array, header.index);
    }
    const std::size_t left = object_reader.left();
    Message::discard(packed);
    if (!problem.empty()) fail(problem);
    if (left != 0)
        fail(name_of(header.array, header.index) + " has packed " + std::to_string(left) +
             " bytes more than it unpacks: its `serialize` is not the same both ways");
}

/// At the end of a phase home ranks know all that they should, so that others may forget.
void State::forget_locations() {
    for (const auto& array : arrays) {
        if (array->locations.size() <= 4096 + 4 * array->residents.size()) continue;
        Table<Location> kept;
        array->locations.each([&](std::uint64_t index, Location& location) {
            if (home(*array, index) == transport->rank()) kept[index] = location;
        });
        array->locations = std::move(kept);
    }
}

}  // namespace topoloom::objects
