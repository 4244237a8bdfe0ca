/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tables_cortex_m.h - the table of ARMv7-M, for reg_table() */
#ifndef CPREC_FORMATS_TABLES_CORTEX_M_H
#define CPREC_FORMATS_TABLES_CORTEX_M_H

struct reg_table;

extern const struct reg_table reg_table_cortex_m;

#endif
