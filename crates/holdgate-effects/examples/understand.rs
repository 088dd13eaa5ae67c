//! Prints what a shell command does, in plain words:
//! `cargo run -p holdgate-effects --example understand -- 'rm -rf ~/x'`

#![expect(clippy::print_stdout, reason = "an example prints")]
#![expect(clippy::disallowed_methods, reason = "the command is an argument")]

use holdgate_effects::effect::Effect;
use holdgate_effects::fuel::Fuel;
use holdgate_effects::json::Json;
use holdgate_effects::path::World;
use holdgate_effects::{Invocation, Knowledge, understand};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let command = std::env::args().nth(1).ok_or("usage: understand COMMAND")?;
    let input = Json::object([("command", command.into())]);
    let call = Invocation {
        tool: "Bash",
        input: &input,
        text: &input.text(),
    };
    let world = World::lexical("/home/dev/project");
    let know = Knowledge::built_in()?;
    for effect in understand(call, &world, &know, &Fuel::new(1_000_000))? {
        print(&effect);
    }
    Ok(())
}

fn print(effect: &Effect) {
    println!("{}: {}", effect.program, effect.kind.meaning());
    if let Some(place) = &effect.path {
        println!("    path {}", place.text);
        for class in place.classes.iter() {
            println!("        {class}: {}", class.meaning());
        }
    }
    if let Some(host) = &effect.host {
        println!("    host {}", host.name);
        println!("        {}: {}", host.class, host.class.meaning());
    }
    for tag in &effect.tags {
        println!("    {tag}: {}", tag.meaning());
    }
    for origin in effect.origins.names() {
        println!("    with data that is `{origin}`");
    }
}
