// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/schedule/cost/network_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "doctest.h"
#include "topoloom/base/error.hpp"

using namespace topoloom;

namespace {

NetworkModel qsnet_model() {
    return NetworkModel::regimes({{11e-6, 8e-9, 288}, {16e-6, 5e-9, 2048}, {11e-6, 8e-9}});
}
NetworkModel myrinet_model(const MessageCosts& costs = {}) {
    return NetworkModel::largest({{9.2e-6, 2.6e-9}, {5.7e-6, 4e-9}}, costs);
}

template <class Make>
std::string error_message(Make make) {
    try {
        make();
    } catch (const Error& error) {
        return error.what();
    }
    return "accepted";
}

}  // namespace

TEST_CASE("a cost line applies to sizes up to and including the largest size of its regime") {
    CHECK(qsnet_model().time(Bytes{0}) == doctest::Approx(11e-6));
    CHECK(qsnet_model().time(Bytes{288}) == doctest::Approx(11e-6 + 288 * 8e-9));
    CHECK(qsnet_model().time(Bytes{289}) == doctest::Approx(16e-6 + 289 * 5e-9));
    CHECK(qsnet_model().time(Bytes{2048}) == doctest::Approx(16e-6 + 2048 * 5e-9));
    CHECK(qsnet_model().time(Bytes{2049}) == doctest::Approx(11e-6 + 2049 * 8e-9));
    CHECK(qsnet_model().time(Bytes{std::numeric_limits<std::int64_t>::max()}) > 1e9);
}

TEST_CASE("the maximum of several cost lines changes its slope where they cross") {
    for (const std::int64_t bytes : {0, 1, 2499, 2500, 2501, 1 << 20}) {
        const auto m = static_cast<double>(bytes);
        CHECK(myrinet_model().time(Bytes{bytes}) ==
              doctest::Approx(std::max(9.2e-6 + m * 2.6e-9, 5.7e-6 + m * 4e-9)));
    }
}

TEST_CASE("LogGP models have the published times of one message and of many") {
    const double latency = 5e-6, overhead = 2e-6, gap = 3e-6, byte_gap = 1e-9;
    const NetworkModel model = NetworkModel::loggp(latency, overhead, gap, byte_gap);
    for (const std::int64_t bytes : {1, 100, 1 << 20}) {
        const double rest = static_cast<double>(bytes - 1) * byte_gap;
        CHECK(model.arrival(Bytes{bytes}) == doctest::Approx(latency + 2 * overhead + rest));
        CHECK(model.time(Bytes{bytes}) == doctest::Approx(gap + rest));
        CHECK(model.cpu(Bytes{bytes}) == doctest::Approx(2 * overhead));
    }
    const NetworkModel busy = NetworkModel::loggp(latency, 4e-6, gap, byte_gap);
    CHECK(busy.time(Bytes{1}) == doctest::Approx(4e-6));  // the overhead, which exceeds the gap
}

TEST_CASE("processes of a node share its injection bandwidth if the model specifies it") {
    MessageCosts costs;
    costs.node_beta = 1e-9;
    const NetworkModel shared = myrinet_model(costs);
    const Bytes size{1 << 16};
    for (const std::uint32_t processes : {1U, 2U, 4U, 8U, 64U}) {
        CHECK(myrinet_model().time(size, processes) == myrinet_model().time(size));
        // W. Gropp et al.: alpha + k m / min(node's rate, k * a process's rate), for each line.
        const double m = static_cast<double>(size.value), k = processes;
        const double first = 9.2e-6 + k * m / std::min(1e9, k / 2.6e-9);
        const double second = 5.7e-6 + k * m / std::min(1e9, k / 4e-9);
        CHECK(shared.time(size, processes) == doctest::Approx(std::max(first, second)));
    }
    costs.node_beta = 1e-6;  // below the rate of a single process
    CHECK(myrinet_model(costs).time(size, 1) == myrinet_model().time(size));
}

TEST_CASE(
    "a message never takes longer than a larger one, whether a node has one sending process or several") {
    MessageCosts costs;
    costs.node_beta = 6e-9, costs.beta_em = 3e-9;
    const NetworkModel falls =
        NetworkModel::regimes({{1e-6, 9e-9, 100}, {1.5e-6, 1e-9, 999}, {1e-6, 1e-9}}, costs);
    CHECK(falls.time(Bytes{60}) == doctest::Approx(1e-6 + 60 * 9e-9));
    CHECK(falls.time(Bytes{100}) == doctest::Approx(1.5e-6 + 101e-9));
    CHECK(falls.time(Bytes{500}) == doctest::Approx(2e-6));
    CHECK(falls.time(Bytes{1000}) == doctest::Approx(2e-6));
    for (const std::uint32_t processes : {1U, 2U, 5U}) {
        for (std::int64_t bytes = 0; bytes < 1100; ++bytes) {
            CHECK(falls.time(Bytes{bytes}, processes) <= falls.time(Bytes{bytes + 1}, processes));
            CHECK(falls.nic_time(Bytes{bytes}, processes) < falls.nic_time(Bytes{bytes + 1}, processes));
        }
    }
}

TEST_CASE("the NICs of a node share the traffic of its processes") {
    MessageCosts costs;
    costs.node_alpha = 20e-6, costs.node_beta = 5e-9, costs.beta_em = 3e-9;
    const NetworkModel one = myrinet_model(costs);
    for (const std::int64_t bytes : {0, 100, 1 << 20}) {
        const Bytes size{bytes};
        CHECK(one.with_nics(4).time(size, 4) ==
              doctest::Approx(std::max(one.time(size), 20e-6 + 5e-9 * static_cast<double>(bytes))));
        CHECK(one.with_nics(4).time(size, 32) == doctest::Approx(one.time(size, 8)));
        CHECK(one.with_nics(4).nic_time(size, 32) == doctest::Approx(one.nic_time(size, 8)));
        CHECK(one.with_nics(1).time(size, 32) == one.time(size, 32));
    }
}

TEST_CASE("CPU time, copies, staging and NIC memory have the costs of the model") {
    MessageCosts costs;
    costs.latency = 1;
    costs.send_cpu = 2, costs.send_cpu_per_byte = 3, costs.receive_cpu = 4, costs.receive_cpu_per_byte = 5;
    costs.combine = 6, costs.gamma = 7, costs.delta = 8, costs.beta_em = 9, costs.reduce = 12;
    const NetworkModel model = NetworkModel::regimes({{10, 11}}, costs);
    CHECK(model.arrival(Bytes{2}) == 1 + 10 + 2 * 11);
    CHECK(model.send_cpu(Bytes{2}) == 2 + 2 * 3);
    CHECK(model.receive_cpu(Bytes{2}) == 4 + 2 * 5);
    CHECK(model.cpu(Bytes{2}) == 2 + 2 * 3 + 4 + 2 * 5);
    CHECK(model.copy(Bytes{2}, 3) == 3 * 6 + 2 * 7);
    CHECK(model.reduce(Bytes{2}) == 2 * 12);
    CHECK(model.stage(Bytes{2}) == 2 * 8);
    CHECK(model.nic_time(Bytes{2}) == 10 + 2 * 9);
}

TEST_CASE(
    "a single message takes the time of its own line, and one of many takes the time between two messages") {
    const NetworkModel model = qsnet_model().with_single_message_lines({{15e-6, 8e-9, 1024}, {40e-6, 8e-9}});
    CHECK(model.arrival(Bytes{100}) == doctest::Approx(15e-6 + 100 * 8e-9));
    CHECK(model.latency(Bytes{100}) == doctest::Approx(4e-6));
    CHECK(model.arrival(Bytes{1025}) == doctest::Approx(40e-6 + 1025 * 8e-9));
    CHECK(model.time(Bytes{1025}) == qsnet_model().time(Bytes{1025}));
    CHECK(model.with_costs({.send_cpu = 1e-6}).arrival(Bytes{1025}) == model.arrival(Bytes{1025}));
    CHECK(qsnet_model().with_single_message_lines({{0, 0}}).latency(Bytes{9}) ==
          0);  // latency is 0 if a single message would arrive sooner than its turn on the NIC ends
    const auto alone = [](const NetworkModel& of, std::vector<CostLine> lines) {
        return error_message([&] { (void)of.with_single_message_lines(std::move(lines)); });
    };
    CHECK(alone(qsnet_model(), {{1, 0, 10}}) ==
          "the last line of messages alone must have no limit, but goes up to 10 bytes");
    CHECK(alone(qsnet_model(), {{-1, 0}}) == "alpha must be finite and not negative, not -1");
    CHECK(alone(qsnet_model().with_costs({.latency = 1e-6}), {{1, 0}}) ==
          "a model has a latency, or lines of messages alone, not both");
}

TEST_CASE("a model uses given times for intra-node messages") {
    CHECK(qsnet_model().inside() == nullptr);
    const NetworkModel both =
        qsnet_model().with_intra_node_model(myrinet_model()).with_costs({.send_cpu = 1e-6});
    REQUIRE(both.inside() != nullptr);
    CHECK(both.inside()->time(Bytes{100}) == myrinet_model().time(Bytes{100}));
    CHECK(both.time(Bytes{100}) == qsnet_model().time(Bytes{100}));
}

TEST_CASE("an impossible model is refused with the reason") {
    CHECK(error_message([] { (void)NetworkModel::regimes({}); }).find("needs a line") != std::string::npos);
    CHECK(error_message([] { (void)NetworkModel::regimes({{-1, 0}}); }) ==
          "alpha must be finite and not negative, not -1");
    CHECK(error_message([] {
              (void)NetworkModel::regimes({{0, std::nan("")}});
          }).starts_with("beta must be finite"));
    CHECK(error_message([] { (void)NetworkModel::regimes({{1, 0, 10}, {1, 0, 10}, {1, 0}}); }) ==
          "regimes must ascend, but one up to 10 bytes follows one up to 10");
    CHECK(error_message([] { (void)NetworkModel::regimes({{1, 0, 10}}); }) ==
          "the last regime must have no limit, but goes up to 10 bytes");
    const auto with_factors = [](std::vector<LinkFactors> factors) {
        return error_message([&] { (void)qsnet_model().with_link_factors(std::move(factors)); });
    };
    CHECK(with_factors({{1, 0}}) == "a link's bandwidth factor must be above 0");
    CHECK(with_factors({{-1, 1}}) == "a link's latency factor must be finite and not negative, not -1");
    CHECK(with_factors({{1, 1, 10}}) == "the last link factor must have no limit, but goes up to 10 bytes");
    CHECK(with_factors({{1, 1, 10}, {1, 1, 9}, {}}) ==
          "link factors must ascend, but one up to 9 bytes follows one up to 10");
    CHECK(error_message([] { (void)NetworkModel::largest({{1, 0, 10}}); }).find("must have no limit") !=
          std::string::npos);
    CHECK(error_message([] { (void)NetworkModel::loggp(1, 1, 4, 0); }).find("L + 2 o = 3") !=
          std::string::npos);
    CHECK(error_message([] { (void)NetworkModel::loggp(9, 1, 1, 2); }).find("longer than a message") !=
          std::string::npos);
    CHECK(error_message([] { (void)qsnet_model().nic_time(Bytes{1}); }).find("beta_em") != std::string::npos);
}
