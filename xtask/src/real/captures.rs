//! Captures for tshark: every paradigm as the library records it, and packets given as octets.

use std::path::{Path, PathBuf};

use super::host::{Host, output};

const VECTORS: &str = include_str!("../../../crates/xtp-wire/tests/vectors.txt");

/// One packet capture of every paradigm for each framing, "ip" and "udp", made by the library in `folder`, and of how many
/// captures it was put together: tshark takes longer to start than to read.
pub(super) fn paradigms(host: &Host, folder: &Path) -> Result<Vec<(PathBuf, usize)>, String> {
    let captures = folder.join("captures");
    std::fs::create_dir_all(&captures).map_err(|error| format!("{}: {error}", captures.display()))?;
    let program = host.example("capture_paradigms")?;
    output(&program.to_string_lossy(), &[&captures.to_string_lossy()])?;
    let merged = ["ip", "udp"].map(|framing| {
        let parts = pcaps(&captures, framing)?;
        Ok((merge(folder, framing, &parts)?, parts.len()))
    });
    merged.into_iter().collect()
}

/// The captures of one framing; each must hold something.
fn pcaps(folder: &Path, framing: &str) -> Result<Vec<PathBuf>, String> {
    const FILE_HEADER: u64 = 24;
    let entries = folder
        .read_dir()
        .map_err(|error| format!("{}: {error}", folder.display()))?;
    let ending = format!(".{framing}.pcap");
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.to_string_lossy().ends_with(&ending))
        .collect();
    paths.sort();
    let is_empty = |path: &&PathBuf| path.metadata().is_ok_and(|file| file.len() <= FILE_HEADER);
    match paths.iter().find(is_empty) {
        Some(path) => Err(format!("{} is empty", path.display())),
        None => Ok(paths),
    }
}

/// Joins captures, one behind the other; mergecap comes with tshark.
fn merge(folder: &Path, framing: &str, parts: &[PathBuf]) -> Result<PathBuf, String> {
    let path = folder.join(format!("all.{framing}.pcap"));
    let parts: Vec<String> = parts.iter().map(|part| part.display().to_string()).collect();
    let out = path.display().to_string();
    let mut words = vec!["-a", "-F", "nsecpcap", "-w", &out];
    words.extend(parts.iter().map(String::as_str));
    output("mergecap", &words)?;
    Ok(path)
}

/// The reference packets by name.
pub(super) fn vectors() -> Result<Vec<(String, Vec<u8>)>, String> {
    let lines = VECTORS.lines().filter(|line| !line.starts_with('#'));
    lines.map(read_vector).collect()
}

fn read_vector(line: &str) -> Result<(String, Vec<u8>), String> {
    let words: Vec<&str> = line.split(' ').collect();
    let [name, _, hex] = words[..] else {
        return Err(format!("a reference packet reads {line}"));
    };
    let digits = hex.as_bytes().chunks(2);
    let octets = digits.map(|pair| u8::from_str_radix(&String::from_utf8_lossy(pair), 16));
    let octets: Result<Vec<u8>, _> = octets.collect();
    Ok((
        name.to_owned(),
        octets.map_err(|error| format!("{name}: {error}"))?,
    ))
}

/// Writes packets as a capture of IP protocol 36.
pub(super) fn capture(folder: &Path, name: &str, packets: &[(String, Vec<u8>)]) -> Result<PathBuf, String> {
    const LINKTYPE_RAW: u32 = 101;
    let mut file = Vec::new();
    for word in [0xa1b2_c3d4, 0x0004_0002, 0, 0, 65_535, LINKTYPE_RAW] {
        file.extend_from_slice(&u32::to_le_bytes(word));
    }
    for (_, packet) in packets {
        let frame = [&ip_header(packet.len())?[..], packet].concat();
        let length = u32::try_from(frame.len()).map_err(|error| error.to_string())?;
        for word in [0, 0, length, length] {
            file.extend_from_slice(&word.to_le_bytes());
        }
        file.extend_from_slice(&frame);
    }
    let path = folder.join(name);
    write(&path, &file)?;
    Ok(path)
}

fn ip_header(payload: usize) -> Result<[u8; 20], String> {
    let length = u16::try_from(payload + 20).map_err(|error| error.to_string())?;
    let [high, low] = length.to_be_bytes();
    let mut header = [
        0x45, 0, high, low, 0, 1, 0x40, 0, 64, 36, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2,
    ];
    let check = checksum(&header);
    header[10..12].copy_from_slice(&check.to_be_bytes());
    Ok(header)
}

/// What makes the one's-complement sum of the octets come out, as IP and XTP have it; the field itself is 0.
pub(super) fn checksum(octets: &[u8]) -> u16 {
    let words = octets.chunks(2).map(|pair| {
        let low = pair.get(1).copied().unwrap_or_default();
        u64::from(u16::from_be_bytes([pair[0], low]))
    });
    let mut sum: u64 = words.sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    // Not above 0xffff now.
    !(sum as u16)
}

/// Writes a file.
pub(super) fn write(path: &Path, octets: &[u8]) -> Result<(), String> {
    std::fs::write(path, octets).map_err(|error| format!("{}: {error}", path.display()))
}

/// What tshark, with a script, prints of a capture.
pub(super) fn tshark(script: &Path, path: &Path, arguments: &[&str]) -> Result<String, String> {
    let (script, path) = (
        format!("lua_script:{}", script.display()),
        path.display().to_string(),
    );
    let mut words = vec!["-n", "-X", &script, "-r", &path];
    words.extend(["-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE"]);
    words.extend(arguments);
    output("tshark", &words)
}

#[cfg(test)]
#[path = "captures_tests.rs"]
mod tests;
