/* SPDX-License-Identifier: GPL-2.0-or-later */
/* classes.cc - types of C++ */
namespace app {
enum class Level : unsigned char { LOW, HIGH = 9 };
struct Base {
	int base;
	virtual ~Base();
	virtual int area() const = 0;
};
Base::~Base() {}
struct Outer {
	struct Deep {
		int d;
	} deep;
	Deep *p;
};
Outer outer;
}

class Shape : public app::Base {
	int secret;
protected:
	int prot;
public:
	Shape(int s);
	Shape(const Shape &) = delete;
	~Shape() override;
	int area() const override { return secret; }
	static int count;
	static int make(int, char *const *);
	void fade() volatile;
	Shape &operator=(const Shape &) = default;
	operator int() const;
	int operator()(int x, ...) { return x; }
	int pub;
	int *get(const app::Base &b, int (*f)(int));
	int get();
	const char *name;
	app::Level level;
};
int Shape::count;
Shape::Shape(int s) : secret(s), prot(0), pub(1) {}
Shape::~Shape() {}
int Shape::make(int a, char *const *) { return a; }
void Shape::fade() volatile {}
Shape::operator int() const { return 1; }
int *Shape::get(const app::Base &, int (*)(int)) { return nullptr; }
int Shape::get() { return 2; }

struct Plain { int a; bool b; int sum() { return a; } };
struct Mixed {
	int a;
private:
	int b;
public:
	int c;
	int all() { return b; }
};
struct Virt : virtual app::Base, private Plain {
	int area() const { return 0; }
};
union Any { int i; double d; Any() : i(0) {} };
enum Old { ONE, TWO };
class Hidden { int x; int y; int f() { return x + y; } };

Plain plain;
Mixed mixed;
Any any;
Old old_one;
app::Level level;
Hidden hidden;
int &ref = plain.a;
auto lambda = [](int x) { return x; };

int main()
{
	Shape shape(3);
	Virt virt;
	const Shape &constant = shape;
	int (Shape::*method)() = &Shape::get;
	int Plain::*member = &Plain::a;

	plain.sum();
	mixed.all();
	shape.get();
	shape(1);
	int done = (method == nullptr) + (member == nullptr) + constant.pub;
	return virt.area() + done - 1;
}
