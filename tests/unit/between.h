/* SPDX-License-Identifier: GPL-2.0-or-later */
/* between.h - a number in a range: cmocka 2 deprecates what cmocka 1 has for it */
#ifndef CPREC_TESTS_UNIT_BETWEEN_H
#define CPREC_TESTS_UNIT_BETWEEN_H

/* Fails unless least <= value <= most, all of them unsigned. */
#define assert_between(value, least, most)                                     \
	do {                                                                   \
		uintmax_t value_ = (value);                                    \
									       \
		if (value_ < (uintmax_t)(least) || value_ > (uintmax_t)(most)) \
			fail_msg("%s is %ju", #value, value_);                 \
	} while (0)

#endif
