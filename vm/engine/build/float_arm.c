/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * float_arm.c - numbers with a fixed point become single ones by the nearest
 *
 * Whatever FPSCR says of rounding: the engine heeds that.
 *
 * Source: Arm Architecture Reference Manual for ARMv7-A, A8.8.307.
 */
#include "vm/engine/build/replaces.h"
#include "vm/engine/engine_internal.h"

/* Of struct float_status (QEMU 5.0): one byte each for tininess, rounding. */
#define ROUNDING_AT 1
#define TO_NEAREST 0

typedef uint32_t convert_fn(uint32_t number, uint32_t shift, uint8_t *status);

#define CONVERTS(name)                                                         \
	REPLACES(convert_fn, name);                                            \
	uint32_t name(uint32_t number, uint32_t shift, uint8_t *status)        \
	{                                                                      \
		uint8_t rounding = status[ROUNDING_AT];                        \
		uint32_t result;                                               \
									       \
		status[ROUNDING_AT] = TO_NEAREST;                              \
		result = engine_##name(number, shift, status);                 \
		status[ROUNDING_AT] = rounding;                                \
		return result;                                                 \
	}

CONVERTS(helper_vfp_shtos_arm)
CONVERTS(helper_vfp_sltos_arm)
CONVERTS(helper_vfp_uhtos_arm)
CONVERTS(helper_vfp_ultos_arm)
