/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gdbserver.h - serves a recording to a debugger, as cprec gdbserver does */
#ifndef CPREC_TOOLS_GDBSERVER_H
#define CPREC_TOOLS_GDBSERVER_H

struct server_options;

/*
 * Opens the recording and serves it; all but that is in `asked`.  Returns a
 * status to exit with; it is told what went wrong.
 */
int gdbserver_serve(const char *path, const struct server_options *asked);

#endif
