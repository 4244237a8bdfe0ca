/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tables_i386.h - the tables of i386, and what it shares with x86-64 */
#ifndef CPREC_FORMATS_TABLES_I386_H
#define CPREC_FORMATS_TABLES_I386_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct reg_table;
struct stack_table;

extern const struct reg_table reg_table_i386;
extern const struct stack_table stack_table_i386;

/* Names of bits: of EFLAGS, and of MXCSR. */
extern const char *const reg_x86_flags[], *const reg_x86_mxcsr[];

/* Whether bytes end with a call: stack_table.is_call. */
bool stack_x86_is_call(const uint8_t *before, size_t size);

#endif
