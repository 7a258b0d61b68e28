-- What an unfinished copy into this space is a copy of. Until it is complete, the space is no memory.
ALTER TABLE spaces ADD COLUMN copying text COLLATE "C";
