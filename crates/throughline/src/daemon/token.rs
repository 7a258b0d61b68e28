//! The token file: 256 random bits that only its owner can read. One that others can read is refused.

use std::io::{Read as _, Write as _};
use std::path::Path;

use throughline_server::access::Token;

use crate::world::{Home, OpenError, is_open_to_others, random_secret};

/// The token of this home; made on first use.
pub(crate) fn token(home: &Home) -> Result<Token, OpenError> {
    let path = home.token();
    if let Some(token) = read(&path)? {
        return Ok(token);
    }
    let failed = |source| OpenError::Directory { path: path.clone(), source };
    let fresh = Token::of(random_secret()?);
    let mut file = tempfile::Builder::new().prefix(".token").tempfile_in(&home.data).map_err(failed)?;
    file.write_all(format!("{}\n", fresh.as_str()).as_bytes()).map_err(failed)?;
    file.as_file().sync_all().map_err(failed)?;
    match file.persist_noclobber(&path) {
        Ok(_) => Ok(fresh),
        // Another process was faster, or the file says something that is no token.
        Err(_) => read(&path)?.ok_or_else(|| failed(std::io::Error::other("it holds no token: remove it"))),
    }
}

fn read(path: &Path) -> Result<Option<Token>, OpenError> {
    let failed = |source| OpenError::Directory { path: path.to_owned(), source };
    let mut file = match std::fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(failed(source)),
    };
    if is_open_to_others(&file.metadata().map_err(failed)?) {
        return Err(OpenError::OpenToken { path: path.to_owned() });
    }
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(failed)?;
    Ok(Token::kept(&text))
}
