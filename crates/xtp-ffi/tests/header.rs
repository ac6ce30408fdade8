//! The committed header is the one that the sources make, and every symbol in it has its version in the map of the shared library.

use std::fs;
use std::path::{Path, PathBuf};

use expect_test::expect_file;

/// The modules of which the header consists, in its order.
const MODULES: [&str; 13] = [
    "status",
    "last_error",
    "octets",
    "options",
    "endpoint",
    "stream",
    "listener",
    "lent",
    "call",
    "poll_set",
    "completion",
    "mesh",
    "group",
];

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn sources() -> impl Iterator<Item = PathBuf> {
    MODULES
        .iter()
        .map(|module| here().join("src").join(module).with_extension("rs"))
}

fn header() -> String {
    let config = cbindgen::Config::from_file(here().join("cbindgen.toml")).expect("cbindgen.toml");
    let builder = cbindgen::Builder::new().with_config(config);
    let builder = sources().fold(builder, |builder, source| builder.with_src(source));
    let mut text = Vec::new();
    builder.generate().expect("the header").write(&mut text);
    let text = String::from_utf8(text).expect("text");
    // `5 -XTP_EINVAL` is to be what it looks like.
    let enclosed = text.lines().map(|line| match line.rsplit_once(" -") {
        Some((define, number)) if define.starts_with("#define ") => format!("{define} (-{number})\n"),
        _ => format!("{line}\n"),
    });
    enclosed.collect()
}

/// Names of the functions that the sources export, in order.
fn functions() -> Vec<String> {
    let mut names = Vec::new();
    for source in sources() {
        let text = fs::read_to_string(&source).expect("a source");
        let mut exported = text.split("#[unsafe(no_mangle)]");
        exported.next();
        for function in exported {
            let name = function
                .split("fn ")
                .nth(1)
                .and_then(|rest| rest.split('(').next());
            names.push(name.expect("a function").to_owned());
        }
    }
    names.sort();
    names
}

#[test]
fn the_header_is_what_the_sources_make() {
    expect_file!["../include/xtp.h"].assert_eq(&header());
}

#[test]
fn every_exported_function_is_in_the_header_and_in_the_map() {
    let header = header();
    let mut map = String::from("XTP_0.1 {\n    global:\n");
    for name in functions() {
        assert!(
            header.contains(&format!("{name}(")),
            "{name} is not in the header"
        );
        assert!(name.starts_with("xtp_"), "{name} may be another library's");
        map.push_str(&format!("        {name};\n"));
    }
    map.push_str("    local:\n        *;\n};\n");
    expect_file!["../xtp.map"].assert_eq(&map);
}

#[test]
fn the_numbers_of_the_header_are_those_of_the_table() {
    let header = header();
    let mut defined: Vec<(&str, i32)> = header
        .lines()
        .filter_map(|line| line.strip_prefix("#define "))
        .filter_map(|line| line.split_once(' '))
        .filter(|(name, _)| *name == "XTP_OK" || name.starts_with("XTP_E"))
        .map(|(name, number)| (name, number.trim_matches(['(', ')']).parse().expect("a number")))
        .collect();
    defined.sort_unstable();
    let mut table: Vec<_> = xtp_ffi::status::TABLE
        .iter()
        .map(|row| (row.name, row.status))
        .collect();
    table.sort_unstable();
    for row in xtp_ffi::status::TABLE {
        println!(
            "{:4} {:24} {}",
            row.status,
            row.name,
            row.text.to_str().expect("text")
        );
    }
    assert_eq!(defined, table);
}

#[test]
fn the_manual_page_names_what_there_is() {
    let page = fs::read_to_string(here().join("xtp.3")).expect("the page");
    let functions = functions();
    let named: Vec<&str> = page
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| word.starts_with("xtp_") && !word.ends_with("_options") && *word != "xtp_endpoint")
        .collect();
    assert!(named.len() > 30, "{named:?}");
    for name in named {
        assert!(
            functions.iter().any(|function| function == name),
            "{name} is no function"
        );
    }
    let header = header();
    let statuses = page.split(|c: char| !c.is_ascii_uppercase() && c != '_');
    for status in statuses.filter(|word| word.starts_with("XTP_")) {
        assert!(
            header.contains(&format!("#define {status} ")),
            "{status} is no status"
        );
    }
}
