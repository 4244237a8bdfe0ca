/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clocks.c - see clocks.h */
#include "replayer/session/clocks.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define SECOND INT64_C(1000000)
#define MINUTE (60 * SECOND)
#define DAY (86400 * SECOND)

/* Takes so many digits. */
static bool take_digits(const char **text, unsigned count, int *out)
{
	int value = 0;

	for (; count; count--, ++*text) {
		if (**text < '0' || **text > '9')
			return false;
		value = value * 10 + (**text - '0');
	}
	*out = value;
	return true;
}

static bool take(const char **text, char c)
{
	if (**text != c)
		return false;
	++*text;
	return true;
}

static bool take_date(const char **text, struct clock_text *out)
{
	const char *at = *text;

	if (!take_digits(&at, 4, &out->year) || !take(&at, '-') ||
	    !take_digits(&at, 2, &out->month) || !take(&at, '-') ||
	    !take_digits(&at, 2, &out->day) || (!take(&at, ' ') &&
						!take(&at, 'T')))
		return false;
	*text = at;
	out->has_date = true;
	return true;
}

/* ".5"; what is behind six digits is left out. */
static bool take_fraction(const char **text, struct clock_text *out)
{
	int digit;

	if (!take(text, '.'))
		return true;
	if (**text < '0' || **text > '9')
		return false;
	while (**text >= '0' && **text <= '9') {
		take_digits(text, 1, &digit);
		if (out->unit == 1)
			continue;
		out->unit /= 10;
		out->micros += digit * (int)out->unit;
	}
	return true;
}

/* ":31.5", or nothing. */
static bool take_seconds(const char **text, struct clock_text *out)
{
	out->unit = MINUTE;
	if (!take(text, ':'))
		return true;
	out->unit = SECOND;
	return take_digits(text, 2, &out->second) && take_fraction(text, out);
}

bool clock_text_parse(const char *text, struct clock_text *out)
{
	struct clock_text clock = { 0 };

	take_date(&text, &clock);
	if (!take_digits(&text, 2, &clock.hour) || !take(&text, ':') ||
	    !take_digits(&text, 2, &clock.minute) ||
	    !take_seconds(&text, &clock))
		return false;
	clock.is_utc = take(&text, 'Z');
	if (*text || clock.hour > 23 || clock.minute > 59 ||
	    clock.second > 60)
		return false;
	if (clock.has_date && (clock.month < 1 || clock.month > 12 ||
			       clock.day < 1 || clock.day > 31))
		return false;
	*out = clock;
	return true;
}

static void split(int64_t clock, bool is_utc, struct tm *out)
{
	time_t seconds = (time_t)(clock / SECOND);

	if (!(is_utc ? gmtime_r(&seconds, out) : localtime_r(&seconds, out)))
		memset(out, 0, sizeof(*out));
}

int64_t clock_text_find(const struct clock_text *clock, int64_t first)
{
	struct tm day;
	int64_t found;

	split(first, clock->is_utc, &day);
	if (clock->has_date) {
		day.tm_year = clock->year - 1900;
		day.tm_mon = clock->month - 1;
		day.tm_mday = clock->day;
	}
	day.tm_hour = clock->hour;
	day.tm_min = clock->minute;
	day.tm_sec = clock->second;
	day.tm_isdst = -1;
	found = (int64_t)(clock->is_utc ? timegm(&day) : mktime(&day)) *
			SECOND + clock->micros;
	if (found < first && first - found < clock->unit)
		return first;
	return found < first && !clock->has_date ? found + DAY : found;
}

const char *clock_print(char text[CLOCK_TEXT], int64_t clock)
{
	struct tm tm;
	size_t size;

	split(clock, false, &tm);
	size = strftime(text, CLOCK_TEXT, "%Y-%m-%d %H:%M:%S", &tm);
	snprintf(text + size, CLOCK_TEXT - size, ".%06d",
		 (int)(clock % SECOND));
	return text;
}
