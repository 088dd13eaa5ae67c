//! Any body is a request or an error; what the strict reader takes as an object is never an error,
//! a history costs no panic and is the same the second time, and a marked body is a request in which
//! nothing is left to mark.
#![no_main]

use bytes::Bytes;
use holdgate_core::injection::Suspicion;
use holdgate_core::marking::{Marker, SharedExamined};
use holdgate_core::{
    CallLimits, CallReader, Conversations, History, Masked, PROTOCOLS, Protocol, Request, Unbounded,
};
use holdgate_effects::Knowledge;
use holdgate_effects::json::{Json, LoneSurrogates};
use holdgate_effects::path::World;
use libfuzzer_sys::fuzz_target;

/// Marks all that can be marked.
fn marked(request: &Request) -> Option<Bytes> {
    let marker = Marker {
        examine: &|_| {
            Some(Suspicion {
                rule: "all",
                reason: String::new(),
                evidence: Masked::of(""),
                range: None,
            })
        },
        number: &|text| format!("{:x}", text.len()),
        threads: 2,
    };
    let examined = SharedExamined::default();
    let marks = marker.marks(request, &examined).ok()?;
    assert_eq!(marks.body().len(), marks.bytes());
    marks.note(&examined);
    let again = marker.marks(request, &examined).unwrap();
    assert_eq!(again.body(), marks.body());
    assert!(again.new.is_empty());
    Some(marks.body())
}

fuzz_target!(|bytes: &[u8]| {
    for protocol in PROTOCOLS {
        check(*protocol, bytes);
    }
});

fn check(protocol: &dyn Protocol, bytes: &[u8]) {
    let read = Json::read(bytes, 150, LoneSurrogates::Replace);
    // A body with more members than any request has is refused.
    let few = |json: &Json<'_>| {
        json.as_object()
            .is_some_and(|members| members.len() < 1_000)
    };
    let is_object = read.as_ref().is_ok_and(few);
    let Ok(request) = protocol.read_request(Bytes::copy_from_slice(bytes)) else {
        assert!(!is_object);
        return;
    };
    match marked(&request) {
        Some(body) => {
            let request = protocol.read_request(body.clone()).unwrap();
            assert_eq!(marked(&request), Some(body));
        }
        None => assert!(!is_object),
    }
    let know = Knowledge::built_in().unwrap();
    let world = World::default();
    let reader = CallReader {
        know: &know,
        world: &world,
        limits: CallLimits {
            max_bytes: 1 << 20,
            max_depth: 64,
        },
        fuel: 100_000,
        room: &Unbounded,
    };
    let steps = |history: &History| -> Vec<_> {
        let step = history.steps().map(|s| (s.call.clone(), s.outcome));
        step.collect()
    };
    let mut store = Conversations::default();
    match (
        store.history(&request, &reader),
        store.history(&request, &reader),
    ) {
        (Ok(first), Ok(again)) => assert_eq!(steps(&first), steps(&again)),
        (Err(_), Err(_)) => assert!(!is_object),
        (first, again) => panic!("{first:?} {again:?}"),
    }
}
