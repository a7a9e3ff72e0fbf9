// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/strategy/placement_file.hpp"

#include "topoloom/base/id.hpp"
#include "topoloom/strategy/json_reader.hpp"

namespace topoloom {

PlacementFile read_placement_file(std::string_view text) {
    const Json document = read_json(text);
    check_format(document, "topoloom-placement", 1);
    PlacementFile file{document.at("machine").text("\"machine\""), {}};
    const Json::List& slots = document.at("placement").list("\"placement\"");
    file.slots.reserve(slots.size());
    for (const Json& slot : slots)
        file.slots.push_back(
            static_cast<std::uint32_t>(slot.whole("a slot of \"placement\"", 0, no_index - 1)));
    return file;
}

}  // namespace topoloom
