//! The client that assembles calls is the one that `eval` uses.

pub(crate) use crate::responses::summary;
pub(crate) use holdgate::eval::client::{Assembled, all_calls, calls};
pub(crate) use holdgate::eval::readers::events;
