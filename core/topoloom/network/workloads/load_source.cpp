// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/network/workloads/load_source.hpp"

#include "topoloom/base/error.hpp"

namespace topoloom {

void require_load(double load, std::uint32_t packet) {
    if (packet == 0) fail("a packet has 1 flit or more, not 0");
    if (!(load > 0) || load > 1)
        fail("a load must be above 0 and at most 1 flit per node and cycle, not ", load);
}

}  // namespace topoloom
