/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gdb_socket.h - a server for the gdb that this program becomes
 *
 * It opens the recording while gdb starts.  gdb reads from a socket what it
 * would read from a pipe byte by byte: there it looks whether something was
 * said on standard error, each time.
 */
#ifndef CPREC_TOOLS_GDB_SOCKET_H
#define CPREC_TOOLS_GDB_SOCKET_H

/*
 * Starts one; `from` is as in server_options.  Returns the name of its socket,
 * to be freed; NULL: there is none.  It ends when the connection does, or when
 * this process, which may become another program, ends without one.
 */
char *gdb_socket_start(const char *path, const char *from);

#endif
