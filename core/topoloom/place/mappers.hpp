// SPDX-License-Identifier: BSD-3-Clause
// The mappers that the registry lists; each is defined in the file of its name.
#pragma once

#include "topoloom/place/anneal.hpp"
#include "topoloom/place/auto.hpp"
#include "topoloom/place/bricks.hpp"
#include "topoloom/place/congestion.hpp"
#include "topoloom/place/exact.hpp"
#include "topoloom/place/grasp.hpp"
#include "topoloom/place/greedy.hpp"
#include "topoloom/place/hybrid.hpp"
#include "topoloom/place/local_opt.hpp"
#include "topoloom/place/multisection.hpp"
#include "topoloom/place/refine.hpp"
#include "topoloom/place/resettle.hpp"
#include "topoloom/place/rotate.hpp"
#include "topoloom/place/simple.hpp"
#include "topoloom/place/structure.hpp"
#include "topoloom/place/swap.hpp"
#include "topoloom/place/tabu.hpp"
