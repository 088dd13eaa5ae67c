//! An upstream behind TLS, over HTTP/1.1 and HTTP/2, whose certificate the system trusts or not.

use crate::cli::Running;
use crate::client::calls;
use crate::setup::{REQUEST, post};
use bytes::Bytes;
use holdgate::script::{self, Step, StreamOptions};
use http_body_util::Full;
use hyper::service::service_fn;
use hyper::{Response, Version};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// A server that answers with the scripted `tool` stream, if it is asked over `version`.
async fn serve(alpn: &[u8], version: Version, certificate: &Path) -> SocketAddr {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    std::fs::write(certificate, made.cert.pem()).unwrap();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let provider = rustls::crypto::aws_lc_rs::default_provider();
    let mut config = ServerConfig::builder_with_provider(provider.into())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    config.alpn_protocols = vec![alpn.to_vec()];
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let Ok(socket) = acceptor.accept(socket).await else {
                    return;
                };
                let answer = service_fn(
                    move |request: hyper::Request<hyper::body::Incoming>| async move {
                        let [turn, ..] = script::scenario("tool").unwrap() else {
                            panic!("the scenario has a turn");
                        };
                        let steps = script::stream(turn, "m", 1, &StreamOptions::default());
                        let frames = steps.into_iter().filter_map(|step| match step {
                            Step::Send(bytes) => Some(bytes),
                            Step::Wait(..) | Step::Cut | Step::End => None,
                        });
                        let stream = frames.collect::<Vec<_>>().concat();
                        let status = if request.version() == version {
                            200
                        } else {
                            505
                        };
                        Response::builder()
                            .status(status)
                            .header("content-type", "text/event-stream")
                            .body(Full::new(Bytes::from(stream)))
                    },
                );
                let server = auto::Builder::new(TokioExecutor::new());
                let _ = server.serve_connection(TokioIo::new(socket), answer).await;
            });
        }
    });
    address
}

#[tokio::test(flavor = "multi_thread")]
async fn trusted_upstreams_are_reached_over_both_versions_of_http() {
    for (alpn, version) in [
        (&b"h2"[..], Version::HTTP_2),
        (b"http/1.1", Version::HTTP_11),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let certificate = dir.path().join("ca.pem");
        let address = serve(alpn, version, &certificate).await;
        let upstream = format!("https://localhost:{}", address.port());
        let running =
            Running::start_with(&upstream, dir.path(), &[("SSL_CERT_FILE", &certificate)]);
        let answer = post(&format!("{}/v1/messages", running.1), REQUEST).await;
        assert_eq!(
            calls(&answer.body).len(),
            1,
            "{version:?}: {}",
            answer.text()
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upstream_that_nobody_vouches_for_is_not_trusted() {
    let dir = tempfile::tempdir().unwrap();
    let address = serve(b"http/1.1", Version::HTTP_11, &dir.path().join("ca.pem")).await;
    let other = dir.path().join("other.pem");
    serve(b"http/1.1", Version::HTTP_11, &other).await;
    let upstream = format!("https://localhost:{}", address.port());
    let running = Running::start_with(&upstream, dir.path(), &[("SSL_CERT_FILE", &other)]);
    let answer = post(&format!("{}/v1/messages", running.1), REQUEST).await;
    assert_eq!(answer.status, 502);
    assert!(answer.text().contains("certificate"), "{}", answer.text());
}
