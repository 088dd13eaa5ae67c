//! Any text can stand in a word: evaluated alone, in quotes, as a variable's value and as a number.
#![no_main]

mod understand;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    for command in [
        format!("echo {text}"),
        format!("echo \"{text}\""),
        format!("x='{text}'; echo ${{x#{text}}} ${{x//{text}/y}} ${{x:1:2}} $(( {text} ))"),
        format!("printf '{text}' a b | tr a-z b-za | sh"),
    ] {
        understand::call("Bash", &[("command", &command)]);
    }
});
