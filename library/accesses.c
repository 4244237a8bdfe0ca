/* SPDX-License-Identifier: GPL-2.0-or-later */
/* accesses.c - who accessed memory, or wrote a register */
#include "library/handles.h"

#include <stdlib.h>
#include <string.h>

/* ------- memory ------- */

struct access_visits {
	struct visits visits;
	const struct cprec_accesses *asked;
	struct history_question question;
	uint64_t left;
	struct kept_place kept;
};

static bool is_meant(void *context, const struct history_access *access)
{
	const struct access_visits *visits = context;
	const struct cprec_accesses *asked = visits->asked;

	return (access->writes ? asked->writes : asked->reads) &&
	       (!asked->changes || history_changes(access)) &&
	       (!asked->has_value ||
		history_has_value(&visits->question, access, asked->value));
}

static const enum cprec_access_kind kinds[] = {
	[HISTORY_INSTRUCTION] = CPREC_BY_INSTRUCTION,
	[HISTORY_KERNEL] = CPREC_BY_KERNEL,
	[HISTORY_OTHERS] = CPREC_BY_OTHERS,
	[HISTORY_MAPPED] = CPREC_MAPPED,
	[HISTORY_UNMAPPED] = CPREC_UNMAPPED,
	[HISTORY_CLEARED] = CPREC_CLEARED,
};

static int tell(void *context, const struct history_access *access,
		struct failure *why)
{
	struct access_visits *visits = context;
	struct cprec_recording *handle = visits->visits.of;
	struct cprec_access out = {
		.before = from_position(access->before),
		.after = from_position(access->after),
		.kind = kinds[access->kind], .is_write = access->writes,
		.is_change = access->writes && history_changes(access),
		.pc = access->pc, .addr = access->addr,
		.length = access->size, .old_bytes = access->old,
		.old_known = access->old_known, .new_bytes = access->new,
		.new_known = access->new_known, .place = &visits->kept.place,
	};
	char by[64];
	int rc = tid_of(handle, access->stream, access->before.time, &out.tid,
			why);

	if (rc)
		return rc;
	if (access->kind != HISTORY_INSTRUCTION &&
	    access->kind != HISTORY_OTHERS)
		out.by = agent_name(by, handle, access->event, access->number);
	place_find(&visits->kept, handle, access->before.time, access->pc);
	rc = visits_told(&visits->visits,
			 visits->asked->visit(visits->visits.context, &out));
	if (!rc && !--visits->left)
		rc = HISTORY_ENOUGH;
	return rc;
}

static int search(struct access_visits *visits)
{
	const struct history_question *question = &visits->question;
	struct cprec_recording *handle = visits->visits.of;
	bool found;
	int rc;

	handle->runs = true;
	if (visits->asked->last)
		rc = history_last(handle->query, question, tell, &found,
				  visits->visits.why);
	else
		rc = history_each(handle->query, question, tell,
				  visits->visits.why);
	handle->runs = false;
	return visits_result(&visits->visits, rc);
}

static int check(const struct cprec_accesses *asked, struct failure *why)
{
	if (!asked->length || asked->length - 1 > UINT64_MAX - asked->addr)
		return failed(why, ERR_INPUT, "the memory has no bytes, or"
			      " reaches past the last address");
	if (asked->bit_size > 64 ||
	    (asked->bit_size &&
	     (asked->length > 16 || asked->bit_offset > 64 ||
	      asked->bit_offset + asked->bit_size > 8 * asked->length)))
		return failed(why, ERR_INPUT, "the bits are not in the memory,"
			      " or it is more than 16 bytes");
	return asked->visit ? 0 : failed(why, ERR_INPUT, "nobody is told");
}

PUBLIC int cprec_each_access(struct cprec_recording *handle,
			     const struct cprec_accesses *question,
			     struct cprec_failure *why)
{
	struct cprec_accesses asked;
	struct access_visits *visits;
	struct history_question inside;
	int rc = question_begin(handle, true, why);

	if (!rc)
		rc = QUESTION_TAKE(&asked, question, why);
	if (!rc)
		rc = check(&asked, inner(why));
	if (rc)
		return rc;
	inside = (struct history_question) {
		.addr = asked.addr, .size = asked.length, .is_meant = is_meant,
		.some_thread = asked.tid != 0, .tid = asked.tid,
		.bit_offset = asked.bit_offset, .bit_size = asked.bit_size,
	};
	rc = question_range(handle, asked.has_from ? &asked.from : NULL,
			    asked.has_to ? &asked.to : NULL, &inside.from,
			    &inside.to, why);
	if (rc)
		return rc;
	asked.writes |= !asked.reads;
	inside.reads = asked.reads;
	inside.writes = asked.writes;
	visits = calloc(1, sizeof(*visits));
	if (!visits)
		return failed(inner(why), ERR_NO_MEMORY, "out of memory");
	visits->visits = (struct visits) {
		.of = handle, .why = inner(why), .context = asked.context,
	};
	visits->asked = &asked;
	visits->left = asked.limit;
	inside.context = visits;
	visits->question = inside;
	rc = search(visits);
	free(visits);
	return rc;
}

/* ------- registers ------- */

static int take(struct cprec_cursor *cursor, const struct reg_info *info,
		struct failure *why)
{
	const struct register_write *found = &cursor->written;
	struct cprec_register_write *out = &cursor->write;

	*out = (struct cprec_register_write) {
		.before = from_position(found->before), .pc = found->pc,
		.name = info->name, .length = info->size,
		.old_bytes = found->old, .new_bytes = found->new,
		.place = &cursor->write_place.place,
	};
	if (found->by_event)
		out->by = agent_name(cursor->write_by, cursor->of,
				     found->event, found->number);
	place_find(&cursor->write_place, cursor->of, found->before.time,
		   found->pc);
	return tid_of(cursor->of, found->stream, found->before.time, &out->tid,
		      why);
}

PUBLIC int
cprec_find_register_write(struct cprec_cursor *cursor, const char *name,
			  const struct cprec_register_write **out,
			  struct cprec_failure *why)
{
	const struct reg_table *table =
		recording_reg_table(cursor->of->recording);
	struct register_question question = {
		.named = &cursor->named,
		.some_thread = cursor->some_thread, .tid = cursor->tid,
		.at = cursor->at,
	};
	bool found = false;
	int rc = question_begin(cursor->of, true, why);

	if (!rc)
		rc = register_to_ask(table, name, &cursor->named, inner(why));
	if (!rc)
		rc = register_last_write(cursor->of->query, &question,
					 &cursor->written, &found, inner(why));
	if (!rc && found)
		rc = take(cursor, &cursor->named.info, inner(why));
	if (!rc)
		*out = found ? &cursor->write : NULL;
	return rc;
}
