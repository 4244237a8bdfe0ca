/* SPDX-License-Identifier: GPL-2.0-or-later */
/* error.c - see error.h */
#include "formats/error.h"

#include <stdarg.h>
#include <stdio.h>

int failed(struct failure *why, enum error code, const char *format, ...)
{
	va_list args;

	if (!why)
		return code;
	va_start(args, format);
	vsnprintf(why->text, sizeof(why->text), format, args);
	va_end(args);
	return code;
}
