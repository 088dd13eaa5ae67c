//! The client that assembles calls is the one that `eval` uses.

pub(crate) use crate::assemble::{Assembled, all_calls, calls, mentions};
pub(crate) use crate::readers::events;
pub(crate) use crate::responses::summary;
