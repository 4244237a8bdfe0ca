/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * print_registers.h - registers as people read them, and as gdb shows them
 */
#ifndef CPREC_TOOLS_PRINT_REGISTERS_H
#define CPREC_TOOLS_PRINT_REGISTERS_H

#include <stdio.h>

#include "formats/registers.h"

/* "0x246               [ PF ZF IF ]", without what code is there. */
void print_register(FILE *out, const struct reg_info *info,
		    const struct reg_file *file);

#endif
