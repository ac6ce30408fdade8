//! Where status sockets are, and what an association waits for.

use xtp::Config;

use super::*;

#[test]
fn a_directory_that_others_may_enter_is_refused() {
    let folder = tempfile::tempdir().expect("a directory");
    let own = folder.path().join("own");
    assert!(private(&own).is_ok());
    assert_eq!(fs::metadata(&own).expect("made").mode() & 0o777, 0o700);
    assert!(private(&own).is_ok(), "it is there already");
    fs::set_permissions(&own, fs::Permissions::from_mode(0o750)).expect("ours");
    assert!(private(&own).is_err());
    let link = folder.path().join("link");
    fs::set_permissions(&own, fs::Permissions::from_mode(0o700)).expect("ours");
    std::os::unix::fs::symlink(&own, &link).expect("linked");
    assert!(private(&link).is_err(), "somewhere else");
    assert!(private(&folder.path().join("a/b")).is_err());
}

#[test]
fn an_association_waits_for_the_first_thing_that_keeps_it() {
    let bind = || {
        let config = Config::server("127.0.0.1:0".parse().expect("an address"));
        Endpoint::bind(config).expect("loopback")
    };
    let (server, client) = (bind(), bind());
    let listener = server.listen_streams(7_000).expect("free");
    let stream = client
        .open(server.local_addr(), xtp::paradigm::stream(7_000))
        .expect("loopback");
    (&stream).write_all(b"hello").expect("room");
    let waits = |endpoint: &Endpoint| {
        let snapshot = snapshot(1, Instant::now(), std::slice::from_ref(endpoint));
        let line = snapshot.endpoints[0].associations.first().cloned();
        line.map(|line| line.waits_for)
    };
    assert_eq!(waits(&client).as_deref(), Some("the peer's first answer"));
    while server.associations(1).is_empty() {
        server
            .progress_timeout(Duration::from_millis(20))
            .expect("loopback");
    }
    assert_eq!(waits(&server).as_deref(), Some("the program to accept it"));
    let taken = listener.accept().expect("there").into_stream();
    assert_eq!(waits(&server).as_deref(), Some("the program to read"));
    io::Read::read_exact(&mut &taken, &mut [0; 5]).expect("there");
    assert_eq!(waits(&server).as_deref(), Some("either program to write"));
}
