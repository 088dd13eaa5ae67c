//! A model behind an API, as a server that gives the answers it was told to give.

use holdgate_effects::json::{Json, LoneSurrogates};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// One answer.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    status: u16,
    headers: String,
    body: String,
    delay: Duration,
    cut: bool,
    watched: Option<PathBuf>,
}

impl Reply {
    /// An answer of any status and body.
    pub(crate) fn new(status: u16, body: &str) -> Reply {
        Reply {
            status,
            headers: String::new(),
            body: body.to_owned(),
            delay: Duration::ZERO,
            cut: false,
            watched: None,
        }
    }

    /// What Gemini sends when its model has said `text`.
    pub(crate) fn gemini(text: &str) -> Reply {
        Reply::gemini_ending(text, "STOP")
    }

    /// The same for another reason to end.
    pub(crate) fn gemini_ending(text: &str, finish_reason: &str) -> Reply {
        let text = Json::from(text).to_string();
        Reply::new(
            200,
            &format!(
                r#"{{"candidates":[{{"content":{{"parts":[{{"text":{text}}}],"role":"model"}},"finishReason":"{finish_reason}","index":0}}],"usageMetadata":{{"promptTokenCount":9}},"modelVersion":"m"}}"#
            ),
        )
    }

    /// A verdict by Gemini.
    pub(crate) fn verdict(verdict: &str) -> Reply {
        Reply::gemini(&format!(
            r#"{{"verdict":"{verdict}","reason":"because of {verdict}"}}"#
        ))
    }

    /// An error as Google's APIs write it.
    pub(crate) fn google_error(code: u16, status: &str, details: &str) -> Reply {
        Reply::new(
            code,
            &format!(
                r#"{{"error":{{"code":{code},"message":"{status} it is","status":"{status}","details":[{details}]}}}}"#
            ),
        )
    }

    /// With one more header.
    pub(crate) fn header(mut self, name: &str, value: &str) -> Reply {
        self.headers.push_str(&format!("{name}: {value}\r\n"));
        self
    }

    /// Only after this time.
    pub(crate) fn after(mut self, delay: Duration) -> Reply {
        self.delay = delay;
        self
    }

    /// With a look at this file, before and after the delay.
    pub(crate) fn watching(mut self, file: &Path) -> Reply {
        self.watched = Some(file.to_owned());
        self
    }

    /// With a connection that breaks in mid-body.
    pub(crate) fn cut(mut self) -> Reply {
        self.cut = true;
        self
    }
}

/// What was asked.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// Method and path.
    pub(crate) target: String,
    /// Headers, names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    /// The body.
    pub(crate) body: Json<'static>,
}

impl Asked {
    /// The value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The question that a request to Gemini holds.
    pub(crate) fn gemini_question(&self) -> String {
        text_of(&self.body, "contents")
    }
}

fn text_of(body: &Json<'_>, list: &str) -> String {
    let parts = body.get(list).unwrap().as_array().unwrap()[0].get("parts");
    let text = parts.unwrap().as_array().unwrap()[0].get("text").unwrap();
    text.as_str().unwrap().to_owned()
}

/// The server. It stops when it is dropped.
pub(crate) struct JudgeServer {
    pub(crate) address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
    /// How long the watched file was, before and after each delay.
    pub(crate) lengths: Arc<Mutex<Vec<(u64, u64)>>>,
    replies: Arc<Mutex<VecDeque<Reply>>>,
    accepting: JoinHandle<()>,
}

impl JudgeServer {
    /// Answers with `replies` in turn; the last one repeats.
    pub(crate) async fn start(replies: impl IntoIterator<Item = Reply>) -> JudgeServer {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let replies = Arc::new(Mutex::new(VecDeque::from_iter(replies)));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let lengths = Arc::new(Mutex::new(Vec::new()));
        let (coming, heard, seen) = (replies.clone(), asked.clone(), lengths.clone());
        let accepting = tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let (replies, heard, seen) = (coming.clone(), heard.clone(), seen.clone());
                tokio::spawn(async move {
                    // A client that gave up has ended the connection.
                    let _ = answer(socket, &replies, &heard, &seen).await;
                });
            }
        });
        JudgeServer {
            address,
            asked,
            lengths,
            replies,
            accepting,
        }
    }

    /// Its base URL.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Answers so from now on.
    pub(crate) fn set(&self, reply: Reply) {
        *self.replies.lock().unwrap() = VecDeque::from([reply]);
    }

    /// All that it was asked.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

impl Drop for JudgeServer {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn answer(
    mut socket: TcpStream,
    replies: &Mutex<VecDeque<Reply>>,
    heard: &Mutex<Vec<Asked>>,
    seen: &Mutex<Vec<(u64, u64)>>,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(&mut socket);
    let mut target = String::new();
    reader.read_line(&mut target).await?;
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).await?;
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            break;
        };
        headers.push((name.to_lowercase(), value.to_owned()));
    }
    let mut asked = Asked {
        target: target.trim_end_matches(" HTTP/1.1\r\n").to_owned(),
        headers,
        body: Json::Null,
    };
    let length = asked.header("content-length").unwrap_or("0");
    let mut body = vec![0; length.parse().unwrap()];
    reader.read_exact(&mut body).await?;
    asked.body = Json::read(&body, 64, LoneSurrogates::Refuse)
        .unwrap()
        .into_owned();
    heard.lock().unwrap().push(asked);

    let reply = {
        let mut replies = replies.lock().unwrap();
        let next = replies.pop_front().unwrap();
        if replies.is_empty() {
            replies.push_back(next.clone());
        }
        next
    };
    let length = || {
        std::fs::metadata(reply.watched.as_ref()?)
            .ok()
            .map(|m| m.len())
    };
    let before = length();
    tokio::time::sleep(reply.delay).await;
    seen.lock().unwrap().extend(before.zip(length()));
    let length = reply.body.len() + usize::from(reply.cut);
    let head = format!(
        "HTTP/1.1 {} Scripted\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n{}\r\n",
        reply.status, reply.headers
    );
    socket.write_all(head.as_bytes()).await?;
    socket.write_all(reply.body.as_bytes()).await?;
    socket.shutdown().await
}
