/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tables_arm.h - the tables of 32-bit ARM, for reg_table() and stack_table() */
#ifndef CPREC_FORMATS_TABLES_ARM_H
#define CPREC_FORMATS_TABLES_ARM_H

struct reg_table;
struct stack_table;

extern const struct reg_table reg_table_arm;
extern const struct stack_table stack_table_arm;

#endif
