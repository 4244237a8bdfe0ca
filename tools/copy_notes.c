/* SPDX-License-Identifier: GPL-2.0-or-later */
/* copy_notes.c - see copy_notes.h */
#include "tools/copy_notes.h"

#include "tools/messages.h"

void copies_note_lost(const char *name, const struct inlined_copies *copies)
{
	if (copies->all > copies->found)
		say_note("%zu of %zu copies of '%s' that were inlined have no"
			 " code", copies->all - copies->found, copies->all,
			 name);
}

void copies_note_uncalled(const char *name,
			  const struct inlined_copies *copies)
{
	if (copies->all)
		say_note("'%s' was also inlined, in %zu place%s: nothing is"
			 " called there", name, copies->all,
			 copies->all == 1 ? "" : "s");
}
