//! Judging or recording that never ends stops only its own response.

use super::*;
use crate::clock::SystemClock;
use crate::config::Flags;
use crate::in_force::InForce;
use holdgate_core::{Context, Layer, LayerName, OutOfFuel, Stack, ToolCall};
use holdgate_effects::effect::Effect;
use holdgate_effects::fuel::Fuel;
use std::io::{BufRead as _, BufReader, Write as _};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};

/// Signals when it begins, and waits for a signal to continue.
struct Waits {
    began: Sender<()>,
    go_on: Mutex<Receiver<()>>,
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
            self.go_on.lock().unwrap().recv().unwrap();
        }
        Ok(Vec::new())
    }
}

fn ask(proxy: &Proxy, scenario: &str, stream: bool) -> BufReader<TcpStream> {
    let body = format!(
        r#"{{"model":"m","max_tokens":9,"stream":{stream},"messages":[{{"role":"user","content":"go"}}],"tools":[{{"name":"Bash"}}]}}"#
    );
    let mut socket = TcpStream::connect(proxy.address()).unwrap();
    let patience = Some(Duration::from_mins(1));
    socket.set_read_timeout(patience).unwrap();
    let length = body.len();
    write!(
        socket,
        "POST /x/{scenario}/v1/messages HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         connection: close\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .unwrap();
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
        let app = App::new(config).unwrap();
        let (began, begins) = channel();
        let (go_on, goes_on) = channel();
        let layers: Vec<Box<dyn Layer>> = vec![Box::new(Waits {
            began,
            go_on: Mutex::new(goes_on),
        })];
        let clock = Arc::new(SystemClock::default());
        let stack = Stack::new(layers, app.know.clone(), clock, app.config.judge);
        let in_force = InForce::load(app.config.clone()).unwrap();
        *app.in_force.write().unwrap() = Arc::new(in_force.with_stack(stack));
        let proxy = Proxy::serve(app).unwrap();

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
