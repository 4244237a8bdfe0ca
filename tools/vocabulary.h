/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vocabulary.h - what can be asked, for programs that ask */
#ifndef CPREC_TOOLS_VOCABULARY_H
#define CPREC_TOOLS_VOCABULARY_H

#include <jansson.h>

/* Version, and all commands that answer requests, with their options. */
json_t *vocabulary(void);

#endif
