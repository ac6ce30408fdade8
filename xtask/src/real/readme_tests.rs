//! What is pasted, and how it is judged.

use super::{commands, paste};
use std::path::Path;

#[test]
fn the_first_block_of_the_section_is_pasted() {
    let text = "# x\n```sh\nno\n```\n## The command\ntext\n```sh\none\ntwo &\n```\n```sh\nthree\n```\n## Next\n```sh\nno\n```\n";
    assert_eq!(commands(text), Some("one\ntwo &\n"));
    assert_eq!(commands("## The command\n## Next\n```sh\nno\n```\n"), None);
}

#[test]
fn a_command_that_fails_fails_the_block() {
    let folder = tempfile();
    let program = Path::new("/bin/true");
    let good = paste("sleep 60 &\necho said\nkill %1\n", program, &folder);
    assert!(good.as_ref().is_ok_and(|said| said.contains("said")), "{good:?}");
    let bad = paste("echo before\nfalse\necho behind\n", program, &folder);
    let said = bad.expect_err("it failed");
    assert!(said.contains("before") && !said.contains("behind"), "{said}");
    std::fs::remove_dir_all(&folder).expect("removed");
}

fn tempfile() -> std::path::PathBuf {
    let folder = std::env::temp_dir().join(format!("xtask-readme-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}
