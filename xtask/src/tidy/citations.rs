//! Citations. `§3.5` is heading 3.5 of page 03 in `docs/protocol`, `docs/decisions/waiting.md` a record of decisions; links lead to
//! pages and headings that exist. There is nothing else to cite.

use std::collections::HashSet;

use super::Finding;
use super::source::Source;

const FOLDER: &str = "docs/protocol/";
const DECISIONS: &str = "docs/decisions/";
/// The register of decisions and the list of differences have headings without numbers.
const UNNUMBERED: &str = "99";

pub(super) fn check(files: &[Source], findings: &mut Vec<Finding>) {
    let mut numbers = HashSet::new();
    let mut anchors = HashSet::new();
    let pages: HashSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
    for file in files.iter().filter(|file| file.path.ends_with(".md")) {
        read_headings(file, &mut numbers, &mut anchors, findings);
    }
    for file in files {
        for (line, text) in file.text_lines() {
            let mut say = |message| findings.push(Finding::new(&file.path, line, message));
            for number in cited(text) {
                if !numbers.contains(number.as_str()) {
                    say(format!(
                        "docs/protocol has no heading {number}: cite one that exists"
                    ));
                }
            }
            if is_of_the_protocol(&file.path)
                && let Some(old) = old_form(&file.path, text)
            {
                say(format!(
                    "`{old}` cites a text that is not here: cite §N.N of docs/protocol"
                ));
            }
            if !file.path.starts_with("xtask/src/tidy/") {
                for page in records(text).filter(|page| !pages.contains(page.as_str())) {
                    say(format!("`{page}` is no record of decisions"));
                }
            }
            if file.path.starts_with("docs/") && file.path.ends_with(".md") {
                for page in linked_pages(&file.path, text).filter(|page| !pages.contains(page.as_str())) {
                    say(format!("`{page}` is linked to and is not there"));
                }
                for target in links(&file.path, text).filter(|target| !anchors.contains(target)) {
                    say(format!("`{target}` leads to no heading"));
                }
            }
        }
    }
}

/// Headings of a page: those of the protocol's pages are numbered in order, and every heading can be linked to.
fn read_headings(
    file: &Source,
    numbers: &mut HashSet<String>,
    anchors: &mut HashSet<String>,
    findings: &mut Vec<Finding>,
) {
    let page = page_of(&file.path);
    let mut last = [0; 2];
    let mut fenced = false;
    for (line, text) in file.text_lines() {
        fenced ^= text.starts_with("```");
        let title = text.trim_start_matches('#');
        let depth = text.len() - title.len();
        if fenced || depth == 0 || !title.starts_with(' ') {
            continue;
        }
        anchors.insert(format!("{}#{}", file.path, slug(title)));
        let Some(page) = page.filter(|_| depth > 1) else {
            continue;
        };
        match depth {
            2 => last = [last[0] + 1, 0],
            _ => last[1] += 1,
        }
        let wanted = match depth {
            2 => format!("{page}.{}", last[0]),
            _ => format!("{page}.{}.{}", last[0], last[1]),
        };
        if title.split_whitespace().next() != Some(&wanted) {
            let message = format!("this heading has the number {wanted}");
            findings.push(Finding::new(&file.path, line, message));
        }
        numbers.insert(wanted);
    }
}

/// The number of a page whose headings are numbered: `docs/protocol/03-status.md` is page 3.
fn page_of(path: &str) -> Option<u32> {
    let number = path.strip_prefix(FOLDER)?.split_once('-')?.0;
    number.parse().ok().filter(|_| number != UNNUMBERED)
}

/// How a link to a heading is written: small letters, digits and hyphens.
fn slug(title: &str) -> String {
    let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    let text = title.trim().to_lowercase();
    text.chars()
        .filter(kept)
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

/// Numbers behind a section sign.
fn cited(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split('§').skip(1).filter_map(|rest| {
        let number: String = rest
            .chars()
            .take_while(|c| c.is_ascii_digit() || *c == '.')
            .collect();
        let number = number.trim_end_matches('.').to_owned();
        (!number.is_empty()).then_some(number)
    })
}

/// Papers have sections, too; the bench cites those it measures against.
fn is_of_the_protocol(path: &str) -> bool {
    !["crates/xtp-bench/", "crates/xtp-link", "xtask/src/tidy/"]
        .iter()
        .any(|other| path.starts_with(other))
}

/// A citation of the specification this was built from, by a section's number.
fn old_form<'a>(path: &str, text: &'a str) -> Option<&'a str> {
    let text = match path.rsplit_once('.')?.1 {
        "rs" => &text[text.find("//")?..],
        "md" => return named(text),
        _ => return None,
    };
    let inside = text.match_indices('(').filter(|(at, _)| {
        // A call in an example is no citation.
        let before = text[..*at].chars().next_back();
        before.is_none_or(|c| c.is_whitespace() || c == '(')
    });
    let mut lists = inside.filter_map(|(at, _)| {
        let list = &text[at + 1..];
        let list = &list[..list.find([')', '('])?];
        is_list(list).then_some(list)
    });
    named(text).or_else(|| lists.next())
}

/// `section 9.5`, `specification 3`.
fn named(text: &str) -> Option<&str> {
    ["pecification ", "ection "].into_iter().find_map(|word| {
        let (at, _) = text
            .match_indices(word)
            .find(|(at, _)| text[at + word.len()..].starts_with(|c: char| c.is_ascii_digit()))?;
        let end = at + word.len() + 1;
        text.get(at.saturating_sub(1)..end)
    })
}

/// Numbers of sections and nothing else, at least one with a point: `9.5`, `4.1, 20.3`, `12.1 to 12.3`.
fn is_list(text: &str) -> bool {
    let words: Vec<&str> = text.split([',', ' ']).filter(|word| !word.is_empty()).collect();
    let section = |word: &str| {
        let (major, minor) = word.split_once('.').unwrap_or((word, "0"));
        let digits =
            |text: &str| !text.is_empty() && text.len() < 3 && text.bytes().all(|c| c.is_ascii_digit());
        digits(major) && digits(minor) && (1..28).contains(&major.parse::<u32>().unwrap_or(0))
    };
    words.iter().any(|word| word.contains('.'))
        && words
            .iter()
            .all(|word| matches!(*word, "to" | "and") || section(word))
}

/// Records of decisions named by their paths.
fn records(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(DECISIONS).skip(1).filter_map(|rest| {
        let name = &rest[..rest.find(".md")?];
        let one_word = name.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'-');
        one_word.then(|| format!("{DECISIONS}{name}.md"))
    })
}

/// Links to headings of pages here, as path and heading.
fn links<'a>(path: &'a str, text: &'a str) -> impl Iterator<Item = String> + 'a {
    targets(text).filter_map(move |target| {
        let (page, heading) = target.split_once('#')?;
        if page.ends_with(".rs") {
            return None;
        }
        Some(format!("{}#{heading}", resolve(path, page)))
    })
}

/// Pages that a page here links to.
fn linked_pages<'a>(path: &'a str, text: &'a str) -> impl Iterator<Item = String> + 'a {
    targets(text).filter_map(move |target| {
        let page = target.split('#').next()?;
        page.ends_with(".md").then(|| resolve(path, page))
    })
}

/// What links in a line lead to, but for other hosts.
fn targets(text: &str) -> impl Iterator<Item = &str> {
    let targets = text.split("](").skip(1);
    targets
        .filter_map(|rest| rest.split(')').next())
        .filter(|target| !target.contains("://"))
}

/// The path of `page` as `path` names it; the same page, if it names none.
fn resolve(path: &str, page: &str) -> String {
    let mut folder: Vec<&str> = path.split('/').collect();
    if !page.is_empty() {
        folder.pop();
    }
    for part in page.split('/').filter(|part| !part.is_empty()) {
        match part {
            ".." => drop(folder.pop()),
            part => folder.push(part),
        }
    }
    folder.join("/")
}

#[cfg(test)]
#[path = "citations_tests.rs"]
mod tests;
