//! The archive, the Debian package, the container's folder and their checksums.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use super::{Release, copy, folder, output, read, write};
use crate::checkers::succeed;

/// Shells whose completions are packed, and where Debian keeps them.
const SHELLS: [(&str, &str); 3] = [
    ("bash", "usr/share/bash-completion/completions/xtp"),
    ("zsh", "usr/share/zsh/vendor-completions/_xtp"),
    ("fish", "usr/share/fish/vendor_completions.d/xtp.fish"),
];

pub(super) fn all(release: &Release) -> Result<(), String> {
    folder(&release.out)?;
    archive(release)?;
    debian(release)?;
    container(release)?;
    let names = [release.archive(), release.debian()];
    let mut sums = Command::new("sha256sum");
    sums.args(names.iter().filter_map(|path| path.file_name()));
    let sums = output(sums.current_dir(&release.out), "sha256sum")?;
    write(&release.out.join("SHA256SUMS"), &String::from_utf8_lossy(&sums))
}

/// The program, manual pages, completions and texts in one folder.
fn archive(release: &Release) -> Result<(), String> {
    let name = format!("xtp-{}", release.version);
    let tree = release.out.join("tree").join(&name);
    folder(&tree.join("completions"))?;
    program(release, &tree.join("xtp"))?;
    manuals(release, &tree.join("man"))?;
    for (shell, _) in SHELLS {
        write(
            &tree.join("completions").join(shell),
            &completions(release, shell)?,
        )?;
    }
    for text in ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"] {
        copy(&release.root.join(text), &tree.join(text))?;
    }
    copy(
        &release.root.join("packaging/xtp-serve.service"),
        &tree.join("xtp-serve.service"),
    )?;
    let mut tar = Command::new("tar");
    tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "-czf"]);
    tar.arg(release.archive()).arg(&name);
    succeed(tar.current_dir(release.out.join("tree")), "tar")
}

fn debian(release: &Release) -> Result<(), String> {
    let tree = release.out.join("debian");
    for below in [
        "DEBIAN",
        "usr/bin",
        "usr/lib/systemd/system",
        "etc/default",
        "usr/share/doc/xtp",
    ] {
        folder(&tree.join(below))?;
    }
    program(release, &tree.join("usr/bin/xtp"))?;
    let manual = tree.join("usr/share/man/man1");
    manuals(release, &manual)?;
    let mut gzip = Command::new("sh");
    gzip.args(["-c", "gzip -9n *.1"]);
    succeed(gzip.current_dir(&manual), "gzip")?;
    for (shell, place) in SHELLS {
        let place = tree.join(place);
        place.parent().map_or(Ok(()), folder)?;
        write(&place, &completions(release, shell)?)?;
    }
    let packaging = release.root.join("packaging");
    copy(
        &packaging.join("xtp-serve.service"),
        &tree.join("usr/lib/systemd/system/xtp-serve.service"),
    )?;
    copy(&packaging.join("xtp.default"), &tree.join("etc/default/xtp"))?;
    let licences = [
        read(&release.root.join("LICENSE-MIT"))?,
        read(&release.root.join("LICENSE-APACHE"))?,
    ];
    write(&tree.join("usr/share/doc/xtp/copyright"), &licences.join("\n\n"))?;
    write(&tree.join("DEBIAN/conffiles"), "/etc/default/xtp\n")?;
    let octets = std::fs::metadata(&release.program).map_or(0, |about| about.len());
    write(&tree.join("DEBIAN/control"), &control(&release.version, octets))?;
    let mut build = Command::new("dpkg-deb");
    build
        .args(["--root-owner-group", "--build"])
        .arg(&tree)
        .arg(release.debian());
    output(&mut build, "dpkg-deb").map(drop)
}

/// The description of the Debian package. It needs nothing: the program is static.
pub(super) fn control(version: &str, octets: u64) -> String {
    format!(
        "Package: xtp\n\
         Version: {version}\n\
         Architecture: amd64\n\
         Maintainer: the xtp developers <xtp@localhost>\n\
         Installed-Size: {}\n\
         Section: net\n\
         Priority: optional\n\
         Description: Xpress Transport Protocol tools\n \
         Messages, transactions, streams, files and multicast over one transport on UDP:\n \
         xtp cp, serve, cast, send, call, ping and others. Nothing is encrypted.\n",
        octets.div_ceil(1_024)
    )
}

fn container(release: &Release) -> Result<(), String> {
    let place = release.container();
    folder(&place)?;
    program(release, &place.join("xtp"))?;
    copy(
        &release.root.join("packaging/Containerfile"),
        &place.join("Containerfile"),
    )
}

fn program(release: &Release, to: &Path) -> Result<(), String> {
    copy(&release.program, to)?;
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(to, mode).map_err(|error| format!("{}: {error}", to.display()))
}

fn manuals(release: &Release, to: &Path) -> Result<(), String> {
    let mut xtp = Command::new(&release.program);
    output(xtp.arg("man").arg(to), "xtp man").map(drop)
}

fn completions(release: &Release, shell: &str) -> Result<String, String> {
    let mut xtp = Command::new(&release.program);
    let text = output(xtp.args(["completions", shell]), "xtp completions")?;
    String::from_utf8(text).map_err(|error| format!("completions of {shell}: {error}"))
}
