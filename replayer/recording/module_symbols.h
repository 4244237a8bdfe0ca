/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * module_symbols.h - the symbols of modules, here or where a member has them
 */
#ifndef CPREC_REPLAYER_RECORDING_MODULE_SYMBOLS_H
#define CPREC_REPLAYER_RECORDING_MODULE_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct failure;
struct recording;

/* Whether a chunk of the file is of a module's symbols, or says where. */
bool recording_is_symbols(const struct recording *recording, size_t chunk);

/* What symbols_decode() takes.  The bytes are the caller's to free(). */
int recording_symbols(struct recording *recording, size_t chunk,
		      uint8_t **bytes, size_t *size, struct failure *why);

#endif
