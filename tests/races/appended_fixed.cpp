/* SPDX-License-Identifier: GPL-2.0-or-later */
/* appended_fixed.cpp - it writes to a stream for one thread after the other */
#include <mutex>
#include <sstream>
#include "race.h"

static std::ostringstream words;
static std::mutex lock;

static void append()
{
	for (int i = 0; i < 5; i++) {
		std::lock_guard<std::mutex> held(lock);

		words.write("appended", 8);
	}
}

int main()
{
	race(append, append);
	return words.str().empty();
}
