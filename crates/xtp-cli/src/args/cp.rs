//! `xtp cp`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches, ValueEnum};

use super::units;

const EXAMPLES: &str = "\
Examples:
  xtp cp xtp://127.0.0.1/big.iso .       fetch a file
  xtp cp photos xtp://server/backup      send a directory with everything in it
  xtp cp 'xtp://server/logs/*.gz' .      what a pattern stands for on the server: * ? [a-z]
  xtp cp -n --delete --exclude '*.o' src/. xtp://server/src
                                         say what would make it a mirror, and do nothing
  tar c . | xtp cp - xtp://server/x.tar  from standard input; the other way: xtp cp xtp://... -
  xtp cp --limit 50mbit --timeout 10m big.iso xtp://server/

Copies as `rsync -a` would: directories with their content, modes and times kept, symbolic
links as links, wherever they lead; none is followed while writing. A file replaces another
only after it was verified; an unchanged one is skipped; holes stay holes. Sockets, fifos and
devices in a tree are not copied: each is named, and the exit status is 1.

An outage of up to --timeout (60 s if not given) is waited for, and the copy goes on where it
stopped: a link that is down, a server that is stopped or started anew. What an interrupted
copy left (.NAME.xtp-part) is continued by the next one if this user made it and nobody else
can open it; it is a file as any other, told where it is found, and removed with rm. A file that arrives damaged is fetched again. One
that changes while it is copied is copied again; if it changes each time, what was read is
put in place, and the exit status is 1.

A device or fifo that is named as the target of one file, and what /dev/stdout leads to, is
written through; in a tree it is never replaced.

-v prints the name of each file copied. With -n standard output has the names alone.";

/// Copy files and directories to or from `xtp serve`, verified and resumable
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CpArgs {
    /// Say what would be copied and deleted, and do nothing
    #[arg(short = 'n', long)]
    pub(crate) dry_run: bool,

    #[command(flatten)]
    pub(crate) filters: Filters,

    /// Of the one source, a directory, only the paths in this list (- for standard input), one a line or with -0 each ended by a
    /// zero octet; directories without what is in them unless -r is given
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(crate) files_from: Option<PathBuf>,

    /// Compare content, not time: a file of the same size is read at both ends
    #[arg(short, long)]
    pub(crate) checksum: bool,

    /// Copy files of the same size and time as well
    #[arg(short = 'I', long)]
    pub(crate) ignore_times: bool,

    /// Take files of the same size for the same, whatever their time
    #[arg(long)]
    pub(crate) size_only: bool,

    /// Leave files alone that are newer at the target
    #[arg(short, long)]
    pub(crate) update: bool,

    /// Leave files and links alone that are there at the target
    #[arg(long)]
    pub(crate) ignore_existing: bool,

    /// Remove from the directories copied what the source does not have; nothing that is excluded, and nothing at all
    /// if not everything could be copied
    #[arg(long)]
    pub(crate) delete: bool,

    /// Names as they are, each ended by a zero octet, where -v or -n prints them and in the list of --files-from; without it a newline, what is no text,
    /// and backslashes are escaped
    #[arg(short = '0', long = "null")]
    pub(crate) null: bool,

    /// Do not wait until files are on the disk: faster, and gone if the system crashes soon after
    #[arg(long)]
    pub(crate) no_sync: bool,

    /// Make holes of zeros as well (holes of the source stay holes without it)
    #[arg(short = 'S', long)]
    pub(crate) sparse: bool,

    /// What becomes of the source's symbolic links
    #[arg(long, value_name = "HOW", value_enum, default_value_t = LinksArg::Keep)]
    pub(crate) links: LinksArg,

    /// As --links=follow
    #[arg(short = 'L', long, conflicts_with = "links")]
    pub(crate) copy_links: bool,

    /// As --limit, with rsync's units: a bare number is KiB a second
    #[arg(long, value_name = "RATE", value_parser = bwlimit)]
    pub(crate) bwlimit: Option<u64>,

    /// As rsync: a bar where standard error is a terminal; so it is without it
    #[arg(long)]
    pub(crate) progress: bool,

    /// As rsync: numbers in the end; so it is without it, and more with --json
    #[arg(long)]
    pub(crate) stats: bool,

    #[command(flatten)]
    pub(crate) foreign: Foreign,

    /// Owner, group, set-ID and sticky bits too, where the receiver is root (a server: with --owner); modes, times and links are
    /// kept without it, and hard links, access control lists, capabilities and extended attributes are counted and not kept
    #[arg(short, long)]
    pub(crate) archive: bool,

    /// As cp -r, rsync -r: directories with everything in them; so it is without it
    #[arg(short, long)]
    pub(crate) recursive: bool,

    /// As cp -p, scp -p: keep modes and times; so it is without it
    #[arg(short, long)]
    pub(crate) preserve: bool,

    /// Sources, then the target; either all sources or the target are xtp://host[:port]/path, - is standard input or output
    #[arg(value_names = ["SRC", "DST"], required = true, num_args = 2.., value_hint = clap::ValueHint::AnyPath)]
    pub(crate) paths: Vec<OsString>,
}

/// What becomes of links.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LinksArg {
    /// They are copied as links, wherever they lead
    Keep,
    /// Those that lead out of their source are left out
    Inside,
    /// What they lead to is copied in their place; on a server what stays inside
    Follow,
    /// All are left out
    Skip,
}

/// Patterns of names in the order they were given: the first that means a path decides.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filters(pub(crate) Vec<(bool, OsString)>);

const FILTERS: [(&str, &str); 2] = [
    (
        "include",
        "Copy what has such a name though a later pattern leaves it out: of several the first decides",
    ),
    (
        "exclude",
        "Leave out what has such a name: *.o at any depth, /a/b from the top of a source, a/ directories only",
    ),
];

impl Args for Filters {
    fn augment_args(command: Command) -> Command {
        let filter = |(name, help): (&'static str, &'static str)| {
            Arg::new(name)
                .long(name)
                .value_name("PATTERN")
                .help(help)
                .value_parser(clap::value_parser!(OsString))
                .action(ArgAction::Append)
        };
        command.args(FILTERS.map(filter))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Filters {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut filters = Vec::new();
        for (name, _) in FILTERS {
            let places = matches.indices_of(name).into_iter().flatten();
            let patterns = matches.get_many::<OsString>(name).into_iter().flatten();
            let include = name == "include";
            filters.extend(
                places
                    .zip(patterns)
                    .map(|(place, pattern)| (place, include, pattern.clone())),
            );
        }
        filters.sort_unstable_by_key(|(place, ..)| *place);
        let filters = filters
            .into_iter()
            .map(|(_, include, pattern)| (include, pattern));
        Ok(Self(filters.collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// An option of rsync or cp that people try.
struct Refused {
    short: Option<char>,
    long: &'static str,
    /// A value follows.
    value: bool,
    /// What to write instead.
    instead: &'static str,
}

const fn refused(short: Option<char>, long: &'static str, instead: &'static str) -> Refused {
    Refused {
        short,
        long,
        value: false,
        instead,
    }
}

const fn refused_value(short: Option<char>, long: &'static str, instead: &'static str) -> Refused {
    Refused {
        value: true,
        ..refused(short, long, instead)
    }
}

const KEPT: &str = "modes, times and links are kept without it, and -a keeps owner and group";
const BESIDE: &str = "a file is made beside the old one and takes its name when it is verified";
const REFUSED: &[Refused] = &[
    refused(
        Some('i'),
        "itemize-changes",
        "-v names what is copied, and -n what would be",
    ),
    refused(
        Some('z'),
        "compress",
        "compress before, as in zstd -c FILE | xtp cp - xtp://host/FILE.zst",
    ),
    refused(
        Some('H'),
        "hard-links",
        "each copy says how many hard links it made files of; tar c . | xtp cp - keeps them",
    ),
    refused(
        Some('A'),
        "acls",
        "each copy says how many access control lists it dropped; tar c --acls . | xtp cp - keeps them",
    ),
    refused(
        Some('X'),
        "xattrs",
        "each copy says how many files have extended attributes; tar c --xattrs . | xtp cp - keeps them",
    ),
    refused(
        Some('P'),
        "partial",
        "what is left of a broken copy is kept and continued, and progress is shown, without it",
    ),
    refused_value(
        Some('e'),
        "rsh",
        "there is no remote shell: the other side runs xtp serve, which is xtp://host/path",
    ),
    refused(Some('t'), "times", KEPT),
    refused(Some('l'), "keep-links", KEPT),
    refused(Some('o'), "owner", KEPT),
    refused(Some('g'), "group", KEPT),
    refused(None, "perms", KEPT),
    refused_value(
        None,
        "chmod",
        "modes are those of the source; umask or chmod afterwards",
    ),
    refused_value(
        None,
        "chown",
        "-a keeps owner and group where the receiver is root; chown afterwards",
    ),
    refused(
        Some('x'),
        "one-file-system",
        "leave other file systems out with --exclude",
    ),
    refused(
        Some('W'),
        "whole-file",
        "only what a broken copy left is continued, all else is sent whole",
    ),
    refused(None, "inplace", BESIDE),
    refused(None, "append", BESIDE),
    refused(Some('b'), "backup", "move the old files away before"),
    refused(
        None,
        "remove-source-files",
        "a copy that ends with 0 has everything in place; remove the source then",
    ),
    refused_value(None, "exclude-from", "give each pattern by --exclude"),
    refused_value(None, "include-from", "give each pattern by --include"),
];

/// Whether one of the options was given that are refused, and what to write instead.
#[derive(Clone, Debug, Default)]
pub(crate) struct Foreign(Option<String>);

impl Foreign {
    /// What to write instead of the first of them that was given.
    pub(crate) fn refusal(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

impl Args for Foreign {
    fn augment_args(command: Command) -> Command {
        let hidden = |refused: &Refused| {
            let action = match refused.value {
                true => ArgAction::Append,
                false => ArgAction::SetTrue,
            };
            let arg = Arg::new(refused.long)
                .long(refused.long)
                .hide(true)
                .action(action);
            arg.short(refused.short)
        };
        command.args(REFUSED.iter().map(hidden))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Foreign {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let given = REFUSED.iter().find(|refused| match refused.value {
            true => matches.contains_id(refused.long),
            false => matches.get_flag(refused.long),
        });
        Ok(Self(given.map(|refused| {
            let name = refused
                .short
                .map_or_else(|| format!("--{}", refused.long), |short| format!("-{short}"));
            format!("{name} is not known here: {}", refused.instead)
        })))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// A rate as rsync understands it: in KiB a second, or with a unit; 0 is none.
///
/// # Errors
/// A sentence that says what would be right.
fn bwlimit(text: &str) -> Result<u64, String> {
    let bare = text.trim();
    if bare.parse() == Ok(0.0) {
        return Ok(u64::MAX);
    }
    match bare.chars().last() {
        Some(last) if last.is_ascii_digit() => units::rate(&format!("{bare}KiB")),
        Some('k' | 'K' | 'm' | 'M' | 'g' | 'G') => units::rate(&format!("{bare}iB")),
        _ => units::rate(bare),
    }
}
