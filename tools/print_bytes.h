/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * print_bytes.h - what memory held, as numbers of its type
 */
#ifndef CPREC_TOOLS_PRINT_BYTES_H
#define CPREC_TOOLS_PRINT_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Whether so many bytes may be one number. */
bool bytes_are_number(uint64_t size);

/*
 * As a number of a type, by its name ("unsigned int"), in hexadecimal if `type`
 * is NULL; or as bytes, "??" for one that is not known, if they are no number.
 */
void print_bytes(FILE *out, const char *type, const uint8_t *bytes,
		 const uint8_t *known, uint64_t size);

#endif
