// SPDX-License-Identifier: BSD-3-Clause
// Whether these tests run under a sanitizer, which slows them down several times: the longest laws then take every
// third case.
#pragma once

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool is_sanitized = true;
#else
inline constexpr bool is_sanitized = false;
#endif
