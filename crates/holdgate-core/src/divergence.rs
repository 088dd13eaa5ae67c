//! The model says that it will not, and its call does.
