//! What variables say about the database or the cloud that is worked on.

use super::Scene;
use crate::tag::Tag;

/// Variables that say what is meant, for programs that are told so by nothing else.
pub(crate) const TARGET_VARIABLES: [&str; 16] = [
    "RAILS_ENV",
    "RACK_ENV",
    "NODE_ENV",
    "APP_ENV",
    "MIX_ENV",
    "FLASK_ENV",
    "DJANGO_SETTINGS_MODULE",
    "DATABASE_URL",
    "PGHOST",
    "PGDATABASE",
    "MYSQL_HOST",
    "REDIS_URL",
    "AWS_ENDPOINT_URL",
    "AWS_PROFILE",
    "KUBECONFIG",
    "KUBE_CONTEXT",
];

/// Words of a command line that are looked at for a machine's name.
const MAX_WORDS: usize = 32;

impl Scene<'_> {
    /// Whether the code runs on another machine, whose name says that people depend on it:
    /// `kubectl -n production exec deploy/api -- …`.
    fn is_entered_production(&self) -> bool {
        let entered = [Tag::Remote, Tag::Container];
        if !self.marks.iter().any(|mark| entered.contains(mark)) {
            return false;
        }
        let start = crate::text::beginning(&self.command, 1 << 10);
        let mut words = start.split_whitespace().take(MAX_WORDS);
        words.any(|word| self.know.hosts.targets.is_production(word))
    }

    /// `test-target` or `prod` for code that runs, as far as variables tell.
    pub(crate) fn target_by_variables(&self) -> Option<Tag> {
        let targets = &self.know.hosts.targets;
        let says = |is: &dyn Fn(&str) -> bool| {
            let mut values = TARGET_VARIABLES
                .iter()
                .filter_map(|name| self.variable(name));
            values.any(|values| values.iter().any(|value| is(&value.text)))
        };
        if says(&|text| targets.is_production(text)) || self.is_entered_production() {
            return Some(Tag::Prod);
        }
        says(&|text| targets.is_test(text)).then_some(Tag::TestTarget)
    }
}
