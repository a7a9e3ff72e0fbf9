// SPDX-License-Identifier: BSD-3-Clause
// A SimGrid platform with random message times. Link profiles are no alternative: SimGrid 3.32 ends the simulation if a
// profile changes during a message.
#include <algorithm>
#include <cstdlib>
#include <random>
#include <simgrid/kernel/resource/NetworkModelIntf.hpp>
#include <simgrid/s4u.hpp>
#include <sstream>
#include <string>
#include <unordered_set>
#include <vector>

namespace s4u = simgrid::s4u;

namespace {

std::string setting(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

/// Factors by message size, BYTES:FACTOR;... in ascending order: a factor applies to longer messages.
class Factors {
   public:
    explicit Factors(const std::string& text) {
        std::istringstream words(text);
        for (std::string word; std::getline(words, word, ';');) {
            const auto colon = word.find(':');
            steps_.emplace_back(std::stod(word.substr(0, colon)), std::stod(word.substr(colon + 1)));
        }
    }

    double operator()(double bytes) const {
        double found = 1;
        for (const auto& [longer, factor] : steps_)
            if (bytes > longer) found = factor;
        return found;
    }

   private:
    std::vector<std::pair<double, double>> steps_;
};

/// Returns a function: factor of the message size times a normal value, clipped to three standard deviations.
auto varied(const char* factors, double sigma, unsigned long seed) {
    return [of_size = Factors(setting(factors)), sigma, random = std::mt19937_64(seed)](
               double bytes, const s4u::Host*, const s4u::Host*, const std::vector<s4u::Link*>&,
               const std::unordered_set<s4u::NetZone*>&) mutable {
        const double value = std::normal_distribution<double>(0, 1)(random);
        return of_size(bytes) * (1 + sigma * std::clamp(value, -3.0, 3.0));
    };
}

}  // namespace

extern "C" void load_platform(const s4u::Engine& engine) {
    engine.load_platform(setting("PLANTED_PLATFORM"));
    const double sigma = std::stod(setting("PLANTED_NOISE"));
    const unsigned long seed = std::stoul(setting("PLANTED_SEED"));
    auto* network = engine.get_netzone_root()->get_network_model();
    network->set_lat_factor_cb(varied("PLANTED_LATENCY", sigma, seed));
    network->set_bw_factor_cb(varied("PLANTED_BANDWIDTH", sigma, seed + 1));
}
