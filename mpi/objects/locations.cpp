// SPDX-License-Identifier: BSD-3-Clause
// Locations of objects. When an object migrates, its old rank records the new rank, and the new rank reports the
// location to the object's home rank. So a forwarded message reaches later and later locations of its object, and
// finally the object.
#include <utility>

#include "state.hpp"

namespace topoloom::objects {

Resident* SchedulerState::find_resident(std::uint32_t array, std::uint64_t index) {
    Resident** const found = arrays[array]->residents.find(index);
    return found == nullptr ? nullptr : *found;
}

int SchedulerState::get_home_rank(const Array& array, std::uint64_t index) const {
    if (array.settings.home) return array.settings.home(index);
    const auto ranks = static_cast<std::uint64_t>(transport->ranks());
    return static_cast<int>(index * ranks / array.settings.extents.count());
}

int SchedulerState::get_last_known_rank(Array& array, std::uint64_t index) const {
    const Location* const known = array.locations.find(index);
    return known != nullptr ? known->rank : get_home_rank(array, index);
}

void SchedulerState::record_location(Array& array, std::uint64_t index, const Location& location) {
    if (location.rank == transport->rank() || array.residents.find(index) != nullptr) return;
    Location& known = array.locations[index];
    if (location.moves >= known.moves) known = location;
}

void SchedulerState::report_location(const ObjectAddress& object, int to, const Location& location) {
    if (to == transport->rank()) return;
    MessageHeader header;
    header.kind = MessageKind::location;
    header.array = object.array;
    header.index = object.index;
    header.bytes = sizeof location;
    transport->send(to, header, reinterpret_cast<const char*>(&location));
}

/// At the end of a phase, when home ranks know all locations, discards those of objects with another home
/// rank if there are many.
void SchedulerState::discard_locations() {
    for (const auto& array : arrays) {
        if (array->locations.size() <= 4096 + 4 * array->residents.size()) continue;
        HashTable<Location> kept;
        array->locations.for_each([&](std::uint64_t index, Location& location) {
            if (get_home_rank(*array, index) == transport->rank()) kept[index] = location;
        });
        array->locations = std::move(kept);
    }
}

}  // namespace topoloom::objects
