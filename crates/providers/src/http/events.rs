//! Bytes as they arrive go in, whole events come out, however they were cut.
//!
//! Lines are found among the bytes, so that a character in two parts is never looked at before it is whole.

use std::collections::VecDeque;

use crate::wire::{Framing, MAX_REPLY};

/// One event may hold a whole reply with escapes; more than this is no event.
const MAX_EVENT: usize = 4 * MAX_REPLY;

/// Everything, with all the frames around a few letters each.
const MAX_STREAM: usize = 32 * MAX_REPLY;

const BYTE_ORDER_MARK: &str = "\u{feff}";

/// What was sent is no stream of events.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Broken(pub(crate) &'static str);

#[derive(Debug)]
pub(crate) struct Events {
    framing: Framing,
    /// The line so far.
    line: Vec<u8>,
    /// The `data` lines of an event so far.
    data: Option<String>,
    /// The last byte was `\r`: a `\n` that follows belongs to it.
    after_return: bool,
    is_first_line: bool,
    received: usize,
    ready: VecDeque<String>,
}

impl Events {
    pub(crate) fn new(framing: Framing) -> Self {
        Self {
            framing,
            line: Vec::new(),
            data: None,
            after_return: false,
            is_first_line: true,
            received: 0,
            ready: VecDeque::new(),
        }
    }

    /// Takes bytes in.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<(), Broken> {
        self.received += bytes.len();
        if self.received > MAX_STREAM {
            return Err(Broken("the reply has no end"));
        }
        if self.framing == Framing::Whole {
            self.line.extend_from_slice(bytes);
        } else {
            self.push_lines(bytes)?;
        }
        let pending = self.line.len() + self.data.as_ref().map_or(0, String::len);
        if pending > MAX_EVENT { Err(Broken("an event has no end")) } else { Ok(()) }
    }

    /// Nothing more comes: a last line needs no end, a last event no blank line.
    pub(crate) fn end(&mut self) -> Result<(), Broken> {
        if !self.line.is_empty() {
            self.take_line()?;
        }
        self.ready.extend(self.data.take());
        Ok(())
    }

    /// The next event that is whole.
    pub(crate) fn next(&mut self) -> Option<String> {
        self.ready.pop_front()
    }

    fn push_lines(&mut self, bytes: &[u8]) -> Result<(), Broken> {
        for &byte in bytes {
            let ends_a_return = byte == b'\n' && self.after_return;
            self.after_return = byte == b'\r';
            match byte {
                b'\n' if ends_a_return => {}
                b'\n' | b'\r' => self.take_line()?,
                _ => self.line.push(byte),
            }
        }
        Ok(())
    }

    fn take_line(&mut self) -> Result<(), Broken> {
        let bytes = std::mem::take(&mut self.line);
        let line = str::from_utf8(&bytes).map_err(|_| Broken("it is not UTF-8"))?;
        let line = if self.is_first_line { line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line) } else { line };
        self.is_first_line = false;
        match self.framing {
            Framing::Sse => self.take_field(line),
            Framing::Lines | Framing::Whole if line.trim().is_empty() => {}
            Framing::Lines | Framing::Whole => self.ready.push_back(line.to_owned()),
        }
        Ok(())
    }

    /// A blank line ends an event. The event's name says nothing that its data does not say too.
    fn take_field(&mut self, line: &str) {
        if line.is_empty() {
            self.ready.extend(self.data.take());
        } else if let Some(value) = line.strip_prefix("data:") {
            let value = value.strip_prefix(' ').unwrap_or(value);
            match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(framing: Framing, parts: &[&[u8]]) -> Result<Vec<String>, Broken> {
        let mut events = Events::new(framing);
        for part in parts {
            events.push(part)?;
        }
        events.end()?;
        Ok(std::iter::from_fn(|| events.next()).collect())
    }

    /// In one part, and byte by byte.
    fn check(framing: Framing, stream: &str, expected: &[&str]) {
        let bytes: Vec<&[u8]> = stream.as_bytes().chunks(1).collect();
        for parts in [vec![stream.as_bytes()], bytes] {
            assert_eq!(read(framing, &parts).unwrap(), expected, "of {stream:?} in {} parts", parts.len());
        }
    }

    #[test]
    fn server_sent_events_are_read_as_they_are_written_in_the_wild() {
        check(Framing::Sse, "data: a\n\ndata: b\n\n", &["a", "b"]);
        check(Framing::Sse, "data: a\r\n\r\ndata: b\r\n\r\n", &["a", "b"]);
        check(Framing::Sse, "data: a\r\rdata: b\r\r", &["a", "b"]);
        check(Framing::Sse, "\u{feff}data:a\n\n", &["a"]);
        check(Framing::Sse, ": ping\n\nevent: x\nid: 7\ndata: a\ndata: b\n\n: ping\n\n", &["a\nb"]);
        check(Framing::Sse, "data: 你好 🙂\n\n", &["你好 🙂"]);
        check(Framing::Sse, "data: a\n\ndata: [DONE]", &["a", "[DONE]"]);
        check(Framing::Sse, "event: ping\n\nretry: 3\n\n", &[]);
        check(Framing::Sse, "data\n\n", &[]);
        check(Framing::Sse, "", &[]);
    }

    #[test]
    fn lines_are_read_with_any_end_or_none() {
        check(Framing::Lines, "{\"a\":1}\n{\"b\":\"é\"}\r\n\n{}", &["{\"a\":1}", "{\"b\":\"é\"}", "{}"]);
        check(Framing::Whole, "{\n \"a\": 1\r\n}\n", &["{\n \"a\": 1\r\n}\n"]);
    }

    #[test]
    fn bytes_that_are_no_text_are_refused() {
        assert_eq!(read(Framing::Lines, &[b"\xff\xfe\n"]), Err(Broken("it is not UTF-8")));
    }

    #[test]
    fn an_event_without_end_is_refused_before_it_fills_the_memory() {
        let part = vec![b'x'; MAX_REPLY];
        assert_eq!(read(Framing::Sse, &[&part[..]; 5]), Err(Broken("an event has no end")));
        let comments = [b":\n".repeat(MAX_REPLY / 2)];
        assert_eq!(read(Framing::Sse, &[&comments[0][..]; 33]), Err(Broken("the reply has no end")));
    }

    proptest! {
        #[test]
        fn how_a_stream_is_cut_makes_no_difference(
            bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), any::<u8>()], 0..80),
            cut in 0usize..80,
        ) {
            let cut = cut.min(bytes.len());
            for framing in [Framing::Sse, Framing::Lines, Framing::Whole] {
                prop_assert_eq!(read(framing, &[&bytes]), read(framing, &[&bytes[..cut], &bytes[cut..]]));
            }
        }
    }
}
