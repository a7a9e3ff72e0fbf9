// SPDX-License-Identifier: BSD-3-Clause
// The options of rotate.
#pragma once

#include <cstdint>

#include "topoloom/base/option.hpp"

namespace topoloom::local {

struct RotateOptions {
    std::uint32_t length = 4;
    std::uint32_t near = 8;
    void visit(auto& field) {
        field("length", length, Range{2, 100}, "maximum number of ranks that change places in one cycle");
        field("near", near, Range{1, 1000}, "slots tried near each partner of a rank");
    }
};

}  // namespace topoloom::local
