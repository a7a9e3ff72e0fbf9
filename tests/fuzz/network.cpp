// SPDX-License-Identifier: BSD-3-Clause
// Simulates random switches until all packets have arrived. Usage: fuzz_network [CASES]
// [FIRST_SEED]
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "network/random_network.hpp"

int main(int argc, char** argv) {
    using namespace topoloom;
    const std::uint64_t cases = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1000000;
    const std::uint64_t first = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
    const auto machines = testing::routed_machines();
    std::uint64_t wrong = 0;
    for (std::uint64_t i = 0; i < cases; ++i) {
        try {
            testing::run_random_network(machines, first + i, 16);
        } catch (const Error& error) {
            ++wrong;
            std::printf("seed %llu: %s\n", static_cast<unsigned long long>(first + i), error.what());
        }
        if ((i + 1) % 50000 == 0 || i + 1 == cases)
            std::printf("%llu configurations, %llu wrong\n", static_cast<unsigned long long>(i + 1),
                        static_cast<unsigned long long>(wrong));
    }
    return wrong == 0 ? 0 : 1;
}
