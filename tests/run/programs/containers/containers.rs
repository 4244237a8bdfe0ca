// SPDX-License-Identifier: GPL-2.0-or-later
// containers.rs - what containers of Rust's library hold; see containers.py
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet, VecDeque};
use std::rc::Rc;
use std::sync::Arc;

extern "C" {
    fn getppid() -> i32;
}

pub struct Point {
    pub x: i32,
    pub y: i32,
}

pub struct Order {
    pub customer: String,
    pub lines: Vec<String>,
    pub prices: HashMap<String, i32>,
    pub at: Option<Point>,
}

#[inline(never)]
fn keep<T>(_: &T) {}

#[inline(never)]
fn stop(order: &Order) -> i32 {
    let empty = String::new();
    let text = String::from("apple");
    let slice: &str = &text[1..3];
    let none: Vec<i32> = Vec::new();
    let mut numbers = Vec::with_capacity(8);
    numbers.extend([1, 2, 3]);
    let many: Vec<u64> = (0..300).map(|n| n * n).collect();
    let words = vec!["alpha".to_string(), "".to_string()];
    let points = vec![Point { x: 1, y: 2 }, Point { x: 3, y: 4 }];
    let nested = vec![vec![1u8], vec![]];
    let part = &numbers[1..];
    let units = vec![(), ()];
    let mut queue: VecDeque<i32> = VecDeque::with_capacity(4);
    queue.extend([1, 2, 3]);
    queue.pop_front();
    queue.extend([4, 5]);
    let some: Option<String> = Some("here".to_string());
    let nothing: Option<String> = None;
    let boxed = Box::new(Point { x: 5, y: 6 });
    let counted = Rc::new(Point { x: 7, y: 8 });
    let also = Rc::clone(&counted);
    let shared = Arc::new(String::from("shared"));
    let cell = Cell::new(5);
    let reference = RefCell::new(vec![6]);
    let one: HashMap<i32, f64> = HashMap::from([(1, 0.5)]);
    let no_map: HashMap<i32, i32> = HashMap::new();
    let ages = HashMap::from([("ann", 30), ("bob", 40)]);
    let set: HashSet<char> = HashSet::from(['x']);
    let large: HashMap<u32, u32> = (0..100).map(|n| (n, n * n)).collect();

    unsafe {
        getppid();
    }
    keep(&(&empty, &text, slice, &none, &numbers, &many, &words, &points));
    keep(&(&nested, part, &units, &queue, &some, &nothing, &boxed, &counted));
    keep(&(&also, &shared, &cell, &reference, &one, &no_map, &ages, &set));
    keep(&(&large, order));
    order.lines.len() as i32
}

fn main() {
    let order = Order {
        customer: "ann".to_string(),
        lines: vec!["tea".to_string(), "milk".to_string()],
        prices: HashMap::from([("tea".to_string(), 2)]),
        at: Some(Point { x: 1, y: 2 }),
    };

    stop(&order);
}
