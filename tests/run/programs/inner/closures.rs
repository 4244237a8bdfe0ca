// SPDX-License-Identifier: GPL-2.0-or-later
// Closures, functions in others and in modules.
fn apply<F: Fn(i32) -> i32>(f: F, v: i32) -> i32 {
    f(v)
}

mod inner {
    pub fn twice(v: i32) -> i32 {
        2 * v
    }
}

fn main() {
    let k = 5;
    let add = |v: i32| v + k;
    let mul = |a: i32| {
        let r = a * 3;
        r + 1
    };
    fn nested(v: i32) -> i32 {
        let w = v + 9;
        w
    }
    let mut sum = 0;
    for i in 1..4 {
        sum += apply(&add, i) + mul(i) + nested(i) + inner::twice(i);
    }
    println!("{}", sum);
}
