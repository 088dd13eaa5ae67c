//! Judging or recording that never ends stops only its own response.

use super::history_tests::{request, with_layer};
use super::*;
use crate::config::Flags;
use holdgate_core::{Context, Layer, LayerName, OutOfFuel, ToolCall};
use holdgate_effects::effect::Effect;
use holdgate_effects::fuel::Fuel;
use std::io::{BufRead as _, BufReader};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};

/// Signals when it begins, and waits for a signal to continue.
struct Waits {
    began: Sender<()>,
    goes_on: Mutex<Receiver<()>>,
}

impl Layer for Waits {
    fn name(&self) -> LayerName {
        LayerName::Policy
    }

    fn judge(
        &self,
        call: &ToolCall,
        _: &[Effect],
        _: &Context<'_>,
        _: &Fuel,
    ) -> Result<Vec<Finding>, OutOfFuel> {
        if call.text.contains("marker") {
            self.began.send(()).unwrap();
            self.goes_on.lock().unwrap().recv().unwrap();
        }
        Ok(Vec::new())
    }
}

fn ask(proxy: &Proxy, scenario: &str, stream: bool) -> BufReader<TcpStream> {
    let body = format!(
        r#"{{"model":"m","max_tokens":9,"stream":{stream},"messages":[{{"role":"user","content":"go"}}],"tools":[{{"name":"Bash"}}]}}"#
    );
    let socket = request(proxy, &format!("/x/{scenario}/v1/messages"), &body);
    let patience = Some(Duration::from_mins(1));
    socket.set_read_timeout(patience).unwrap();
    BufReader::new(socket)
}

/// Reads until `text` has come, or to the end.
fn read_until(socket: &mut BufReader<TcpStream>, text: &str) -> String {
    let mut all = String::new();
    while !all.contains(text) && socket.read_line(&mut all).unwrap() > 0 {}
    all
}

#[test]
fn other_responses_flow_while_a_call_is_judged_and_recorded() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let model = runtime.block_on(async {
        let options = crate::script::Options::default();
        crate::script::ScriptedModel::start(options).unwrap()
    });
    for stream in [true, false] {
        let dir = tempfile::tempdir().unwrap();
        let flags = Flags::local(dir.path(), model.address());
        let mut config = Config::load(&flags, []).unwrap();
        config.proxy.workers = 1;
        config.judge.deadline = Duration::from_mins(5);
        let (began, begins) = channel();
        let (go_on, goes_on) = channel();
        let goes_on = Mutex::new(goes_on);
        let proxy = with_layer(config, Waits { began, goes_on });

        let mut slow = ask(&proxy, &format!("tool@{stream}"), stream);
        begins.recv_timeout(Duration::from_mins(1)).unwrap();
        let others_flow = || {
            // The same session, the same worker.
            let other = read_until(&mut ask(&proxy, "text", true), "event: message_stop");
            assert!(other.contains("event: message_stop"), "{other}");
        };
        others_flow();
        let ledger = proxy.ledger().clone();
        let paused = ledger.pause();
        go_on.send(()).unwrap();
        others_flow();
        drop(paused);
        let answer = read_until(&mut slow, "marker.txt");
        assert!(answer.contains("marker.txt"), "{answer}");
        drop(slow);
        proxy.stop();
    }
}
