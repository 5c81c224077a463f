-- Adds links for one sign-in that a session makes (decision 0114). A node of 0.2.0 reads neither table.

-- The session that has made the link, whose end also ends the link, and the id of the session that the link makes. Null: the link is the
-- operator's. A session has one link.
alter table sign_in_links
  add column maker_id uuid unique references sessions (id) on delete cascade,
  add column session_id uuid,
  add check ((maker_id is null) = (session_id is null));

-- When the user has given the proof, for a session that another one has signed in. Null: when the session began.
alter table sessions add column proven_at timestamptz;
