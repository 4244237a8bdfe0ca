/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbols.h - what addresses of a recording are called
 *
 * This room finds names in the symbols that a recording holds, and source lines
 * and types in the debugging information of files on this machine.  It asks the
 * recording what is mapped at a time; it never runs a guest.
 *
 * Other rooms include this header only:
 *
 *	names.h		symbols by address and addresses by symbol
 *	lines.h		source lines, functions, code of atomic types
 *	absent.h	why there is no function of a name
 *	frames.h	who called whom
 *	code_lines.h	what steps by lines must know of code
 *	code_places.h	where breakpoints on lines and functions stop
 *	inlined_places.h	the same where functions were inlined
 *	code_units.h	what a file says of a part of it
 *	demangle.h	names as people write them
 *	debug_search.h	where debugging information is looked for
 *	module_sources.h	where the files of modules are
 *	module_bytes.h	what is in them that programs did not use
 *	kernel_names.h	the memory of a machine's kernel
 *	btf.h		its structures
 *	patterns.h	which symbols somebody means
 *	short_names.h	functions by a part of their name
 *	split_join.h	debugging information out of several files
 *	tail_calls.h	functions whose last call was a jump
 *	dwarf_locations.h	attributes that say where something is
 *	dwarf_places.h	where code finds variables of atomic types
 */
#ifndef CPREC_REPLAYER_SYMBOLS_SYMBOLS_H
#define CPREC_REPLAYER_SYMBOLS_SYMBOLS_H

#include "replayer/symbols/absent.h"
#include "replayer/symbols/btf.h"
#include "replayer/symbols/code_lines.h"
#include "replayer/symbols/code_places.h"
#include "replayer/symbols/code_units.h"
#include "replayer/symbols/debug_search.h"
#include "replayer/symbols/demangle.h"
#include "replayer/symbols/dwarf_locations.h"
#include "replayer/symbols/dwarf_places.h"
#include "replayer/symbols/exception_frame.h"
#include "replayer/symbols/frames.h"
#include "replayer/symbols/inlined_places.h"
#include "replayer/symbols/kernel_names.h"
#include "replayer/symbols/lines.h"
#include "replayer/symbols/module_bytes.h"
#include "replayer/symbols/module_sources.h"
#include "replayer/symbols/names.h"
#include "replayer/symbols/patterns.h"
#include "replayer/symbols/short_names.h"
#include "replayer/symbols/split_join.h"
#include "replayer/symbols/tail_calls.h"

#endif
