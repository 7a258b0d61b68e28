"""What must hold in a real client, told as a visit: connect, talk, go on elsewhere, compact, clear, resume, disconnect."""
import os
import re

from model import spoken
from place import until

NAME = "My name is Ada Lovelace."
TOLD, REPLY = "My cat is called Mimi.", "A fine name for a cat."
ASKED = "What is my cat called?"
SUMMARY = "The person keeps a dog called Rex in the garden."


class Visit:
    """One client, and what was found out about it: pairs of a check and nothing, or of what is wrong."""

    def __init__(self, client, place, other):
        self.client, self.place, self.other, self.found = client, place, other, []

    def check(self, name, is_right, detail=""):
        self.found.append((name, None if is_right else str(detail)[-1500:] or "it is not so"))

    # --- what went to the model ---

    def mark(self):
        return len(self.place.model.requests)

    def said(self, since):
        """What the last request of the conversation since then said to the model."""
        requests = self.place.model.main(since)
        return spoken(requests[-1][1]) if requests else ""

    def once(self, name, text, since):
        said = self.said(since)
        self.check(name, said.count(text) == 1, f"{said.count(text)} times: {said[-3000:]}")

    # --- the visit ---

    def all(self, headless):
        steps = [self.connects, self.tells, self.ends, self.asks_again, self.resumes, self.calls_tools]
        if self.client.channel:
            steps += [self.delegates] if headless else [self.delegates, self.sits_at_a_terminal]
        for step in [*steps, self.goes_on_elsewhere, self.leaves]:
            try:
                step()
            except Exception as error:  # What a client does is not known before.
                self.check(f"{step.__name__} ends", False, repr(error))
        return self.found

    def connects(self):
        client, place = self.client, self.place
        client.set_up(place)
        self.before = place.tree()
        with open(f"{place.memory}/config.toml", "w") as file:
            file.write('[memory]\nuser_namespace = "user"\nconsolidation_turn_threshold = 0\nflush_every_prompts = 0\n'
                       # What is tried here is what is given, not how fast.
                       "[hooks]\nprompt_deadline_ms = 1900\n")
        place.throughline("remember", "The person drinks jasmine tea in the morning")
        os.makedirs(f"{place.memory}/user", exist_ok=True)
        with open(f"{place.memory}/user/profile.md", "w") as file:
            file.write(f"- {NAME}\n")
        answer = client.connect(place)
        self.check("connect", "stderr" not in answer, answer)
        client.trust(place)
        remarks = place.throughline("doctor").get("clients", [])
        self.check("doctor has no remark", not remarks, remarks)

    def tells(self):
        """A first conversation. It is begun with what is known, and kept word for word."""
        since = self.mark()
        self.place.model.say(REPLY)
        shown = self.client.ask(self.place, TOLD)
        self.check("a reply without a terminal", REPLY in shown, shown)
        if not self.client.channel:
            return
        self.once("the opening comes once", NAME, since)
        sessions = self.place.sessions(self.client.channel)
        self.session = sessions[0] if sessions else ""
        self.check("one conversation is kept", len(sessions) == 1, sessions)
        turns = self.place.turns(self.session)
        self.check("what was said is kept once, in order", turns == [("user", TOLD), ("assistant", REPLY)], turns)

    def ends(self):
        """It is consolidated at its end. What nobody ends is told in `tests/hooks/real.rs`: Codex says at a terminal that a
        conversation ended about a minute after it was left, and by then it cannot be told who consolidated it."""
        if not self.client.channel:
            self.place.throughline("session", "observe", "--session", "cli:told", TOLD)
            return
        self.check("a short conversation is consolidated", until(lambda: self.place.summaries(self.session)),
                   self.place.throughline("session", "show", self.session))

    def asks_again(self):
        """Another conversation gets what the first one told, and every sentence of it once."""
        since = self.mark()
        if self.client.channel:
            self.client.ask(self.place, ASKED)
            self.once("a second conversation knows it, once", "My cat is called Mimi", since)
            self.once("the opening comes once in a second conversation", NAME, since)
            guidance = "Before you ask for something that may have been said before"
            self.check("guidance comes once at most", self.said(since).count(guidance) <= 1, self.said(since))

    def resumes(self):
        """A conversation that goes on has its opening already, and still has the person's words."""
        if not self.client.resumes:
            return
        since = self.mark()
        self.place.model.say("You are welcome.")
        shown = self.client.ask(self.place, "Thank you for that.", resume=True)
        self.check("a conversation is resumed", "You are welcome." in shown, shown)
        if self.client.channel:
            self.once("the opening is there once after a resume", NAME, since)
            self.check("the person's own words are there after a resume", ASKED in self.said(since), self.said(since))

    def calls_tools(self):
        """Tools are offered, answer, and say what is wrong in words that reach the model."""
        def after(text, tool, **arguments):
            since = self.mark()
            self.place.model.say(*self.client.call(tool, arguments), "Done.")
            shown = self.client.ask(self.place, text, tools=True)
            # Some clients ask a second model afterwards.
            return "\n".join([*(spoken(body) for _, body in self.place.model.main(since)), shown])

        said = after("Look it up.", "memory_recall", query="jasmine tea")
        self.check("a tool answers", "drinks jasmine tea" in said, said[-3000:])
        said = after("Look up nothing.", "memory_recall", query="tea", since="2026-05-02", until="2026-05-01")
        self.check("a tool's error reaches the model", "not before" in said, said[-3000:])
        fact = "The person's bicycle is green"
        after("Keep that.", "memory_write", action="add", layer="L1", content=fact)
        kept = str(self.place.throughline("recall", "bicycle"))
        self.check("a tool writes", fact in kept, kept)

    def delegates(self):
        """What is said between the assistant and an agent of its own is not said by or to the person."""
        task, words = "Count the files of the directory, please.", "The helper counted seven of them."
        replies = self.client.delegate(task)
        if not replies:
            return
        script, asked = self.place.model, "How many files are there in all?"
        script.delegated, script.delegate = task, (asked, words)
        script.say(*replies, "There are seven files.")
        self.client.ask(self.place, asked, tools=True)
        self.check("a sub-agent is asked", any(task in spoken(body) for _, body in script.main()), script.main()[-1])
        kept = [turn for session in self.place.sessions(self.client.channel) for turn in self.place.turns(session)]
        self.check("the person's words are kept", ("user", asked) in kept, kept)
        self.check("a sub-agent's words are not kept", not any(task in text or words in text for _, text in kept), kept)
        script.delegated = None

    def goes_on_elsewhere(self):
        """Another client on the same memory knows it too."""
        other, place = self.other
        other.set_up(place)
        other.connect(place)
        other.trust(place)
        since = len(place.model.requests)
        other.ask(place, ASKED)
        said = "\n".join(spoken(body) for _, body in place.model.main(since)[-1:])
        self.check(f"{other.name} knows it, once", said.count("My cat is called Mimi") == 1, said[-3000:])

    def sits_at_a_terminal(self):
        """The same at a terminal, with a compaction and a new beginning in one sitting."""
        client, place = self.client, self.place
        known = set(place.sessions(client.channel))
        terminal = client.open(place)

        def talk(text, reply):
            since = self.mark()
            place.model.say(reply)
            terminal.say(text, lambda: text in self.said(since))
            terminal.wait(reply)
            return since

        since = talk("My dog is called Rex.", "Noted the dog.")
        self.once("the opening comes once at a terminal", NAME, since)
        new = lambda: [session for session in place.sessions(client.channel) if session not in known]
        session = (until(new) or [""])[0]
        kept = until(lambda: ("assistant", "Noted the dog.") in place.turns(session))
        self.check("the last reply is kept", kept, place.turns(session))

        since = self.mark()
        place.model.summary, place.model.default = f"<summary>{SUMMARY}</summary>", f"<summary>{SUMMARY}</summary>"
        if client.name == "gemini":
            place.model.summary = place.model.default = f"<state_snapshot>{SUMMARY}</state_snapshot>"
        place.model.say()
        compacted = lambda: any("ummar" in spoken(body) or "snapshot" in spoken(body) for _, body, _ in place.model.requests[since:])
        self.check("it compacts", terminal.submit(client.compact, compacted), terminal.text())
        asked = [spoken(body) for _, body, _ in place.model.requests[since:]]
        self.check("the compaction gets no instructions of ours", not any("Additional Instructions" in text for text in asked),
                   [text[-500:] for text in asked])
        terminal.settle(2)
        place.model.default = "Understood."
        since = talk("Where does he sleep?", "In the garden.")
        self.once("the opening comes again after a compaction, once", NAME, since)
        turns = until(lambda: ("assistant", "In the garden.") in place.turns(session)) and place.turns(session)
        right = [("user", "My dog is called Rex."), ("assistant", "Noted the dog."), ("user", "Where does he sleep?"),
                 ("assistant", "In the garden.")]
        self.check("what was said around a compaction is kept once, in order", turns == right, place.turns(session))
        handed = lambda: any(SUMMARY in summary for summary in place.summaries(session))
        self.check("the client's own summary is kept as the summary", until(handed), place.summaries(session))

        terminal.submit(client.clear, lambda: not terminal.shows("In the garden."), presses=2, seconds=5)
        terminal.wait(client.ready, seconds=10)
        terminal.settle(2)
        terminal.takes_keys()
        since = talk("Good evening to you all.", "Good evening, Ada.")
        self.once("the opening comes once after a new beginning", NAME, since)
        terminal.submit(client.leave, terminal.is_over, presses=2, seconds=5)
        terminal.end()

    def leaves(self):
        """Every file is as it was before, but for what the client keeps for itself."""
        answer = self.client.disconnect(self.place)
        self.check("disconnect", "stderr" not in answer, answer)
        ours = re.compile(r"throughline[\"']? hook|throughline\.?[\"']?\]|\"throughline\"|throughline:begin|hooks\.json:")
        settings = {path: text for path, text in self.place.tree().items()
                    if path in self.before or path.endswith(("settings.json", "hooks.json", "config.toml", "SKILL.md"))}
        left = [path for path, text in settings.items() if text and ours.search(text)]
        self.check("nothing of ours is left in its settings", not left, [(path, settings[path][-800:]) for path in left])
