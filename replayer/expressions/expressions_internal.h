/* SPDX-License-Identifier: GPL-2.0-or-later */
/* expressions_internal.h - what expressions.h hides */
#ifndef CPREC_REPLAYER_EXPRESSIONS_EXPRESSIONS_INTERNAL_H
#define CPREC_REPLAYER_EXPRESSIONS_EXPRESSIONS_INTERNAL_H

#include "replayer/expressions/context.h"
#include "replayer/expressions/expressions.h"

struct expressions {
	struct context context;
};

#endif
