//! Names and paths that are accepted, refused, shown, and made up.

use super::*;

fn user(path: &str) -> Result<String, Code> {
    RelPath::from_user(path.as_bytes())
        .map(|path| String::from_utf8(path.as_bytes().to_vec()).expect("text"))
        .map_err(|problem| problem.code)
}

#[test]
fn what_people_write_is_cleaned() {
    for (written, clean) in [
        ("", ""),
        ("/", ""),
        ("//a//b/", "a/b"),
        ("./a/./b", "a/b"),
        ("a", "a"),
        ("/etc/passwd", "etc/passwd"),
    ] {
        assert_eq!(user(written), Ok(clean.to_owned()), "{written}");
    }
    for outside in ["..", "../a", "a/../b", "a/.."] {
        assert_eq!(user(outside), Err(Code::Outside), "{outside}");
    }
    assert_eq!(user(&"a/".repeat(PATH_LIMIT / 2 + 1)).map(|_| ()), Ok(()));
    assert_eq!(user(&"a/".repeat(PATH_LIMIT / 2 + 2)), Err(Code::Limit));
    assert_eq!(user(&"n".repeat(NAME_LIMIT)).map(|_| ()), Ok(()));
    assert_eq!(user(&"n".repeat(NAME_LIMIT + 1)), Err(Code::Limit));
    assert_eq!(user("a\0b"), Err(Code::Protocol));
}

#[test]
fn what_a_peer_sends_must_be_clean() {
    assert!(RelPath::from_peer(b"").is_ok_and(|path| path.is_root()));
    assert!(RelPath::from_peer(b"a/b\xff").is_ok_and(|path| path.depth() == 2));
    for bad in ["/", "/a", "a/", "a//b", ".", "a/./b", "..", "a/../b", "a\0"] {
        let outcome = RelPath::from_peer(bad.as_bytes()).map_err(|problem| problem.code);
        assert_eq!(outcome, Err(Code::Protocol), "{bad:?}");
    }
}

#[test]
fn paths_are_split_and_compared_by_names() {
    let path = RelPath::from_user(b"a/b/c").expect("clean");
    let (parent, name) = path.split().expect("has a name");
    assert_eq!((parent.as_bytes(), name), (&b"a/b"[..], &b"c"[..]));
    assert!(path.is_within(&parent) && path.is_within(&path) && path.is_within(&RelPath::default()));
    let sibling = RelPath::from_user(b"a/b/cd").expect("clean");
    assert!(!sibling.is_within(&path) && !parent.is_within(&path));
    assert_eq!(RelPath::default().split(), None);
    assert_eq!(
        parent
            .append(&RelPath::from_user(b"x/y").expect("clean"))
            .expect("short")
            .as_bytes(),
        b"a/b/x/y"
    );
}

#[test]
fn names_of_strangers_are_harmless_on_a_terminal() {
    assert_eq!(shown("grün \u{1b}[2J\n".as_bytes()), "grün \\u{1b}[2J\\n");
    assert_eq!(shown(b"a\xff\xfeb"), "a\\xff\\xfeb");
}

#[test]
fn partial_names_are_hidden_distinct_and_short_enough() {
    assert_eq!(partial_name(b"iso"), b".iso.xtp-part");
    let long = |last: u8| {
        let mut name = vec![b'n'; NAME_LIMIT];
        name[NAME_LIMIT - 1] = last;
        partial_name(&name)
    };
    assert_eq!(long(b'a').len(), NAME_LIMIT);
    assert_eq!(long(b'a'), long(b'a'));
    assert_ne!(long(b'a'), long(b'b'));
    for len in 1..=NAME_LIMIT {
        let partial = partial_name(&vec![b'x'; len]);
        assert!(is_partial(&partial) && partial.len() <= NAME_LIMIT, "{len}");
    }
    assert!(!is_partial(b".xtp-part") && !is_partial(b"a.xtp-part") && !is_partial(b".iso"));
}

#[test]
fn links_stay_inside_or_do_not() {
    for (target, depth, inside) in [
        ("a", 0, true),
        ("a/b", 0, true),
        ("./a", 0, true),
        ("..", 0, false),
        ("../a", 0, false),
        ("../a", 1, true),
        ("../../a", 1, false),
        ("../../a", 2, true),
        ("a/../b", 5, false),
        ("/", 5, false),
        ("/etc/passwd", 5, false),
        ("", 5, false),
        ("a\0b", 5, false),
    ] {
        assert_eq!(
            stays_inside(target.as_bytes(), depth),
            inside,
            "{target:?} at {depth}"
        );
    }
}

#[test]
fn names_that_are_shown_can_be_turned_back() {
    let every: Vec<u8> = (1..=255).collect();
    for name in [
        &b"plain"[..],
        b"a\\nb",
        b"a\nb",
        b"\\x41",
        b"\\",
        b"tab\tand\r",
        b"\xff\xfe",
        "gr\u{fc}n \u{85}\u{1b}[2J".as_bytes(),
        &every,
    ] {
        let text = shown(name);
        assert_eq!(turned_back(&text), name, "{text}");
        assert!(!text.contains(char::is_control));
    }
    assert_ne!(shown(b"a\\nb"), shown(b"a\nb"));
    // A text in which names stand is not escaped twice.
    assert_eq!(cleaned(shown(b"a\n\\").as_bytes()), shown(b"a\n\\"));
    // Decoding of malformed names terminates.
    for odd in ["\\", "\\u", "\\u{", "\\u{zz}", "\\x", "\\xz", "\\\u{fc}"] {
        let _ = turned_back(odd);
    }
}
