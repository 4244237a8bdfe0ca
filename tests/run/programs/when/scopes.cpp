// SPDX-License-Identifier: GPL-2.0-or-later
// Variables in namespaces and templates, for when.py.
#include <cstdio>

namespace app {

int counter;

namespace in {
int deep;
}

template <typename T> struct cache {
	static int hits;
};
template <typename T> int cache<T>::hits;

}

int main()
{
	for (int i = 0; i < 5; i++) {
		app::counter++;
		app::in::deep += 2;
		app::cache<int>::hits += 3;
	}
	printf("%d %d %d\n", app::counter, app::in::deep,
	       app::cache<int>::hits);
	return 0;
}
