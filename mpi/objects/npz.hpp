// SPDX-License-Identifier: BSD-3-Clause
// What objects did as a communication graph in an .npz file.
#pragma once

#include <string>

#include "topoloom_scheduler.hpp"

namespace topoloom::objects {

/// As `topoloom map` and scipy.sparse.load_npz read it: not compressed. False: it cannot be written, and is not there.
[[nodiscard]] bool write_graph(const std::string& path, const Measured& measured);

}  // namespace topoloom::objects
