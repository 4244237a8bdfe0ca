/* SPDX-License-Identifier: GPL-2.0-or-later */
/* questions.c - see questions.h */
#include "tools/questions.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "tools/messages.h"
#include "tools/numbers.h"
#include "tools/print.h"

int question_time(uint64_t *out, struct recording *recording, const char *text,
		  struct failure *why)
{
	uint64_t end = recording_end(recording);

	if (!number_parse_time(text, end, out))
		return failed(why, ERR_INPUT,
			      "cannot take '%s' for a time: a number, 'start',"
			      " 'end' or a share like '50%%' is needed", text);
	if (*out > end)
		return failed(why, ERR_INPUT,
			      "cannot answer for t=%" PRIu64
			      ": the recording ends at t=%" PRIu64, *out, end);
	return 0;
}

static int find_symbol(struct question *question, struct recording *recording,
		       const char *text, size_t length, struct failure *why)
{
	size_t segment = recording_segment_at(recording, question->at);
	char *name = strndup(text, length);
	uint64_t size;
	int rc;

	if (!name)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	rc = recording_find_symbol(recording, segment, name, &question->addr,
				   &size, why);
	free(name);
	return rc;
}

/* "0x1000", "4096", "counter", "libc.so.6!environ", each also with "+8" */
static int find_address(struct question *question, struct recording *recording,
			const char *text, struct failure *why)
{
	const char *plus;
	uint64_t offset;
	char base[32];
	int rc;

	if (number_parse(text, &question->addr))
		return 0;
	if (!number_parse_offset(text, &plus, &offset))
		return failed(why, ERR_INPUT,
			      "cannot take '%s' for an address", text);
	snprintf(base, sizeof(base), "%.*s", (int)(plus - text), text);
	if ((size_t)(plus - text) >= sizeof(base) ||
	    !number_parse(base, &question->addr)) {
		rc = find_symbol(question, recording, text,
				 (size_t)(plus - text), why);
		if (rc)
			return rc;
		question->symbol = text;
	}
	if (offset > UINT64_MAX - question->addr)
		return failed(why, ERR_INPUT, "cannot add %" PRIu64
			      " to '%.*s': there is no such address",
			      offset, (int)(plus - text), text);
	question->addr += offset;
	return 0;
}

static int find_size(struct question *question, const char *text,
		     struct failure *why)
{
	uint64_t size = QUESTION_SIZE;

	if (text && (!number_parse_scaled(text, 1024, &size) || size == 0 ||
		     size > QUESTION_SIZE_MAX))
		return failed(why, ERR_INPUT,
			      "cannot take '%s' for a size: 1 to %u bytes",
			      text, QUESTION_SIZE_MAX);
	if (size - 1 > UINT64_MAX - question->addr)
		return failed(why, ERR_INPUT,
			      "cannot answer for %" PRIu64 " bytes at 0x%" PRIx64
			      ": they reach past the last address",
			      size, question->addr);
	question->size = (size_t)size;
	return 0;
}

int question_init(struct question *out, struct recording *recording,
		  const struct request *request, struct failure *why)
{
	int rc;

	*out = (struct question) { 0 };
	rc = question_time(&out->at, recording, request->at, why);
	if (!rc)
		rc = find_address(out, recording, request->addr, why);
	if (!rc)
		rc = find_size(out, request->size, why);
	return rc;
}

void question_release(struct question *question)
{
	free(question->bytes);
	free(question->known);
	*question = (struct question) { 0 };
}

int question_answer(struct question *question, struct query *query,
		    struct recording *recording, struct failure *why)
{
	int rc;

	question->bytes = calloc(1, question->size);
	question->known = calloc(1, question->size);
	if (!question->bytes || !question->known)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	rc = query_memory(query, question->addr, question->at, question->bytes,
			  question->known, question->size, &question->source,
			  why);
	if (rc)
		return rc;
	question->is_mapped = true;
	if (memchr(question->known, 1, question->size))
		return 0;
	return recording_is_mapped(recording, question->at, question->addr,
				   &question->is_mapped, why);
}

static const char *const source_names[] = {
	[QUERY_UNKNOWN] = "unknown",
	[QUERY_CODE] = "code",
	[QUERY_SNAPSHOT] = "snapshot",
	[QUERY_REPLAY] = "replay",
};

static void print_as_json(const struct question *question)
{
	char *bytes = memory_text(question->bytes, question->known,
				  question->size);
	json_t *object = json_object();
	char addr[ADDRESS_TEXT];

	json_object_set_new(object, "addr",
			    json_string(address_text(addr, question->addr)));
	json_object_set_new(object, "at", json_count(question->at));
	json_object_set_new(object, "size", json_count(question->size));
	json_object_set_new(object, "bytes", bytes ? json_string(bytes) : NULL);
	json_object_set_new(object, "source",
			    json_string(source_names[question->source]));
	if (question->symbol)
		json_object_set_new(object, "symbol",
				    json_text(question->symbol));
	print_json(object);
	free(bytes);
}

void question_print(const struct question *question, bool json)
{
	if (json) {
		print_as_json(question);
	} else {
		if (question->symbol) {
			print_escaped(stdout, question->symbol,
				      strlen(question->symbol));
			fputs(" = ", stdout);
		}
		printf("0x%" PRIx64 " at t=%" PRIu64
		       ", %zu byte%s, source: %s\n",
		       question->addr, question->at, question->size,
		       question->size == 1 ? "" : "s",
		       source_names[question->source]);
		print_memory(stdout, question->addr, question->bytes,
			     question->known, question->size);
	}
	if (!question->is_mapped)
		say("0x%" PRIx64 " is not mapped at t=%" PRIu64,
		    question->addr, question->at);
}

void question_warn_if_cut(const struct recording *recording)
{
	if (!recording_summary(recording))
		say("'%s' was cut short: it ends at t=%" PRIu64,
		    trace_reader_path(recording_reader(recording)),
		    recording_end(recording));
}
