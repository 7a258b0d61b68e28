-- The version of the memory that was given: one whose text changed since is given again.
ALTER TABLE injected ADD COLUMN version INTEGER;
