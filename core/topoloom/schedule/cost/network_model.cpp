// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/schedule/cost/network_model.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "topoloom/base/error.hpp"

namespace topoloom {

namespace {

constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

void check_cost(double value, std::string_view name) {
    if (!std::isfinite(value) || value < 0) fail(name, " must be finite and not negative, not ", value);
}

void check_lines(const std::vector<CostLine>& lines) {
    for (const CostLine& line : lines) {
        check_cost(line.alpha, "alpha");
        check_cost(line.beta, "beta");
    }
}

/// Throws Error unless size regimes ascend and the last has no limit.
template <class Part>
void check_limits(const std::vector<Part>& parts, std::string_view name) {
    std::int64_t below = -1;
    for (const Part& part : parts) {
        if (part.most <= below)
            fail(name, "s must ascend, but one up to ", part.most, " bytes follows one up to ", below);
        below = part.most;
    }
    if (!parts.empty() && below != no_limit)
        fail("the last ", name, " must have no limit, but goes up to ", below, " bytes");
}

}  // namespace

NetworkModel::NetworkModel(std::vector<CostLine> lines, const MessageCosts& costs, bool largest)
    : lines_(std::move(lines)), costs_(costs), largest_(largest) {
    if (lines_.empty()) fail("a network model needs a line, alpha + bytes * beta");
    check_lines(lines_);
    check_cost(costs.latency, "latency");
    check_cost(costs.send_cpu, "send cpu");
    check_cost(costs.send_cpu_per_byte, "send cpu per byte");
    check_cost(costs.receive_cpu, "receive cpu");
    check_cost(costs.receive_cpu_per_byte, "receive cpu per byte");
    check_cost(costs.combine, "combine");
    check_cost(costs.gamma, "gamma");
    check_cost(costs.reduce, "reduce");
    check_cost(costs.delta, "delta");
    check_cost(costs.beta_em, "beta_em");
    check_cost(costs.node_alpha, "node alpha");
    check_cost(costs.node_beta, "node beta");
    check_cost(costs.packet, "packet");
    check_cost(costs.barrier_round, "barrier round");
}

NetworkModel NetworkModel::regimes(std::vector<CostLine> lines, const MessageCosts& costs) {
    check_limits(lines, "regime");
    return {std::move(lines), costs, false};
}

NetworkModel NetworkModel::largest(std::vector<CostLine> lines, const MessageCosts& costs) {
    for (const CostLine& line : lines) {
        if (line.most != no_limit)
            fail("lines of a maximum must have no limit, but one goes up to ", line.most, " bytes");
    }
    return {std::move(lines), costs, true};
}

NetworkModel NetworkModel::loggp(double L, double o, double g, double G, MessageCosts costs) {
    for (const auto& [value, name] : {std::pair{L, "L"}, {o, "o"}, {g, "g"}, {G, "G"}})
        check_cost(value, name);
    const double gap = std::max(g, o);
    if (G > gap) fail("a byte takes longer than a message: G = ", G, " s exceeds g = ", gap, " s");
    const double latency = L + 2 * o - gap;
    if (latency < 0) fail("g = ", g, " s exceeds the time of a single message, L + 2 o = ", L + 2 * o, " s");
    costs.latency = latency;
    costs.send_cpu = costs.receive_cpu = o;
    return regimes({{gap - G, G}}, costs);
}

NetworkModel NetworkModel::with_costs(const MessageCosts& costs) const {
    NetworkModel model(lines_, costs, largest_);
    model.cards_ = cards_;
    model.link_factors_ = link_factors_;
    model.inside_ = inside_;
    return alone_.empty() ? model : model.with_single_message_lines(alone_);
}

NetworkModel NetworkModel::with_nics(std::uint32_t cards) const {
    NetworkModel model = *this;
    model.cards_ = std::max(1U, cards);
    return model;
}

NetworkModel NetworkModel::with_link_factors(std::vector<LinkFactors> factors) const {
    check_limits(factors, "link factor");
    for (const LinkFactors& of : factors) {
        check_cost(of.latency, "a link's latency factor");
        check_cost(of.bandwidth, "a link's bandwidth factor");
        if (of.bandwidth == 0) fail("a link's bandwidth factor must be above 0");
    }
    NetworkModel model = *this;
    model.link_factors_ = std::move(factors);
    return model;
}

NetworkModel NetworkModel::with_single_message_lines(std::vector<CostLine> lines) const {
    if (!lines.empty() && costs_.latency > 0)
        fail("a model has a latency, or lines of messages alone, not both");
    check_limits(lines, "line of messages alone");
    check_lines(lines);
    NetworkModel model = *this;
    model.alone_ = std::move(lines);
    return model;
}

NetworkModel NetworkModel::with_intra_node_model(const NetworkModel& inside) const {
    NetworkModel model = *this;
    model.inside_ = std::make_shared<const NetworkModel>(inside);
    return model;
}

double NetworkModel::nic_time(Bytes size, std::uint32_t processes) const {
    if (!sends_from_nic()) fail("this model has no beta_em, the time per byte sent from NIC memory");
    const double of_a_card = processes / cards_;
    double alpha = lines_.back().alpha;
    if (largest_) {
        for (const CostLine& line : lines_) alpha = std::max(alpha, line.alpha);
    }
    if (processes > 1) alpha = std::max(alpha, of_a_card * costs_.node_alpha);
    return alpha + static_cast<double>(size.value) * std::max(1.0, of_a_card) * costs_.beta_em;
}

}  // namespace topoloom
