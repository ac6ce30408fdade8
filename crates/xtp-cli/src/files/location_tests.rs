//! Which side is where.

use super::*;
use crate::common::Status;

fn plan(arguments: &[&str]) -> Result<Plan, Status> {
    let arguments: Vec<OsString> = arguments.iter().map(Into::into).collect();
    Plan::of(&arguments).map_err(|failure| failure.status)
}

#[test]
fn one_side_is_a_server() {
    let put = plan(&["a", "b", "xtp://host:5/d/"]).expect("a plan");
    let expected = Plan::Put {
        sources: vec!["a".into(), "b".into()],
        authority: "host:5".into(),
        target: b"/d/".to_vec(),
    };
    assert_eq!(put, expected);
    let get = plan(&["XTP://[::1]/x y%20", "xtp://[::1]", "."]).expect("a plan");
    let expected = Plan::Get {
        authority: "[::1]".into(),
        sources: vec![b"/x y%20".to_vec(), Vec::new()],
        target: ".".into(),
    };
    assert_eq!(get, expected);
    assert_eq!(get.remote(), "xtp://[::1]/");
    assert_eq!(
        get.address().map(|address| address.udp_port).ok(),
        Some(xtp::UDP_PORT)
    );
    assert_eq!(
        put.address().map(|address| (address.host, address.udp_port)).ok(),
        Some(("host".into(), 5))
    );
}

#[test]
fn everything_else_is_a_usage_error() {
    for wrong in [
        &["a"][..],
        &["a", "b"],
        &["xtp://h/a", "xtp://h/b"],
        &["xtp://h/a", "xtp://g/b", "."],
        &["xtp://h/a", "b", "."],
        &["", "xtp://h/"],
        &["xtp://h/a", ""],
    ] {
        assert_eq!(plan(wrong), Err(Status::Usage), "{wrong:?}");
    }
    let nowhere = plan(&["a", "xtp:///path"]).expect("a plan");
    assert_eq!(
        nowhere.address().map_err(|failure| failure.status),
        Err(Status::Usage)
    );
}

#[test]
fn names_at_the_end_of_paths() {
    for (path, name) in [
        ("a", Some("a")),
        ("/a/b//", Some("b")),
        ("", None),
        ("/", None),
        (".", None),
        ("a/.", None),
        ("a/..", None),
    ] {
        assert_eq!(last_name(path.as_bytes()), name.map(str::as_bytes), "{path}");
    }
    assert_eq!(local(b"a\xff").as_bytes(), b"a\xff");
}
