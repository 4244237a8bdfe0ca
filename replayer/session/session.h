/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session.h - what users ask of a recording
 *
 * This room answers questions with as little replay as possible, and
 * understands texts as users write them.  It never prints and never ends the
 * process: the commands are built on it.
 *
 * Other rooms include this header only:
 *
 *	numbers.h	numbers, times and addresses as texts
 *	places.h	the same, as times and addresses of a recording
 *	query.h		what an address held at a time
 */
#ifndef CPREC_REPLAYER_SESSION_SESSION_H
#define CPREC_REPLAYER_SESSION_SESSION_H

#include "replayer/session/numbers.h"
#include "replayer/session/places.h"
#include "replayer/session/query.h"

#endif
