-- SPDX-License-Identifier: BSD-3-Clause
-- Lmod: copy to a folder of MODULEPATH, as topoloom/0.1.0.lua.
local prefix = "/opt/topoloom/0.1.0"

help([[
Topoloom decides which rank of your MPI program runs on which core.
Start with: topoloom help
]])
whatis("Name: topoloom")
whatis("Version: 0.1.0")
whatis("Description: places MPI ranks on cores, and reports how much time that saves")

-- bin has only topoloom, so that the module does not replace python.
prepend_path("PATH", pathJoin(prefix, "bin"))
-- Libraries and headers for programs in C, C++ and Fortran.
prepend_path("CMAKE_PREFIX_PATH", prefix)
prepend_path("PKG_CONFIG_PATH", pathJoin(prefix, "lib/pkgconfig"))
prepend_path("LD_LIBRARY_PATH", pathJoin(prefix, "lib"))
