//! The event log: one event per line. It is the saved run, so what is read is what was written.

use std::fmt;
use std::io::{self, BufRead, Read as _, Write};

use mcprove_model::{Event, RunStarted};
use serde::Deserialize;

/// Writes one event as one line.
pub fn write_event(out: &mut impl Write, event: &Event) -> io::Result<()> {
    let mut line = serde_json::to_vec(event)?;
    line.push(b'\n');
    out.write_all(&line)
}

/// Reads a whole log; see [`Events`] for one event at a time.
pub fn read_events(input: impl BufRead) -> Result<Vec<Event>, ReadError> {
    Events::new(input).collect()
}

/// Why a log could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// The line, from 1.
    pub line: usize,
    /// Description of the error, with a hint.
    pub message: String,
    /// True if the log ends in the middle of this line, so that everything before it is sound.
    pub cut_off: bool,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for ReadError {}

/// The events of a log, read one at a time; it ends after the first error.
#[derive(Debug)]
pub struct Events<R> {
    input: R,
    buffer: Vec<u8>,
    line: usize,
    ended: bool,
}

impl<R: BufRead> Events<R> {
    /// Starts at the beginning of a log.
    pub fn new(input: R) -> Self {
        Self { input, buffer: Vec::new(), line: 0, ended: false }
    }

    fn read(&mut self) -> Result<Option<Event>, ReadError> {
        loop {
            self.buffer.clear();
            self.line += 1;
            let mut read = self.read_at_most(LONG)?;
            if read as u64 == LONG && self.buffer.last() != Some(&b'\n') {
                // What cannot be an event is not read to its end.
                if self.buffer.trim_ascii_start().first().is_some_and(|first| *first != b'{') {
                    return Err(self.wrong(format!("a line of more than {} KiB that is not an event", LONG >> 10)));
                }
                read += self.read_at_most(LONGEST - LONG)?;
            }
            if read as u64 == LONGEST {
                return Err(self.wrong(format!("the line is longer than {} MiB", LONGEST >> 20)));
            }
            if read == 0 {
                return Ok(None);
            }
            if !self.buffer.trim_ascii().is_empty() {
                return decode(&self.buffer).map(Some).map_err(|message| match message {
                    Wrong::CutOff => ReadError { cut_off: true, ..self.wrong(CUT_OFF.to_owned()) },
                    Wrong::Other(message) => self.wrong(message),
                });
            }
        }
    }

    fn read_at_most(&mut self, limit: u64) -> Result<usize, ReadError> {
        let read = (&mut self.input).take(limit).read_until(b'\n', &mut self.buffer);
        read.map_err(|error| self.wrong(error.to_string()))
    }

    fn wrong(&self, message: String) -> ReadError {
        ReadError { line: self.line, message, cut_off: false }
    }
}

impl<R: BufRead> Iterator for Events<R> {
    type Item = Result<Event, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let read = self.read();
        self.ended = !matches!(read, Ok(Some(_)));
        read.transpose()
    }
}

/// A message of 64 MiB is the longest that is kept, and is longer where it is escaped.
const LONGEST: u64 = 200 << 20;

/// A line from which on it is looked at before it is read to its end, and before it is decoded.
const LONG: u64 = 4 << 20;

/// The most values of a line: a few bytes of it may take forty times as many once they are decoded.
const MOST_VALUES: usize = 2_000_000;

const CUT_OFF: &str =
    "the log breaks off in the middle of this line; the run that wrote it did not end, or the file was cut";

/// Kinds of invalid lines.
enum Wrong {
    CutOff,
    Other(String),
}

fn decode(line: &[u8]) -> Result<Event, Wrong> {
    #[derive(Deserialize)]
    struct Head<'a> {
        event: Option<&'a str>,
        format: Option<u32>,
    }

    if line.len() as u64 > LONG && values_of(line) > MOST_VALUES {
        return Err(Wrong::Other(format!("it has more than {MOST_VALUES} values, which take too much memory")));
    }
    let decoded = serde_json::from_slice::<Event>(line);
    // A later format may have other fields, so its number is looked at also where the rest cannot be read.
    let format = match &decoded {
        Ok(Event::RunStarted(started)) => Some(started.format),
        Ok(_) => None,
        Err(_) => serde_json::from_slice::<Head<'_>>(line)
            .ok()
            .filter(|head| head.event == Some("run_started"))
            .and_then(|head| head.format),
    };
    if let Some(format) = format.filter(|format| *format != RunStarted::FORMAT) {
        return Err(Wrong::Other(format!(
            "this log has format {format} and this program reads format {}; use the version of mcprove that wrote it",
            RunStarted::FORMAT
        )));
    }
    decoded.map_err(|error| {
        if line.last() != Some(&b'\n') && error.is_eof() {
            Wrong::CutOff
        } else {
            Wrong::Other(format!("not an event ({error}); logs are written by `mcprove run --events FILE`"))
        }
    })
}

/// About how many values a line has: commas and brackets outside of its strings.
fn values_of(line: &[u8]) -> usize {
    let (mut count, mut at, mut is_string) = (0, 0, false);
    while let Some(byte) = line.get(at) {
        match byte {
            b'\\' if is_string => at += 1,
            b'"' => is_string = !is_string,
            b',' | b'[' | b'{' if !is_string => count += 1,
            _ => {}
        }
        at += 1;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_grows_is_refused_before_it_is_decoded() {
        let log = format!("{HEAD}\n{{\"event\":\"run_started\",\"context\":[{}0]}}\n", "0,".repeat(3_000_000));
        assert!(error(&log).contains("values"), "{}", error(&log));
        let text = ",[{".repeat(3_000_000) + "\\\"";
        assert_eq!(values_of(format!("{{\"a\":\"{text},,\",\"b\":[]}}").as_bytes()), 3);
    }

    #[test]
    fn a_long_line_that_is_not_an_event_is_not_read_to_its_end() {
        let endless = io::BufReader::new(io::repeat(0));
        let error = read_events(endless).expect_err("it is not a log");
        assert!(error.message.contains("not an event"), "{error}");
    }

    const HEAD: &str =
        r#"{"event":"run_started","format":1,"program":"mcprove 0.1.0","started_unix_ms":0,"total":1,"jobs":1}"#;

    fn error(log: &str) -> String {
        read_events(log.as_bytes()).expect_err("the log is broken").to_string()
    }

    #[test]
    fn what_is_written_reads_back() {
        let log = format!("{HEAD}\n\n{}\n", r#"{"event":"run_finished","duration_us":5}"#);
        let events = read_events(log.as_bytes()).expect("the log is whole");
        let mut written = Vec::new();
        for event in &events {
            write_event(&mut written, event).expect("memory takes it");
        }
        assert_eq!(read_events(written.as_slice()).expect("written by us"), events);
        assert_eq!(events.len(), 2);
    }

    #[test]
    fn an_unknown_format_is_refused_even_when_its_fields_are_unknown() {
        let same_fields = HEAD.replace("\"format\":1", "\"format\":9");
        for log in [same_fields.as_str(), r#"{"event":"run_started","format":9,"cases":[]}"#] {
            assert_eq!(
                error(log),
                "line 1: this log has format 9 and this program reads format 1; use the version of mcprove that wrote it"
            );
        }
    }

    #[test]
    fn a_log_that_breaks_off_says_so() {
        let log = format!("{HEAD}\n{}", r#"{"event":"run_fin"#);
        assert!(error(&log).starts_with("line 2: the log breaks off in the middle"), "{}", error(&log));
        let whole_without_newline = format!("{HEAD}\n{}", r#"{"event":"run_finished","duration_us":5}"#);
        assert_eq!(read_events(whole_without_newline.as_bytes()).map(|events| events.len()), Ok(2));
    }

    #[test]
    fn another_file_is_not_mistaken_for_a_log() {
        assert!(error("<testsuites/>\n").starts_with("line 1: not an event"), "{}", error("<testsuites/>\n"));
        assert!(error("{\"event\":\"walk\"}\n").contains("unknown variant `walk`"));
    }
}
