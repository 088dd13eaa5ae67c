//! The layers of the stack, one file each.

pub mod gate;
