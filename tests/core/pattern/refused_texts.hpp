// SPDX-License-Identifier: BSD-3-Clause
// Checks that readers of communication graphs refuse invalid texts with the right messages.
#pragma once

#include <doctest.h>

#include <string>
#include <vector>

#include "topoloom/base/error.hpp"
#include "topoloom/base/rng.hpp"

/// An invalid text, and the message with which a reader refuses it.
struct RefusedText {
    std::string text;
    std::string message;
};

/// Checks that a reader refuses each text with the expected message.
template <class Read>
void check_refused(const Read& read, const std::vector<RefusedText>& refused) {
    for (const RefusedText& one : refused) {
        CAPTURE(one.text);
        CHECK_THROWS_WITH_AS((void)read(one.text), one.message.c_str(), topoloom::Error);
    }
}

/// Changes single bytes of a text. Checks that a reader either parses or refuses the result, and that both
/// occur.
template <class Read>
void check_changed_bytes(const Read& read, const std::string& text) {
    topoloom::Rng rng(1);
    int accepted = 0;
    int refused = 0;
    for (int i = 0; i < 3000; ++i) {
        std::string damaged = text;
        damaged[rng.below(static_cast<std::uint32_t>(text.size()))] = static_cast<char>(rng.below(256));
        try {
            (void)read(damaged);
            ++accepted;
        } catch (const topoloom::Error&) {
            ++refused;
        }
    }
    CHECK(accepted > 0);
    CHECK(refused > 0);
}
