// SPDX-License-Identifier: BSD-3-Clause
// Writes measurements as a communication graph to an .npz file.
#pragma once

#include <string>

#include "topoloom_scheduler.hpp"

namespace topoloom::objects {

/// Writes an uncompressed file for `topoloom map` and scipy.sparse.load_npz. On failure returns false, and creates no
/// file.
[[nodiscard]] bool write_graph_file(const std::string& path, const Measurements& measurements);

}  // namespace topoloom::objects
