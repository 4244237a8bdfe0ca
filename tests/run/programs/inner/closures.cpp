/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions within functions: closures, methods of local classes. */
#include <cstdio>

namespace app {
int twice(int v)
{
	return 2 * v;
}

static int hidden(int v)
{
	return v + 1;
}

struct Box {
	int n;
	int get(int by) const
	{
		return n + by;
	}
};

int work(int times)
{
	auto more = [times](int v) {
		int r = v + times;
		return r;
	};
	return more(times) + more(1);
}
}

namespace one {
int same(int v)
{
	return v + 3;
}
}

namespace two {
int same(int v)
{
	return v + 4;
}
}

template <typename F> static int apply(F f, int v)
{
	return f(v);
}

int main()
{
	auto add = [](int v) { return v + 10; };
	auto mul = [](int a, int b) {
		int c = a * b;
		return c + 1;
	};
	auto plus = [](int v) { return v + 1; }; auto twin = [](int w) { return w + 2; };
	int sum = 0;

	for (int i = 1; i < 4; i++) {
		struct Local {
			int base;
			int lift(int v)
			{
				int r = base + v;
				return r;
			}
		} local = { 100 };

		sum += apply(add, i);
		sum += mul(i, i + 1);
		sum += plus(i) + twin(i);
		sum += local.lift(i);
	}
	sum += apply([&sum](int v) { return v + sum; }, 7);
	app::Box box = { 5 };
	printf("%d %d %d %d %d\n", sum, app::twice(4) + app::hidden(1),
	       box.get(3), app::work(2), one::same(1) + two::same(2));
	return 0;
}
