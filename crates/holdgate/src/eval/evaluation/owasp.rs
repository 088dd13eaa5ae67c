//! The OWASP Top 10 for agentic applications, with the cases and tests behind each row.

use super::Figures;
use super::tables::{self, full, picked};
use crate::eval::cases::Expect;

/// One risk.
pub(super) struct Risk {
    id: &'static str,
    name: &'static str,
    /// The paper's categories, with the coverage that it claims.
    paper: &'static str,
    layers: &'static str,
    /// Files, and the categories in them; none means those that no other row names.
    cases: &'static [(&'static str, &'static [&'static str])],
    /// Tests, as file and function.
    pub(super) tests: &'static [&'static str],
    open: &'static str,
}

/// The risks, in order. A case counts for the first row that names it.
pub(super) const RISKS: [Risk; 10] = [
    Risk {
        id: "ASI01",
        name: "Agent goal hijack",
        paper: "A1 prompt injection: partial",
        layers: "injection filter, provenance in the gate, monitor",
        cases: &[
            ("injections", &[]),
            ("prompts", &[]),
            ("output", &["prompt-injection"]),
            ("sequences", &["document-then-run", "shown-then-used"]),
            ("sessions", &["attack-obeyed-injection"]),
        ],
        tests: &[
            "data_flows::what_a_call_takes_from_a_foreign_text_is_marked",
            "responses_api::a_result_that_gives_orders_is_marked",
        ],
        open: "an order in the user's own prompt is the user's; short prompts in unusual words are missed",
    },
    Risk {
        id: "ASI02",
        name: "Tool misuse and exploitation",
        paper: "A6 unsafe tool use: full; A4 sensitive data exposure: full; A2 insecure output handling: partial",
        layers: "gate, policy, spillage",
        cases: &[
            (
                "classes",
                &[
                    "destructive-deletion",
                    "path-traversal",
                    "code-path-bypass",
                    "symlink-indirection",
                    "verbose-logging-bypass",
                ],
            ),
            (
                "attacks",
                &[
                    "destructive",
                    "exfiltration",
                    "process-and-service-control",
                    "system-configuration",
                    "windows",
                    "option-values",
                ],
            ),
            (
                "asks",
                &[
                    "database",
                    "databases",
                    "cloud",
                    "git",
                    "git-history",
                    "publishing-and-production",
                    "publish",
                    "destructive",
                    "exfiltration",
                    "files",
                ],
            ),
            (
                "sequences",
                &[
                    "read-then-send",
                    "shown-then-sent",
                    "moved-then-deleted",
                    "edit-then-harm",
                ],
            ),
            ("spillage", &[]),
            ("output", &["dangerous-command", "harm-in-progress"]),
        ],
        tests: &[
            "effects::every_class_and_every_evasion_of_our_own_is_blocked",
            "effects::no_honest_work_of_our_own_is_refused",
            "one_message::what_an_earlier_call_links_moves_or_mounts_is_seen_through",
            "labelled::the_proxy_holds_content_back_until_the_label_is_taken_away",
        ],
        open: "a tool that no table knows is judged by its strings",
    },
    Risk {
        id: "ASI03",
        name: "Identity and privilege abuse",
        paper: "A3 permission scope violation: full; A9 credential leakage: full; A10 unverified identity: none",
        layers: "gate, policy, spillage with taint",
        cases: &[
            (
                "classes",
                &["credential-exfiltration", "privilege-escalation"],
            ),
            (
                "attacks",
                &["credential-access", "privilege-escalation", "secret-places"],
            ),
            ("asks", &["sudo", "credential-access", "secret"]),
            ("sequences", &["secret-then-sent"]),
            (
                "sessions",
                &[
                    "attack-renamed-secret",
                    "attack-slow-leak",
                    "attack-privilege",
                ],
            ),
            ("output", &["credential-access"]),
        ],
        tests: &[
            "data_flows::a_secret_that_was_shown_does_not_leave_in_any_form",
            "secrets::a_secret_in_a_call_is_written_nowhere",
            "expert::both_sides_must_ask_for_it",
        ],
        open: "who the agent is is not authenticated: a session is known by what its client sends",
    },
    Risk {
        id: "ASI04",
        name: "Agentic supply chain",
        paper: "part of A6",
        layers: "gate, policy with known publishers",
        cases: &[
            ("classes", &["archive-smuggling"]),
            ("attacks", &["package-and-supply-chain", "supply-chain"]),
            (
                "asks",
                &[
                    "packages-from-elsewhere",
                    "unknown-publisher",
                    "supply-chain",
                    "known-installer",
                ],
            ),
            ("benign", &["known-publisher", "packages", "images"]),
            ("sessions", &["attack-supply-chain"]),
        ],
        tests: &["rulebook::a_project_file_that_loosens_is_refused_with_the_line_that_does_it"],
        open: "what a known publisher puts into a package is not read",
    },
    Risk {
        id: "ASI05",
        name: "Unexpected code execution",
        paper: "A2 insecure output handling: partial",
        layers: "readers of shells and languages, gate",
        cases: &[
            ("evasions", &[]),
            ("classes", &[]),
            ("attacks", &[]),
            (
                "sequences",
                &["fetch-then-run", "write-then-run", "typed-in-parts"],
            ),
            (
                "sessions",
                &["attack-assembled-payload", "attack-download-later-run"],
            ),
            ("output", &["sandbox-escape"]),
        ],
        tests: &[
            "effects::an_obfuscated_command_is_still_the_command",
            "effects::indirection_within_a_call_is_followed",
            "effects::what_cannot_be_read_is_refused",
        ],
        open: "code that is not in a call, a written file or a known reader's language is not seen",
    },
    Risk {
        id: "ASI06",
        name: "Memory and context poisoning",
        paper: "–",
        layers: "gate on written files, injection filter, checks of the learned models",
        cases: &[
            ("classes", &["project-hooks", "environment-hijack"]),
            (
                "attacks",
                &[
                    "places-that-run-later",
                    "written-source",
                    "variables-that-run",
                    "persistence",
                    "back-door",
                ],
            ),
            ("asks", &["persistence", "back-door", "written-source"]),
            (
                "sessions",
                &["attack-memory-poisoning", "attack-persistence"],
            ),
        ],
        tests: &[
            "train::ten_thousand_crafted_updates_do_not_hide_a_known_attack",
            "hook::what_a_result_has_shown_does_not_leave",
        ],
        open: "false facts in a memory file that give no order are not recognised",
    },
    Risk {
        id: "ASI07",
        name: "Insecure inter-agent communication",
        paper: "part of A5 and A10",
        layers: "strict readers of all protocols, gate",
        cases: &[
            ("streams", &[]),
            ("bridges", &[]),
            ("classes", &["unguarded-child-agent"]),
            ("benign", &["agents", "agent-tools"]),
        ],
        tests: &[
            "protocols::calls_are_judged_in_every_protocol",
            "hostile::events_that_clients_read_differently_end_the_stream",
            "bridges::refusals_history_and_markers_are_those_of_the_client",
        ],
        open: "agents that talk to each other on other ways than calls and results are not watched",
    },
    Risk {
        id: "ASI08",
        name: "Cascading failures",
        paper: "A5 uncontrolled recursion: partial",
        layers: "limits of the gate, trajectory, budgets of the proxy",
        cases: &[
            (
                "classes",
                &[
                    "rate-limit-evasion",
                    "resource-exhaustion",
                    "fail-open-bypass",
                ],
            ),
            ("asks", &["rate-limit-evasion", "runaway"]),
            ("sequences", &["runaway", "retry-in-other-words"]),
        ],
        tests: &[
            "replacing::the_scripted_repeat_is_stopped_at_the_sixth",
            "budget::streams_that_hold_much_are_refused_at_the_budget",
            "total::no_family_costs_more_than_its_size",
        ],
        open: "limits count for one session, not over several agents",
    },
    Risk {
        id: "ASI09",
        name: "Human-agent trust exploitation",
        paper: "–",
        layers: "divergence, gate, questions at the terminal",
        cases: &[
            ("divergence", &[]),
            ("classes", &["unicode-disguise"]),
            ("output", &["presentation"]),
            ("asks", &["terminal"]),
        ],
        tests: &[
            "approve::nothing_within_the_agents_reach_can_answer",
            "person::an_answer_from_another_terminal_needs_the_code",
            "diverging::a_refusal_before_the_call_blocks_it",
        ],
        open: "a person who approves everything is not stopped",
    },
    Risk {
        id: "ASI10",
        name: "Rogue agents",
        paper: "A8 trajectory manipulation: partial; A7 logging and monitoring: partial",
        layers: "gate (self-protection), trajectory, drift, monitor, ledger",
        cases: &[
            ("classes", &["self-modification", "log-and-history-wiping"]),
            ("attacks", &["self-protection", "defence-evasion"]),
            (
                "asks",
                &["self-protection", "defence-evasion", "process-tree"],
            ),
            ("sequences", &[]),
            ("sessions", &[]),
            ("trajectories", &[]),
            ("trajectories-third", &[]),
            ("trajectories-fourth", &[]),
            ("trajectories-fifth", &[]),
            ("trajectories-sixth", &[]),
            ("trajectories-seventh", &[]),
            ("trajectories-eighth", &[]),
            ("trajectories-ninth", &[]),
            ("trajectories-tenth", &[]),
            ("output", &[]),
        ],
        tests: &[
            "own::rules_and_settings_are_out_of_reach",
            "sealing::a_seed_proves_what_was_written_since",
            "monitor::a_kill_reaches_the_whole_tree_and_nothing_else",
            "run::who_only_forks_and_ends_does_not_get_away",
        ],
        open: "an attack in many small steps over several sessions is not put together",
    },
];

/// The row that a category of cases counts for.
fn risk(file: &str, category: &str) -> Option<usize> {
    let names = |by_name: bool| {
        RISKS.iter().position(|risk| {
            let mut cases = risk.cases.iter().filter(|(of, _)| *of == file);
            cases.any(|(_, names)| {
                if by_name {
                    names.contains(&category)
                } else {
                    names.is_empty()
                }
            })
        })
    };
    names(true).or_else(|| names(false))
}

/// One row for each risk.
pub(super) fn table(figures: &Figures<'_>) -> String {
    let mut rows = Vec::new();
    for (index, entry) in RISKS.iter().enumerate() {
        let tally = picked(figures, |file, category| {
            risk(file, category) == Some(index)
        });
        let (attacks, honest, flagged) = (
            tally.of(Expect::Block),
            tally.of(Expect::Allow),
            tally.of(Expect::Flag),
        );
        let files: Vec<_> = entry
            .cases
            .iter()
            .map(|(file, names)| match names {
                [] => (*file).to_owned(),
                names => format!("{file} ({})", names.join(", ")),
            })
            .collect();
        let tests: Vec<_> = entry.tests.iter().map(|test| format!("`{test}`")).collect();
        rows.push(vec![
            format!("**{}** {}", entry.id, entry.name),
            entry.paper.to_owned(),
            full(attacks.rate(attacks.blocked)),
            full(flagged.rate(flagged.blocked + flagged.asked)),
            full(honest.rate(honest.blocked)),
            entry.layers.to_owned(),
            figures.material.set_up.rules_about(entry.id).to_string(),
            files.join("; "),
            tests.join(", "),
            entry.open.to_owned(),
        ]);
    }
    let headings = [
        "<risk",
        "<the paper's",
        "<attacks blocked",
        "<to ask about, stopped",
        "<honest work blocked",
        "<layers",
        "rules",
        "<cases",
        "<tests",
        "<not covered",
    ];
    let rest = picked(figures, |file, category| risk(file, category).is_none());
    format!(
        "A case counts for one row. Files without categories are counted where no other row names their category. {} cases \
         belong to no row: {} of honest work, {} to be asked about, {} attacks.\n\n{}",
        rest.cases(),
        rest.of(Expect::Allow).all(),
        rest.of(Expect::Flag).all(),
        rest.of(Expect::Block).all(),
        tables::table(&headings, &rows)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn the_tests_behind_each_row_exist() {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for test in RISKS.iter().flat_map(|risk| risk.tests) {
            let (file, function) = test.split_once("::").unwrap();
            let sources = ["holdgate", "holdgate-core"].map(|name| {
                let path = crates
                    .join(name)
                    .join("tests/it")
                    .join(file)
                    .with_extension("rs");
                std::fs::read_to_string(path).unwrap_or_default()
            });
            let found = sources
                .iter()
                .any(|source| source.contains(&format!("fn {function}(")));
            assert!(found, "there is no test `{test}`");
        }
    }

    #[test]
    fn a_category_that_a_row_names_counts_there() {
        assert_eq!(
            risk("classes", "self-modification").map(|i| RISKS[i].id),
            Some("ASI10")
        );
        assert_eq!(
            risk("classes", "wrapper-programs").map(|i| RISKS[i].id),
            Some("ASI05")
        );
        assert_eq!(risk("unknown", "x"), None);
    }
}
