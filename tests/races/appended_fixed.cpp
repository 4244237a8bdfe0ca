/* SPDX-License-Identifier: GPL-2.0-or-later */
/* appended_fixed.cpp - it changes a string for one thread after the other */
#include <mutex>
#include <string>
#include "race.h"

static std::string words;
static std::mutex lock;

static void append()
{
	for (int i = 0; i < 5; i++) {
		std::lock_guard<std::mutex> held(lock);

		words.append("appended");
	}
}

int main()
{
	race(append, append);
	return words.empty();
}
