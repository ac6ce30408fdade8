//! The library as C programs meet it: compiled as strictly as compilers can, linked with the shared and the static library, run.
//!
//! It needs a C compiler (`CC`, else `cc`), as the linker of Rust programs does, and fails where there is none. What needs more is left to
//! the step `c` of `cargo xtask ci`.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::mem::offset_of;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;
use xtp_ffi::completion::{xtp_completion, xtp_tags};
use xtp_ffi::endpoint::xtp_statistics;
use xtp_ffi::group::xtp_member;
use xtp_ffi::mesh::xtp_mesh_completion;
use xtp_ffi::options::{
    xtp_call_options, xtp_endpoint_options, xtp_group_options, xtp_listen_options, xtp_mesh_options,
    xtp_stream_options,
};

const STRICT: [&str; 4] = ["-Wall", "-Wextra", "-Werror", "-pedantic"];

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// What ends with the test, however it ends.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The static library of this very build: cargo makes it with the one that the tests link.
fn archive() -> PathBuf {
    let program = env::current_exe().expect("this program");
    let built = fs::read_dir(program.parent().expect("its folder")).expect("files");
    let archives = built.map(|entry| entry.expect("a file")).filter(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        name.starts_with("libxtp_ffi-") && name.ends_with(".a")
    });
    let newest =
        archives.max_by_key(|entry| entry.metadata().and_then(|data| data.modified()).expect("a time"));
    newest.expect("libxtp_ffi.a beside the test").path()
}

/// Runs it to its end; returns what it printed.
fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| {
        panic!("{command:?}: {error}; this test needs cc (Debian: gcc), or the one that CC names")
    });
    let text = |octets: &[u8]| String::from_utf8_lossy(octets).into_owned();
    let (printed, complained) = (text(&output.stdout), text(&output.stderr));
    assert!(
        output.status.success(),
        "{command:?}: {}\n{printed}{complained}",
        output.status
    );
    printed
}

fn compiler(variable: &str, usual: &str) -> String {
    env::var(variable).unwrap_or_else(|_| usual.to_owned())
}

/// An installation of the library and the programs compiled for it.
struct Installed {
    folder: TempDir,
}

impl Installed {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut install = Command::new("sh");
        install.arg(here().join("install.sh")).arg(folder.path());
        run(install.env("ARCHIVE", archive()).env_remove("DESTDIR"));
        Self { folder }
    }

    fn path(&self, inside: &str) -> PathBuf {
        self.folder.path().join(inside)
    }

    /// Compiles a program as C99; `link` says with what.
    fn compile(&self, source: &str, name: &str, link: &[&OsStr]) -> PathBuf {
        let program = self.path(name);
        let mut cc = Command::new(compiler("CC", "cc"));
        cc.args(["-std=c99", "-g"]).args(STRICT);
        cc.arg("-I").arg(self.path("include")).arg("-o").arg(&program);
        run(cc.arg(here().join(source)).args(link));
        program
    }

    /// Compiles a program for the shared library.
    fn shared(&self, source: &str) -> PathBuf {
        let name = Path::new(source)
            .file_stem()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        let library = self.path("lib");
        let rpath = format!("-Wl,-rpath,{}", library.display());
        let folder = format!("-L{}", library.display());
        self.compile(
            source,
            &name,
            &[
                folder.as_ref(),
                "-lxtp".as_ref(),
                "-lpthread".as_ref(),
                rpath.as_ref(),
            ],
        )
    }

    /// Compiles a program with the static library in it, with what `xtp.pc` says is private.
    fn alone(&self, source: &str, flags: &[&str]) -> PathBuf {
        let archive = self.path("lib/libxtp.a");
        let mut link: Vec<&OsStr> = flags.iter().map(OsStr::new).collect();
        link.push(archive.as_os_str());
        let package = fs::read_to_string(self.path("lib/pkgconfig/xtp.pc")).expect("xtp.pc");
        let private = package
            .lines()
            .find_map(|line| line.strip_prefix("Libs.private: "));
        link.extend(private.expect("what is private").split(' ').map(OsStr::new));
        self.compile(source, "alone", &link)
    }
}

/// Starts a program that prints its address first.
fn start(command: &mut Command) -> (Running, String) {
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = Running(command.spawn().expect("a program"));
    let mut address = String::new();
    let mut printed = BufReader::new(child.0.stdout.take().expect("its output"));
    printed.read_line(&mut address).expect("its address");
    (child, address.trim_end().to_owned())
}

fn ends_well(mut running: Running) {
    drop(running.0.stdin.take());
    let status = running.0.wait().expect("its end");
    assert!(status.success(), "{status}");
}

/// What this build of the library is, as the programs of the tests are told.
const KIND: &str = if cfg!(debug_assertions) {
    "debug"
} else {
    "release"
};

const TESTS: [(&str, &str); 9] = [
    ("arguments", "all refused"),
    ("exchange", "all exchanged"),
    ("forks", "the parent went on"),
    ("signals", "signals did not end it"),
    ("descriptors", "told, not crashed"),
    ("threads", "every message once"),
    ("queues", "everything given back"),
    ("meshes", "one list told of all"),
    ("groups", "all have it"),
];

#[test]
fn programs_of_the_tests_end_well() {
    let installed = Installed::new();
    for (name, printed) in TESTS {
        let program = installed.shared(&format!("tests/c/{name}.c"));
        // A program that waits for what does not come is ended instead of holding up all others.
        let mut limited = Command::new("timeout");
        limited.arg("100").arg(program).arg(KIND);
        assert_eq!(run(&mut limited).trim_end(), printed);
    }
}

#[test]
fn examples_talk_to_each_other() {
    let installed = Installed::new();
    let ping_pong = installed.shared("examples/ping_pong.c");
    let call = installed.shared("examples/call.c");
    let epoll_server = installed.shared("examples/epoll_server.c");

    let (server, address) = start(Command::new(&ping_pong).args(["serve", "127.0.0.1:0"]));
    let printed = run(Command::new(&ping_pong).args(["ping", &address, "1000"]));
    assert_eq!(printed, "1000 messages came back\n");
    ends_well(server);

    let (server, address) = start(Command::new(&call).args(["serve", "127.0.0.1:0", "2"]));
    let printed = run(Command::new(&call).args(["ask", &address, "some words"]));
    assert_eq!(printed, "SOME WORDS\n");
    let too_long = "a".repeat(300);
    let refused = Command::new(&call).args(["ask", &address, &too_long]).output();
    let refused = refused.expect("a program");
    let complained = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        complained.contains("a request has 256 octets at most"),
        "{complained}"
    );
    ends_well(server);

    casts_to_all(&installed.shared("examples/cast.c"));
    let ranks = installed.shared("examples/ranks.c");
    let printed = run(Command::new(&ranks).arg("3"));
    assert_eq!(printed, "3 ranks have heard all others\n");

    let (server, address) = start(Command::new(&epoll_server).args(["127.0.0.1:0"]));
    let clients: Vec<Running> = (0..3)
        .map(|_| {
            Command::new(&ping_pong)
                .args(["ping", &address, "500"])
                .stdout(Stdio::null())
                .spawn()
        })
        .map(|client| Running(client.expect("a client")))
        .collect();
    clients.into_iter().for_each(ends_well);
    ends_well(server);
}

fn casts_to_all(cast: &Path) {
    let mut receivers = Vec::new();
    let mut addresses = Vec::new();
    for _ in 0..2 {
        let mut receiver = Command::new(cast);
        receiver
            .args(["receive", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut receiver = Running(receiver.spawn().expect("a receiver"));
        let mut address = String::new();
        let mut said = BufReader::new(receiver.0.stderr.take().expect("its address"));
        said.read_line(&mut address).expect("its address");
        addresses.push(address.trim_end().to_owned());
        receivers.push(receiver);
    }
    let mut sender = Command::new(cast);
    let sender = sender
        .arg("send")
        .args(&addresses)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut sender = Running(sender.spawn().expect("a sender"));
    let words = "words\n".repeat(50_000);
    let mut input = sender.0.stdin.take().expect("its input");
    input.write_all(words.as_bytes()).expect("written");
    drop(input);
    for mut receiver in receivers {
        let mut printed = String::new();
        let mut output = receiver.0.stdout.take().expect("its output");
        output.read_to_string(&mut printed).expect("text");
        assert!(printed == words, "{} octets of {}", printed.len(), words.len());
        ends_well(receiver);
    }
    let mut printed = String::new();
    let mut output = sender.0.stdout.take().expect("its output");
    output.read_to_string(&mut printed).expect("text");
    assert_eq!(printed, "2 of 2 have it\n");
    ends_well(sender);
}

#[test]
fn the_static_library_is_enough() {
    let installed = Installed::new();
    let program = installed.alone("tests/c/exchange.c", &[]);
    assert_eq!(run(&mut Command::new(program)), "all exchanged\n");
    // With the checker of addresses in the program.
    let program = installed.alone("tests/c/exchange.c", &["-fsanitize=address"]);
    assert_eq!(run(&mut Command::new(program)), "all exchanged\n");
}

/// Compiles every C program for its errors alone.
fn compile_all(compiler: &str, flags: &[&str]) {
    let installed = Installed::new();
    for folder in ["examples", "tests/c"] {
        for entry in fs::read_dir(here().join(folder)).expect("programs") {
            let source = entry.expect("a file").path();
            if source.extension() == Some(OsStr::new("c")) {
                let mut compiler = Command::new(compiler);
                compiler.args(flags).arg("-fsyntax-only").args(STRICT);
                run(compiler.arg("-I").arg(installed.path("include")).arg(source));
            }
        }
    }
}

#[test]
#[ignore = "needs c++ (or CXX): cargo xtask ci --only c"]
fn the_header_is_cxx_too() {
    compile_all(&compiler("CXX", "c++"), &["-x", "c++"]);
}

#[test]
#[ignore = "for another compiler, where there is one: cargo xtask ci --only c"]
fn clang_compiles_it() {
    match Command::new("clang").arg("--version").output() {
        Ok(_) => compile_all("clang", &["-std=c99"]),
        Err(error) => println!("clang is not installed ({error}): nothing was compiled with it"),
    }
}

/// Memory is read and written where it is, freed once, and none is lost. Whether it was written before it is read is not asked: optimised
/// Rust compares what lies behind an `Option` that is `None`, and makes nothing of it.
#[test]
#[ignore = "needs valgrind: cargo xtask ci --only c"]
fn valgrind_finds_nothing() {
    let installed = Installed::new();
    let checked = |program: &Path| {
        let mut valgrind = Command::new("valgrind");
        valgrind.args(["--quiet", "--error-exitcode=9", "--undef-value-errors=no"]);
        valgrind.args([
            "--leak-check=full",
            "--show-leak-kinds=definite",
            "--errors-for-leak-kinds=definite",
        ]);
        valgrind.arg(program);
        valgrind
    };
    for (name, printed) in [
        ("arguments", "all refused\n"),
        ("exchange", "all exchanged\n"),
        ("threads", "every message once\n"),
        ("queues", "everything given back\n"),
        ("meshes", "one list told of all\n"),
        ("groups", "all have it\n"),
    ] {
        let program = installed.shared(&format!("tests/c/{name}.c"));
        assert_eq!(run(&mut checked(&program)), printed);
    }
    let ping_pong = installed.shared("examples/ping_pong.c");
    let epoll_server = installed.shared("examples/epoll_server.c");
    let (server, address) = start(checked(&epoll_server).arg("127.0.0.1:0"));
    run(checked(&ping_pong).args(["ping", &address, "50"]));
    ends_well(server);
}

#[test]
fn c_lays_out_structures_as_rust_does() {
    macro_rules! lines {
        ($($kind:ident: $($field:ident)*;)*) => {{
            let mut lines = String::new();
            $(
                lines.push_str(&format!("{} {}\n", stringify!($kind), size_of::<$kind>()));
                $(lines.push_str(&format!(
                    "{}.{} {}\n", stringify!($kind), stringify!($field), offset_of!($kind, $field)
                ));)*
            )*
            lines
        }};
    }
    let rust = lines! {
        xtp_endpoint_options: size linger close_timeout message_timeout message_limit memory_limit wait broadcast fresh_start gather_writes;
        xtp_stream_options: size receive_capacity send_capacity timeout connect_timeout reliability wait_for_listener;
        xtp_listen_options: size backlog streams unconfirmed_response;
        xtp_call_options: size timeout longest_answer expected_answer slow_server repeatable wait_for_listener;
        xtp_tags: tag mask kind reserved;
        xtp_group_options: size wait patience keep rate capacity interface hops service_number expect;
        xtp_statistics: packets_sent packets_received system_calls octets_copied send_errors receive_errors;
        xtp_member: octets time state reserved address reason;
        xtp_mesh_options: size patience max_peers max_posted max_unexpected service_number reserved;
        xtp_mesh_completion: token octets tag word length kind peer status reserved;
        xtp_completion: token octets tag stream status tagged;
    };
    let installed = Installed::new();
    let c = run(&mut Command::new(installed.shared("tests/c/layout.c")));
    assert_eq!(c, rust);
    // No structure has a field that the lists do not name.
    let header = fs::read_to_string(here().join("include/xtp.h")).expect("the header");
    let fields = header
        .lines()
        .filter(|line| line.starts_with("    ") && line.ends_with(';') && !line.contains(['(', ')']))
        .filter(|line| (2..=3).contains(&line.split_whitespace().count()));
    let listed = rust.lines().filter(|line| line.contains('.'));
    assert_eq!(fields.count(), listed.count());
}

#[test]
fn symbols_carry_versions_and_no_others_are_seen() {
    let installed = Installed::new();
    let map = fs::read_to_string(here().join("xtp.map")).expect("the map");
    let mut wanted: Vec<String> = map
        .lines()
        .filter_map(|line| line.trim().strip_suffix(';'))
        .filter(|name| name.starts_with("xtp_"))
        .map(|name| format!("{name}@@XTP_0.1"))
        .collect();
    wanted.sort();
    let library = installed.path("lib/libxtp.so");
    let listed = run(Command::new("nm").args(["-D", "--defined-only"]).arg(&library));
    let mut seen: Vec<String> = listed
        .lines()
        .filter_map(|line| line.split_whitespace().nth(2))
        .filter(|name| *name != "XTP_0.1")
        .map(str::to_owned)
        .collect();
    seen.sort();
    assert_eq!(seen, wanted);
    let target = fs::canonicalize(&library).expect("a file");
    let version = concat!("libxtp.so.", env!("CARGO_PKG_VERSION"));
    assert_eq!(target.file_name(), Some(OsStr::new(version)));
    let dynamic = run(Command::new("readelf").arg("-d").arg(&library));
    assert!(dynamic.contains("[libxtp.so.0]"), "{dynamic}");
    let package = fs::read_to_string(installed.path("lib/pkgconfig/xtp.pc")).expect("xtp.pc");
    let prefix = format!("prefix={}\n", installed.folder.path().display());
    assert!(package.contains(&prefix) && !package.contains('@'), "{package}");
}
