//! The part of Holdgate that does: sockets, files, clock, terminal. What it carries out, the
//! `holdgate-core` crate decides.

mod agents;
pub mod args;
pub mod asks;
pub mod bench;
pub mod canary;
pub mod check;
pub mod clock;
pub mod config;
pub mod demo;
pub mod doctor;
pub mod eval;
pub mod expert;
pub mod facts;
pub mod hook;
pub mod in_force;
pub mod incidents;
pub mod judge;
pub mod judging;
mod labelled;
pub mod learning;
pub mod ledger;
mod listening;
pub mod log;
pub mod monitor;
pub mod own;
pub mod pin;
pub mod proxy;
pub mod rulebook;
pub mod rules;
pub mod run;
pub mod script;
pub mod setup;
pub mod threads;
pub mod train;
pub(crate) mod upstream;
pub mod why;
