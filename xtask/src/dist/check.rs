//! What was packed, installed in an empty root and run there: nothing but what was packed is in it.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};

use super::{Release, copy, folder, output, write};
use crate::checkers::{is_ci, succeed};

/// Octets of the file that is copied.
const OCTETS: usize = 3_000_000;

/// Tries all of it; without root, or without dpkg, says what was left out, and fails where CI asks.
pub(super) fn all(release: &Release) -> Result<(), String> {
    if let Err(reason) = output(Command::new("chroot").args(["/", "true"]), "chroot") {
        return match is_ci() {
            true => Err(reason),
            false => {
                println!("NOT run in an empty root, which needs root: {reason}");
                Ok(())
            }
        };
    }
    archive(release)?;
    debian(release)?;
    let image = release.out.join("root/container");
    folder(&image)?;
    copy(&release.container().join("xtp"), &image.join("xtp"))?;
    said(&image, "/xtp", release)?;
    unit(release)
}

fn archive(release: &Release) -> Result<(), String> {
    let root = release.out.join("root/archive");
    folder(&root)?;
    let mut tar = Command::new("tar");
    tar.arg("-xzf").arg(release.archive()).arg("-C").arg(&root);
    succeed(&mut tar, "tar")?;
    let program = format!("/xtp-{}/xtp", release.version);
    said(&root, &program, release)?;
    transfer(&root, &program)
}

fn debian(release: &Release) -> Result<(), String> {
    let root = release.out.join("root/debian");
    for below in ["info", "updates"] {
        folder(&root.join("var/lib/dpkg").join(below))?;
    }
    write(&root.join("var/lib/dpkg/status"), "")?;
    let mut dpkg = Command::new("dpkg");
    dpkg.arg(format!("--root={}", root.display()))
        .arg("--log=/dev/null")
        .arg("--install")
        .arg(release.debian());
    output(&mut dpkg, "dpkg")?;
    let mut man = Command::new("gzip");
    man.arg("-t").arg(root.join("usr/share/man/man1/xtp-serve.1.gz"));
    output(&mut man, "the manual page of xtp serve")?;
    said(&root, "/usr/bin/xtp", release)?;
    transfer(&root, "/usr/bin/xtp")
}

/// The unit is one that systemd takes, where there is systemd to ask.
fn unit(release: &Release) -> Result<(), String> {
    let root = release.out.join("root/debian");
    let mut verify = Command::new("systemd-analyze");
    verify.arg("verify").arg(format!("--root={}", root.display()));
    verify.arg("xtp-serve.service");
    match verify.output() {
        Err(_) => {
            println!("NOT asked about its unit: systemd");
            Ok(())
        }
        Ok(said) => {
            // What begins with the line of the unit is about the unit; the rest, that this root has no others.
            let text = String::from_utf8_lossy(&said.stderr);
            match text.lines().find(|line| is_of_a_line(line)) {
                None => Ok(()),
                Some(line) => Err(line.to_owned()),
            }
        }
    }
}

/// Whether systemd says this of a line of the unit: `PATH/xtp-serve.service:7: ...`.
pub(super) fn is_of_a_line(said: &str) -> bool {
    said.split_once("xtp-serve.service:")
        .is_some_and(|(_, rest)| rest.starts_with(|first: char| first.is_ascii_digit()))
}

/// The program says its version.
fn said(root: &Path, program: &str, release: &Release) -> Result<(), String> {
    let text = output(chroot(root, program).arg("--version"), program)?;
    let text = String::from_utf8_lossy(&text);
    match text.trim() == format!("xtp {}", release.version) {
        true => Ok(()),
        false => Err(format!("{program} says {text}")),
    }
}

fn chroot(root: &Path, program: &str) -> Command {
    let mut command = Command::new("chroot");
    command.arg(root).arg(program);
    command
}

/// One serves a file there, another fetches it.
fn transfer(root: &Path, program: &str) -> Result<(), String> {
    folder(&root.join("shared"))?;
    folder(&root.join("copies"))?;
    let octets: Vec<u8> = (0..OCTETS).map(|at| ((at * at) >> 7) as u8).collect();
    std::fs::write(root.join("shared/file"), &octets).map_err(|error| format!("a file to serve: {error}"))?;
    let mut serve = chroot(root, program);
    serve.args(["serve", "--listen", "127.0.0.1:0", "/shared"]);
    let mut server = Server::start(serve)?;
    let address = server.address()?;
    let url = format!("xtp://{address}/file");
    output(chroot(root, program).args(["cp", &url, "/copies"]), "xtp cp")?;
    let copy: PathBuf = root.join("copies/file");
    match std::fs::read(&copy) {
        Ok(copied) if copied == octets => Ok(()),
        Ok(_) => Err("the copy is not what was served".to_owned()),
        Err(error) => Err(format!("{}: {error}", copy.display())),
    }
}

/// A server that ends with the check.
struct Server(Child, Option<BufReader<ChildStderr>>);

impl Server {
    fn start(mut command: Command) -> Result<Self, String> {
        let started = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn();
        let mut child = started.map_err(|error| format!("xtp serve: {error}"))?;
        let said = child.stderr.take().map(BufReader::new);
        Ok(Self(child, said))
    }

    /// Where it listens, which it says on standard error.
    fn address(&mut self) -> Result<String, String> {
        let lines = self.1.iter_mut().flat_map(|said| said.lines());
        for line in lines.map_while(Result::ok) {
            if let Some((_, address)) = line.split_once("listening on ") {
                return Ok(address.trim().to_owned());
            }
        }
        Err("xtp serve ended and did not say where it listens".to_owned())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
