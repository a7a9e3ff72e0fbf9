// SPDX-License-Identifier: BSD-3-Clause
// Exposes the parts of a machine text, and the options of each kind of topology, to Python.
#include "topoloom/machine/text/machine_text.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "topoloom/machine/text/failures_text.hpp"
#include "topoloom/machine/text/node_text.hpp"

namespace nb = nanobind;

namespace topoloom::python {

using namespace nb::literals;

namespace {

/// A Section of a machine text that owns its strings.
struct TextSection {
    std::string text;
    std::string name;
    std::string body;
    std::vector<std::string> items;
    std::vector<std::pair<std::string, std::string>> options;

    [[nodiscard]] std::vector<std::uint32_t> sizes() const {
        return TextPiece(body, body).numbers(body.find('x') == std::string::npos ? ':' : 'x');
    }
    explicit TextSection(const TextPiece& piece) : text(piece.text()) {
        const Section section = read_section(piece);
        name = section.name.text();
        body = section.body.text();
        for (const TextPiece& item : section.items) items.emplace_back(item.text());
        for (const auto& [key, value] : section.options) options.emplace_back(key.text(), value.text());
    }
};

class MachineText {
   public:
    explicit MachineText(std::string text)
        : text_(std::move(text)), parts_(split_machine_text(TextPiece(text_, text_))) {}
    MachineText(const MachineText&) = delete;  // parts_ consists of views into text_
    MachineText& operator=(const MachineText&) = delete;

    [[nodiscard]] std::string network() const { return std::string(parts_.network.text()); }
    [[nodiscard]] TextSection topology() const { return TextSection(parts_.network); }
    [[nodiscard]] std::vector<std::string> down() const {
        std::vector<std::string> items;
        if (parts_.down) {
            for (const TextPiece& item : parts_.down->cut(':').second->split(','))
                items.emplace_back(item.text());
        }
        return items;
    }
    [[nodiscard]] std::optional<TextSection> node() const {
        if (!parts_.node) return std::nullopt;
        return TextSection(*parts_.node);
    }

   private:
    std::string text_;
    MachineTextParts parts_;
};

nb::dict make_dict(const SectionForm& form) {
    nb::list options;
    for (const TopologyOption& option : form.options) {
        nb::dict entry;
        entry["name"] = std::string(option.name);
        entry["form"] = std::string(form_name(option.form));
        entry["words"] = std::vector<std::string>(option.words.begin(), option.words.end());
        entry["help"] = std::string(option.help);
        options.append(entry);
    }
    nb::dict entry;
    entry["name"] = std::string(form.name);
    entry["summary"] = std::string(form.summary);
    entry["example"] = std::string(form.example);
    entry["body"] = std::string(form.body);
    entry["separator"] = std::string(form.separator);
    entry["options"] = options;
    entry["drawing"] = std::string(drawing_name(form.drawing));
    return entry;
}

nb::list list_topologies() {
    nb::list list;
    for (const auto& entry : Topologies::entries) list.append(make_dict(*entry.form));
    for (const SectionForm* const form : {&down_form, &node_form}) list.append(make_dict(*form));
    return list;
}

}  // namespace

void bind_machine_text(nb::module_& m) {
    nb::class_<TextSection>(m, "TextSection", "A section of machine text: name:body,item,option=value,...")
        .def_ro("text", &TextSection::text)
        .def_ro("name", &TextSection::name)
        .def_ro("body", &TextSection::body)
        .def_prop_ro("sizes", &TextSection::sizes, "The numbers of the body; not for a graph.")
        .def_ro("items", &TextSection::items, "The items after the body that have no equals sign.")
        .def_ro("options", &TextSection::options, "(key, value) in the given order.");
    nb::class_<MachineText>(m, "MachineText", "The parts of a machine text, not yet parsed.")
        .def(nb::init<std::string>(), "text"_a)
        .def_prop_ro("network", &MachineText::network,
                     "The text of the topology, without failures and nodes.")
        .def_prop_ro("topology", &MachineText::topology, "The topology as a section.")
        .def_prop_ro("down", &MachineText::down, "The items that are down, such as 17, v40, 0-1, 5>6.")
        .def_prop_ro("node", &MachineText::node, "The section of the nodes, or None.");
    m.def("topologies", &list_topologies,
          "Lists the kinds of topologies with their options, and the sections that may follow them.",
          nb::sig("def topologies() -> list[dict[str, object]]"));
}

}  // namespace topoloom::python
