/* SPDX-License-Identifier: GPL-2.0-or-later */
/* forward.h - vectors that need not be loaded again */
#ifndef CPREC_VM_ENGINE_BUILD_FORWARD_H
#define CPREC_VM_ENGINE_BUILD_FORWARD_H

struct engine;

/* Looks through the operations of a block, whose kinds are known. */
void forward_vectors(struct engine *engine);

#endif
