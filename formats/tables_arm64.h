/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tables_arm64.h - the tables of AArch64, for reg_table() and stack_table() */
#ifndef CPREC_FORMATS_TABLES_ARM64_H
#define CPREC_FORMATS_TABLES_ARM64_H

struct reg_table;
struct stack_table;

extern const struct reg_table reg_table_arm64, reg_table_arm64_machine;
extern const struct stack_table stack_table_arm64;

#endif
