//! What must be true of every page: for tests only.

/// Every tag is closed by its own end tag, in order.
///
/// # Panics
/// With the place if not.
pub(super) fn well_formed(page: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = page.strip_prefix("<!doctype html>").unwrap_or(page);
    while let Some(start) = rest.find('<') {
        // Style sheets have a '>' between parents and children.
        let stray = open.last() != Some(&"style") && rest[..start].contains('>');
        assert!(!stray, "a stray '>' before {:.80}", &rest[start..]);
        let end = rest[start..].find('>').expect("a tag ends") + start;
        let tag = &rest[start + 1..end];
        assert!(!tag.contains('<'), "a tag inside a tag: {tag}");
        assert!(
            tag.matches('"').count().is_multiple_of(2),
            "an open quote in <{tag}>"
        );
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "at {:.80}", &rest[start..]);
        } else if !tag.ends_with('/') {
            let name = tag.split([' ', '\n']).next().expect("a name");
            open.push(name);
        }
        rest = &rest[end + 1..];
    }
    assert!(open.is_empty(), "never closed: {open:?}");
}

/// Nothing refers to anything outside the page, and nothing runs.
///
/// # Panics
/// With what does.
pub(super) fn self_contained(page: &str) {
    for outside in [
        "://",
        "url(",
        "@import",
        " src=",
        "<script",
        "<link",
        "<iframe",
        " onload=",
        "javascript:",
    ] {
        assert!(!page.contains(outside), "{outside} in the page");
    }
    for reference in page.split(" href=\"").skip(1) {
        assert!(reference.starts_with('#'), "{reference:.60}");
    }
}
