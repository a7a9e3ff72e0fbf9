// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/network/workloads/injection.hpp"

#include "topoloom/base/error.hpp"
#include "topoloom/base/option.hpp"

namespace topoloom {

namespace {

struct BurstOptions {
    std::uint32_t length = 100;
    std::uint32_t peak = 100;
    void visit(auto& field) {
        field("length", length, {1, 1U << 20}, "cycles of a burst, on average");
        field("peak", peak, {1, 100}, "per cent of a flit per cycle that a node makes in a burst");
    }
};

struct WindowOptions {
    std::uint32_t window = 4;
    std::uint32_t reply = 0;
    void visit(auto& field) {
        field("window", window, {1, 1U << 20}, "packets of a node that have no reply yet, at most");
        field("reply", reply, {0, 1U << 16}, "flits of a reply; 0: as many as a packet has");
    }
};

}  // namespace

Injection::Injection(std::string_view text) {
    const auto [name, options] = read_named_options("injection", text);
    const std::string what = "injection '" + std::string(name) + "'";
    if (name == "on-off") {
        const auto asked = read_options<BurstOptions>(what, options);
        kind = Kind::on_off;
        length = asked.length;
        peak = asked.peak;
    } else if (name == "closed") {
        const auto asked = read_options<WindowOptions>(what, options);
        kind = Kind::closed;
        window = asked.window;
        reply = asked.reply;
    } else if (name == "bernoulli" || name == "poisson") {
        (void)read_options<NoOptions>(what, options);
        kind = name == "poisson" ? Kind::poisson : Kind::bernoulli;
    } else {
        fail_unknown_alternative("injection", name, injections);
    }
}

}  // namespace topoloom
