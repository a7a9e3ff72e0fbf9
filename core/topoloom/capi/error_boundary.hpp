// SPDX-License-Identifier: BSD-3-Clause
// Converts exceptions into error texts at the boundary to C.
#pragma once

#include <cstddef>
#include <exception>
#include <new>
#include <string_view>

namespace topoloom {

/// Runs the body. Returns 0; if the body throws, returns 1 and writes the message into `error`.
template <class Body>
int run_guarded(char* error, std::size_t error_size, const Body& body) noexcept {
    std::string_view message;
    try {
        body();
        return 0;
    } catch (const std::bad_alloc&) {
        message = "not enough memory";
    } catch (const std::exception& problem) {
        if (error_size > 0) error[std::string_view(problem.what()).copy(error, error_size - 1)] = '\0';
        return 1;
    } catch (...) {
        message = "an unknown failure";
    }
    if (error_size > 0) error[message.copy(error, error_size - 1)] = '\0';
    return 1;
}

}  // namespace topoloom
