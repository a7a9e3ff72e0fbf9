// SPDX-License-Identifier: BSD-3-Clause
// Exposes network models (the costs of messages by size) to Python.
#include "topoloom/schedule/cost/network_model.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <tuple>

#include "bindings.hpp"
#include "topoloom/base/error.hpp"

namespace topoloom::python {

namespace nb = nanobind;
using namespace nb::literals;

namespace {

/// alpha and beta of a CostLine, or latency and bandwidth of LinkFactors; third, the largest size to which
/// the two apply.
using Line = std::tuple<double, double, std::optional<std::int64_t>>;

template <class Part>
std::vector<Part> make_model_lines(const std::vector<Line>& lines) {
    std::vector<Part> all;
    for (const auto& [first, second, most] : lines)
        all.push_back({first, second, most.value_or(Part{}.most)});
    return all;
}

template <class Part>
std::vector<Line> list_model_lines(const std::vector<Part>& parts) {
    std::vector<Line> all;
    for (const auto& [first, second, most] : parts)
        all.emplace_back(first, second, most == Part{}.most ? std::nullopt : std::optional(most));
    return all;
}

Bytes check_size(std::int64_t bytes) {
    if (bytes < 0) fail("a message has 0 bytes or more, not ", bytes);
    return Bytes{bytes};
}

/// Asks the model for one of its costs at a message size.
template <double (NetworkModel::*Query)(Bytes) const>
double query_at_size(const NetworkModel& model, std::int64_t bytes) {
    return (model.*Query)(check_size(bytes));
}

void bind_costs(nb::module_& m) {
    nb::class_<MessageCosts>(m, "MessageCosts",
                             "Costs of a message besides its line, in seconds and seconds per byte.")
        .def(nb::init<>())
        .def_rw("latency", &MessageCosts::latency, "L: the latency of a message after its turn.")
        .def_rw("send_cpu", &MessageCosts::send_cpu)
        .def_rw("send_cpu_per_byte", &MessageCosts::send_cpu_per_byte)
        .def_rw("receive_cpu", &MessageCosts::receive_cpu)
        .def_rw("receive_cpu_per_byte", &MessageCosts::receive_cpu_per_byte)
        .def_rw("combine", &MessageCosts::combine, "Per block that is combined with others.")
        .def_rw("gamma", &MessageCosts::gamma, "Per byte copied to combine messages.")
        .def_rw("reduce", &MessageCosts::reduce, "Per byte reduced on arrival.")
        .def_rw("delta", &MessageCosts::delta, "Per byte staged in NIC memory.")
        .def_rw("beta_em", &MessageCosts::beta_em, "Per byte sent from NIC memory; 0: never sent from there.")
        .def_rw("node_alpha", &MessageCosts::node_alpha,
                "Per message of all processes of a node together; 0: they do not slow each other.")
        .def_rw("packet", &MessageCosts::packet,
                "Bytes after which a sender waits for an acknowledgment; 0: it never waits.")
        .def_rw("barrier_round", &MessageCosts::barrier_round,
                "Per round of the log2 P rounds of a barrier; 0: a message, sent and received.")
        .def_rw("node_beta", &MessageCosts::node_beta,
                "Per byte of all processes of a node together; 0: they do not slow each other.");
}

}  // namespace

void bind_network_model(nb::module_& m) {
    bind_costs(m);
    nb::class_<NetworkModel>(m, "NetworkModel", "Costs of messages by size alone, in seconds.")
        .def_static(
            "regimes",
            [](const std::vector<Line>& lines, const MessageCosts& costs) {
                return NetworkModel::regimes(make_model_lines<CostLine>(lines), costs);
            },
            "lines"_a, "costs"_a = MessageCosts{},
            "Lines (alpha, beta, largest size), ascending, the last with None: the line of the size applies.")
        .def_static(
            "largest",
            [](const std::vector<Line>& lines, const MessageCosts& costs) {
                return NetworkModel::largest(make_model_lines<CostLine>(lines), costs);
            },
            "lines"_a, "costs"_a = MessageCosts{}, "Lines (alpha, beta, None): the largest cost applies.")
        .def_static("loggp", &NetworkModel::loggp, "L"_a, "o"_a, "g"_a, "G"_a, "costs"_a = MessageCosts{},
                    "From LogGP's parameters in seconds; they set latency, send_cpu and receive_cpu.")
        .def(
            "with_link_factors",
            [](const NetworkModel& model, const std::vector<Line>& factors) {
                return model.with_link_factors(make_model_lines<LinkFactors>(factors));
            },
            "factors"_a,
            "Adds link factors (latency factor, bandwidth factor, largest size), ascending, the last with "
            "None.")
        .def(
            "with_single_message_lines",
            [](const NetworkModel& model, const std::vector<Line>& lines) {
                return model.with_single_message_lines(make_model_lines<CostLine>(lines));
            },
            "lines"_a, "Replaces the latency of a single message by lines (alpha, beta, largest size).")
        .def("with_intra_node_model", &NetworkModel::with_intra_node_model, "inside"_a,
             "Adds a model for intra-node messages.")
        .def(
            "time",
            [](const NetworkModel& model, std::int64_t bytes, std::uint32_t processes) {
                if (processes == 0) fail("a node sends with 1 process or more, not 0");
                return model.time(check_size(bytes), processes);
            },
            "bytes"_a, "processes"_a = 1,
            "The time per message if this number of processes of a node send several each.")
        .def("latency", &query_at_size<&NetworkModel::latency>, "bytes"_a,
             "The latency of a single message after its turn.")
        .def("arrival", &query_at_size<&NetworkModel::arrival>, "bytes"_a,
             "The time until a single message has arrived.")
        .def(
            "nic_time",
            [](const NetworkModel& model, std::int64_t bytes, std::uint32_t processes) {
                if (processes == 0) fail("a node sends with 1 process or more, not 0");
                return model.nic_time(check_size(bytes), processes);
            },
            "bytes"_a, "processes"_a = 1, "Like `time`, from NIC memory.")
        .def(
            "in_packets",
            [](const NetworkModel& model, std::int64_t bytes, double way, double bandwidth) {
                return model.in_packets(check_size(bytes), way, bandwidth);
            },
            "bytes"_a, "way"_a, "bandwidth"_a,
            "Like `time`, on a route of this latency and bandwidth with acknowledged packets; 0 without "
            "them.")
        .def("barrier", &NetworkModel::barrier, "ranks"_a, "The time of a barrier.")
        .def("cpu", &query_at_size<&NetworkModel::cpu>, "bytes"_a, "CPU time of both ends.")
        .def("send_cpu", &query_at_size<&NetworkModel::send_cpu>, "bytes"_a)
        .def("receive_cpu", &query_at_size<&NetworkModel::receive_cpu>, "bytes"_a)
        .def(
            "copy",
            [](const NetworkModel& model, std::int64_t bytes, double blocks) {
                return model.copy(check_size(bytes), blocks);
            },
            "bytes"_a, "blocks"_a = 0.0, "The time to copy these bytes and blocks into one message.")
        .def("reduce", &query_at_size<&NetworkModel::reduce>, "bytes"_a, "The time to reduce received bytes.")
        .def("stage", &query_at_size<&NetworkModel::stage>, "bytes"_a,
             "The time to stage bytes in NIC memory.")
        .def_prop_ro(
            "lines", [](const NetworkModel& model) { return list_model_lines(model.lines()); },
            "The lines, as for `regimes` and `largest`.")
        .def_prop_ro(
            "link_factors", [](const NetworkModel& model) { return list_model_lines(model.link_factors()); },
            "The link factors, as for `with_link_factors`; none: all 1.")
        .def_prop_ro(
            "alone", [](const NetworkModel& model) { return list_model_lines(model.alone()); },
            "The lines of single messages, as for `with_single_message_lines`; none: `costs.latency` "
            "applies.")
        .def_prop_ro(
            "inside",
            [](const NetworkModel& model) {
                return model.inside() == nullptr ? std::nullopt : std::optional(*model.inside());
            },
            "The model of intra-node messages, or None.")
        .def_prop_ro("takes_largest", &NetworkModel::takes_largest)
        .def_prop_ro("sends_from_nic", &NetworkModel::sends_from_nic)
        .def_prop_ro("costs", [](const NetworkModel& model) { return model.costs(); });
}

}  // namespace topoloom::python
