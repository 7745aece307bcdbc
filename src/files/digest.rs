//! What tells files apart.

use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// SHA-256 of a file (FIPS 180-4, 2015) in hexadecimal digits, as `sha256sum` prints it.
///
/// # Errors
/// When it cannot be read.
pub fn sha256(path: &Path) -> io::Result<String> {
    sha256_of(File::open(path)?)
}

/// The same of bytes.
///
/// # Errors
/// When they cannot be read.
pub fn sha256_of(mut bytes: impl Read) -> io::Result<String> {
    let mut hasher = Sha256::new();
    io::copy(&mut bytes, &mut hasher)?;
    Ok(hasher.finalize().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_the_one_of_the_standard() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t");
        std::fs::write(&path, "abc").unwrap();
        // The first example of FIPS 180-4.
        let want = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256(&path).unwrap(), want);
    }
}
