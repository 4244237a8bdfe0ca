/* SPDX-License-Identifier: GPL-2.0-or-later */
/* captured_flag_racy.cpp - local variables, one atomic, and one written late */
#include <atomic>
#include <thread>

struct node {
	int value;
	std::atomic<node *> next{nullptr};
};

int main()
{
	int early = 0, late = 0, seen = 0;
	std::atomic<bool> ready{false};
	auto first = new node{1};

	std::thread one([&] {
		early = 1;
		first->next.store(new node{2}, std::memory_order_release);
		ready.store(true, std::memory_order_release);
		late = 2;	/* RACE:a */
	});
	std::thread two([&] {
		node *next;

		while (!(next = first->next.load(std::memory_order_acquire)))
			std::this_thread::yield();
		seen += next->value;
	});

	while (!ready.load(std::memory_order_acquire))
		continue;
	int sum = early;
	sum += late;	/* RACE:a */
	one.join();
	two.join();
	return sum + seen < 0;
}
