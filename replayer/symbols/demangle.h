/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * demangle.h - names as they stand in C++, Rust and D programs
 *
 * Ownership:  what is returned is the caller's.
 * Errors:     none: what is no mangled name stays as it is.
 */
#ifndef CPREC_REPLAYER_SYMBOLS_DEMANGLE_H
#define CPREC_REPLAYER_SYMBOLS_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * "_ZN6Server5serveEi" is "Server::serve(int)", and "optind@GLIBC_2.2.5" is
 * "optind"; NULL if `name` is as people write it.
 */
char *demangle(const char *name);

/* The same into `text`; a name that is not mangled is copied. */
void demangle_into(char *text, size_t room, const char *name);

/*
 * Whether a demangled name is the one that is `wanted`: with its arguments, or
 * without them; blanks do not count.
 */
bool demangle_is(const char *demangled, const char *wanted);

/* Whether a mangled name may be `wanted`, as far as can be told at once. */
bool demangle_may_be(const char *mangled, const char *wanted);

/* A name without blanks, arguments of functions, and anonymous namespaces. */
void name_plain(char *out, size_t room, const char *name);

/* The last component of a qualified name: "g<a::b>" of "x::g<a::b>". */
const char *name_last(const char *name);

#endif
