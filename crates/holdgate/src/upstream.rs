//! The way to a model's API: the client, bodies, URLs and headers.

use bytes::Bytes;
use http_body_util::BodyExt as _;
use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::Body as HttpBody;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::http::uri::{InvalidUriParts, PathAndQuery};
use hyper::{Request, Uri};
use hyper_rustls::{ConfigBuilderExt as _, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use std::error::Error;
use std::net::{TcpStream, ToSocketAddrs as _};
use std::sync::LazyLock;
use std::time::Duration;

/// The body of whatever goes either way.
pub(crate) type Body = UnsyncBoxBody<Bytes, BoxError>;
pub(crate) type BoxError = Box<dyn Error + Send + Sync>;

/// A client with its pool of connections.
pub(crate) type Client = legacy::Client<HttpsConnector<HttpConnector>, Body>;

/// Below the idle time-outs of the usual servers, so that no request meets a closing connection.
const POOL_IDLE: Duration = Duration::from_secs(30);

/// How long the upstream has to be reached before it is said that it cannot be.
const PROBE: Duration = Duration::from_secs(2);
/// Connections of one worker that are kept without a request.
const MAX_IDLE: usize = 64;
/// Bytes of an answer's head, and of a read.
const MAX_BUFFER: usize = 64 << 10;

/// Headers that concern one connection only.
const HOP_BY_HOP: &[&str] = &[
    "connection",
    "http2-settings",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// A body that is there already.
pub(crate) fn full(bytes: impl Into<Bytes>) -> Body {
    let body = http_body_util::Full::new(bytes.into());
    body.map_err(|never| match never {}).boxed_unsync()
}

/// The same body; `kept` is dropped with it.
pub(crate) fn keeping<B>(body: B, kept: impl Send + 'static) -> Body
where
    B: HttpBody<Data = Bytes, Error = BoxError> + Send + 'static,
{
    let keep = move |frame| {
        let _ = &kept;
        frame
    };
    body.map_frame(keep).boxed_unsync()
}

pub(crate) fn client(connect_timeout: Duration) -> anyhow::Result<Client> {
    let mut http = HttpConnector::new();
    http.enforce_http(false);
    http.set_nodelay(true);
    http.set_connect_timeout(Some(connect_timeout));
    let connector = HttpsConnectorBuilder::new()
        .with_tls_config(tls()?)
        .https_or_http()
        .enable_all_versions()
        .wrap_connector(http);
    Ok(legacy::Client::builder(TokioExecutor::new())
        .timer(TokioTimer::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(POOL_IDLE)
        .pool_max_idle_per_host(MAX_IDLE)
        .http1_max_buf_size(MAX_BUFFER)
        .http2_keep_alive_interval(Duration::from_secs(20))
        .build(connector))
}

/// Tries to reach the upstream, in the background, and says at once if that fails: otherwise the first
/// request of a client would be the first to know.
pub(crate) fn probe(upstream: &Uri) {
    let Some(host) = upstream
        .host()
        .map(|host| host.trim_matches(['[', ']']).to_owned())
    else {
        return;
    };
    let usual = if upstream.scheme_str() == Some("http") {
        80
    } else {
        443
    };
    let port = upstream.port_u16().unwrap_or(usual);
    let name = upstream.to_string();
    let (result, reached) = std::sync::mpsc::channel();
    // Names can take longer to look up than anybody waits.
    std::thread::spawn(move || result.send(reach(&host, port)));
    std::thread::spawn(move || {
        let late = || format!("no response within {} s", PROBE.as_secs());
        let problem = match reached.recv_timeout(PROBE) {
            Ok(Ok(())) => return,
            Ok(Err(error)) => error.to_string(),
            Err(_) => late(),
        };
        crate::log::warn_now(&format!(
            "the upstream {name} cannot be reached: {problem}; requests will fail until it is \
             available"
        ));
    });
}

fn reach(host: &str, port: u16) -> std::io::Result<()> {
    let mut last = std::io::Error::from(std::io::ErrorKind::NotFound);
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, PROBE) {
            Ok(_) => return Ok(()),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// One for all clients: reading the system's certificates takes a while.
pub(crate) fn tls() -> anyhow::Result<rustls::ClientConfig> {
    static TLS: LazyLock<Result<rustls::ClientConfig, rustls::Error>> = LazyLock::new(|| {
        let provider = rustls::crypto::aws_lc_rs::default_provider();
        let tls = rustls::ClientConfig::builder_with_provider(provider.into())
            .with_safe_default_protocol_versions()?
            .try_with_platform_verifier()?
            .with_no_client_auth();
        Ok(tls)
    });
    Ok(TLS.clone()?)
}

/// An error with what caused it.
pub(crate) fn causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text.push_str(&format!(": {inner}"));
        cause = inner.source();
    }
    text
}

/// `path` below the upstream's own path.
pub(crate) fn url(upstream: &Uri, path: &str) -> Result<Uri, InvalidUriParts> {
    let mut parts = upstream.clone().into_parts();
    let base = upstream.path().trim_end_matches('/');
    // A path that is none is left to `from_parts` to refuse.
    parts.path_and_query = PathAndQuery::try_from(format!("{base}{path}")).ok();
    Uri::from_parts(parts)
}

/// Takes out what concerns the client's connection only, and asks for an answer that can be read.
pub(crate) fn request_headers<B>(request: &mut Request<B>) {
    let headers = request.headers_mut();
    remove_hop_by_hop(headers);
    headers.remove(header::HOST);
    headers.remove(header::EXPECT);
    headers.remove(crate::expert::HEADER);
    headers.insert(
        header::ACCEPT_ENCODING,
        HeaderValue::from_static("identity"),
    );
}

/// Makes the headers of a client those of one that speaks the upstream's protocol: the key moves to
/// where the upstream looks for it.
pub(crate) fn bridge_headers(headers: &mut HeaderMap) {
    let key = headers.remove("x-api-key");
    let key =
        key.and_then(|key| HeaderValue::from_str(&format!("Bearer {}", key.to_str().ok()?)).ok());
    if let Some(mut key) = key.filter(|_| !headers.contains_key(header::AUTHORIZATION)) {
        key.set_sensitive(true);
        headers.insert(header::AUTHORIZATION, key);
    }
    for name in ["anthropic-version", "anthropic-beta"] {
        headers.remove(name);
    }
    headers.remove(header::CONTENT_LENGTH);
}

pub(crate) fn remove_hop_by_hop(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in named {
        headers.remove(name);
    }
    for name in HOP_BY_HOP {
        headers.remove(*name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_go_below_the_upstreams_own() {
        let check = |upstream: &str, path: &str, expected: &str| {
            let url = url(&upstream.parse().unwrap(), path).unwrap();
            assert_eq!(url.to_string(), expected);
        };
        check(
            "https://a.example",
            "/v1/messages?beta=true",
            "https://a.example/v1/messages?beta=true",
        );
        check(
            "http://h:1/base/",
            "/v1/models",
            "http://h:1/base/v1/models",
        );
    }

    #[test]
    fn headers_of_the_connection_stay_behind() {
        let mut request = Request::builder()
            .header("connection", "close, X-Private")
            .header("x-private", "1")
            .header("te", "trailers")
            .header("accept-encoding", "gzip, br")
            .header("x-api-key", "k")
            .body(())
            .unwrap();
        request_headers(&mut request);
        let mut left: Vec<_> = request
            .headers()
            .iter()
            .map(|(n, v)| (n.as_str(), v.to_str().unwrap()))
            .collect();
        left.sort_unstable();
        assert_eq!(left, [("accept-encoding", "identity"), ("x-api-key", "k")]);
    }
}
