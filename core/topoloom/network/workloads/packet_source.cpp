// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/network/workloads/packet_source.hpp"

#include "topoloom/base/error.hpp"

namespace topoloom {

PacketSource::PacketSource(const Injection& injection, double load, std::uint32_t packet, std::uint64_t seed,
                           std::uint32_t node)
    : rng_(seed, node), kind_(injection.kind) {
    if (packet == 0) fail("a packet has 1 flit or more, not 0");
    if (!(load > 0) || load > 1)
        fail("a load must be above 0 and at most 1 flit per node and cycle, not ", load);
    chance_ = load / packet;
    if (kind_ == Injection::Kind::poisson) {
        take();
        return;
    }
    if (kind_ == Injection::Kind::on_off) {
        const double peak = injection.peak / 100.0;
        const double length = injection.length;
        if (load > peak)
            fail("a load of ", load, " is more than the peak of bursts, ", peak,
                 " flits per cycle; raise their peak");
        chance_ = peak / packet;
        const double share = load / peak;  // share of cycles in bursts
        if (share < 1) {
            const double begins = share / (1 - share) / length;
            if (begins > 1)
                fail("bursts of ", injection.length,
                     " cycles, at least one cycle apart, cannot reach a load of ", load,
                     "; make them longer, or raise their peak");
            log_stays_on_ = std::log1p(-1 / length);
            log_stays_off_ = std::log1p(-begins);
            const bool is_on = rng_.uniform() < share;
            left_ = is_on ? draw_gap(log_stays_on_) : 0;
        }
    }
    log_none_ = std::log1p(-chance_);
    next_ = kind_ == Injection::Kind::on_off ? draw_burst_gap() - 1 : draw_gap(log_none_) - 1;
}

}  // namespace topoloom
