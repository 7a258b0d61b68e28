-- Who the person is in a conversation of several: the name of a speaker. What the others say is not about the person.
ALTER TABLE sessions ADD COLUMN person TEXT;
