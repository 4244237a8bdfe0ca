/* SPDX-License-Identifier: GPL-2.0-or-later */
/* replaces.h - functions of the engine's that are replaced */
#ifndef CPREC_VM_ENGINE_BUILD_REPLACES_H
#define CPREC_VM_ENGINE_BUILD_REPLACES_H

/*
 * A function that is defined here in place of the engine's, whose own can be
 * called as engine_NAME.  It stands in manifest.inc.
 */
#define REPLACES(type, name)                                                   \
	type name;                                                             \
	extern type engine_##name

#endif
