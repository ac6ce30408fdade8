//! `xtp man`: manual pages, from the definition of the arguments.

use crate::args::{ManArgs, definition};
use crate::common::{Common, Failure, Outcome};

/// Writes `xtp.1` and a page for each command, and for each way of one.
pub(crate) fn run(args: &ManArgs, common: &Common) -> Outcome {
    let directory = &args.directory;
    let failed = |error| {
        Failure::io(
            format_args!("cannot write manual pages to {}", directory.display()),
            &error,
        )
    };
    std::fs::create_dir_all(directory).map_err(failed)?;
    let command = definition();
    let mut written = Vec::new();
    write_pages(&command, directory, &mut written).map_err(failed)?;
    if common.out.is_json() {
        return common
            .out
            .object(&serde_json::json!({ "ok": true, "pages": written }));
    }
    for page in &written {
        common.out.line(directory.join(page).display())?;
    }
    Ok(())
}

fn write_pages(
    command: &clap::Command,
    directory: &std::path::Path,
    written: &mut Vec<String>,
) -> std::io::Result<()> {
    for sub in command.get_subcommands() {
        let hidden = sub.is_hide_set() || sub.get_name() == "help";
        if !hidden {
            write_pages(sub, directory, written)?;
        }
    }
    write_page(command, directory, written)
}

fn write_page(
    command: &clap::Command,
    directory: &std::path::Path,
    written: &mut Vec<String>,
) -> std::io::Result<()> {
    let name = command
        .get_display_name()
        .unwrap_or_else(|| command.get_name())
        .to_owned();
    let man = clap_mangen::Man::new(command.clone());
    let file = man.get_filename();
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    if command.get_arguments().any(|option| !option.is_hide_set()) {
        man.render_options_section(&mut page)?;
    }
    if command.get_subcommands().any(|sub| !sub.is_hide_set()) {
        man.render_subcommands_section(&mut page)?;
    }
    let text = command.get_after_help().map(ToString::to_string);
    page.extend(sections(&text.unwrap_or_default()).into_bytes());
    page.extend(see_also(&name).into_bytes());
    std::fs::write(directory.join(&file), page)?;
    tracing::debug!(%name, %file, "manual page written");
    written.push(file);
    Ok(())
}

/// What every command ends with that says nothing else.
const STATUSES: &str = "\
0 done, 1 failed, 2 usage, 3 unreachable or timed out, 4 refused by the peer,
5 verification failed, 130 interrupted, 141 what reads the output has ended.";

/// What stands below the options of a command's help, as sections with the names that manual pages have. Lines stay lines.
fn sections(text: &str) -> String {
    let (mut examples, mut notes, mut status) = (Vec::new(), Vec::new(), Vec::new());
    for paragraph in text.split("\n\n") {
        // What a command ends with may stand behind other sentences.
        let (paragraph, ends) = match paragraph.find("Exit status") {
            Some(at) => paragraph.split_at(at),
            None => (paragraph, ""),
        };
        status.extend((!ends.is_empty()).then(|| ends.trim_start_matches("Exit status: ").to_owned()));
        let paragraph = paragraph.trim_end();
        let head = paragraph.lines().next().unwrap_or_default();
        let indented = paragraph.lines().skip(1).all(|line| line.starts_with("  "));
        match () {
            () if paragraph.is_empty() => {}
            () if head == "Examples:" => {
                examples.push(paragraph.lines().skip(1).collect::<Vec<_>>().join("\n"))
            }
            () if head.ends_with(':') && indented => examples.push(paragraph.to_owned()),
            () => notes.push(paragraph.to_owned()),
        }
    }
    if !status.iter().any(|text| text.starts_with('0')) {
        status.insert(0, STATUSES.to_owned());
    }
    [("NOTES", notes), ("EXAMPLES", examples), ("EXIT STATUS", status)]
        .into_iter()
        .filter(|(_, texts)| !texts.is_empty())
        .map(|(name, texts)| format!(".SH \"{name}\"\n.nf\n{}\n.fi\n", plain(&texts.join("\n\n"))))
        .collect()
}

/// Text in which nothing is a command of the formatter.
fn plain(text: &str) -> String {
    let line = |line: &str| {
        let line = line.replace('\\', "\\e").replace('-', "\\-");
        match line.starts_with(['.', '\'']) {
            true => format!("\\&{line}"),
            false => line,
        }
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// The pages that belong to this one.
fn see_also(name: &str) -> String {
    let definition = definition();
    let mut pages: Vec<String> = definition
        .get_subcommands()
        .filter(|sub| !sub.is_hide_set() && sub.get_name() != "help")
        .map(|sub| format!("xtp-{}", sub.get_name()))
        .collect();
    pages.insert(0, "xtp".to_owned());
    let others: Vec<String> = pages
        .iter()
        .filter(|page| *page != name)
        .map(|page| format!("\\fB{}\\fR(1)", page.replace('-', "\\-")))
        .collect();
    format!(".SH \"SEE ALSO\"\n{}\n", others.join(",\n"))
}

#[cfg(test)]
#[path = "man_tests.rs"]
mod tests;
