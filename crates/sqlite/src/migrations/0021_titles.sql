-- What a session's host calls it. One without a title is called after its first message, which is read where it stands.
ALTER TABLE sessions ADD COLUMN title TEXT;
