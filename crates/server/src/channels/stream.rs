//! Shows a reply while it grows: a message is sent, then edited now and then, and a long reply becomes several messages.

use std::time::Duration;

use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::http::chat::ChatEvent;
use crate::problem::{Code, Problem};

/// What a service lets a message be.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// How long a message may be, in UTF-16 code units, as most services count.
    pub(super) message: usize,
    /// How often a message may be edited.
    pub(super) edit_every: Duration,
    /// How often a service wants to hear that a reply is being written.
    pub(super) typing_every: Duration,
}

/// Why something is not shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Unshown {
    /// It may be tried again after this time.
    Wait(Duration),
    /// There is no point in trying again.
    Never(String),
}

/// One chat of a service, in which a reply is shown as one message or several.
pub(super) trait Display: Send {
    /// What the service lets a message be.
    fn limits(&self) -> Limits;
    /// Says that a reply is being written. Failing does not matter.
    fn typing(&mut self) -> impl Future<Output = ()> + Send;
    /// Makes the message of this number, counted from 0, say this: sends it, or edits what was sent.
    fn show(&mut self, number: usize, text: &str) -> impl Future<Output = Result<(), Unshown>> + Send;
    /// Takes back what was sent beyond so many messages. Failing does not matter.
    fn keep_only(&mut self, messages: usize) -> impl Future<Output = ()> + Send;
}

/// How showing a reply ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// All of it is shown.
    Whole,
    /// The daemon stops; it is shown the next time.
    Later,
    /// The service does not take it.
    Refused(String),
}

/// Shows what happens until the reply has ended and all of it is shown.
pub(super) async fn show<D: Display>(
    mut events: UnboundedReceiver<ChatEvent>,
    display: &mut D,
    stop: &CancellationToken,
) -> Shown {
    let limits = display.limits();
    let mut reply = Growing { display, limits, shown: Vec::new() };
    let (mut text, mut next_edit, mut next_typing) =
        (String::new(), Instant::now() + limits.edit_every, Instant::now());
    let whole = loop {
        let is_blank = text.trim().is_empty();
        let next = if is_blank { next_typing } else { next_edit };
        tokio::select! {
            biased;
            event = events.recv() => match event {
                Some(ChatEvent::Delta(more)) => text.push_str(&more),
                Some(ChatEvent::Done(said)) => break if said.trim().is_empty() { "(no reply)".to_owned() } else { said },
                Some(ChatEvent::Failed(problem)) => break with_problem(&text, &problem),
                Some(_) => {}
                None => break with_problem(&text, &Problem::broken()),
            },
            () = sleep_until(next) => {
                if is_blank {
                    reply.display.typing().await;
                    next_typing = Instant::now() + limits.typing_every;
                    continue;
                }
                next_edit = Instant::now() + match reply.update(&text).await {
                    Ok(()) => limits.edit_every,
                    Err(Unshown::Wait(longer)) => longer.max(limits.edit_every),
                    Err(Unshown::Never(why)) => return Shown::Refused(why),
                };
            }
        }
    };
    if stop.is_cancelled() {
        return Shown::Later;
    }
    reply.finish(&whole, next_edit, stop).await
}

/// A reply, and how much of it each message shows.
struct Growing<'d, D> {
    display: &'d mut D,
    limits: Limits,
    shown: Vec<String>,
}

impl<D: Display> Growing<'_, D> {
    /// Brings every message up to date that is not.
    async fn update(&mut self, text: &str) -> Result<(), Unshown> {
        let pieces = split(text, self.limits.message);
        self.shown.truncate(pieces.len());
        for (number, piece) in pieces.into_iter().enumerate() {
            if self.shown.get(number).is_some_and(|shown| shown == piece) {
                continue;
            }
            self.display.show(number, piece).await?;
            self.shown.truncate(number);
            self.shown.push(piece.to_owned());
        }
        Ok(())
    }

    /// Shows the whole reply, however long the service keeps it waiting. What was shown is edited no sooner than `at`.
    async fn finish(&mut self, whole: &str, mut at: Instant, stop: &CancellationToken) -> Shown {
        if self.shown.is_empty() {
            at = Instant::now();
        }
        loop {
            tokio::select! { () = stop.cancelled() => return Shown::Later, () = sleep_until(at) => {} }
            match self.update(whole).await {
                Ok(()) => {
                    self.display.keep_only(self.shown.len()).await;
                    return Shown::Whole;
                }
                Err(Unshown::Wait(longer)) => at = Instant::now() + longer,
                Err(Unshown::Never(why)) => return Shown::Refused(why),
            }
        }
    }
}

/// What there is of a reply, and why there is not more.
fn with_problem(text: &str, problem: &Problem) -> String {
    let hint = problem.hint.as_deref().map(|hint| format!("\n{hint}")).unwrap_or_default();
    let problem = match problem.code {
        Code::Failed => format!("(There is no reply: {}.{hint})", problem.message),
        _ => format!("({}.{hint})", problem.message),
    };
    if text.trim().is_empty() { problem } else { format!("{}\n\n{problem}", text.trim_end()) }
}

/// Cuts a text into pieces that fit, at the end of a line or a word where there is one. As a text grows, all pieces but the
/// last stay as they are.
pub(super) fn split(text: &str, limit: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text.trim();
    while let Some(end) = overflow(rest, limit) {
        let window = &rest[..end];
        let half = end / 2;
        let at = |found: Option<usize>| found.filter(|at| *at > half);
        let cut = at(window.rfind('\n')).or_else(|| at(window.rfind(char::is_whitespace))).unwrap_or(end);
        pieces.push(rest[..cut].trim_end());
        rest = rest[cut..].trim_start();
    }
    if !rest.is_empty() {
        pieces.push(rest);
    }
    pieces
}

/// Where a text grows longer than the limit, in bytes; nowhere if it does not.
fn overflow(text: &str, limit: usize) -> Option<usize> {
    let mut units = 0;
    text.char_indices().find_map(|(at, each)| {
        units += each.len_utf16();
        (units > limit).then_some(at)
    })
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use tokio::sync::mpsc::unbounded_channel;

    use super::*;

    #[test]
    fn a_long_text_is_cut_where_a_line_or_a_word_ends() {
        let check = |text: &str, limit, pieces: &[&str]| assert_eq!(split(text, limit), pieces, "{text}");
        check("", 10, &[]);
        check(" hello \n", 10, &["hello"]);
        check("0123456789", 10, &["0123456789"]);
        check("0123456789a", 10, &["0123456789", "a"]);
        check("one two three", 10, &["one two", "three"]);
        check("one two\nthree four", 10, &["one two", "three four"]);
        // A line that ends early would leave most of the message empty.
        check("a\nbcdefghijklm", 10, &["a\nbcdefghi", "jklm"]);
        // An emoji counts twice, and is never cut in two.
        check("🦀🦀🦀", 5, &["🦀🦀", "🦀"]);
        check("汉字汉字汉字", 4, &["汉字汉字", "汉字"]);
    }

    #[test]
    fn pieces_fit_and_stay_as_the_text_grows() {
        let text = "Ein Satz, der lang ist. 🦀 汉字 und\nnoch einer\n\n".repeat(40);
        let mut before: Vec<String> = Vec::new();
        for end in text.char_indices().map(|(at, _)| at) {
            let pieces: Vec<String> = split(&text[..end], 64).into_iter().map(str::to_owned).collect();
            assert!(pieces.iter().all(|piece| piece.encode_utf16().count() <= 64 && !piece.is_empty()));
            let settled = before.len().saturating_sub(1);
            assert_eq!(pieces[..settled.min(pieces.len())], before[..settled.min(pieces.len())]);
            before = pieces;
        }
        let words = |text: &str| text.split_whitespace().collect::<String>();
        assert_eq!(words(&split(&text, 64).concat()), words(&text));
    }

    /// Takes what it is shown, unless the script says otherwise.
    #[derive(Default)]
    struct Screen {
        messages: Vec<String>,
        calls: usize,
        typed: usize,
        faults: VecDeque<Unshown>,
    }

    impl Display for Screen {
        fn limits(&self) -> Limits {
            let moment = Duration::from_millis(1);
            Limits { message: 10, edit_every: moment, typing_every: moment }
        }

        async fn typing(&mut self) {
            self.typed += 1;
        }

        async fn show(&mut self, number: usize, text: &str) -> Result<(), Unshown> {
            self.calls += 1;
            if let Some(fault) = self.faults.pop_front() {
                return Err(fault);
            }
            match self.messages.get_mut(number) {
                Some(message) => text.clone_into(message),
                None => self.messages.push(text.to_owned()),
            }
            Ok(())
        }

        async fn keep_only(&mut self, messages: usize) {
            self.messages.truncate(messages);
        }
    }

    fn run(screen: &mut Screen, events: Vec<ChatEvent>) -> Shown {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let (sender, receiver) = unbounded_channel();
        for event in events {
            sender.send(event).unwrap();
        }
        drop(sender);
        runtime.block_on(show(receiver, screen, &CancellationToken::new()))
    }

    #[test]
    fn the_whole_reply_is_shown_whatever_came_before() {
        let mut screen = Screen::default();
        let delta = |text: &str| ChatEvent::Delta(text.to_owned());
        assert_eq!(run(&mut screen, vec![delta("let me see"), ChatEvent::Done("one two three".into())]), Shown::Whole);
        assert_eq!(screen.messages, ["one two", "three"]);
        screen.messages.push("left over".to_owned());
        assert_eq!(run(&mut screen, vec![ChatEvent::Done("short".into())]), Shown::Whole);
        assert_eq!(screen.messages, ["short"]);
    }

    #[test]
    fn a_service_that_asks_to_wait_gets_the_reply_later_and_one_that_refuses_does_not() {
        let moment = || Unshown::Wait(Duration::from_millis(1));
        let mut screen = Screen { faults: [moment(), moment()].into(), ..Screen::default() };
        assert_eq!(run(&mut screen, vec![ChatEvent::Done("hello".into())]), Shown::Whole);
        assert_eq!((screen.messages, screen.calls), (vec!["hello".to_owned()], 3));
        let mut screen = Screen { faults: [Unshown::Never("blocked".into())].into(), ..Screen::default() };
        assert_eq!(run(&mut screen, vec![ChatEvent::Done("hello".into())]), Shown::Refused("blocked".into()));
    }

    #[test]
    fn a_reply_that_fails_says_why_behind_what_there_is() {
        let problem = Problem::new(Code::Failed, "the model is away", "start it");
        let said = with_problem("So far ", &problem);
        assert_eq!(said, "So far\n\n(There is no reply: the model is away.\nstart it)");
        let mut screen = Screen::default();
        assert_eq!(run(&mut screen, vec![]), Shown::Whole);
        assert!(screen.messages.concat().contains("broken"), "{:?}", screen.messages);
        let mut screen = Screen::default();
        assert_eq!(run(&mut screen, vec![ChatEvent::Done(" ".into())]), Shown::Whole);
        assert_eq!(screen.messages, ["(no reply)"]);
    }
}
