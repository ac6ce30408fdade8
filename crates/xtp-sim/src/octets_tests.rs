//! What becomes of messages.

use super::*;

#[test]
fn messages_become_as_many_octets() {
    let send = |octets, eom| Step::Send { octets, eom };
    let mut script = Script::new(vec![send(7, true), Step::AwaitMessages(3), Step::CloseWriter]);
    assert_eq!(script.message_octets(), 7);
    script.take_octets(5);
    assert_eq!(
        script.steps,
        [send(7, false), Step::AwaitOctets(15), Step::CloseWriter]
    );
    assert!(script.writes_plain_octets());
}
