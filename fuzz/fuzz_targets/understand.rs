//! What the targets share: a tool call is understood, within its fuel, without a panic.

use holdgate_effects::fuel::Fuel;
use holdgate_effects::json::Json;
use holdgate_effects::path::World;
use holdgate_effects::{Invocation, Knowledge, understand};
use std::sync::{Arc, LazyLock};

static KNOW: LazyLock<Arc<Knowledge>> = LazyLock::new(|| Knowledge::built_in().unwrap());
static WORLD: LazyLock<World> = LazyLock::new(World::default);

pub fn call(tool: &str, arguments: &[(&'static str, &str)]) {
    let mut input = Json::Object(Vec::new());
    for (key, value) in arguments {
        input.set(key, (*value).to_owned().into());
    }
    let call = Invocation {
        tool,
        input: &input,
        text: &input.text(),
    };
    // Out of fuel is an answer; a panic or a hang is none.
    let _ = understand(call, &WORLD, &KNOW, &Fuel::new(1_000_000));
}
