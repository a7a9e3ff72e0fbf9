// SPDX-License-Identifier: BSD-3-Clause
// Network models for Python: what messages cost by their size.
#include "topoloom/schedule/cost/network_model.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <tuple>

#include "rooms.hpp"
#include "topoloom/base/error.hpp"

namespace topoloom::python {

namespace nb = nanobind;
using namespace nb::literals;

namespace {

/// Of CostLine: alpha, beta; of LinkFactors: latency, bandwidth. Then the most bytes.
using Line = std::tuple<double, double, std::optional<std::int64_t>>;

template <class Part>
std::vector<Part> parts_of(const std::vector<Line>& lines) {
    std::vector<Part> all;
    for (const auto& [first, second, most] : lines)
        all.push_back({first, second, most.value_or(Part{}.most)});
    return all;
}

template <class Part>
std::vector<Line> plain_lines(const std::vector<Part>& parts) {
    std::vector<Line> all;
    for (const auto& [first, second, most] : parts)
        all.emplace_back(first, second, most == Part{}.most ? std::nullopt : std::optional(most));
    return all;
}

Bytes size_of(std::int64_t bytes) {
    if (bytes < 0) fail("a message has 0 bytes or more, not ", bytes);
    return Bytes{bytes};
}

/// A query of the model by the size of a message.
template <double (NetworkModel::*Query)(Bytes) const>
double at(const NetworkModel& model, std::int64_t bytes) {
    return (model.*Query)(size_of(bytes));
}

void bind_costs(nb::module_& m) {
    nb::class_<MessageCosts>(m, "MessageCosts",
                             "What a message costs beside its line, in seconds and seconds per byte.")
        .def(nb::init<>())
        .def_rw("latency", &MessageCosts::latency, "L: how much later than its turn a message alone arrives.")
        .def_rw("send_cpu", &MessageCosts::send_cpu)
        .def_rw("send_cpu_per_byte", &MessageCosts::send_cpu_per_byte)
        .def_rw("receive_cpu", &MessageCosts::receive_cpu)
        .def_rw("receive_cpu_per_byte", &MessageCosts::receive_cpu_per_byte)
        .def_rw("combine", &MessageCosts::combine, "Of each block that is put together with others.")
        .def_rw("gamma", &MessageCosts::gamma, "A byte, to copy when messages are combined.")
        .def_rw("reduce", &MessageCosts::reduce, "A byte, to apply a reduction to it when it has come.")
        .def_rw("delta", &MessageCosts::delta, "A byte, to stage in the network card's memory.")
        .def_rw("beta_em", &MessageCosts::beta_em, "A byte sent from there; 0: never sent from there.")
        .def_rw("node_alpha", &MessageCosts::node_alpha,
                "Per message of all processes of a node together; 0: they do not slow each other.")
        .def_rw("packet", &MessageCosts::packet,
                "Bytes after which a sender waits for an answer; 0: it never waits.")
        .def_rw("barrier_round", &MessageCosts::barrier_round,
                "Of each of log2 P rounds of a barrier; 0: a message, sent and received.")
        .def_rw("node_beta", &MessageCosts::node_beta,
                "Per byte of all processes of a node together; 0: they do not slow each other.");
}

}  // namespace

void bind_network_model(nb::module_& m) {
    bind_costs(m);
    nb::class_<NetworkModel>(m, "NetworkModel", "What messages cost by their size alone, in seconds.")
        .def_static(
            "regimes",
            [](const std::vector<Line>& lines, const MessageCosts& costs) {
                return NetworkModel::regimes(parts_of<CostLine>(lines), costs);
            },
            "lines"_a, "costs"_a = MessageCosts{},
            "Lines (alpha, beta, most bytes), ascending, the last with None: the size's regime counts.")
        .def_static(
            "largest",
            [](const std::vector<Line>& lines, const MessageCosts& costs) {
                return NetworkModel::largest(parts_of<CostLine>(lines), costs);
            },
            "lines"_a, "costs"_a = MessageCosts{}, "Lines (alpha, beta, None): the largest of all counts.")
        .def_static("loggp", &NetworkModel::loggp, "L"_a, "o"_a, "g"_a, "G"_a, "costs"_a = MessageCosts{},
                    "From LogGP's parameters in seconds; they set latency, send_cpu and receive_cpu.")
        .def(
            "with_link_factors",
            [](const NetworkModel& model, const std::vector<Line>& factors) {
                return model.with_link_factors(parts_of<LinkFactors>(factors));
            },
            "factors"_a,
            "The same on links with (latency factor, bandwidth factor, most bytes), ascending, the last with "
            "None.")
        .def(
            "with_alone",
            [](const NetworkModel& model, const std::vector<Line>& lines) {
                return model.with_alone(parts_of<CostLine>(lines));
            },
            "lines"_a,
            "The same where one message alone takes its line (alpha, beta, most bytes), instead of a "
            "latency.")
        .def("with_inside", &NetworkModel::with_inside, "inside"_a,
             "The same where messages inside a node take what this says.")
        .def(
            "time",
            [](const NetworkModel& model, std::int64_t bytes, std::uint32_t processes) {
                if (processes == 0) fail("a node sends with 1 process or more, not 0");
                return model.time(size_of(bytes), processes);
            },
            "bytes"_a, "processes"_a = 1,
            "From one message to the next where each of this number of processes of a node sends several.")
        .def("latency", &at<&NetworkModel::latency>, "bytes"_a,
             "How much later than its turn a message alone arrives.")
        .def("arrival", &at<&NetworkModel::arrival>, "bytes"_a, "Until a message alone has arrived.")
        .def(
            "nic_time",
            [](const NetworkModel& model, std::int64_t bytes, std::uint32_t processes) {
                if (processes == 0) fail("a node sends with 1 process or more, not 0");
                return model.nic_time(size_of(bytes), processes);
            },
            "bytes"_a, "processes"_a = 1, "As `time`, from the network card's memory.")
        .def(
            "in_packets",
            [](const NetworkModel& model, std::int64_t bytes, double way, double bandwidth) {
                return model.in_packets(size_of(bytes), way, bandwidth);
            },
            "bytes"_a, "way"_a, "bandwidth"_a,
            "As `time`, on a way of this latency and bandwidth, where packets wait for answers; 0 where none "
            "do.")
        .def("barrier", &NetworkModel::barrier, "ranks"_a, "Until all ranks know that all have come.")
        .def("cpu", &at<&NetworkModel::cpu>, "bytes"_a, "CPU of both ends.")
        .def("send_cpu", &at<&NetworkModel::send_cpu>, "bytes"_a)
        .def("receive_cpu", &at<&NetworkModel::receive_cpu>, "bytes"_a)
        .def(
            "copy",
            [](const NetworkModel& model, std::int64_t bytes, double blocks) {
                return model.copy(size_of(bytes), blocks);
            },
            "bytes"_a, "blocks"_a = 0.0, "To copy these bytes, of this number of blocks, into one message.")
        .def("reduce", &at<&NetworkModel::reduce>, "bytes"_a, "To apply a reduction to bytes that have come.")
        .def("stage", &at<&NetworkModel::stage>, "bytes"_a, "To bring bytes into the network card's memory.")
        .def_prop_ro(
            "lines", [](const NetworkModel& model) { return plain_lines(model.lines()); },
            "As `regimes` and `largest` take them.")
        .def_prop_ro(
            "link_factors", [](const NetworkModel& model) { return plain_lines(model.link_factors()); },
            "As `with_link_factors` takes them; none: all 1.")
        .def_prop_ro(
            "alone", [](const NetworkModel& model) { return plain_lines(model.alone()); },
            "As `with_alone` takes them; none: `costs.latency` counts.")
        .def_prop_ro(
            "inside",
            [](const NetworkModel& model) {
                return model.inside() == nullptr ? std::nullopt : std::optional(*model.inside());
            },
            "Of messages inside a node, if something is said of them.")
        .def_prop_ro("takes_largest", &NetworkModel::takes_largest)
        .def_prop_ro("sends_from_nic", &NetworkModel::sends_from_nic)
        .def_prop_ro("costs", [](const NetworkModel& model) { return model.costs(); });
}

}  // namespace topoloom::python
