//! What was set stays set while the proxy runs, also if somebody takes the file away.

use crate::client::calls;
use crate::setup::{REQUEST, eventually, model, post};
use holdgate::config::{Config, Flags};
use holdgate::proxy::Proxy;
use std::time::Duration;

#[tokio::test(flavor = "multi_thread")]
async fn removing_the_settings_file_loosens_nothing() {
    let model = model();
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("holdgate");
    std::fs::create_dir(&folder).unwrap();
    let path = folder.join("holdgate.toml");
    // A busy machine must not decide what comes out.
    let text = "[guard]\njudge_timeout = \"1m\"\n[gate]\ncalls_per_minute = 1\n[rules]\ncheck_every = \"5ms\"\n";
    std::fs::write(&path, text).unwrap();
    let flags = Flags::local(dir.path().join("state"), model.address());
    let place = dir.path().to_str().unwrap().to_owned();
    let environment = [("XDG_CONFIG_HOME".to_owned(), place)];
    let proxy = Proxy::start(Config::load(&flags, environment).unwrap()).unwrap();
    let ledger = || crate::setup::ledger(&dir.path().join("state"));
    let passes = async |run: &str| {
        let url = format!("http://{}/s/one/x/tool@{run}/v1/messages", proxy.address());
        !calls(&post(&url, REQUEST).await.body).is_empty()
    };
    assert!(passes("1").await, "{}", ledger());
    assert!(!passes("2").await, "one call a minute was made already");
    std::fs::remove_file(&path).unwrap();
    eventually("the loss is told", || {
        ledger().contains("is missing or empty")
    })
    .await;
    assert!(!passes("3").await);
    std::fs::write(&path, "\n").unwrap();
    // It is looked at many times meanwhile, and told once.
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(!passes("4").await);
    assert_eq!(ledger().matches("settings-not-loaded").count(), 1);
    std::fs::write(&path, text.replace("minute = 1", "minute = 60")).unwrap();
    eventually("it is back", || proxy.reloads().0 == 1).await;
    assert!(passes("5").await);
}
