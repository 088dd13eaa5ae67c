//! What is learned, how it is stored, and what it makes of a sequence.

use crate::trajectory::*;
use proptest::prelude::*;

#[test]
fn a_model_survives_storing_and_damage_is_found() {
    let mut model = Model::default();
    for _ in 0..300 {
        model.learn(&[Action::Install, Action::RunWritten, Action::Push], base());
    }
    let bytes = model.to_bytes();
    assert_eq!(Model::from_bytes(&bytes), Ok(model.clone()));
    assert_eq!(Model::from_bytes(b"something"), Err(Broken::NotAModel));
    for at in 0..bytes.len() {
        let mut bytes = bytes.clone();
        bytes[at] ^= 1;
        assert!(Model::from_bytes(&bytes).is_err(), "byte {at}");
    }
    assert!(Model::from_bytes(&bytes[..bytes.len() - 1]).is_err());
}

#[test]
fn a_project_is_calibrated_once_enough_sessions_are_known() {
    let mut model = Model::default();
    for _ in 0..198 {
        model.learn(&[Action::Push], base());
    }
    assert_eq!(model.threshold(), None);
    model.learn(&[Action::Push], base());
    assert!(model.threshold().is_some());
}

#[test]
fn what_was_learned_is_less_surprising() {
    let sequence = [Action::SetRemote, Action::Pack, Action::WriteOut];
    let before = surprise(&sequence, base(), None).unwrap().bits;
    let mut model = Model::default();
    for _ in 0..20 {
        model.learn(&sequence, base());
    }
    let after = surprise(&sequence, base(), Some(model.ppm())).unwrap().bits;
    assert!(after < before, "{after} < {before}");
}

#[test]
fn no_session_teaches_by_repetition() {
    let mut once = Model::default();
    let mut often = Model::default();
    once.learn(&[Action::Send, Action::Push, Action::Send], base());
    often.learn(&[Action::Send, Action::Push].repeat(50), base());
    assert!(often.ppm().counts().all(|(_, count)| count == 1));
    assert_eq!(once.sessions(), 1);
}

fn any_action() -> impl Strategy<Value = Action> {
    (0..Action::ALL.len()).prop_map(|at| Action::ALL[at])
}

proptest! {
    #[test]
    fn a_model_stays_within_its_bound(
        sequences in prop::collection::vec(prop::collection::vec(any_action(), 0..200), 0..20),
    ) {
        let mut model = Model::default();
        for sequence in &sequences {
            model.learn(sequence, base());
        }
        let bytes = model.to_bytes();
        prop_assert!(bytes.len() <= MAX_BYTES);
        prop_assert_eq!(Model::from_bytes(&bytes), Ok(model));
    }

    #[test]
    fn broken_bytes_are_no_model(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(Model::from_bytes(&bytes).is_err());
    }
}
