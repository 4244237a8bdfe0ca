/* SPDX-License-Identifier: GPL-2.0-or-later */
/* times.c - see times.h */
#include "replayer/session/times.h"

#include <string.h>

#define TEXT_MOST 80u	/* characters; no time is longer */

static const char output_word[] = "output:";

uint64_t time_text_share(const struct decimal *percent, uint64_t whole)
{
	uint64_t share = percent->whole * percent->parts + percent->part;

	return (uint64_t)((unsigned __int128)whole * share /
			  (100 * percent->parts));
}

/* The nearest: a share that was gone to is itself again. */
unsigned time_tenths(uint64_t part, uint64_t whole)
{
	unsigned tenths;

	if (part >= whole)
		return 1000;
	tenths = (unsigned)(((unsigned __int128)part * 2000 + whole) /
			    ((unsigned __int128)whole * 2));
	return tenths < 1000 ? tenths : 999;
}

/* "12.5", of 100 */
static bool parse_percent(const char *text, struct decimal *out)
{
	return number_parse_decimal(text, out) &&
	       (out->whole < 100 || (out->whole == 100 && !out->part));
}

static bool parse_base(char *text, struct time_text *out)
{
	size_t size = strlen(text);

	out->base = TIME_NUMBER;
	if (!strcmp(text, "start")) {
		out->base = TIME_START;
		return true;
	}
	if (!strcmp(text, "end")) {
		out->base = TIME_END;
		return true;
	}
	if (!strncmp(text, output_word, strlen(output_word))) {
		out->base = TIME_OUTPUT;
		return number_parse_scaled(text + strlen(output_word), 1000,
					   &out->number) && out->number;
	}
	if (bookmark_name_is_good(text)) {
		out->base = TIME_BOOKMARK;
		memcpy(out->name, text, size + 1);
		return true;
	}
	if (!size || text[size - 1] != '%')
		return number_parse_scaled(text, 1000, &out->number);
	out->base = TIME_SHARE;
	text[size - 1] = '\0';
	return parse_percent(text, &out->share);
}

/* Takes off ".K": "1.5m" is a time, digits alone behind a point are events. */
static bool cut_events(char *text, struct time_text *out)
{
	char *point = strrchr(text, '.');
	uint64_t events;

	if (!point || !point[1] ||
	    point[1 + strspn(point + 1, "0123456789")])
		return true;
	*point = '\0';
	if (!number_parse(point + 1, &events) || events >= UINT32_MAX)
		return false;
	out->events = (uint32_t)events;
	return true;
}

/* Takes off "+N" or "-N". */
static bool cut_offset(char *text, struct time_text *out)
{
	char *sign = strpbrk(text, "+-");

	if (!sign)
		return true;
	out->is_minus = *sign == '-';
	*sign = '\0';
	return number_parse_scaled(sign + 1, 1000, &out->offset);
}

/* "TID:", but not "output:". */
static char *cut_thread(char *text, struct time_text *out)
{
	char *colon = strchr(text, ':');
	uint64_t number;

	if (!colon)
		return text;
	*colon = '\0';
	if (number_parse(text, &number) && number <= UINT32_MAX) {
		out->has_thread = true;
		out->tid = (uint32_t)number;
		return colon + 1;
	}
	*colon = ':';
	return text;
}

/* All but times of day. */
static bool parse_steps(const char *text, struct time_text *out)
{
	struct time_text time = { .base = TIME_NUMBER };
	char copy[TEXT_MOST + 1], *rest;

	if (strlen(text) > TEXT_MOST)
		return false;
	memcpy(copy, text, strlen(text) + 1);
	rest = cut_thread(copy, &time);
	time.is_last = !strcmp(rest, "end") && !time.has_thread;
	if (!cut_events(rest, &time) || !cut_offset(rest, &time) ||
	    !parse_base(rest, &time))
		return false;
	if (time.has_thread &&
	    (time.base == TIME_OUTPUT || time.base == TIME_BOOKMARK))
		return false;
	if (time.base == TIME_BOOKMARK && strchr(text, '.'))
		return false;
	*out = time;
	return true;
}

bool time_text_parse(const char *text, struct time_text *out)
{
	struct time_text time = { .base = TIME_CLOCK };
	bool is_clock = clock_text_parse(text, &time.clock);

	if (parse_steps(text, out)) {
		out->clock = time.clock;
		out->may_be_clock = is_clock;
		return true;
	}
	if (is_clock)
		*out = time;
	return is_clock;
}
