//! `xtp man`: manual pages, from the definition of the arguments.

use clap::CommandFactory;

use crate::args::{Cli, ManArgs};
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
    let mut command = Cli::command();
    command.build();
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
    man.render(&mut page)?;
    std::fs::write(directory.join(&file), page)?;
    tracing::debug!(%name, %file, "manual page written");
    written.push(file);
    Ok(())
}
