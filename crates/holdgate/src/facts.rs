//! What this machine's disk says about paths, and where the agent works on it.

mod lookups;
mod walk;

use crate::config::Config;
use crate::threads::lock;
use holdgate_effects::Knowledge;
use holdgate_effects::path::{Facts, Real, World, absolute, is_under};
use holdgate_effects::value::Value;
use lookups::{About, Lookups, Said};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::{Duration, Instant};

/// The longest that the look-ups of one call take together.
const PATIENCE: Duration = Duration::from_millis(100);

/// What the disk says, as long as it says it in time.
#[derive(Clone, Debug)]
struct Disk {
    lookups: Arc<Lookups>,
}

impl Disk {
    /// This machine's.
    fn here() -> Disk {
        static HERE: LazyLock<Arc<Lookups>> = LazyLock::new(|| Lookups::new(Box::new(walk::Disk)));
        Disk {
            lookups: HERE.clone(),
        }
    }

    fn is_folder(&self, path: &str) -> bool {
        let said = self.lookups.ask(About::IsFolder, path, PATIENCE);
        said != Some(Said::Yes(false))
    }
}

impl Facts for Disk {
    fn real(&self, path: &str) -> Real {
        OneCall::new(self).real(path)
    }

    fn is_file(&self, path: &str) -> bool {
        OneCall::new(self).is_file(path)
    }

    fn content(&self, path: &str, most: usize) -> Option<String> {
        OneCall::new(self).content(path, most)
    }

    fn for_one_call(&self) -> Option<Arc<dyn Facts>> {
        Some(Arc::new(OneCall::new(self)))
    }
}

/// What the disk says while one call is understood.
#[derive(Debug)]
struct OneCall {
    lookups: Arc<Lookups>,
    known: Mutex<Known>,
}

#[derive(Debug)]
struct Known {
    said: HashMap<(About, String), Option<Said>>,
    left: Duration,
}

impl OneCall {
    fn new(disk: &Disk) -> OneCall {
        OneCall {
            lookups: disk.lookups.clone(),
            known: Mutex::new(Known {
                said: HashMap::new(),
                left: PATIENCE,
            }),
        }
    }

    fn ask(&self, about: About, path: &str) -> Option<Said> {
        let mut known = lock(&self.known);
        let key = (about, path.to_owned());
        if let Some(said) = known.said.get(&key) {
            return said.clone();
        }
        if known.left.is_zero() {
            return None;
        }
        let start = Instant::now();
        let said = self.lookups.ask(about, path, known.left);
        known.left = known.left.saturating_sub(start.elapsed());
        known.said.insert(key, said.clone());
        said
    }
}

impl Facts for OneCall {
    fn real(&self, path: &str) -> Real {
        match self.ask(About::Real, path) {
            Some(Said::Real(real)) => real,
            Some(Said::Yes(_) | Said::Text(_)) | None => Real::Unknown,
        }
    }

    fn is_file(&self, path: &str) -> bool {
        self.ask(About::IsFile, path) != Some(Said::Yes(false))
    }

    fn content(&self, path: &str, most: usize) -> Option<String> {
        match self.ask(About::Content(most), path) {
            Some(Said::Text(text)) => text,
            Some(Said::Real(_) | Said::Yes(_)) | None => None,
        }
    }
}

/// Where an agent works.
#[derive(Clone, Debug, Default)]
pub struct Place {
    /// The project's folder, if it is known.
    pub project: Option<String>,
    /// The user's home on this machine.
    pub home: Option<String>,
    /// Holdgate's own folders and files.
    pub own: Vec<PathBuf>,
}

impl Place {
    /// The place of `project`, or of the one in the settings, on a machine with these settings.
    pub fn of(config: &Config, project: Option<&str>) -> Place {
        let project = config.project.as_deref().and_then(Path::to_str).or(project);
        Place {
            project: project.map(str::to_owned),
            home: config.home.clone(),
            own: own_paths(config),
        }
    }

    /// The world of a project: with what the disk says, if the project is on this machine.
    pub fn world(&self, know: &Knowledge) -> World {
        let is_absolute = |dir: &&str| dir.starts_with('/') || dir.get(1..2) == Some(":");
        let project = self.project.as_deref().filter(is_absolute);
        let project = project.map(|dir| absolute(dir, "/", "/"));
        let disk = Disk::here();
        let here = project.as_deref().is_none_or(|dir| disk.is_folder(dir));
        let mut world = match &project {
            Some(project) => World::lexical(project),
            None => World::default(),
        };
        if here && let Some(home) = self.home.as_deref().filter(|home| home.starts_with('/')) {
            world.facts = Some(Arc::new(disk));
            home.clone_into(&mut world.home);
        }
        // In the form in which paths of calls are compared with them.
        let plain = world.clone();
        let form = |path: &str| know.paths.place(&Value::known(path), "/", &plain).text;
        world.home = form(&plain.home);
        world.cwd = form(&plain.cwd);
        let own = self.own.iter().filter_map(|path| path.to_str());
        world.own = own.map(form).collect();
        // A folder that contains a home folder is not a project: nothing in the home would be
        // outside.
        let cwd = Some(world.cwd.clone());
        world.project = cwd.filter(|project| !is_under(&world.home, project));
        world
    }
}

/// What of Holdgate an agent must leave alone on this machine.
fn own_paths(config: &Config) -> Vec<PathBuf> {
    let named = [
        Some(&config.state_dir),
        config.config_place.as_ref(),
        config.pin_file.as_ref(),
    ];
    let named = named.into_iter().flatten().chain(&config.rules.dirs);
    let mut own: Vec<PathBuf> = named.filter_map(|p| std::path::absolute(p).ok()).collect();
    own.extend(std::env::current_exe());
    own
}

#[cfg(test)]
mod tests {
    use super::*;
    use holdgate_effects::Invocation;
    use holdgate_effects::effect::Kind;
    use holdgate_effects::fuel::Fuel;
    use holdgate_effects::json::{Json, LoneSurrogates};
    use holdgate_effects::path::PathClass;
    use holdgate_effects::tag::Tag;

    fn class(world: &World, path: &str, class: PathClass) -> bool {
        let know = Knowledge::built_in().unwrap();
        let place = know.paths.place(&Value::known(path), &world.cwd, world);
        place.is(class)
    }

    #[cfg(unix)]
    #[test]
    fn a_link_out_of_the_project_leads_out_of_it() {
        let know = Knowledge::built_in().unwrap();
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for folder in ["home/me", "home/me/project/src", "outside"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        let project = root.join("home/me/project");
        std::os::unix::fs::symlink(root.join("outside"), project.join("link")).unwrap();
        std::os::unix::fs::symlink("src", project.join("inner")).unwrap();
        let place = Place {
            project: project.to_str().map(str::to_owned),
            home: root.join("home/me").to_str().map(str::to_owned),
            own: vec![root.join("outside/state")],
        };
        let world = place.world(&know);
        let inside = |path: &str| class(&world, path, PathClass::Project);
        assert!(inside("src/new/file"));
        assert!(inside("inner/new"));
        assert!(!inside("link"));
        assert!(!inside("link/new/file"));
        assert!(class(&world, "link/state/ledger", PathClass::Holdgate));
        assert!(class(&world, "~", PathClass::HomeRoot));
    }

    #[cfg(unix)]
    #[test]
    fn an_edit_is_read_with_the_lines_around_it() {
        let know = Knowledge::built_in().unwrap();
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let project = root.join("home/me/project");
        std::fs::create_dir_all(&project).unwrap();
        std::fs::create_dir_all(root.join("outside")).unwrap();
        let script = "DIR=~/Pictures\nls $DIR\n";
        std::fs::write(project.join("a.sh"), script).unwrap();
        std::fs::write(project.join("long.sh"), script.repeat(10_000)).unwrap();
        std::fs::write(root.join("outside/b.sh"), script).unwrap();
        std::os::unix::fs::symlink("../../../outside/b.sh", project.join("b.sh")).unwrap();
        let place = Place {
            project: project.to_str().map(str::to_owned),
            home: root.join("home/me").to_str().map(str::to_owned),
            own: Vec::new(),
        };
        let world = place.world(&know);
        let deletes = |file: &str| {
            let text = format!(
                r#"{{"file_path":"{file}","old_string":"ls $DIR","new_string":"rm -rf $DIR"}}"#
            );
            let input = Json::read(text.as_bytes(), 8, LoneSurrogates::Replace).unwrap();
            let call = Invocation {
                tool: "Edit",
                input: &input.into_owned(),
                text: &text,
            };
            let fuel = Fuel::new(1_000_000);
            let effects = holdgate_effects::understand(call, &world, &know, &fuel).unwrap();
            let pictures = format!("{}/Pictures", world.home);
            effects.iter().any(|e| {
                e.kind == Kind::Delete && e.path.as_ref().is_some_and(|p| p.text == pictures)
            })
        };
        assert!(deletes("a.sh"));
        assert!(!deletes("b.sh"), "it lies outside of the project");
        assert!(!deletes("long.sh"));
        assert!(!deletes("absent.sh"));
    }

    #[cfg(unix)]
    #[test]
    fn what_the_project_names_has_a_known_publisher() {
        let know = Knowledge::built_in().unwrap();
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let project = root.join("home/me/project");
        std::fs::create_dir_all(project.join(".git")).unwrap();
        std::fs::create_dir_all(project.join("node_modules/.bin")).unwrap();
        let package = r#"{"name": "@acme-labs-x/web", "dependencies": {"acme-sdk-x": "^1"}}"#;
        std::fs::write(project.join("package.json"), package).unwrap();
        let remote = "[remote \"origin\"]\n  url = git@github.com:acme-labs-x/web.git\n";
        std::fs::write(project.join(".git/config"), remote).unwrap();
        std::fs::write(project.join("node_modules/.bin/acme-gen-x"), "//").unwrap();
        let place = Place {
            project: project.to_str().map(str::to_owned),
            home: root.join("home/me").to_str().map(str::to_owned),
            own: Vec::new(),
        };
        let world = place.world(&know);
        let known = |command: &str| {
            let input = Json::object([("command", command.to_owned().into())]);
            let text = input.text();
            let call = Invocation {
                tool: "Bash",
                input: &input,
                text: &text,
            };
            let fuel = Fuel::new(1_000_000);
            let effects = holdgate_effects::understand(call, &world, &know, &fuel).unwrap();
            !effects.iter().any(|e| e.is(Tag::UnknownPublisher))
        };
        assert!(known("npm install acme-sdk-x@2"));
        assert!(known("npm install @acme-labs-x/ui"));
        assert!(known("pip install git+https://github.com/acme-labs-x/tool"));
        assert!(known("npx acme-gen-x"));
        assert!(!known("npm install acme-sdk-y"));
        assert!(!known("npx acme-gen-y"));
        assert!(!known("pip install acme-sdk-x"), "npm knows it, not PyPI");
    }

    #[test]
    fn a_project_elsewhere_is_read_by_its_name() {
        let know = Knowledge::built_in().unwrap();
        let place = Place {
            project: Some("/home/nobody-here/code/./x".into()),
            home: Some("/root".into()),
            own: Vec::new(),
        };
        let world = place.world(&know);
        assert_eq!(world.project.as_deref(), Some("/home/nobody-here/code/x"));
        assert_eq!(world.home, "/home/nobody-here");
        assert!(world.facts.is_none());
    }

    #[test]
    fn what_holds_a_home_is_no_project() {
        let know = Knowledge::built_in().unwrap();
        for (project, home) in [("/", "/root"), ("/tmp", "/tmp/x"), ("/tmp", "/tmp")] {
            let place = Place {
                project: Some(project.into()),
                home: Some(home.into()),
                own: Vec::new(),
            };
            let world = place.world(&know);
            assert_eq!(world.project, None, "{project}");
            assert_eq!(world.cwd, project);
        }
    }
}
