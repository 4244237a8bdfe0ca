// SPDX-License-Identifier: GPL-2.0-or-later
// names.rs - structures, enumerations, slices of Rust; see names.py
use std::arch::asm;

pub static COUNTER: i32 = 42;
pub static mut CHANGED: u64 = 7;
pub static NAMES: [&str; 2] = ["one", "two"];

macro_rules! mark {
    () => {
        unsafe {
            let _result: i64;
            asm!("syscall", inlateout("rax") 110i64 => _result, out("rcx") _,
                 out("r11") _);
        }
    };
}

mod inner {
    use std::arch::asm;

    pub static DEPTH: i64 = -5;
    #[derive(Clone, Copy)]
    pub struct Point {
        pub x: i32,
        pub y: i32,
    }
    impl Point {
        #[inline(never)]
        pub fn moved(&self, by: i32) -> Point {
            let x = self.x + by;
            let moved = Point { x, y: self.y };
            mark!();
            moved
        }
    }
}
use inner::Point;

pub struct Unit;
pub struct Pair(i32, f64);
#[derive(Clone, Copy, PartialEq)]
pub enum Color {
    Red,
    Green = 5,
}
pub enum Shape {
    Nothing,
    Circle(f64),
    Box { width: u32, height: u32 },
}

#[inline(never)]
fn stop(number: i32, text: &str, numbers: &[i32]) -> i32 {
    let flag = number > 1;
    let letter = 'r';
    let byte = 200u8;
    let wide = 1u128 << 100;
    let ratio = 0.5f32;
    let pair = Pair(3, 2.5);
    let tuple = (1, "two", 3.5);
    let array = [1u16, 2, 3, 4];
    let zeros = [0u8; 40];
    let point = Point { x: 1, y: -2 };
    let color = Color::Green;
    let shapes = [Shape::Nothing, Shape::Circle(1.5),
                  Shape::Box { width: 3, height: 4 }];
    let some: Option<i32> = Some(9);
    let none: Option<i32> = None;
    let unit = ();
    let nothing = Unit;
    let reference = &point;
    let raw = &point as *const Point;
    let boxed = Box::new(17i64);
    let maybe: Option<&Point> = Some(&point);
    let result: Result<u8, i32> = Err(-3);
    let sum: i32 = numbers.iter().sum();
    mark!();
    let _ = (&unit, &nothing, &maybe, &zeros, &raw, &wide, &ratio, &tuple);
    let _ = (&flag, &letter, &byte, &pair.1, &color, &some, &none, &result);
    sum + point.x + reference.y + array[0] as i32 + *boxed as i32
        + text.len() as i32 + shapes.len() as i32 + pair.0
}

fn main() {
    let numbers = vec![5, 6, 7];
    unsafe { CHANGED += NAMES[numbers.len() - 2].len() as u64; }
    let all = stop(4, "some text", &numbers);
    let moved = Point { x: all, y: 1 }.moved(3);
    let changed = unsafe { CHANGED };
    println!("{} {} {} {}", moved.x, COUNTER, inner::DEPTH, changed);
}
