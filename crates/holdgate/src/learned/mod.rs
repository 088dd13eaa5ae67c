//! What Holdgate has learned of projects, on disk.

mod trajectory;

pub use trajectory::{LearnedFile, Trajectories};
