//! The resident engine for the hooks of clients, by what is in force in this proxy.

use super::App;
use crate::hook::engine::{Around, Engine};
use crate::hook::server::Server;
use crate::in_force::{InForce, News};
use std::sync::Arc;

/// Serves at the socket `name`. Without it, hooks judge by themselves.
pub(super) fn serve(app: &Arc<App>, name: &str) -> Option<Server> {
    let (config, ledger) = (app.config.clone(), app.ledger.clone());
    let dir = config.state_dir.clone();
    let around = Box::new(Here(app.clone()));
    let passed = app.records.passed.clone();
    let engine = Engine::new(config, ledger, around, passed);
    match engine.and_then(|engine| Ok(Server::start(&dir, name, engine)?)) {
        Ok(server) => Some(server),
        Err(error) => {
            let path = dir.join(name);
            let path = path.display();
            crate::log::warn(&format!("hooks cannot reach this proxy: {path}: {error}"));
            None
        }
    }
}

struct Here(Arc<App>);

impl Around for Here {
    fn in_force(&self) -> Arc<InForce> {
        self.0.in_force()
    }

    fn expert(&self) -> bool {
        self.0.expert.left().is_some()
    }

    fn report(&self, news: &News) {
        self.0.report(news);
    }
}
