-- Conversations with turns that no consolidation captured: few, beside all that there are.
CREATE INDEX sessions_waiting ON sessions (updated_at) WHERE last_position > consolidated AND last_position > imported_to;
