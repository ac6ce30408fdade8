//! `xtp cp`.

use std::ffi::OsString;

use clap::{Args, ValueEnum};

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

    /// Leave out what has such a name: *.o at any depth, /a/b from the top of a source, a/ directories only
    #[arg(long, value_name = "PATTERN")]
    pub(crate) exclude: Vec<OsString>,

    /// Remove from the directories copied what the source does not have; nothing that is excluded, and nothing at all
    /// if not everything could be copied
    #[arg(long)]
    pub(crate) delete: bool,

    /// Names as they are, each ended by a zero octet, where -v or -n prints them; without it a newline, what is no text,
    /// and backslashes are escaped
    #[arg(short = '0', long = "null")]
    pub(crate) null: bool,

    /// Do not wait until files are on the disk: faster, and gone if the system crashes soon after
    #[arg(long)]
    pub(crate) no_sync: bool,

    /// Make holes of zeros as well (holes of the source stay holes without it)
    #[arg(long)]
    pub(crate) sparse: bool,

    /// What becomes of the source's symbolic links
    #[arg(long, value_name = "HOW", value_enum, default_value_t = LinksArg::Keep)]
    pub(crate) links: LinksArg,

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
