// SPDX-License-Identifier: BSD-3-Clause
// Raises errors, and describes objects in error messages.
#include <exception>

#include "state.hpp"

extern "C" {
#include "errors.h"
}

namespace topoloom::objects {

std::string describe_exception() {
    try {
        throw;
    } catch (const std::exception& thrown) {
        return thrown.what();
    } catch (...) {
        return "an exception that is not a std::exception";
    }
}

void SchedulerState::fail(const std::string& text) const {
    raise_error(comm, MPI_ERR_OTHER, "objects", "%s", text.c_str());
    throw ObjectsError(text);
}

void SchedulerState::fail_in_method(const char* call) const {
    if (delivering == 0) return;
    fail(std::string(current != nullptr ? "a method" : "a callback") + " calls " + call +
         ", which only the main program may");
}

std::string SchedulerState::describe_object(std::uint32_t array, std::uint64_t index) const {
    const Extents& extents = arrays[array]->settings.extents;
    const std::uint64_t at[] = {index / (extents.size[1] * extents.size[2]),
                                index / extents.size[2] % extents.size[1], index % extents.size[2]};
    std::string text = "object (" + std::to_string(at[0]);
    for (int axis = 1; axis < extents.axes; ++axis) text += ", " + std::to_string(at[axis]);
    return text + ") of " + std::string(arrays[array]->type.name);
}

std::string SchedulerState::describe_serialize_error(std::uint32_t array, std::uint64_t index) const {
    return describe_object(array, index) + ": serialize threw " + describe_exception();
}

}  // namespace topoloom::objects
