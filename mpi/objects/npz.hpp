// SPDX-License-Identifier: BSD-3-Clause
// Writes measurements as a communication graph in an .npz file.
#pragma once

#include <string>

#include "topoloom_scheduler.hpp"

namespace topoloom::objects {

/// Writes an uncompressed file for `topoloom map` and scipy.sparse.load_npz. False: it could not be written, and does not exist.
[[nodiscard]] bool write_graph_file(const std::string& path, const Measurements& measurements);

}  // namespace topoloom::objects
