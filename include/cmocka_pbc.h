/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cmocka's programming by contract: what a function needs, what it promises and what always holds, checked
 * by assert() (which a test makes mock_assert()) with UNIT_TESTING or DEBUG, and nothing else without.
 */
#ifndef CMOCKA_PBC_H_
#define CMOCKA_PBC_H_

#if defined(UNIT_TESTING) || defined(DEBUG)
#include <assert.h>
#define REQUIRE(cond) assert(cond)
#define ENSURE(cond) assert(cond)
#define INVARIANT(invariant_fnc) do { (invariant_fnc) } while (0)
#else
#define REQUIRE(cond) do { } while (0)
#define ENSURE(cond) do { } while (0)
#define INVARIANT(invariant_fnc) do { } while (0)
#endif

#endif /* CMOCKA_PBC_H_ */
