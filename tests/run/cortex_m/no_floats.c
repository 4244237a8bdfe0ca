/* SPDX-License-Identifier: GPL-2.0-or-later */
/* no_floats.c - the processor has no floating point */
#include "firmware.h"

void test_floats(void)
{
}
